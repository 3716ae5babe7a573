"""Infer what a column holds (numbers, categories, dates, row identifiers) and encode it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from covmin.text import listed

from .checks import is_time
from .numerals import is_missing_mark, look_like_numbers, read_numerals
from .responses import is_missing
from .rules import (
    FEW_LEVELS,
    FEWEST_COUNTED,
    FEWEST_IN_LEVEL,
    MOST_LEVELS,
    RARE_SHARE,
    SKIPPED_IN_ORDER,
    SKIPPED_SHARE,
    STRAY_SHARE,
    YEARS,
)
from .times import (
    encode_phase,
    encode_points,
    is_point,
    points_in_time,
    points_of_objects,
    read_clock,
    read_dates,
    seconds_of_clock,
)

_DAY = np.timedelta64(1, "D")
_SECONDS_OF_DAY = 86_400.0
_MERGED = "rare ones merged"
# For row identifiers with missing values.
ONLY_WHETHER = "a row identifier, used only as an indicator of missingness"
# Kinds of columns that are excluded from the selection.
LEFT_OUT = ("identifier", "empty", "dropped")


@dataclass(frozen=True)
class ReadColumn:
    """A column encoded as numbers."""

    kind: str  # "number", "category", "date", or one of LEFT_OUT
    block: np.ndarray  # (n_samples, n_encoded), NaN where a number or a date is missing
    words: str = ""  # how it was read, if the dtype alone does not tell
    points: np.ndarray | None = None  # (n_samples,), the dates themselves


@dataclass(frozen=True)
class Levels:
    """The distinct values of a column, and the value of each sample."""

    values: list[Any]
    codes: np.ndarray  # (n_samples,), -1 where the value is missing

    @classmethod
    def of(cls, column: Any) -> Levels:
        """Find the distinct values of a column."""
        entries = column.to_list() if hasattr(column, "to_list") else list(column)
        try:
            found: list[Any] = list(dict.fromkeys(entries))
        except TypeError:  # unhashable values such as lists are compared as text
            entries = list(map(str, entries))
            found = list(dict.fromkeys(entries))
        number = {value: i for i, value in enumerate(found)}
        codes = np.fromiter(map(number.__getitem__, entries), dtype=np.intp, count=len(entries))
        there = np.array([not is_missing(value) for value in found] or [False])
        place = np.where(there, np.cumsum(there) - 1, -1)
        return cls(
            [value for value, is_there in zip(found, there, strict=True) if is_there], place[codes]
        )

    @property
    def n_present(self) -> int:
        """Number of values that are not missing."""
        return int((self.codes >= 0).sum())

    def spread(self, numbers: np.ndarray) -> np.ndarray:
        """Return the number of each sample's level; NaN or NaT if it is missing."""
        nothing = np.array([np.nan]).astype(numbers.dtype)
        return np.concatenate([numbers, nothing])[self.codes]


def left_out(n_samples: int, kind: str, words: str) -> ReadColumn:
    """Return an excluded column."""
    return ReadColumn(kind, np.empty((n_samples, 0)), words)


def is_number(dtype: Any) -> bool:
    """Tell whether a dtype of any library holds real numbers or booleans."""
    if hasattr(dtype, "is_numeric"):  # polars, whose decimals are objects for NumPy
        return str(dtype) == "Boolean" or dtype.is_integer() or dtype.is_float()
    return getattr(dtype, "kind", "O") in "biuf"


def is_category(dtype: Any) -> bool:
    """Tell whether a pandas or polars dtype is categorical."""
    return str(dtype).startswith(("category", "Categorical", "Enum"))


def counts_rows(column: Any) -> bool:
    """Tell whether integers are row numbers: all distinct and nearly consecutive.

    If they increase from row to row, more of them may be missing, because rows may have been
    removed after they were numbered.
    """
    # Some versions of pandas convert Int64 to an array of objects.
    is_nullable = hasattr(column, "isna") and not isinstance(column.dtype, np.dtype)
    numbers = as_numbers(column) if is_nullable else np.asarray(column)
    if numbers.dtype.kind not in "iuf" or numbers.size < FEWEST_COUNTED:
        return False
    low, high = numbers.min(), numbers.max()
    exact = int if numbers.dtype.kind in "iu" else float
    room = exact(high) - exact(low) + 1
    # The comparison is also False for NaN.
    skipped = SKIPPED_IN_ORDER if (numbers[1:] > numbers[:-1]).all() else SKIPPED_SHARE
    if not numbers.size <= room <= numbers.size / (1.0 - skipped):
        return False
    if YEARS[0] <= low and high <= YEARS[1]:
        return False
    return bool((numbers == np.rint(numbers)).all() and np.unique(numbers).size == numbers.size)


def read_by_itself(column: Any, *, by_dtype: bool = True, trusted: bool = False) -> ReadColumn:
    """Read a column as the kind that it appears to hold.

    Parameters
    ----------
    column : pandas or polars series, or array of shape (n_samples,)
    by_dtype : bool
        Whether a categorical dtype means categories.
    trusted : bool
        Whether to use integers even if they look like row numbers.
    """
    dtype = column.dtype
    if is_number(dtype):
        if not trusted and is_integer(dtype) and counts_rows(column):
            return left_out(len(column), "identifier", "consecutive integers, like row numbers")
        return ReadColumn("number", as_numbers(column)[:, None])
    if is_time(dtype):
        return _of_times(column)
    levels = Levels.of(column)
    if is_category(dtype) and by_dtype:
        read = read_categories(levels)
        # If no level is merged, the dtype tells everything.
        is_said = read.kind == "category" and _MERGED not in read.words
        return replace(read, words="") if is_said else read
    return _of_objects(levels, trusted)


def is_integer(dtype: Any) -> bool:
    """Tell whether a dtype holds integers."""
    of_polars = getattr(dtype, "is_integer", None)
    return bool(of_polars()) if of_polars is not None else dtype.kind in "iu"


def as_numbers(column: Any) -> np.ndarray:
    """Return a column of numbers or booleans as floats, with NaN for missing values."""
    if hasattr(column, "isna"):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column).astype(float)


def _of_times(column: Any) -> ReadColumn:
    """Read a column whose dtype holds dates, times of day or durations."""
    name = str(column.dtype).lower()
    if name.startswith(("timedelta", "duration")):
        array = column.to_numpy()
        if array.dtype.kind != "m":
            return _of_objects(Levels.of(column), trusted=True)
        return ReadColumn("number", (array / _DAY)[:, None], "durations, in days")
    if name.startswith("time") and not name.startswith("timestamp"):
        return _of_clock(seconds_of_clock(column.to_list()))
    return _of_points(points_in_time(column))


def _of_points(points: np.ndarray, words: str = "dates") -> ReadColumn:
    if np.isnat(points).all():
        return _empty(points.size)
    block, cycles = encode_points(points)
    parts = ", ".join(["time since the first date", *cycles])
    return ReadColumn("date", block, f"{words}: {parts}", points)


def _of_clock(seconds: np.ndarray) -> ReadColumn:
    if np.isnan(seconds).all():
        return _empty(seconds.size)
    return ReadColumn("date", encode_phase(seconds / _SECONDS_OF_DAY), "times of day")


def _empty(n_samples: int) -> ReadColumn:
    return left_out(n_samples, "empty", "no values")


def _of_objects(levels: Levels, trusted: bool) -> ReadColumn:
    """Read a column of objects: by their types if all agree, otherwise by their text."""
    if not levels.values:
        return _empty(levels.codes.size)
    read = _of_python(levels)
    if read is not None:
        return read
    texts = [_as_text(value) for value in levels.values]
    read = _of_text(levels, texts, trusted)
    return read_categories(levels) if read is None else read


def _of_python(levels: Levels) -> ReadColumn | None:
    """Read objects of Python's types for numbers and times; None for other types."""
    values = levels.values
    if all(isinstance(value, (Real, Decimal, np.bool_)) for value in values):
        numbers = np.array([float(value) for value in values])
        return ReadColumn("number", levels.spread(numbers)[:, None])
    if all(map(is_point, values)):
        return _of_points(levels.spread(points_of_objects(values)))
    if all(isinstance(value, time) for value in values):
        return _of_clock(levels.spread(seconds_of_clock(values)))
    if all(isinstance(value, (timedelta, np.timedelta64)) for value in values):
        days = np.array([value / timedelta(1) for value in values])
        return ReadColumn("number", levels.spread(days)[:, None], "durations, in days")
    return None


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _of_text(levels: Levels, texts: Sequence[str], trusted: bool) -> ReadColumn | None:
    """Read text as numbers or dates, apart from marks of missing values; None if it is neither."""
    there = np.array([not is_missing_mark(text) for text in texts])
    held = [text for text, is_there in zip(texts, there, strict=True) if is_there]
    if not held:
        return None if any(text.strip() for text in texts) else _empty(levels.codes.size)

    def spread(values: np.ndarray) -> np.ndarray:
        placed = np.full(there.size, np.nan).astype(values.dtype)
        placed[there] = values
        return levels.spread(placed)

    if (found := read_numerals(held)) is not None:
        numbers = spread(found.values)
        if not trusted and counts_rows(numbers):
            reason = "consecutive integers, like row numbers"
            return left_out(levels.codes.size, "identifier", reason)
        return ReadColumn("number", numbers[:, None], found.words)
    if (dates := read_dates(held)) is not None:
        return _of_points(spread(dates[0]), dates[1])
    if (seconds := read_clock(held)) is not None:
        return _of_clock(spread(seconds))
    return _of_numbers_with_strays(levels, texts)


def _of_numbers_with_strays(levels: Levels, texts: Sequence[str]) -> ReadColumn | None:
    """Read numbers with a few other cells in between, such as "unknown"."""
    are_numbers = look_like_numbers(texts)
    is_stray = levels.spread(~are_numbers + 0.0)  # NaN where the value is missing
    if are_numbers.sum() <= FEW_LEVELS or np.nanmean(is_stray) > STRAY_SHARE:
        return None
    found = read_numerals([text for text, is_one in zip(texts, are_numbers, strict=True) if is_one])
    if found is None:
        return None
    values = np.full(are_numbers.size, np.nan)
    values[are_numbers] = found.values
    strays = [
        t
        for t, is_one in zip(texts, are_numbers, strict=True)
        if not (is_one or is_missing_mark(t))
    ]
    words = f"{found.words}; {listed(strays)} treated as missing"
    return ReadColumn("number", levels.spread(values)[:, None], words)


def read_categories(levels: Levels) -> ReadColumn:
    """Encode levels as indicators, with rare ones merged; exclude row identifiers."""
    n, n_levels = levels.n_present, len(levels.values)
    if n == 0:
        return _empty(levels.codes.size)
    said = f"{n_levels} value{'s' if n_levels > 1 else ''} in {n} rows"
    counts = np.bincount(levels.codes[levels.codes >= 0], minlength=n_levels)
    rare = counts < min(FEWEST_IN_LEVEL, RARE_SHARE * n)
    hardly_repeat = 2 * n_levels > n and n_levels > FEW_LEVELS
    if hardly_repeat or rare.all():
        if not _is_often_missing(levels):
            return left_out(levels.codes.size, "identifier", f"{said}: a row identifier")
        return ReadColumn("category", _whether_there(levels), f"{said}: {ONLY_WHETHER}")
    block, n_merged = indicators(levels, rare)
    merged = f", {n_merged} {_MERGED}" if n_merged else ""
    return ReadColumn("category", block, f"{said}{merged}")


def _is_often_missing(levels: Levels) -> bool:
    """Tell whether values are missing, and present, often enough to learn from it."""
    n = levels.n_present
    return min(n, levels.codes.size - n) >= FEWEST_IN_LEVEL


def _whether_there(levels: Levels) -> np.ndarray:
    """Return an indicator of missingness, the only useful information in a row identifier."""
    return indicators(levels, np.ones(len(levels.values), dtype=bool))[0]


def indicators(levels: Levels, rare: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """Return an indicator column for each level, and the number of levels merged into one.

    Merges rare levels, and those beyond the maximum number. Missing values form a level.
    """
    values, codes = levels.values, levels.codes
    n_levels = len(values)
    n_missing = int((codes < 0).any())
    merged = np.zeros(n_levels, dtype=bool) if rare is None else rare.copy()
    counts = np.bincount(codes[codes >= 0], minlength=n_levels)
    most = MOST_LEVELS - n_missing
    if (~merged).sum() + merged.any() > most:
        # The rarest; ties are broken by value, so that the order of the rows does not matter.
        by_count = sorted(range(n_levels), key=lambda i: (-counts[i], *_place(values[i])))
        merged[by_count[most - 1 :]] = True
    if merged.sum() < 2:
        merged[:] = False
    order = sorted(range(n_levels), key=lambda i: (merged[i], *_place(values[i])))
    n_own = int((~merged).sum())
    number = np.empty(n_levels + 1, dtype=np.intp)
    number[order] = np.minimum(np.arange(n_levels), n_own)
    n_columns = n_own + int(merged.any()) + n_missing
    number[-1] = n_columns - 1  # missing values
    return np.eye(n_columns)[number[codes]], int(merged.sum())


def _place(value: Any) -> tuple[str, str]:
    return str(type(value)), str(value)


def read_as_number(column: Any, name: str) -> ReadColumn:
    """Read a column as numbers, as requested."""
    read = read_by_itself(column, by_dtype=False, trusted=True)
    if read.kind == "number" or read.kind == "empty":
        return read
    if read.kind == "date":
        return ReadColumn("number", read.block[:, :1], "time since the first date, in days")
    levels = Levels.of(column)
    values = np.array([_as_number(_as_text(value)) for value in levels.values])
    if np.isnan(values).all():
        raise _unread(name, "number", str(levels.values[0]))
    return ReadColumn("number", levels.spread(values)[:, None], "as requested")


def _as_number(text: str) -> float:
    """Convert a text, including a code such as "007", to a number; NaN if it is not a number."""
    try:
        return float(text)
    except ValueError:
        found = read_numerals([text])
        return np.nan if found is None else float(found.values[0])


def read_as_date(column: Any, name: str) -> ReadColumn:
    """Read a column as dates, as requested."""
    read = read_by_itself(column, by_dtype=False, trusted=True)
    if read.kind in ("date", "empty"):
        return read
    raise _unread(name, "date", str(Levels.of(column).values[0]), ", such as '2024-01-31'")


def read_as_category(column: Any, name: str) -> ReadColumn:
    """Read a column as categories, as requested; merge levels only if there are too many."""
    levels = Levels.of(column)
    if not levels.values:
        return _empty(levels.codes.size)
    if FEW_LEVELS < len(levels.values) == levels.n_present:
        if _is_often_missing(levels):
            return ReadColumn("category", _whether_there(levels))
        raise ValueError(
            f"Categorical column {name} has {len(levels.values)} levels in as many rows: it "
            "identifies rows, not groups of rows. Merge levels, or drop the column."
        )
    return ReadColumn("category", indicators(levels)[0])


def read_dropped(column: Any, name: str) -> ReadColumn:
    """Exclude a column, as requested."""
    return left_out(len(column), "dropped", "as requested")


def _unread(name: str, kind: str, text: str, example: str = "") -> ValueError:
    return ValueError(f"Column {name} cannot be read as a {kind}: it contains {text!r}{example}.")


def values_as_read(column: Any, kind: str) -> np.ndarray:
    """Return the values of a column of known kind; text read as numbers or dates is converted."""
    if kind == "number" and not is_number(column.dtype):
        return read_as_number(column, "").block[:, 0]
    if kind == "date" and not is_time(column.dtype):
        points = read_as_date(column, "").points
        return np.asarray(column) if points is None else points
    return np.asarray(column)


#: How to read a column whose kind is given.
READERS: dict[str, Callable[[Any, str], ReadColumn]] = {
    "number": read_as_number,
    "category": read_as_category,
    "date": read_as_date,
    "drop": read_dropped,
}
