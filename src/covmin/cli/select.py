"""``covmin select`` and ``covmin demo``."""

from __future__ import annotations

import os
import shlex
import time
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.console import Console

from .display import show_files, show_json, show_remarks, show_selection
from .errors import CommandError, ExitCode
from .formats import format_of
from .method import selector_arguments, words_for
from .output import check_destination, write_table, written_or_explained
from .problem import Dataset, make_dataset, open_stored_dataset
from .result_json import result_as_dict
from .tables import Source
from .verdicts import check_rate, fit_verdicts, verdict_table
from .words import explained

if TYPE_CHECKING:
    import pandas as pd

    from covmin import CCMSelector, VerdictSelector

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
    # Parameters of the selector, named as in ``set_params``.
    parameters: dict[str, Any] = field(default_factory=dict)
    report: Path | None = None
    output: Path | None = None
    top: int = 20
    as_json: bool = False
    quiet: bool = False
    fdr: float | None = None  # of verdicts; None for no verdicts


def run_select(request: SelectRequest) -> None:
    """Read the table, fit the selector, and print and write the results."""
    source = request.source
    check_destination(request.report, source.data)
    check_destination(request.output, source.data, table=True)
    check_destination(request.parameters.get("long_run__checkpoint"), source.data)
    arguments = selector_arguments(request.parameters)
    check_rate(request.fdr)
    dataset, frame = _read(source)
    _check_task(arguments.get("task", "auto"), dataset)
    columns = {"given": dataset.given, "feature_groups": dataset.groups}
    arguments |= {name: value for name, value in columns.items() if value}
    arguments |= {"column_types": "strict"} if source.missing == "error" else {}
    if dataset.column_types != "auto":
        arguments["column_types"] = dataset.column_types
    result = _fit(dataset, arguments, quiet=request.quiet)
    if request.fdr is not None:
        verdicts = fit_verdicts(dataset, request.fdr, arguments, quiet=request.quiet)
        result = replace(result, verdicts=verdicts)
    if request.output is not None:
        write_table(_selected_columns(result, frame), request.output, dataset.target)
    separator = None if frame is None else frame.attrs.get("separator")
    code = _code(request, result, separator)
    if request.report is not None:
        _save_report(result, request.report, source.name, code)
    if request.as_json:
        show_json(result_as_dict(request, result, code))
        return
    _show(result, source.name or "standard input", request.top)
    show_files(Selected_columns=request.output, Report=request.report)


def run_demo(report: Path, *, seed: int = 0, quiet: bool = False) -> None:
    """Select features of the wine data and write a report."""
    from sklearn.datasets import load_wine

    check_destination(report)
    wine = load_wine(as_frame=True)
    y = wine.target.map(lambda code: f"cultivar {code + 1}").rename("cultivar")
    result = _fit(Dataset(wine.data, y, []), {"random_state": seed}, quiet=quiet)
    code = _DEMO_CODE.format(seed=seed)
    path = _save_report(result, report, "wine (bundled with scikit-learn)", code)
    _show(result, "wine", wine.data.shape[1])
    print()
    show_files(Report=path)


@dataclass(frozen=True)
class SelectResult:
    """A fitted selector with its data, notes and warnings."""

    dataset: Dataset
    selector: CCMSelector
    notes: list[str]
    warnings: list[str]
    seconds: float
    summary: dict[str, Any]
    verdicts: VerdictSelector | None = None

    @property
    def order(self) -> np.ndarray:
        """Indices of the features: given ones, then best first."""
        return np.argsort(self.selector.ranking_, kind="stable")

    @property
    def selected(self) -> list[str]:
        """Names of the selected features: given ones, then best first."""
        return [self.dataset.names[j] for j in self.order if self.selector.support_[j]]


def _read(source: Source) -> tuple[Dataset, pd.DataFrame | None]:
    """Return the data, and the whole table if it is in memory."""
    if not os.path.isdir(source.data):
        frame = source.read()
        return make_dataset(frame, source), frame
    if source.missing in ("rows", "columns") or source.categorical or source.kinds or source.event:
        raise CommandError(
            "--missing rows, --missing columns, --categorical, --as and --event work on single "
            "files.",
            ExitCode.USAGE,
            "Drop rows or columns and encode categories before writing the folder.",
        )
    return open_stored_dataset(source), None


def _check_task(task: str, dataset: Dataset) -> None:
    """Raise an error for survival times without events, or events without times."""
    if task == "survival" and dataset.event is None:
        raise CommandError(
            "--task survival requires an event indicator.",
            ExitCode.USAGE,
            "Specify its column with --event, such as --event died or --event status=2.",
        )
    if task not in ("auto", "survival") and dataset.event is not None:
        raise CommandError(
            f"--event is for survival times, but --task is {task}.",
            ExitCode.USAGE,
            "Omit one of them.",
        )


def _fit(dataset: Dataset, arguments: dict[str, Any], *, quiet: bool) -> SelectResult:
    """Fit the selector and collect its warnings."""
    from covmin import CCMSelector, LongRun
    from covmin.data import TableOptions, read
    from covmin.remarks import silenced
    from covmin.selection.summary import summary

    long_run = arguments.get("long_run", LongRun())
    selector = CCMSelector(**arguments | {"verbose": 0 if quiet else "auto"})
    start = time.perf_counter()
    try:
        # The warnings about the data name the constant columns.
        with explained(dataset.target) as remarks, silenced("constant-columns"):
            selector.fit(*(dataset.stored or (dataset.X, dataset.response)))
    except KeyboardInterrupt:
        if long_run.checkpoint is not None and os.path.exists(long_run.checkpoint):
            typer.echo(f"The same command resumes from {long_run.checkpoint}.", err=True)
        raise
    selector.set_params(long_run=None)
    gaps = (str(each.choice) for each in selector.plan_.decisions if each.topic == "missing values")
    kept = [f"Missing values in {columns}. They are used as information." for columns in gaps]
    notes = [*dataset.notes, *kept, *remarks, *_readings(selector)]
    seconds = time.perf_counter() - start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has already issued them
        table = read(*(dataset.stored or (dataset.X, dataset.response)), TableOptions.of(selector))
    found = summary(selector, table, target=dataset.target)
    warned = _data_warnings(dataset, selector)
    return SelectResult(dataset, selector, notes, warned, seconds, found)


def _readings(selector: CCMSelector) -> list[str]:
    """Describe how columns were read; excluded columns already have a warning."""
    from covmin.data.encoding import summary
    from covmin.data.kinds import LEFT_OUT

    return summary([each for each in selector.plan_.readings if each.kind not in LEFT_OUT])


def _data_warnings(dataset: Dataset, selector: CCMSelector) -> list[str]:
    """Return warnings about the data."""
    from covmin.report import check_data
    from covmin.text import shortened

    said = []
    for item in check_data(selector, dataset.X, np.asarray(dataset.response)):
        names = [shortened(dataset.names[j]) for j in item["features"]]
        told = all(f"“{name}”" in item["text"] for name in names)
        said.append(f"{item['title']}: {'' if told else ', '.join(names) + '. '}{item['text']}")
    return said


def _selected_columns(result: SelectResult, frame: pd.DataFrame | None) -> pd.DataFrame:
    """Return all samples with the selected columns, in table order, and the target."""
    import pandas as pd

    dataset = result.dataset
    if frame is not None:
        wanted = {*result.selected, dataset.target, dataset.event_name}
        return frame.loc[dataset.X.index, [name for name in frame.columns if name in wanted]]
    assert dataset.stored is not None
    X, y = dataset.stored
    narrow = result.selector.transform(X)
    table = pd.DataFrame(narrow.take(np.arange(X.shape[0])), columns=narrow.names)
    return table.assign(**{dataset.target: y})


def _save_report(result: SelectResult, path: Path, source: str | None, code: str) -> Path:
    """Write the HTML report, with the source of the data and code that repeats the fit."""
    from covmin.report import write_report

    dataset = result.dataset
    with written_or_explained(path):
        return write_report(
            result.selector,
            dataset.X,
            np.asarray(dataset.response),
            path,
            feature_names=dataset.names,
            target_name=dataset.target,
            source=source,
            notes=result.notes,
            code=code,
            verdicts=result.verdicts,
        )


def _code(request: SelectRequest, result: SelectResult, separator: str | None) -> str:
    """Return Python code that repeats the fit, or the command if reading needs more."""
    from covmin.report import reproduction_code

    source, target = request.source, result.dataset.target
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
    # Use the command if pandas cannot read the table with one plain call.
    plain = source.name is None or format_of(Path(source.name))[0] not in _BY_COMMAND
    if plain and source.header and not any(typed.values()) and not result.dataset.notes:
        return reproduction_code(result.selector, target, source.name, separator)
    words = ["covmin", "select", source.data, "--target", target]
    words += [word for option, values in typed.items() for v in values for word in (option, v)]
    words += ["--no-header"] if not source.header else []
    words += ["--strict"] if source.strict else []
    words += [] if request.fdr is None else ["--fdr", f"{request.fdr:g}"]
    return shlex.join([*words, *words_for(request.parameters)])


def _show(result: SelectResult, source: str, top: int) -> None:
    """Print the ranking, the choice, warnings and notes."""
    dataset = result.dataset
    selection = show_selection(result.summary, result.selector, source, dataset.names, top)
    Console().print(selection)
    if result.verdicts is not None:
        Console().print(verdict_table(result.verdicts, dataset.names, top))
    show_remarks("Warning", result.warnings, "yellow")
    show_remarks("Note", result.notes, "dim")
