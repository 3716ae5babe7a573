"""From a table and the words of a user to samples and a response."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from covmin.data.checks import is_time, listed, missing_responses
from covmin.data.kinds import is_category, is_number, read_by_itself
from covmin.data.responses import ordered_levels
from covmin.data.survival import as_structured

from .columns import Roles, find_columns, find_kinds, find_roles
from .errors import CommandError, ExitCode
from .words import in_words_of_options

if TYPE_CHECKING:
    import pandas as pd

    from .tables import Source

# More labels than this are no classes.
_MOST_LABELS = 1000
# Rows of a stored table that are looked at for warnings and pictures.
_SAMPLED_ROWS = 20_000


@dataclass(frozen=True)
class Question:
    """Samples, of columns of any kind, and a response that is never missing."""

    X: pd.DataFrame
    y: pd.Series
    # What was left out on the way, in words.
    notes: list[str]
    # Columns that are kept whatever they add.
    given: list[str] = field(default_factory=list)
    # Columns that are kept or left as one, by label.
    groups: dict[str, list[str]] = field(default_factory=dict)
    # Samples and responses to fit on, where X and y are only some rows of them.
    stored: tuple[Any, np.ndarray] | None = None
    # What columns are to be read as, for the parameter of this name.
    column_types: Any = "auto"
    # Whether y is the time of an event, or until when there was none, by sample.
    event: pd.Series | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples to fit on."""
        return len(self.X) if self.stored is None else int(self.stored[0].shape[0])

    @property
    def event_name(self) -> str | None:
        """Name of the column that says whether the event was seen, for times to an event."""
        return None if self.event is None else str(self.event.name)

    @property
    def response(self) -> Any:
        """The response as the selector takes it."""
        if self.event is not None:
            return as_structured(np.column_stack([self.event, self.y]))
        # An array has no order of classes, which Parquet and Feather files keep.
        return self.y.to_numpy() if ordered_levels(self.y) is None else self.y

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return list(self.X.columns)

    @property
    def target(self) -> str:
        """Name of the response."""
        return str(self.y.name)


def make_question(frame: pd.DataFrame, source: Source) -> Question:
    """Split a table into samples and a response, by the options of a command."""
    columns = list(frame.columns)
    if len(columns) == 1:
        raise CommandError(
            f"The table has one column only, {columns[0]!r}.",
            ExitCode.DATA,
            "Check what stands between its columns: commas, semicolons, tabs, | or blanks do.",
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
    return Question(X, y, notes, roles.given, roles.groups, column_types=kinds, event=event)


def _events(frame: pd.DataFrame, roles: Roles) -> pd.Series | None:
    """Whether the event was seen, by sample; None where the target is no time."""
    if roles.event is None:
        return None
    if not is_number(frame[roles.target].dtype):
        raise CommandError(
            f"--event needs a target that holds times as numbers, and {roles.target!r} does not.",
            ExitCode.DATA,
            "Turn dates into numbers, such as days since the beginning.",
        )
    column = frame[roles.event]
    values = [_as_typed(value) for value in column.unique()]
    seen = {"1", "true"} if roles.event_value is None else {roles.event_value.strip().casefold()}
    known = values if roles.event_value is not None else [*seen, "0", "false"]
    if not set(values) <= set(known) or not seen & set(values):
        told = ", ".join(sorted(values)[:10])
        raise CommandError(
            f"--event {roles.event}: which of its values ({told}) says that the event was seen?",
            ExitCode.DATA,
            f"Name it, for example --event {roles.event}={sorted(values)[-1]}.",
        )
    return column.map(lambda value: _as_typed(value) in seen).astype(bool)


def _as_typed(value: Any) -> str:
    """A value in the way it is typed."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip().casefold()


def make_stored_question(source: Source) -> Question:
    """Open a folder of Parquet files, to be read in batches, with a sample of its rows."""
    import pandas as pd

    from covmin import open_parquet
    from covmin.data.sources.parquet import parquet_columns

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
    notes = [] if rows.size == n else [f"Warnings and pictures rest on {rows.size} of {n} rows."]
    sampled = pd.Series(y[rows], name=roles.target)
    return Question(frame, sampled, notes, roles.given, roles.groups, (X, y))


def _nearly_equal_labels(y: pd.Series) -> list[str]:
    """A note on classes that may be meant as one."""
    labels = sorted({label for label in y.unique() if isinstance(label, str)})
    alike: dict[str, list[str]] = {}
    for label in labels if len(labels) <= _MOST_LABELS else ():
        alike.setdefault(" ".join(label.split()).casefold(), []).append(repr(label))
    return [
        f"Classes {' and '.join(group)} of {str(y.name)!r} differ only in case or spaces; are "
        "they one?"
        for group in alike.values()
        if len(group) > 1
    ]


def _with_numbers(frame: pd.DataFrame, name: str) -> tuple[pd.DataFrame, list[str]]:
    """A target whose numbers are written as text as numbers, and a note on that."""
    if is_number(frame[name].dtype) or is_category(frame[name].dtype) or is_time(frame[name].dtype):
        return frame, []
    read = read_by_itself(frame[name], trusted=True)
    if read.kind != "number" or not read.words:
        return frame, []
    told = f"Target {name!r} read as numbers ({read.words})."
    attrs = frame.attrs
    frame = frame.assign(**{name: read.block[:, 0]})
    frame.attrs.update(attrs)
    return frame, [told]


def _with_target(
    frame: pd.DataFrame, name: str, missing: str, what: str = "target"
) -> tuple[pd.DataFrame, list[str]]:
    """The rows that have a response, and a note on the others."""
    blank = frame[name].isna()
    n = int(blank.sum())
    if n == 0:
        return frame, []
    if missing == "error" or n == len(frame):
        raise CommandError(
            f"The {what} {name!r} is missing in {n} of {len(frame)} rows.",
            ExitCode.DATA,
            f"Name another {what}." if n == len(frame) else "Leave these rows out: --missing keep.",
        )
    return frame.loc[~blank], [f"{n} row(s) without a value of {name!r} left out."]


def _without_gaps(X: pd.DataFrame, missing: str) -> tuple[pd.DataFrame, list[str]]:
    """Samples without values that are not taken, and notes on what was left out."""
    numbers = [name for name in X if is_number(X[name].dtype)]
    values = X[numbers].to_numpy(dtype=np.float64, na_value=np.nan)
    bad = X.isna().to_numpy(dtype=bool, copy=True) & (missing != "keep")
    bad[:, X.columns.get_indexer(numbers)] |= np.isinf(values)
    if not bad.any():
        return X, []
    rows, columns = bad.any(axis=1), list(X.columns[bad.any(axis=0)])
    # What leaves nothing is neither done nor offered.
    offered = {"rows": not rows.all(), "columns": len(columns) < X.shape[1]}
    if missing == "rows" and offered["rows"]:
        return X.loc[~rows], [f"{int(rows.sum())} row(s) with missing values left out."]
    if missing == "columns" and offered["columns"]:
        note = f"{len(columns)} column(s) with missing values left out: {listed(columns)}."
        return X.drop(columns=columns), [note]
    raise _unfit(columns, int(rows.sum()), len(X), missing, [w for w in offered if offered[w]])


def _unfit(
    columns: list[str], n_bad: int, n_rows: int, missing: str, offered: list[str]
) -> CommandError:
    """The error on columns with values that are not taken, and the ways out."""
    what = "infinite" if missing == "keep" else "missing or infinite"
    ways = [f"leave out those {each} (--missing {each})" for each in offered]
    ways += ["keep missing values (--missing keep)"] if missing != "keep" else []
    ways.append("correct the file")
    hint = ", or ".join(ways)
    return CommandError(
        f"{len(columns)} column(s) have {what} values, in {n_bad} of {n_rows} rows: "
        f"{listed(columns)}.",
        ExitCode.DATA,
        f"{hint[0].upper()}{hint[1:]}.",
    )
