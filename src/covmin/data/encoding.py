"""Encode a table as one matrix of numbers, and describe in words how each column was read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_array

from covmin.text import listed

from .checks import columns_named, is_frame
from .kinds import (
    LEFT_OUT,
    ONLY_WHETHER,
    READERS,
    ReadColumn,
    counts_rows,
    is_integer,
    is_number,
    read_by_itself,
)

# Kind of a column of numbers that is used unchanged, or refused if it is not numeric.
PLAIN = "plain"
_NUMBERS = [np.float64, np.float32]
_READ_AS = {"number": "numbers", "category": "categories", "date": "dates"}
_EXCLUDED = {
    "identifier": "as row identifiers",
    "empty": "because empty",
    "dropped": "as requested",
}


@dataclass(frozen=True)
class Reading:
    """How a column that is not plain numbers was read."""

    column: Hashable  # name or number of the column
    kind: str
    words: str  # the reason

    @property
    def choice(self) -> str:
        """How the column was read, in words."""
        is_out = self.kind in LEFT_OUT
        return f"{self.column!r} {'excluded' if is_out else f'read as {_READ_AS[self.kind]}'}"

    def __str__(self) -> str:
        return f"{self.choice} ({self.words})"


@dataclass(frozen=True)
class EncodedTable:
    """A table as a matrix, in which one column may become several, or none."""

    matrix: np.ndarray  # (n_samples, n_encoded), NaN where a number or a date is missing
    source: np.ndarray  # (n_encoded,), column of the table that each comes from
    kinds: np.ndarray  # (n_columns,) of str
    readings: tuple[Reading, ...]


def summary(readings: Sequence[Reading]) -> list[str]:
    """Return one sentence for each kind that columns were read as.

    >>> print(*summary([Reading("sex", "category", "2 values"), Reading(3, "empty", "")]))
    Read as categories: 'sex'. Excluded because empty: 3.
    """
    said = []
    whether = [each for each in readings if ONLY_WHETHER in each.words]
    for kind, what in _READ_AS.items():
        found = [each for each in readings if each.kind == kind and each not in whether]
        names = listed([each.column for each in found])
        if len(found) == 1 and kind != "category":
            names = f"{found[0].column!r} ({found[0].words})"
        if found:
            said.append(f"Read as {what}: {names}.")
    if names := listed([each.column for each in whether]):
        said.append(f"Row identifiers, used only as indicators of missingness: {names}.")
    for kind, why in _EXCLUDED.items():
        if names := listed([each.column for each in readings if each.kind == kind]):
            said.append(f"Excluded {why}: {names}.")
    return said


def wanted_kinds(X: Any, names: Sequence[Hashable] | None, column_types: Any) -> list[str | None]:
    """Return the requested kind of each column of a table; None if it is to be inferred."""
    wanted: list[str | None] = [None] * X.shape[1]
    if isinstance(column_types, Mapping):
        for column, kind in column_types.items():
            if kind not in READERS:
                raise ValueError(
                    f"column_types has {kind!r} for column {column!r}; allowed are "
                    f"{', '.join(map(repr, READERS))}."
                )
            wanted[position(column, names, X.shape[1], "column_types")] = kind
    return wanted


def column_mask(
    columns: Any, names: Sequence[Hashable] | None, n_columns: int, parameter: str
) -> np.ndarray:
    """Return a mask (n_columns,) of columns given by name, by number or by a mask.

    ``parameter`` is the name of ``columns`` in error messages.
    """
    items = [columns] if isinstance(columns, (str, Integral)) else list(columns)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != n_columns:
            raise ValueError(
                f"{parameter} as a mask must have one entry for each of the {n_columns} columns of "
                f"X; it has {len(items)}."
            )
        return np.array(items, dtype=bool)
    mask = np.zeros(n_columns, dtype=bool)
    mask[[position(item, names, n_columns, parameter) for item in items]] = True
    return mask


def position(item: Any, names: Sequence[Hashable] | None, n_columns: int, parameter: str) -> int:
    """Return the number of a column given by name or number."""
    if isinstance(item, str):
        if names is None:
            raise ValueError(
                f"{parameter} names the column {item!r}, but the columns of X have no names; "
                "pass X as a data frame, or use column numbers."
            )
        if item not in names:
            close = get_close_matches(item, [str(name) for name in names], n=3)
            hint = f" Did you mean {', '.join(map(repr, close))}?" if close else ""
            raise ValueError(f"{parameter} names {item!r}, which is not a column of X.{hint}")
        return list(names).index(item)
    if not isinstance(item, Integral):
        raise ValueError(
            f"{parameter} must contain column names, column numbers, or a mask; got {item!r}."
        )
    if not -n_columns <= int(item) < n_columns:
        raise ValueError(
            f"{parameter} contains column {item}, but X has {n_columns} columns, "
            f"numbered from 0 to {n_columns - 1}."
        )
    return int(item) % n_columns


def is_plain(X: Any, wanted: Sequence[str | None], trusted: np.ndarray) -> bool:
    """Tell whether a table holds only numbers that are used unchanged."""
    if any(kind not in (None, "number", PLAIN) for kind in wanted):
        return False
    return bool(_plain_columns(X, wanted, trusted).all()) if is_frame(X) else _is_numeric(X)


def _is_numeric(X: Any) -> bool:
    """Tell whether an array holds numbers, or text and objects that NumPy converts to numbers."""
    kind = getattr(X.dtype, "kind", "f")
    if kind not in "OUSMm":
        return True
    try:
        X.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return kind in "OUS"


def _plain_columns(X: Any, wanted: Sequence[str | None], trusted: np.ndarray) -> np.ndarray:
    """Return a mask of the columns that are used unchanged: numbers, but not row numbers."""
    has_names = is_frame(X)
    dtypes = list(X.dtypes) if has_names else [X.dtype] * len(wanted)
    plain = np.zeros(len(wanted), dtype=bool)
    may_count = []
    for j, (dtype, kind) in enumerate(zip(dtypes, wanted, strict=True)):
        if kind in (None, "number") and is_number(dtype):
            plain[j] = True
            if kind is None and not trusted[j] and has_names and is_integer(dtype):
                may_count.append(j)
        else:  # complex numbers raise an error later, together with the other numbers
            plain[j] = kind == PLAIN or getattr(dtype, "kind", "O") == "c"
    if may_count:
        plain[may_count] = ~_count_rows(X, np.array(may_count))
    return plain


def _count_rows(X: Any, columns: np.ndarray) -> np.ndarray:
    """Return a mask of integer columns that are row numbers; prefilters many columns quickly."""
    values = np.asarray(_safe_indexing(X, columns, axis=1))
    if values.dtype.kind not in "iu":  # values are missing
        return np.array([counts_rows(_safe_indexing(X, j, axis=1)) for j in columns])
    # As unsigned integers, the difference of any two integers fits.
    low, high = values.min(axis=0).astype(np.uint64), values.max(axis=0).astype(np.uint64)
    room = high - low
    near = np.flatnonzero((room >= len(values) - 1) & (room < 2 * len(values)))
    found = np.zeros(columns.size, dtype=bool)
    found[near] = [counts_rows(values[:, k]) for k in near]
    return found


def encode_table(
    X: Any,
    wanted: Sequence[str | None],
    *,
    by_dtype: bool = True,
    trusted: np.ndarray | None = None,
) -> EncodedTable:
    """Read each column as the requested kind, or infer its kind.

    Parameters
    ----------
    X : frame of pandas or polars, or array of shape (n_samples, n_columns)
    wanted : sequence of str or None
        Kind of each column, None to infer it; PLAIN raises an error if it is not numeric.
    by_dtype : bool
        Whether a categorical dtype means categories.
    trusted : ndarray of bool of shape (n_columns,)
        Columns of integers that are used even if they look like row numbers.
    """
    n_columns = len(wanted)
    trusted = np.zeros(n_columns, dtype=bool) if trusted is None else trusted
    plain = _plain_columns(X, wanted, trusted)
    numbers = np.empty((0, 0))
    if plain.any():
        numbers = checked_numbers(_safe_indexing(X, np.flatnonzero(plain), axis=1))
    place = np.cumsum(plain) - 1
    columns = []
    for j, kind in enumerate(wanted):
        if plain[j]:
            columns.append(ReadColumn("number", numbers[:, place[j], None]))
            continue
        column, name = _safe_indexing(X, j, axis=1), _label(X, j)
        if kind is None:
            columns.append(read_by_itself(column, by_dtype=by_dtype, trusted=bool(trusted[j])))
        else:
            columns.append(READERS[kind](column, repr(str(name)) if is_frame(X) else str(name)))
    return _put_together(X, columns, numbers.dtype)


def _put_together(X: Any, columns: Sequence[ReadColumn], dtype: Any) -> EncodedTable:
    readings = tuple(
        Reading(_label(X, j), read.kind, read.words) for j, read in enumerate(columns) if read.words
    )
    if all(read.kind in LEFT_OUT for read in columns):
        raise ValueError(
            f"No column is left to select from. {' '.join(summary(readings))} Use column_types to "
            "override this."
        )
    sizes = [read.block.shape[1] for read in columns]
    return EncodedTable(
        np.concatenate([read.block for read in columns], axis=1, dtype=dtype),
        np.repeat(np.arange(len(columns)), sizes),
        np.array([read.kind for read in columns]),
        readings,
    )


def _label(X: Any, j: int) -> Hashable:
    return X.columns[j] if is_frame(X) else j


def checked_numbers(X: Any) -> np.ndarray:
    """Return a table of numbers as an array; error messages name its columns."""
    with columns_named(X, takes_categories=True):
        return check_array(X, dtype=_NUMBERS, ensure_all_finite="allow-nan")
