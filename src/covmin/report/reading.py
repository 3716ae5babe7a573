"""Read tables for the report: numbers, categories, dates and missing values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from covmin.data.columns import LEFT_OUT, is_frame, values_as_read
from covmin.data.missing import missing_mask
from covmin.text import printable

MISSING = "(missing)"


@dataclass(frozen=True)
class Table:
    """Columns as numbers, with their meaning."""

    # (n_samples, n_features): for a category, the numbers of its levels; for a date, milliseconds
    # since 1970. A missing number or date is replaced by the mean of the others.
    numbers: np.ndarray
    levels: dict[int, list[str]] = field(default_factory=dict)  # of categorical columns
    dates: frozenset[int] = frozenset()  # columns of dates
    missing: dict[int, np.ndarray] = field(default_factory=dict)  # masks of missing values
    left_out: frozenset[int] = frozenset()  # columns that the selector excluded


def read_columns(selector: Any, X: Any, array: np.ndarray) -> Table:
    """Read the columns in the same way as the selector."""
    kinds = selector.column_kinds_
    left_out = frozenset(np.flatnonzero(np.isin(kinds, LEFT_OUT)).tolist())
    if array.dtype.kind == "f" and not (kinds == "category").any():
        return replace(_numbers_alone(array), left_out=left_out)
    frame = X if is_frame(X) else array
    numbers, levels, dates, missing = np.empty(array.shape), {}, set(), {}
    for j, kind in enumerate(kinds):
        column = _safe_indexing(frame, j, axis=1)
        values = values_as_read(column, kind)
        gaps = missing_mask(values)
        is_category = kind == "category" or values.dtype.kind == "b"
        found = None if is_category else _as_numbers(values, gaps)
        if found is None:
            levels[j], numbers[:, j] = leveled(values, gaps)
        else:
            numbers[:, j] = _filled(found, gaps)
            dates |= {j} if values.dtype.kind == "M" else set()
        if gaps.any():
            missing[j] = gaps
    return Table(numbers, levels, frozenset(dates), missing, left_out)


def _numbers_alone(array: np.ndarray) -> Table:
    gaps = np.isnan(array)
    missing = {int(j): gaps[:, j] for j in np.flatnonzero(gaps.any(axis=0))}
    if missing:
        array = array.copy()
        for j, at in missing.items():
            array[:, j] = _filled(array[:, j], at)
    return Table(array, missing=missing)


def _as_numbers(values: np.ndarray, gaps: np.ndarray) -> np.ndarray | None:
    """Return the numbers of a column, zero if missing; None if it is not numeric."""
    numbers = np.zeros(values.size)
    if values.dtype.kind in "Mm":
        values = values.astype(f"{values.dtype.kind}8[ms]").astype(np.int64)
    try:
        numbers[~gaps] = values[~gaps]
    except (TypeError, ValueError):
        return None
    return numbers


def _filled(numbers: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Replace missing numbers by the mean of the others, or by zero if there are none."""
    there = numbers[~gaps]
    size = float(np.abs(there).max(initial=0.0)) or 1.0  # scaled, so that no sum overflows
    return np.where(gaps, (there / size).mean() * size if there.size else 0.0, numbers)


def leveled(values: np.ndarray, gaps: np.ndarray | None = None) -> tuple[list[str], np.ndarray]:
    """Return the sorted distinct values as text, and the code of each value; missing is last."""
    gaps = np.zeros(values.size, dtype=bool) if gaps is None else gaps
    there = values[~gaps]
    try:
        levels, inverse = np.unique(there, return_inverse=True)
    except (TypeError, ValueError):  # mixed types; lists, dicts or arrays in cells
        levels, inverse = np.unique([str(value) for value in there], return_inverse=True)
    codes = np.full(values.size, levels.size, dtype=np.intp)
    codes[~gaps] = inverse
    return [*map(_as_text, levels.tolist()), *([MISSING] if gaps.any() else [])], codes


def _as_text(level: Any) -> str:
    whole = isinstance(level, float) and level.is_integer()
    return printable(str(int(level) if whole else level))
