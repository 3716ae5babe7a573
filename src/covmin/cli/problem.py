"""Split a table into samples and a response, according to the options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from covmin.data.columns import is_category, is_number, is_time, read_by_itself
from covmin.data.missing import missing_responses
from covmin.data.response import ordered_levels
from covmin.data.survival import as_structured
from covmin.text import listed

from .columns import Roles, find_columns, find_kinds, find_roles
from .errors import CommandError, ExitCode
from .words import in_words_of_options

if TYPE_CHECKING:
    import pandas as pd

    from .tables import Source

# With more labels than this, do not compare their spelling.
_MOST_LABELS = 1000
# Rows of a stored table that are used for warnings and figures.
_SAMPLED_ROWS = 20_000


@dataclass(frozen=True)
class Dataset:
    """Samples with columns of any kind, and a response without missing values."""

    X: pd.DataFrame
    y: pd.Series
    # Remarks, for example on rows that were dropped.
    notes: list[str]
    # Columns that are always kept.
    given: list[str] = field(default_factory=list)
    # Columns that are kept or dropped together, by label.
    groups: dict[str, list[str]] = field(default_factory=dict)
    # Samples and responses to fit on, if X and y are only a sample of the rows.
    stored: tuple[Any, np.ndarray] | None = None
    # The parameter of the selector with this name.
    column_types: Any = "auto"
    # Event indicator of each sample, if y is a survival time.
    event: pd.Series | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples to fit on."""
        return len(self.X) if self.stored is None else int(self.stored[0].shape[0])

    @property
    def event_name(self) -> str | None:
        """Name of the event indicator, for survival times."""
        return None if self.event is None else str(self.event.name)

    @property
    def response(self) -> Any:
        """The response in the form that the selector accepts."""
        if self.event is not None:
            return as_structured(np.column_stack([self.event, self.y]))
        # An array would lose the order of classes, which Parquet and Feather files store.
        return self.y.to_numpy() if ordered_levels(self.y) is None else self.y

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return list(self.X.columns)

    @property
    def target(self) -> str:
        """Name of the response."""
        return str(self.y.name)


def make_dataset(frame: pd.DataFrame, source: Source) -> Dataset:
    """Split a table into samples and a response, according to the options."""
    columns = list(frame.columns)
    if len(columns) == 1:
        raise CommandError(
            f"The table has only one column, {columns[0]!r}.",
            ExitCode.DATA,
            "Separate its columns by commas, semicolons, tabs, | or blanks.",
        )
    roles = find_roles(columns, source)
    noticed = frame.attrs.get("notes", [])
    frame, told = _with_numbers(frame, roles.target)
    frame, left_out = _with_target(frame, roles.target, source.missing)
    if roles.event is not None:
        frame, more = _with_target(frame, roles.event, source.missing, "event")
        left_out += more
    kinds = find_kinds(source, columns, roles.features)
    X = frame[roles.features]
    if kinds == "strict":
        categorical = find_columns(source.categorical, columns, "--categorical")
        X = X.astype({name: "category" for name in categorical if name in X})
    X, notes = _without_gaps(X, source.missing)
    roles.check(X.columns)
    y = frame.loc[X.index, roles.target]
    event = _events(frame.loc[X.index], roles)
    if not isinstance(kinds, str):
        kinds = {name: kind for name, kind in kinds.items() if name in X} or "auto"
    notes = [*noticed, *told, *left_out, *notes, *_nearly_equal_labels(y)]
    return Dataset(X, y, notes, roles.given, roles.groups, column_types=kinds, event=event)


def _events(frame: pd.DataFrame, roles: Roles) -> pd.Series | None:
    """Return the event indicator of each sample; None without --event."""
    if roles.event is None:
        return None
    if not is_number(frame[roles.target].dtype):
        raise CommandError(
            f"--event requires a target of numeric times, but {roles.target!r} is not numeric.",
            ExitCode.DATA,
            "Convert dates to numbers, such as days since the start.",
        )
    column = frame[roles.event]
    values = [_as_typed(value) for value in column.unique()]
    seen = {"1", "true"} if roles.event_value is None else {roles.event_value.strip().casefold()}
    known = values if roles.event_value is not None else [*seen, "0", "false"]
    if not set(values) <= set(known) or not seen & set(values):
        told = ", ".join(sorted(values)[:10])
        raise CommandError(
            f"--event {roles.event}: which of its values ({told}) means that the event occurred?",
            ExitCode.DATA,
            f"Specify it, for example --event {roles.event}={sorted(values)[-1]}.",
        )
    return column.map(lambda value: _as_typed(value) in seen).astype(bool)


def _as_typed(value: Any) -> str:
    """Return a value as a user would type it."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip().casefold()


def open_stored_dataset(source: Source) -> Dataset:
    """Open a folder of Parquet files, to be read in batches, and draw a sample of its rows."""
    import pandas as pd

    from covmin import open_parquet
    from covmin.data.blocks.parquet import parquet_columns

    try:
        roles = find_roles(parquet_columns(source.data), source)
        roles.check(roles.features)
        X, y = open_parquet(source.data, roles.target, roles.features)
        there = np.flatnonzero(~missing_responses(y))
        n = there.size
        drawn = np.random.default_rng(0).choice(n, min(n, _SAMPLED_ROWS), replace=False)
        rows = there[np.sort(drawn)]
        frame = pd.DataFrame(X.take(rows), columns=roles.features)
    except (OSError, ImportError, KeyError) as error:
        raise CommandError(f"{source.data} cannot be read: {error}", ExitCode.INPUT) from error
    except ValueError as error:
        raise CommandError(
            in_words_of_options(str(error), str(source.target)), ExitCode.DATA
        ) from error
    notes = [] if rows.size == n else [f"Warnings and figures use {rows.size} of {n} rows."]
    sampled = pd.Series(y[rows], name=roles.target)
    return Dataset(frame, sampled, notes, roles.given, roles.groups, (X, y))


def _nearly_equal_labels(y: pd.Series) -> list[str]:
    """Return notes on classes that are probably meant to be the same."""
    labels = sorted({label for label in y.unique() if isinstance(label, str)})
    alike: dict[str, list[str]] = {}
    for label in labels if len(labels) <= _MOST_LABELS else ():
        alike.setdefault(" ".join(label.split()).casefold(), []).append(repr(label))
    return [
        f"Classes {' and '.join(group)} of {str(y.name)!r} differ only in case or spaces; are "
        "they the same?"
        for group in alike.values()
        if len(group) > 1
    ]


def _with_numbers(frame: pd.DataFrame, name: str) -> tuple[pd.DataFrame, list[str]]:
    """Convert a target of numbers stored as text to numbers, and return a note."""
    if is_number(frame[name].dtype) or is_category(frame[name].dtype) or is_time(frame[name].dtype):
        return frame, []
    read = read_by_itself(frame[name], is_trusted=True)
    if read.kind != "number" or not read.words:
        return frame, []
    told = f"Target {name!r} was read as numbers ({read.words})."
    attrs = frame.attrs
    frame = frame.assign(**{name: read.block[:, 0]})
    frame.attrs.update(attrs)
    return frame, [told]


def _with_target(
    frame: pd.DataFrame, name: str, missing: str, what: str = "target"
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows that have a response, and a note on the others."""
    blank = frame[name].isna()
    n = int(blank.sum())
    if n == 0:
        return frame, []
    if missing == "error" or n == len(frame):
        raise CommandError(
            f"The {what} {name!r} is missing in {n} of {len(frame)} rows.",
            ExitCode.DATA,
            f"Choose another {what}."
            if n == len(frame)
            else "Drop these rows with --missing keep.",
        )
    return frame.loc[~blank], [f"{n} row(s) without a value of {name!r} were dropped."]


def _without_gaps(X: pd.DataFrame, missing: str) -> tuple[pd.DataFrame, list[str]]:
    """Drop rows or columns with values that are not accepted, and return notes."""
    numbers = [name for name in X if is_number(X[name].dtype)]
    values = X[numbers].to_numpy(dtype=np.float64, na_value=np.nan)
    bad = X.isna().to_numpy(dtype=bool, copy=True) & (missing != "keep")
    bad[:, X.columns.get_indexer(numbers)] |= np.isinf(values)
    if not bad.any():
        return X, []
    rows, columns = bad.any(axis=1), list(X.columns[bad.any(axis=0)])
    # Do not offer a remedy that would leave nothing.
    offered = {"rows": not rows.all(), "columns": len(columns) < X.shape[1]}
    if missing == "rows" and offered["rows"]:
        return X.loc[~rows], [f"{int(rows.sum())} row(s) with missing values were dropped."]
    if missing == "columns" and offered["columns"]:
        note = f"{len(columns)} column(s) with missing values were dropped: {listed(columns)}."
        return X.drop(columns=columns), [note]
    raise _unfit(columns, int(rows.sum()), len(X), missing, [w for w in offered if offered[w]])


def _unfit(
    columns: list[str], n_bad: int, n_rows: int, missing: str, offered: list[str]
) -> CommandError:
    """Return the error about values that are not accepted, with possible remedies."""
    what = "infinite" if missing == "keep" else "missing or infinite"
    ways = [f"drop these {each} (--missing {each})" for each in offered]
    ways += ["keep missing values (--missing keep)"] if missing != "keep" else []
    ways.append("correct the file")
    hint = ", or ".join(ways)
    return CommandError(
        f"{len(columns)} column(s) have {what} values, in {n_bad} of {n_rows} rows: "
        f"{listed(columns)}.",
        ExitCode.DATA,
        f"{hint[0].upper()}{hint[1:]}.",
    )
