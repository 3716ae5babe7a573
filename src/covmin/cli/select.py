"""``covmin select`` and ``covmin demo``."""

from __future__ import annotations

import json
import os
import shlex
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from .display import selection_summary
from .errors import CommandError, ExitCode
from .output import check_destination, write_table, written_or_explained
from .problem import (
    Question,
    make_question,
    make_stored_question,
    parse_epsilon,
    parse_size,
)
from .progress import FitProgress
from .tables import Source
from .words import in_words_of_options

if TYPE_CHECKING:
    import pandas as pd

    from covmin import CCMSelector

__all__ = ["SelectRequest", "run_demo", "run_select"]


@dataclass(frozen=True)
class SelectRequest:
    """The options of ``covmin select``, as typed."""

    source: Source
    m: str = "auto"
    task: str = "auto"
    epsilon: str = "auto"
    seed: int = 0
    report: Path | None = None
    output: Path | None = None
    top: int = 20
    max_iter: int = 200
    as_json: bool = False
    quiet: bool = False


def run_select(request: SelectRequest) -> None:
    """Read, fit, print and write what was asked for.

    Parameters
    ----------
    request : SelectRequest
    """
    check_destination(request.report, source=request.source.data)
    check_destination(request.output, table=True, source=request.source.data)
    size, epsilon = parse_size(request.m), parse_epsilon(request.epsilon)
    source = request.source
    with FitProgress(request.quiet) as progress:
        progress.phase(f"Reading {source.data}")
        question, frame = _read(source)
        options = {
            "task": str(request.task),
            "epsilon": epsilon,
            "random_state": request.seed,
            "max_iter": request.max_iter,
            "given": question.given or None,
        }
        answer = fit(question, size, progress, **options)
        if request.output is not None:
            progress.phase(f"Writing {request.output}")
            table = _selected_columns(answer, frame)
            write_table(table, request.output, question.y.name)
        if request.report is not None:
            progress.phase(f"Writing {request.report}")
            separator = None if frame is None else frame.attrs.get("separator")
            code = _code(request, answer, separator)
            save_report(answer, request.report, source.name, code)
    if request.as_json:
        print(json.dumps(answer.as_dict(request), allow_nan=False, ensure_ascii=False))
        return
    show_answer(answer, f"{source.name or 'standard input'}: {answer.title}", request.top)
    for name, path in (("Selected columns", request.output), ("Report", request.report)):
        if path is not None:
            print(f"{name}: {path}")


def _read(source: Source) -> tuple[Question, pd.DataFrame | None]:
    """The question, and the whole table where it is held in memory."""
    if not os.path.isdir(source.data):
        frame = source.read()
        question = make_question(
            frame, source.target, source.drop, source.missing, source.categorical, source.given
        )
        return question, frame
    if source.missing != "error" or source.categorical:
        raise CommandError(
            "--missing and --categorical work on single files.",
            ExitCode.USAGE,
            "Fill or leave out missing values and encode categories before writing the folder.",
        )
    return make_stored_question(source.data, source.target, source.drop, source.given), None


def _selected_columns(answer: Answer, frame: pd.DataFrame | None) -> pd.DataFrame:
    """All samples with the selected columns, in the order of the table, and the target."""
    import numpy as np
    import pandas as pd

    question = answer.question
    wanted = {*answer.selected, question.y.name}
    if frame is not None:
        columns = [name for name in frame.columns if name in wanted]
        return frame.loc[question.X.index, columns]
    assert question.stored is not None
    X, y = question.stored
    narrow = answer.selector.transform(X)
    table = pd.DataFrame(narrow.take(np.arange(X.shape[0])), columns=narrow.names)
    return table.assign(**{str(question.y.name): y})


def run_demo(report: Path, *, seed: int = 0, quiet: bool = False) -> None:
    """Select among the wine measurements and write a report.

    Parameters
    ----------
    report : Path
    seed : int, default=0
    quiet : bool, default=False
    """
    from sklearn.datasets import load_wine

    check_destination(report)
    wine = load_wine(as_frame=True)
    y = wine.target.map(lambda code: f"cultivar {code + 1}").rename("cultivar")
    with FitProgress(quiet) as progress:
        answer = fit(Question(wine.data, y, []), "auto", progress, random_state=seed)
        progress.phase(f"Writing {report}")
        code = _DEMO_CODE.format(seed=seed)
        path = save_report(answer, report, "wine (bundled with scikit-learn)", code)
    show_answer(answer, f"wine: {answer.title}", wine.data.shape[1])
    print(f"\nReport: {path}")


_DEMO_CODE = """\
from sklearn.datasets import load_wine
from covmin import CCMSelector

X, y = load_wine(return_X_y=True, as_frame=True)
selector = CCMSelector(random_state={seed})
selector.fit(X, y)
X_selected = selector.transform(X)"""


@dataclass(frozen=True)
class Answer:
    """A fitted selector, what it was asked and what it remarked."""

    question: Question
    selector: CCMSelector
    notes: list[str]
    warnings: list[str]
    seconds: float

    @property
    def selected(self) -> list[str]:
        """Names of the features kept, those given and then best first."""
        order = self.selector.ranking_.argsort(kind="stable")
        return [self.question.X.columns[j] for j in order if self.selector.support_[j]]

    @property
    def title(self) -> str:
        """What was asked, in a line."""
        n, d = self.question.n_samples, self.question.X.shape[1]
        classes = self.selector.classes_
        kind = "regression" if classes is None else f"{len(classes)} classes"
        features = f"{d} feature{'s' if d > 1 else ''}"
        return f"{n} samples, {features}, target {self.question.y.name} ({kind})"

    def as_dict(self, request: SelectRequest) -> dict[str, Any]:
        """The answer for programs: plain values only."""
        from covmin import __version__
        from covmin.report import error_curve, explain_choice

        selector, names = self.selector, list(self.question.X.columns)
        pairs = selector.interactions_
        return {
            "covmin": __version__,
            "data": request.source.data,
            "target": str(self.question.y.name),
            "task": selector.task_,
            "n_samples": self.question.n_samples,
            "n_features": len(names),
            "n_selected": int(selector.n_features_),
            "why": explain_choice(selector),
            "selected": self.selected,
            "ranking": [
                {
                    "rank": int(selector.ranking_[j]),
                    "feature": names[j],
                    "weight": round(float(selector.weights_[j]), 6),
                    "selected": bool(selector.support_[j]),
                }
                for j in selector.ranking_.argsort(kind="stable")
            ],
            "interactions": [
                {"features": [names[j] for j in pair], "share": float(share), "p_value": float(p)}
                for pair, share, p in zip(pairs.features, pairs.share, pairs.p_value, strict=True)
            ],
            "cross_fitted_error": error_curve(selector),
            "epsilon": float(selector.epsilon_),
            "bandwidth": float(selector.bandwidth_),
            "converged": bool(selector.converged_),
            "seed": request.seed,
            "seconds": round(self.seconds, 3),
            "notes": self.notes,
            "warnings": self.warnings,
            "report": str(request.report) if request.report else None,
            "output": str(request.output) if request.output else None,
        }


def fit(question: Question, size: Any, progress: FitProgress, **options: Any) -> Answer:
    """Fit the selector and collect its remarks.

    Parameters
    ----------
    question : Question
    size : int, float or "auto"
        Number of features to keep.
    progress : FitProgress
        Told of every step.
    **options
        Parameters of the selector.

    Returns
    -------
    Answer
    """
    from covmin import CCMSelector
    from covmin.data.responses import ordered_levels

    selector = CCMSelector(size, **options)
    target = str(question.y.name)
    progress.phase("Ranking on folds" if size == "auto" else "Ranking")
    # An array has no order of classes, which Parquet and Feather files keep.
    y = question.y.to_numpy() if ordered_levels(question.y) is None else question.y
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            samples = question.stored or (question.X, y)
            selector.set_params(callback=progress).fit(*samples)
        except (ValueError, MemoryError) as error:
            message = in_words_of_options(str(error), target)
            raise CommandError(message, ExitCode.DATA) from error
    selector.set_params(callback=None)
    remarks = [
        in_words_of_options(str(w.message), target)
        for w in caught
        if issubclass(w.category, UserWarning)
    ]
    notes = [*question.notes, *dict.fromkeys(remarks)]
    seconds = time.perf_counter() - start
    return Answer(question, selector, notes, _data_warnings(question, selector), seconds)


def _data_warnings(question: Question, selector: CCMSelector) -> list[str]:
    """What the columns themselves give reason to doubt, in words."""
    from covmin.report import check_data

    names = list(question.X.columns)
    found = check_data(selector, question.X, question.y.to_numpy(), names)
    return [f"{item['title']}: {_named(item, names)}{item['text']}" for item in found]


def _named(item: dict[str, Any], names: list[str]) -> str:
    """The columns of a warning whose text does not name them."""
    columns = [names[j] for j in item["features"]]
    if all(f"“{name}”" in item["text"] for name in columns):
        return ""
    return f"{', '.join(columns)}. "


def save_report(answer: Answer, path: Path, source: str | None, code: str) -> Path:
    """Write the HTML report on an answer.

    Parameters
    ----------
    answer : Answer
    path : Path
    source : str or None
        Where the data came from.
    code : str
        What repeats the fit.

    Returns
    -------
    Path
    """
    from covmin.report import write_report

    try:
        with written_or_explained(path):
            return write_report(
                answer.selector,
                answer.question.X,
                answer.question.y.to_numpy(),
                path,
                feature_names=list(answer.question.X.columns),
                target_name=str(answer.question.y.name),
                source=source,
                notes=answer.notes,
                code=code,
            )
    except ImportError as error:
        raise CommandError(str(error), ExitCode.FAILURE) from error


def _code(request: SelectRequest, answer: Answer, separator: str | None) -> str:
    """Python that repeats a fit on a whole table; the command, where it did more than read it."""
    from covmin.report import reproduction_code

    source = request.source
    plain = source.header and source.decimal is None and source.fmt is None
    chosen = source.drop or source.categorical or source.given
    if plain and not chosen and not answer.question.notes:
        target = str(answer.question.y.name)
        return reproduction_code(answer.selector, target, source.name, separator)
    words = ["covmin", "select", source.data, "--target", str(answer.question.y.name)]
    words += [word for name in source.drop for word in ("--drop", name)]
    words += [word for name in source.categorical for word in ("--categorical", name)]
    words += [word for name in source.given for word in ("--given", name)]
    words += ["--format", str(source.fmt)] if source.fmt else []
    words += ["--missing", str(source.missing)] if source.missing != "error" else []
    words += ["--no-header"] if not source.header else []
    words += ["--decimal", str(source.decimal)] if source.decimal else []
    words += ["-m", request.m, "--task", str(request.task), "--epsilon", request.epsilon]
    return shlex.join([*words, "--max-iter", str(request.max_iter), "--seed", str(request.seed)])


def show_answer(answer: Answer, title: str, top: int) -> None:
    """Print the ranking, the choice and the remarks.

    Parameters
    ----------
    answer : Answer
    title : str
    top : int
        Most rows of the ranking.
    """
    console = Console()
    console.print(selection_summary(answer.selector, list(answer.question.X.columns), title, top))
    for warning in answer.warnings:
        console.print(f"Warning: {warning}", style="yellow", markup=False, highlight=False)
    for note in answer.notes:
        console.print(f"Note: {note}", style="dim", markup=False, highlight=False)
