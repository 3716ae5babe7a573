"""``covmin select`` and ``covmin demo``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from covmin.remarks import remark_of

from .columns import ColumnOptions, Dataset, find_roles, make_dataset
from .display import show_files, show_json, show_selection
from .errors import UsageError, did_you_mean, errors_explained, told, warnings_collected
from .files import FileOptions, check_destination, errors_of_writing, read_file, write_table

if TYPE_CHECKING:
    import pandas as pd

    from covmin import CCMSelector
    from covmin.data import Table


def run_select(
    file: FileOptions,
    columns: ColumnOptions,
    parameters: dict[str, Any],
    *,
    command: str,
    report: Path | None = None,
    output: Path | None = None,
    as_json: bool = False,
    fdr: float | None = None,
) -> None:
    """Read the table, fit the selector, and print and write the results."""
    check_destination(report, file.data)
    check_destination(output, file.data, table=True)
    if checkpoint := parameters.get("long_run__checkpoint"):
        check_destination(Path(checkpoint), file.data)
    if fdr is not None and not 0.0 < fdr < 1.0:
        hint = "It is the fraction of false discoveries to allow, such as --fdr 0.1."
        raise UsageError(f"--fdr {fdr:g} is not between 0 and 1.", hint)
    selector = make_selector(parameters)
    if os.path.isdir(file.data):
        dataset, frame = _open_folder(file, columns), None
    else:
        read = read_file(file)
        dataset, frame = make_dataset(read, columns), read.frame
    table, results, write_report = fit(selector, dataset, fdr)
    if output is not None:
        write_table(_selected_columns(selector, table, frame, dataset), output)
    if report is not None:
        write_report(report, source=file.shown, code=command)
    if not as_json:
        show_selection(results, file.shown, fdr)
        show_files(Selected_columns=output, Report=report)
        return
    from covmin import __version__

    show_json(
        {"covmin": __version__, "data": file.data, "event": dataset.event}
        | results
        | {"code": command, "seed": selector.random_state}
        | {"report": report and str(report), "output": output and str(output)}
    )


def run_demo(report: Path, quiet: bool) -> None:
    """Select features of the wine data and write a report."""
    from sklearn.datasets import load_wine

    check_destination(report)
    wine = load_wine(as_frame=True)
    y = wine.target.map(lambda code: f"cultivar {code + 1}").to_numpy()
    dataset = Dataset("cultivar", list(wine.data), X=wine.data, y=y)
    selector = make_selector({"random_state": 0, "verbose": 0 if quiet else "auto"})
    _, results, write_report = fit(selector, dataset)
    write_report(report, source="wine (bundled with scikit-learn)", code="covmin demo")
    show_selection(results, "wine")
    print()
    show_files(Report=report)


def make_selector(parameters: dict[str, Any]) -> CCMSelector:
    """Return a selector with parameters named as in ``set_params``.

    Invalid names and values raise an error before any data are read.
    """
    from covmin import CCMSelector, Formulation, LongRun
    from covmin.core.kernels import KERNELS
    from covmin.plan.formulation import formulation_of
    from covmin.plan.rules import kernel_of

    full = CCMSelector(formulation=Formulation(), long_run=LongRun())
    known = {*full.get_params(), *(f"kernel__{n}" for k in KERNELS.values() for n in vars(k()))}
    for name, value in parameters.items():
        if name not in known:
            hint = f"{did_you_mean(name, known)}Available are: {', '.join(sorted(known))}"
            raise UsageError(f"--set: there is no parameter {name!r}.", hint)
        with errors_explained(UsageError, name):
            if "__" not in name:
                CCMSelector(**{name: value})._validate_params()
    with errors_explained(UsageError):
        selector = CCMSelector().set_params(**parameters)
        kernel_of(selector.kernel, formulation_of(selector.formulation))
        if selector.long_run is not None:
            selector.long_run.check()
    return selector


def fit(
    selector: CCMSelector, dataset: Dataset, fdr: float | None = None
) -> tuple[Table, dict[str, Any], Callable[..., None]]:
    """Return the table, read once, a summary of the fit, and a function that writes the report."""
    from sklearn.model_selection import TimeSeriesSplit

    from covmin import VerdictSelector
    from covmin.data import TableOptions, read
    from covmin.inference.verdicts import verdict_rows
    from covmin.report.checks import check_data
    from covmin.report.view import View
    from covmin.selection.summary import Explained, summary

    start, verdicts = time.perf_counter(), None
    with errors_explained(), warnings_collected() as caught:
        selector.set_params(**dataset.parameters)
        if dataset.time is not None:
            selector.set_params(cv=TimeSeriesSplit())
        options = TableOptions.of(selector)
        table = read(dataset.X, dataset.y, options, groups=dataset.groups)
        try:
            selector.fit(table, None)
        except KeyboardInterrupt:
            checkpoint = getattr(selector.long_run, "checkpoint", None)
            if checkpoint is not None and os.path.exists(checkpoint):
                typer.echo(f"The same command resumes from {checkpoint}.", err=True)
            raise
        n_caught = len(caught)  # the rest repeats what the fit has said
        explained = Explained(selector, table)
        found = summary(selector, table, target=dataset.target, explained=explained)
        if fdr is not None:
            verdicts = VerdictSelector(fdr=fdr)
            shared = selector.get_params(deep=False).keys() & verdicts.get_params(deep=False).keys()
            verdicts.set_params(**{name: getattr(selector, name) for name in shared})
            verdicts.fit(table, None)
        checked = check_data(selector, View(selector, table), explained)
    results = found | {
        "selected": [row["name"] for row in found["features"] if row["kept"]],
        "verdicts": None if verdicts is None else verdict_rows(verdicts),
        "notes": [*dataset.notes, *_notes(found, caught[:n_caught])],
        "warnings": [f"{each['title']} {each['text']}" for each in checked],
        "seconds": round(time.perf_counter() - start, 3),
    }

    def write_report(path: Path, **about: Any) -> None:
        about |= {"found": results, "warnings": checked, "verdicts": verdicts}
        with errors_of_writing(path):
            selector.report(path, table, target_name=dataset.target, **about)

    return table, results, write_report


def _notes(found: dict[str, Any], caught: list[Any]) -> list[str]:
    """Return what the fit remarked that nothing else says, and how columns were read."""
    remarks = [remark_of(each.message) for each in caught]
    elsewhere = ("constant-columns", "leak", "possible-identifiers")
    said = [told(each) for each in remarks if each.code not in elsewhere]
    return [*dict.fromkeys(said), *found["notes"]]


def _open_folder(file: FileOptions, options: ColumnOptions) -> Dataset:
    """Open a folder of Parquet files, to be read in blocks."""
    from covmin import open_parquet
    from covmin.data.blocks.parquet import parquet_columns

    of_rows = options.event or options.row_groups or options.time
    if options.kinds or of_rows:
        text = "--as, --event, --row-groups and --time work on single files."
        raise UsageError(text, "Drop rows or columns and encode categories before writing it.")
    with errors_explained():
        roles = find_roles(parquet_columns(file.data), options)
        X, y = open_parquet(file.data, roles.target, roles.features)
    return replace(roles, X=X, y=y)


def _selected_columns(
    selector: CCMSelector, read: Table, frame: pd.DataFrame | None, roles: Dataset
) -> pd.DataFrame:
    """Return the samples with the selected columns, in table order, and the target."""
    import pandas as pd

    (X, y), rows = read.passed, read.row
    if frame is None:
        narrow = selector.transform(X)
        table = pd.DataFrame(narrow.take(rows), columns=narrow.names)
        return table.assign(**{roles.target: np.asarray(y)[rows]})
    wanted = {*np.array(roles.features)[selector.get_support()], roles.target, roles.event}
    return frame.loc[X.index[rows], [name for name in frame.columns if name in wanted]]
