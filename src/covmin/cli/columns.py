"""Find the columns that options name, and split a table into samples and a response."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from covmin.data.columns import KINDS, read_by_itself
from covmin.data.dtypes import kind_of
from covmin.data.response import ordered_levels
from covmin.data.survival import as_structured
from covmin.selection.summary import level_text
from covmin.text import count_of, listed

from .errors import ColumnError, DataError, UsageError, did_you_mean
from .options import assignments

if TYPE_CHECKING:
    import pandas as pd

    from .files import FileTable

# In place of a column with groups of rows: each row is its own.
_ALONE = "none"
_TARGETS = ("y", "Y", "target", "label", "class")
_RANGE = re.compile(r"(-?\d*):(-?\d*)")


@dataclass(frozen=True)
class ColumnOptions:
    """The options that give columns a role."""

    target: str | None = None
    event: str | None = None
    row_groups: str | None = None
    time: str | None = None
    drop: list[str] | None = None
    kinds: list[str] | None = None
    given: list[str] | None = None
    feature_groups: list[str] | None = None


@dataclass(frozen=True)
class Dataset:
    """Samples and a response as the selector accepts them, and the columns they are made of."""

    target: str
    features: list[str]
    parameters: dict[str, Any] = field(default_factory=dict)  # of the selector, that name features
    event: str | None = None
    event_value: str | None = None
    row_groups: str | None = None
    time: str | None = None
    X: Any = None
    y: Any = None
    groups: Any = None  # of the rows
    notes: list[str] = field(default_factory=list)


def find_roles(columns: list[str], options: ColumnOptions) -> Dataset:
    """Return the role of each column, given the options of a command; there are no samples yet."""
    if options.target:
        target = find_column(options.target, columns, "--target")
    elif usual := [name for name in _TARGETS if name in columns]:
        target = usual[0]
        typer.echo(f"No --target was given: the response is the column {target!r}.", err=True)
    else:
        example = shlex.quote(columns[-1]) if columns[-1].isprintable() else "-1"
        hint = f"Specify it with --target, for example --target {example} (or --target -1)."
        raise UsageError("Which column is the response?", hint)
    event, value = options.event, None
    if event is not None and event not in columns and "=" in event:
        event, _, value = event.rpartition("=")
    row_groups = options.row_groups if options.row_groups != _ALONE else None
    named = {"--event": event, "--row-groups": row_groups, "--time": options.time}
    special = {key: find_column(name, columns, key) for key, name in named.items() if name}
    if {"--row-groups", "--time"} <= special.keys():
        hint = "In Python, pass a splitter that does both as CCMSelector(cv=...)."
        raise UsageError("--row-groups and --time cannot be combined.", hint)
    kinds = _find_kinds(options.kinds, columns)
    groups = _find_groups(options.feature_groups, columns)
    dropped = find_columns(options.drop, columns, "--drop")
    given = find_columns(options.given, columns, "--given")
    features = [name for name in columns if name not in {target, *special.values(), *dropped}]
    grouped = [name for members in groups.values() for name in members]
    excluded = {option: [name] for option, name in special.items()} | {"--drop": dropped}
    chosen = {"--given": given, "--feature-groups": grouped, "--as": list(kinds)}
    for option, names in (excluded | chosen).items():
        for name in names:
            if name == target or (option in chosen and name not in features):
                what = "the target" if name == target else "not among the remaining features"
                hint = "Choose another column, or do not exclude it."
                raise UsageError(f"{option} names {name!r}, which is {what}.", hint)
    if not features:
        raise DataError("No column is left to select from.", "Drop fewer.")
    parameters = {"given": given, "feature_groups": groups, "column_types": kinds}
    parameters = {name: value for name, value in parameters.items() if value}
    event, row_groups, time = map(special.get, named)
    return Dataset(target, features, parameters, event, value, row_groups, time)


def _find_groups(given: Iterable[str] | None, columns: list[str]) -> dict[str, list[str]]:
    """Return the columns by label, from text such as ``size=width,height``."""
    option, groups = "--feature-groups", dict[str, list[str]]()
    for label, members in assignments(given, option, "LABEL=COL,…", "size=width,height"):
        groups.setdefault(label, []).extend(find_columns([members], columns, option))
    return groups


def _find_kinds(given: Iterable[str] | None, columns: list[str]) -> dict[str, str]:
    """Return the kind of each column named by --as, such as ``a,b=date``."""
    found: dict[str, str] = {}
    for text in given or ():
        names, _, kind = text.rpartition("=")
        if not names or kind not in KINDS:
            hint = f"Use --as COL=KIND, where KIND is {', '.join(KINDS)}."
            hint = did_you_mean(kind, KINDS) + hint
            raise UsageError(f"--as {text} is not of the form COL=KIND.", hint)
        found |= dict.fromkeys(find_columns([names], columns, "--as"), kind)
    return found


def find_columns(given: Iterable[str] | None, columns: list[str], option: str) -> list[str]:
    """Return the columns in text such as ``a,b``; text that is a name as a whole is not split.

    ``3:250`` means columns 3 to 249, as in Python.
    """
    known = set(columns)
    found: list[str] = []
    for text in given or ():
        for part in [text] if text in known else filter(str.strip, text.split(",")):
            places = _RANGE.fullmatch(part.strip())
            if part in known:
                found.append(part)
            elif places is None:
                found.append(find_column(part, columns, option))
            else:
                found += columns[slice(*(int(end) if end else None for end in places.groups()))]
    return list(dict.fromkeys(found))


def find_column(name: str, columns: list[str], option: str) -> str:
    """Return the column with a given name or index; blanks at the ends do not count."""
    if name in columns:
        return name
    stripped = [column for column in columns if column.strip() == name.strip()]
    if len(stripped) == 1:
        return stripped[0]
    try:
        return columns[int(name)]
    except ValueError:
        hint = did_you_mean(name, columns)
        hint += f"The {len(columns)} columns are: {listed(columns)}"
    except IndexError:
        hint = f"Indices run from 0 to {len(columns) - 1}; -1 is the last column."
    raise ColumnError(f"{option}: there is no column {name!r}.", hint)


def make_dataset(table: FileTable, options: ColumnOptions) -> Dataset:
    """Split a table into samples and a response, according to the options."""
    frame, notes = table.frame, list(table.notes)
    columns = list(frame.columns)
    if len(columns) == 1:
        hint = "Separate its columns by commas, semicolons, tabs, | or blanks."
        raise DataError(f"The table has only one column, {columns[0]!r}.", hint)
    roles = find_roles(columns, options)
    if roles.event is not None:
        frame = frame.loc[frame[roles.event].notna()]
    if frame.empty:
        raise DataError("No row is left.", f"--event {roles.event} is missing in all of them.")
    if roles.time is not None:
        frame = _in_time(frame, roles.time)
        notes.append(f"Rows are in order of {roles.time!r}: folds are predicted from earlier rows.")
    groups = None if roles.row_groups is None else frame[roles.row_groups].to_numpy()
    if options.row_groups == _ALONE:
        groups = np.arange(len(frame))
    y = frame[roles.target]
    if roles.event is not None:
        y = as_structured(np.column_stack([_events(frame, roles), y]))
    # An array would lose the order of classes, which Parquet and Feather files store.
    elif ordered_levels(y) is None:
        known = kind_of(y.dtype) in "biufCM"
        read = None if known else read_by_itself(y, is_trusted=True)
        if read is not None and read.kind == "number" and read.words:
            notes.append(f"Target {y.name!r} was read as numbers ({read.words}).")
            y = read.block[:, 0]
        else:
            y = y.to_numpy()
    return replace(roles, X=frame[roles.features], y=y, groups=groups, notes=notes)


def _in_time(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the rows in the order of a column of numbers or dates."""
    import pandas as pd

    times = frame[column]
    if kind_of(times.dtype) not in "biufM":
        times = pd.to_datetime(times, errors="coerce", format="mixed")
    if times.isna().any():
        without = frame[column][times.isna()]
        hint = "Use numbers or dates such as 2024-05-31, and leave out the other rows."
        where = f"{count_of(without.size, 'row')}, such as {without.iloc[0]!r}"
        raise DataError(f"--time {column}: no time in {where}.", hint)
    return frame.loc[times.sort_values(kind="stable").index]


def _events(frame: pd.DataFrame, roles: Dataset) -> np.ndarray:
    """Return whether the event of each sample was observed."""
    if kind_of(frame[roles.target].dtype) not in "biuf":
        text = f"--event requires a target of numeric times, but {roles.target!r} is not numeric."
        raise DataError(text, "Convert dates to numbers, such as days since the start.")
    # Whole numbers as a user would type them.
    typed = frame[roles.event].map(lambda x: level_text(x).strip().casefold())
    values = sorted(set(typed))
    value = roles.event_value
    means_event = {"1", "true"} if value is None else {value.strip().casefold()}
    known = {*means_event, "0", "false"} if value is None else set(values)
    if not set(values) <= known or not means_event & set(values):
        text = f"--event {roles.event}: which of its values ({', '.join(values[:10])}) means that"
        hint = f"Specify it, for example --event {roles.event}={values[-1]}."
        raise DataError(f"{text} the event occurred?", hint)
    return np.asarray(typed.isin(means_event))
