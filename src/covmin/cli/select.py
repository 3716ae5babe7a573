"""``covmin select`` and ``covmin demo``."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.console import Console

from .display import Asked, selection_summary, show_files, show_json, show_remarks
from .errors import CommandError, ExitCode
from .formats import format_of
from .method import selector_arguments, words_for
from .output import check_destination, write_table, written_or_explained
from .problem import Question, make_question, make_stored_question
from .progress import FitProgress
from .tables import Source
from .words import explained

if TYPE_CHECKING:
    import pandas as pd

    from covmin import CCMSelector

_BY_COMMAND = ("json", "excel", "sqlite")
_DEMO_CODE = """\
from sklearn.datasets import load_wine
from covmin import CCMSelector

X, y = load_wine(return_X_y=True, as_frame=True)
selector = CCMSelector(random_state={seed})
selector.fit(X, y)
X_selected = selector.transform(X)"""


@dataclass(frozen=True)
class SelectRequest:
    """The options of ``covmin select``, as typed."""

    source: Source
    # By their names in ``set_params``.
    parameters: dict[str, Any] = field(default_factory=dict)
    report: Path | None = None
    output: Path | None = None
    top: int = 20
    as_json: bool = False
    quiet: bool = False
    estimate: bool = False


def run_select(request: SelectRequest) -> None:
    """Read, fit, print and write what was asked for."""
    source = request.source
    check_destination(request.report, source.data)
    check_destination(request.output, source.data, table=True)
    check_destination(request.parameters.get("long_run__checkpoint"), source.data)
    arguments = selector_arguments(request.parameters)
    with FitProgress(request.quiet, only_plan=request.estimate) as progress:
        progress.phase(f"Reading {source.data}")
        question, frame = _read(source)
        _check_task(arguments.get("task", "auto"), question)
        columns = {"given": question.given, "groups": question.groups}
        arguments |= {name: value for name, value in columns.items() if value}
        arguments |= {"missing": "error"} if source.missing == "error" else {}
        if question.column_types != "auto":
            arguments["column_types"] = question.column_types
        answer = _fit(question, progress, arguments)
        if request.output is not None:
            progress.phase(f"Writing {request.output}")
            write_table(_selected_columns(answer, frame), request.output, question.target)
        separator = None if frame is None else frame.attrs.get("separator")
        code = _code(request, answer, separator)
        if request.report is not None:
            progress.phase(f"Writing {request.report}")
            _save_report(answer, request.report, source.name, code)
    if request.as_json:
        show_json(_as_dict(request, answer, code))
        return
    _show(answer, source.name or "standard input", request.top)
    show_files(Selected_columns=request.output, Report=request.report)


def run_demo(report: Path, *, seed: int = 0, quiet: bool = False) -> None:
    """Select among the wine measurements and write a report."""
    from sklearn.datasets import load_wine

    check_destination(report)
    wine = load_wine(as_frame=True)
    y = wine.target.map(lambda code: f"cultivar {code + 1}").rename("cultivar")
    with FitProgress(quiet) as progress:
        answer = _fit(Question(wine.data, y, []), progress, {"random_state": seed})
        progress.phase(f"Writing {report}")
        code = _DEMO_CODE.format(seed=seed)
        path = _save_report(answer, report, "wine (bundled with scikit-learn)", code)
    _show(answer, "wine", wine.data.shape[1])
    print()
    show_files(Report=path)


@dataclass(frozen=True)
class Answer:
    """A fitted selector, what it was asked and what it remarked."""

    question: Question
    selector: CCMSelector
    notes: list[str]
    warnings: list[str]
    seconds: float

    @property
    def order(self) -> np.ndarray:
        """Numbers of the features, those given and then best first."""
        return np.argsort(self.selector.ranking_, kind="stable")

    @property
    def selected(self) -> list[str]:
        """Names of the features kept, those given and then best first."""
        return [self.question.names[j] for j in self.order if self.selector.support_[j]]


def _read(source: Source) -> tuple[Question, pd.DataFrame | None]:
    """The question, and the whole table where it is held in memory."""
    if not os.path.isdir(source.data):
        frame = source.read()
        return make_question(frame, source), frame
    if source.missing in ("rows", "columns") or source.categorical or source.kinds or source.event:
        raise CommandError(
            "--missing rows, --missing columns, --categorical, --as and --event work on single "
            "files.",
            ExitCode.USAGE,
            "Leave out rows or columns and encode categories before writing the folder.",
        )
    return make_stored_question(source), None


def _check_task(task: str, question: Question) -> None:
    """Refuse times without events, and events without times."""
    if task == "survival" and question.event is None:
        raise CommandError(
            "--task survival needs to know which times are those of events.",
            ExitCode.USAGE,
            "Name the column that says so with --event, such as --event died or --event status=2.",
        )
    if task not in ("auto", "survival") and question.event is not None:
        raise CommandError(
            f"--event is for times to an event, and --task is {task}.",
            ExitCode.USAGE,
            "Leave one of them out.",
        )


def _fit(question: Question, progress: FitProgress, arguments: dict[str, Any]) -> Answer:
    """Fit the selector and collect its remarks."""
    from covmin import CCMSelector, LongRun

    long_run = replace(arguments.get("long_run", LongRun()), callback=progress)
    selector = CCMSelector(**arguments | {"long_run": long_run, "verbose": 0})
    chosen = selector.n_features_to_select == "auto"
    progress.phase("Ranking on folds" if chosen else "Ranking")
    start = time.perf_counter()
    try:
        with explained(question.target) as remarks:
            selector.fit(*(question.stored or (question.X, question.response)))
    except KeyboardInterrupt:
        if long_run.checkpoint is not None and os.path.exists(long_run.checkpoint):
            typer.echo(f"The same command goes on from {long_run.checkpoint}.", err=True)
        raise
    selector.set_params(long_run=None)
    gaps = (str(each.choice) for each in selector.plan_.decisions if each.topic == "missing values")
    kept = [
        f"Values are missing in {columns}. This counts where it says something." for columns in gaps
    ]
    notes = [*question.notes, *kept, *remarks, *_readings(selector)]
    seconds = time.perf_counter() - start
    return Answer(question, selector, notes, _data_warnings(question, selector), seconds)


def _readings(selector: CCMSelector) -> list[str]:
    """What columns were taken for; of those left out there was a warning."""
    from covmin.data.encoding import summary
    from covmin.data.kinds import LEFT_OUT

    return summary([each for each in selector.plan_.readings if each.kind not in LEFT_OUT])


def _data_warnings(question: Question, selector: CCMSelector) -> list[str]:
    """What the columns themselves give reason to doubt, in words."""
    from covmin.data.checks import shortened
    from covmin.report import check_data

    said = []
    for item in check_data(selector, question.X, np.asarray(question.response), question.names):
        names = [shortened(question.names[j]) for j in item["features"]]
        told = all(f"“{name}”" in item["text"] for name in names)
        said.append(f"{item['title']}: {'' if told else ', '.join(names) + '. '}{item['text']}")
    return said


def _selected_columns(answer: Answer, frame: pd.DataFrame | None) -> pd.DataFrame:
    """All samples with the selected columns, in the order of the table, and the target."""
    import pandas as pd

    question = answer.question
    if frame is not None:
        wanted = {*answer.selected, question.target, question.event_name}
        return frame.loc[question.X.index, [name for name in frame.columns if name in wanted]]
    assert question.stored is not None
    X, y = question.stored
    narrow = answer.selector.transform(X)
    table = pd.DataFrame(narrow.take(np.arange(X.shape[0])), columns=narrow.names)
    return table.assign(**{question.target: y})


def _save_report(answer: Answer, path: Path, source: str | None, code: str) -> Path:
    """Write the HTML report: where the data came from, and the code that repeats the fit."""
    from covmin.report import write_report

    question = answer.question
    with written_or_explained(path):
        return write_report(
            answer.selector,
            question.X,
            np.asarray(question.response),
            path,
            feature_names=question.names,
            target_name=question.target,
            source=source,
            notes=answer.notes,
            code=code,
        )


def _code(request: SelectRequest, answer: Answer, separator: str | None) -> str:
    """Python that repeats a fit on a whole table; the command, where it did more than read it."""
    from covmin.report import reproduction_code

    source, target = request.source, answer.question.target
    typed = {
        "--event": [source.event] if source.event else [],
        "--drop": source.drop or [],
        "--categorical": source.categorical or [],
        "--as": source.kinds or [],
        "--given": source.given or [],
        "--groups": source.groups or [],
        "--format": [source.fmt] if source.fmt else [],
        "--missing": [source.missing] if source.missing != "keep" else [],
        "--decimal": [source.decimal] if source.decimal else [],
        "--encoding": [source.encoding] if source.encoding else [],
        "--table": [source.table] if source.table else [],
        "--query": [source.query] if source.query else [],
    }
    # Of what pandas does not read by one plain call, the command says how.
    plain = source.name is None or format_of(Path(source.name))[0] not in _BY_COMMAND
    if plain and source.header and not any(typed.values()) and not answer.question.notes:
        return reproduction_code(answer.selector, target, source.name, separator)
    words = ["covmin", "select", source.data, "--target", target]
    words += [word for option, values in typed.items() for v in values for word in (option, v)]
    words += ["--no-header"] if not source.header else []
    words += ["--strict"] if source.strict else []
    return shlex.join([*words, *words_for(request.parameters)])


def _show(answer: Answer, source: str, top: int) -> None:
    """Print the ranking, the choice and the remarks."""
    question = answer.question
    asked = Asked(source, question.n_samples, question.names, question.target, question.y)
    Console().print(selection_summary(answer.selector, asked, top))
    show_remarks("Warning", answer.warnings, "yellow")
    show_remarks("Note", answer.notes, "dim")


def _as_dict(request: SelectRequest, answer: Answer, code: str) -> dict[str, Any]:
    """The answer for programs: plain values only."""
    from covmin import __version__
    from covmin.report import error_curve, explain_choice, verdict

    selector, names = answer.selector, answer.question.names
    pairs, found = selector.interactions_, selector.substitutes_ or {}
    return {
        "covmin": __version__,
        "data": request.source.data,
        "target": answer.question.target,
        "event": answer.question.event_name,
        "task": selector.task_,
        "n_samples": answer.question.n_samples,
        "n_features": len(names),
        "n_selected": int(selector.n_features_),
        "verdict": str(verdict(selector, answer.question.target)),
        "why": explain_choice(selector),
        "selected": answer.selected,
        "ranking": [
            {
                "rank": int(selector.ranking_[j]),
                "feature": names[j],
                "weight": round(float(selector.weights_[j]), 6),
                "selected": bool(selector.support_[j]),
            }
            for j in answer.order
        ],
        "interactions": [
            {"features": [names[j] for j in pair], "share": float(share), "p_value": float(p)}
            for pair, share, p in zip(pairs.features, pairs.share, pairs.p_value, strict=True)
        ],
        "spread": [
            {"feature": names[j], "share": float(share), "p_value": float(p)}
            for j, share, p in zip(*selector.spread_.values(), strict=True)
        ],
        "substitutes": [
            {key: names[x] if isinstance(x, int) else x for key, x in zip(found, row, strict=True)}
            for row in zip(*(column.tolist() for column in found.values()), strict=True)
        ],
        "cross_fitted_error": error_curve(selector),
        "kernel": selector.kernel_,
        "epsilon": float(selector.epsilon_),
        "bandwidth": float(selector.bandwidth_),
        "converged": bool(selector.converged_),
        "seed": selector.random_state,
        "code": code,
        "seconds": round(answer.seconds, 3),
        "notes": answer.notes,
        "warnings": answer.warnings,
        "report": str(request.report) if request.report else None,
        "output": str(request.output) if request.output else None,
    }
