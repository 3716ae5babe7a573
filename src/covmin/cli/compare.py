"""``covmin compare``."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from covmin.text import printable

from .columns import did_you_mean, nearest
from .display import BARE, show_files, show_json, show_remarks, sparkline
from .errors import CommandError, ExitCode
from .options import parse_sizes
from .output import check_destination, write_file, write_table
from .problem import Dataset, make_dataset
from .tables import Source
from .words import explained

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = 6
_PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class CompareRequest:
    """The options of ``covmin compare``, as typed."""

    source: Source
    methods: list[str] | None = None
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
    scoring: str | None = None
    seconds: float | None = None


def run_compare(request: CompareRequest) -> None:
    """Read the table, compare the methods, and print and write the results."""
    from covmin.evaluation import compare_selectors

    source, picture = request.source, request.picture
    check_destination(request.output, source.data, table=True)
    check_destination(picture, source.data)
    if picture is not None and picture.suffix.lower() not in _PICTURES:
        message = f"--picture {picture.name}: use a name that ends in {', '.join(_PICTURES)}."
        raise CommandError(message, ExitCode.OUTPUT)
    methods = _methods(request.methods)
    _check_scoring(request.scoring)
    dataset = make_dataset(source.read(), source)
    with explained(dataset.target) as remarks:
        result = compare_selectors(
            dataset.X,
            dataset.y.to_numpy(),
            methods,
            protocol=str(request.protocol),
            n_features=parse_sizes(request.m, dataset.X.shape[1]),
            cv=request.cv,
            n_repeats=request.repeats,
            task=str(request.task),
            scoring=request.scoring,
            seconds=request.seconds,
            column_types=dataset.column_types,
            n_jobs=request.jobs,
            random_state=request.seed,
            progress=not request.quiet and sys.stderr.isatty(),
        )
    notes = [*dataset.notes, *remarks]
    if request.output is not None:
        write_table(result.frame, request.output)
    if picture is not None:
        _draw(result, picture, f"{source.name or 'standard input'}: {dataset.target}")
    if request.as_json:
        show_json(_as_dict(request, dataset, result, notes))
        return
    console = Console()
    title = f"{result.score_name} by number of features, {request.protocol} protocol"
    console.print(title, style="bold", highlight=False)
    console.print(_table(result.summary(), console.width, result.unfinished))
    show_remarks("Note", notes, "yellow")
    show_files(Scores=request.output, Picture=picture)


def _methods(given: list[str] | None) -> list[str] | None:
    from covmin.evaluation import named_selectors

    names = [name.strip() for text in given or () for name in text.split(",") if name.strip()]
    known = list(named_selectors())
    for name in names:
        if name not in known:
            raise CommandError(
                f"--methods: there is no method {name!r}.",
                ExitCode.USAGE,
                f"{did_you_mean(nearest(name, known))}Available methods: {', '.join(known)}",
            )
    return names or None


def _check_scoring(name: str | None) -> None:
    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if name is not None and name not in known:
        raise CommandError(
            f"--scoring: there is no score {name!r}.",
            ExitCode.USAGE,
            f"{did_you_mean(nearest(name, known))}Available scores: {', '.join(known)}",
        )


def _table(summary: pd.DataFrame, width: int, unfinished: Collection[str] = ()) -> Table:
    """Return the methods by mean score, with as many numbers of features as fit the width."""
    wide = summary.pivot(index="selector", columns="n_features", values="mean_score")
    wide = wide.loc[wide.mean(axis=1).sort_values(ascending=False, kind="stable").index]
    seconds = summary.groupby("selector")["fit_seconds"].mean()
    # Names, curve and seconds, each followed by a space; a score takes seven characters.
    room = width - max(map(len, wide.index)) - wide.shape[1] - 13
    n_picks = int(np.clip(room // 7 - 1, 2, _COLUMNS))
    picks = np.unique(np.linspace(0, wide.shape[1] - 1, n_picks).round().astype(int))
    low, high = wide.min(axis=None), wide.max(axis=None)
    table = Table(**BARE)
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
        scores = (row.mean(), *values[picks])
        missing = "no time" if name in unfinished else "failed"
        cells = [missing if np.isnan(score) else f"{score:.3f}" for score in scores]
        took = "" if np.isnan(seconds[name]) else f"{seconds[name]:.2f}"
        table.add_row(str(name), cells[0], *curve, *cells[1:], took)
    return table


def _as_dict(request: CompareRequest, dataset: Dataset, result: Any, notes: list[str]) -> Any:
    """Return the results for --json, as plain values."""
    return {
        "data": request.source.data,
        "target": dataset.target,
        "n_samples": len(dataset.X),
        "n_features": dataset.X.shape[1],
        "protocol": str(request.protocol),
        "score": result.score_name,
        "scores": json.loads(result.summary().to_json(orient="records")),
        "unfinished": list(result.unfinished),
        "seed": request.seed,
        "notes": notes,
    }


def _draw(result: Any, path: Path, title: str) -> None:
    """Save the figure to a file, without a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    # matplotlib would read text between dollar signs as a formula.
    result.plot(figure.subplots(), title=printable(title).replace("$", r"\$"))
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=150, format=path.suffix[1:].lower())
    write_file(path, buffer.getvalue())
