"""``covmin compare``."""

from __future__ import annotations

import io
import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .display import sparkline
from .errors import CommandError, ExitCode, nearest
from .output import check_destination, write_file, write_table
from .problem import Question, make_question
from .tables import Source
from .words import in_words_of_options

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CompareRequest", "run_compare"]

_COLUMNS = 6
_PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class CompareRequest:
    """The options of ``covmin compare``, as typed."""

    source: Source
    methods: tuple[str, ...] = ()
    m: str | None = None
    task: str = "auto"
    protocol: str = "nested"
    cv: int = 5
    repeats: int = 1
    jobs: int = 1
    seed: int = 0
    picture: Path | None = None
    output: Path | None = None
    as_json: bool = False
    quiet: bool = False


def run_compare(request: CompareRequest) -> None:
    """Read, compare, print and write what was asked for.

    Parameters
    ----------
    request : CompareRequest
    """
    check_destination(request.output, table=True, source=request.source.data)
    check_destination(request.picture, source=request.source.data)
    _check_picture(request.picture)
    methods = _methods(request.methods)
    source = request.source
    question = make_question(
        source.read(), source.target, source.drop, source.missing, source.categorical
    )
    result, notes = _compare(request, question, methods)
    if request.output is not None:
        write_table(result.frame, request.output)
    if request.picture is not None:
        _draw(result, request.picture, f"{source.name or 'standard input'}: {question.y.name}")
    if request.as_json:
        print(_as_json(request, question, result, notes))
        return
    console = Console()
    title = f"{result.score_name} by number of features, {request.protocol} protocol"
    console.print(title, style="bold", highlight=False)
    console.print(_table(result.summary(), console.width))
    for note in notes:
        console.print(f"Note: {note}", style="yellow", markup=False, highlight=False)
    for name, path in (("Scores", request.output), ("Picture", request.picture)):
        if path is not None:
            print(f"{name}: {path}")


def _compare(
    request: CompareRequest, question: Question, methods: list[str] | None
) -> tuple[Any, list[str]]:
    from covmin.evaluation import compare_selectors

    target = str(question.y.name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            result = compare_selectors(
                question.X,
                question.y.to_numpy(),
                methods,
                protocol=str(request.protocol),
                n_features=_sizes(request.m, question.X.shape[1]),
                cv=request.cv,
                n_repeats=request.repeats,
                task=str(request.task),
                n_jobs=request.jobs,
                random_state=request.seed,
                progress=not request.quiet and sys.stderr.isatty(),
            )
        except (ValueError, MemoryError) as error:
            raise CommandError(in_words_of_options(str(error), target), ExitCode.DATA) from error
    remarks = [
        in_words_of_options(str(w.message), target)
        for w in caught
        if issubclass(w.category, UserWarning)
    ]
    return result, [*question.notes, *dict.fromkeys(remarks)]


def _methods(given: tuple[str, ...]) -> list[str] | None:
    from covmin.evaluation import named_selectors

    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    known = list(named_selectors())
    for name in names:
        if name not in known:
            close = nearest(name, known)
            hint = f"Did you mean {' or '.join(close)}? " if close else ""
            raise CommandError(
                f"--methods: there is no method {name!r}.",
                ExitCode.USAGE,
                f"{hint}The methods are: {', '.join(known)}",
            )
    return names or None


def _sizes(text: str | None, n_features: int) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= n_features for part in parts):
        raise CommandError(
            f"-m {text} is not a list of numbers of features within reach.",
            ExitCode.USAGE,
            f"Give numbers from 1 to {n_features}, separated by commas, such as -m 1,2,5.",
        )
    return [int(part) for part in parts]


def _table(summary: pd.DataFrame, width: int) -> Table:
    """Methods by mean score, with scores at as many numbers of features as there is room for."""
    wide = summary.pivot(index="selector", columns="n_features", values="mean_score")
    wide = wide.loc[wide.mean(axis=1).sort_values(ascending=False, kind="stable").index]
    seconds = summary.groupby("selector")["fit_seconds"].mean()
    # Names, curve and seconds, each with the space after it; a score takes seven characters.
    room = width - max(map(len, wide.index)) - wide.shape[1] - 13
    n_picks = int(np.clip(room // 7 - 1, 2, _COLUMNS))
    picks = np.unique(np.linspace(0, wide.shape[1] - 1, n_picks).round().astype(int))
    low, high = wide.min(axis=None), wide.max(axis=None)
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("method")
    table.add_column("mean", justify="right")
    several = wide.shape[1] > 1
    if several:
        table.add_column(f"{wide.columns[0]} … {wide.columns[-1]}", no_wrap=True)
    for k in picks:
        table.add_column(str(wide.columns[k]), justify="right")
    table.add_column("seconds", justify="right")
    for name, row in wide.iterrows():
        values = row.to_numpy(dtype=float)
        curve = [sparkline(values[np.isfinite(values)], low, high)] if several else []
        cells = [_score(value) for value in (row.mean(), *values[picks])]
        table.add_row(escape(str(name)), cells[0], *curve, *cells[1:], f"{seconds[name]:.2f}")
    return table


def _score(value: float) -> str:
    return "failed" if np.isnan(value) else f"{value:.3f}"


def _as_json(request: CompareRequest, question: Question, result: Any, notes: list[str]) -> str:
    summary = result.summary()
    rows = json.loads(summary.to_json(orient="records"))
    return json.dumps(
        {
            "data": request.source.data,
            "target": str(question.y.name),
            "n_samples": len(question.X),
            "n_features": question.X.shape[1],
            "protocol": str(request.protocol),
            "score": result.score_name,
            "scores": rows,
            "seed": request.seed,
            "notes": notes,
        },
        ensure_ascii=False,
    )


def _check_picture(path: Path | None) -> None:
    check_destination(path)
    if path is not None and path.suffix.lower() not in _PICTURES:
        raise CommandError(
            f"--picture {path.name}: pictures are {', '.join(_PICTURES)}.", ExitCode.OUTPUT
        )


def _draw(result: Any, path: Path, title: str) -> None:
    """Draw to a file, without a window system."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    result.plot(figure.subplots(), title=title)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=150, format=path.suffix[1:].lower())
    write_file(path, buffer.getvalue())
