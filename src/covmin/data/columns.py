"""Infer what a column holds (numbers, categories, dates, row identifiers) and encode it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from covmin.constants import FEW_LEVELS, MOST_LEVELS, RARE_LEVEL
from covmin.remarks import InputError
from covmin.text import listed

from .dtypes import as_numbers, is_category, is_integer, is_missing, is_number, is_time
from .parsing import (
    encode_phase,
    encode_points,
    is_missing_mark,
    is_point,
    look_like_numbers,
    points_in_time,
    points_of_objects,
    read_clock,
    read_dates,
    read_numerals,
    seconds_of_clock,
)

_DAY = np.timedelta64(1, "D")
_SECONDS_OF_DAY = 86_400.0
#: Kinds that the user may request for a column.
KINDS = ("number", "category", "date", "text", "drop")
# Kinds of columns that are excluded from the selection.
LEFT_OUT = ("identifier", "free text", "empty", "dropped")  # the last one as requested
_READ_AS = {"number": "numbers", "category": "categories", "date": "dates", "text": "text"}
_EXCLUDED = {
    "identifier": "as row identifiers",
    "free text": "as free text",
    "empty": "because empty",
    "dropped": "as requested",
}
_ROW_NUMBERS = "integers that never repeat, like row numbers"
# Words of a cell of free text.
_WORDS = 3


@dataclass(frozen=True)
class ReadColumn:
    """A column encoded as numbers."""

    kind: str  # "number", "category", "date", "text", or one of LEFT_OUT
    block: np.ndarray  # (n_samples, n_encoded), NaN where a number or a date is missing
    words: str = ""  # how it was read, if the dtype alone does not tell
    # "merged" if rare levels are merged, "presence" if only whether there is a value is used.
    note: str = ""
    points: np.ndarray | None = None  # (n_samples,), the dates themselves


@dataclass(frozen=True)
class Reading:
    """How a column that is not plain numbers was read."""

    column: Hashable  # name or number of the column
    kind: str
    words: str  # the reason
    note: str = ""  # see ReadColumn

    @property
    def choice(self) -> str:
        """How the column was read, in words."""
        is_out = self.kind in LEFT_OUT
        return f"{self.column!r} {'excluded' if is_out else f'read as {_READ_AS[self.kind]}'}"

    def __str__(self) -> str:
        return f"{self.choice} ({self.words})"


def summary(readings: Sequence[Reading]) -> list[str]:
    """Return one sentence for each kind that columns were read as.

    >>> print(*summary([Reading("sex", "category", "2 values"), Reading(3, "empty", "")]))
    Read as categories: 'sex'. Excluded because empty: 3.
    """
    sentences = []
    for kind, what in _READ_AS.items():
        found = [read for read in readings if read.kind == kind and read.note != "presence"]
        names = listed([read.column for read in found])
        if len(found) == 1 and kind != "category":
            names = f"{found[0].column!r} ({found[0].words})"
        if found:
            sentences.append(f"Read as {what}: {names}.")
    if names := listed([read.column for read in readings if read.note == "presence"]):
        sentences.append(f"Row identifiers, used only as indicators of missingness: {names}.")
    for kind, why in _EXCLUDED.items():
        if names := listed([read.column for read in readings if read.kind == kind]):
            sentences.append(f"Excluded {why}: {names}.")
    return sentences


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


def identifies_rows(numbers: np.ndarray, n_columns: int = 1) -> bool:
    """Tell whether integers identify rows: all differ although they lie close together.

    Row numbers do, and numbers of customers or of answers. Of n independent integers from a range
    of R, all differ with probability ``Π (1 − i/R)`` over i < n. Small probabilities are allowed
    for among many columns. Missing values, and steps larger than one, identify nothing.
    """
    n = numbers.size
    exact = int if numbers.dtype.kind in "iu" else float
    size = exact(numbers.max()) - exact(numbers.min()) + 1  # NaN if a value is missing
    # With more than one integer, a range beyond n²/2 makes none equal on average.
    if not (n > 1 and n <= size < n * n) or not float(numbers.flat[0]).is_integer():
        return False
    steps = np.diff(np.sort(numbers))
    if steps.min() < 1 or (steps % 1).any() or np.gcd.reduce(steps.astype(np.int64)) > 1:
        return False
    return bool(np.log1p(-np.arange(n) / size).sum() < -FEW_LEVELS - np.log(n_columns))


def are_row_numbers(X: Any, columns: Sequence[int]) -> np.ndarray:
    """Return a mask of those columns of integers of a frame that identify rows."""
    values, d = np.asarray(_safe_indexing(X, columns, axis=1)), len(columns)
    if values.dtype.kind not in "iu":  # values are missing
        numbers = [as_numbers(_safe_indexing(X, j, axis=1)) for j in columns]
        return np.array([identifies_rows(each, d) for each in numbers])
    # All ranges at once. As unsigned integers, the difference of any two integers fits.
    low, high = values.min(axis=0).astype(np.uint64), values.max(axis=0).astype(np.uint64)
    n = len(values)
    dense = (high - low >= n - 1) & (high - low < n * n)
    return np.array([each and identifies_rows(values[:, k], d) for k, each in enumerate(dense)])


# --- columns whose kind is inferred ------------------------------------------------------------


def read_by_itself(column: Any, *, is_trusted: bool = False) -> ReadColumn:
    """Read a column as the kind that it appears to hold.

    Parameters
    ----------
    column : pandas or polars series, or array of shape (n_samples,)
    is_trusted : bool
        Whether to use integers even if they look like row numbers.
    """
    dtype = column.dtype
    if is_number(dtype):
        # As integers, if none is missing: large ones differ only there.
        exact = np.asarray(column)
        numbers = as_numbers(column)
        exact = exact if exact.dtype.kind in "iu" else numbers
        if not is_trusted and is_integer(dtype) and identifies_rows(exact):
            return _left_out(len(column), "identifier", _ROW_NUMBERS)
        return ReadColumn("number", numbers[:, None])
    if is_time(dtype):
        return _of_times(column)
    levels = Levels.of(column)
    if is_category(dtype):
        read = read_categories(levels)
        # If no level is merged, the dtype tells everything.
        is_said = read.kind == "category" and read.note != "merged"
        return replace(read, words="") if is_said else read
    return _of_objects(levels, is_trusted)


def _left_out(n_samples: int, kind: str, words: str) -> ReadColumn:
    return ReadColumn(kind, np.empty((n_samples, 0)), words)


def _empty(n_samples: int) -> ReadColumn:
    return _left_out(n_samples, "empty", "no values")


def _of_times(column: Any) -> ReadColumn:
    """Read a column whose dtype holds dates, times of day or durations."""
    name = str(column.dtype).lower()
    if name.startswith(("timedelta", "duration")):
        array = column.to_numpy() if hasattr(column, "to_numpy") else column
        if array.dtype.kind != "m":
            return _of_objects(Levels.of(column), is_trusted=True)
        return ReadColumn("number", (array / _DAY)[:, None], "durations, in days")
    if name.startswith("time") and not name.startswith("timestamp"):
        return _of_clock(seconds_of_clock(column.to_list()))
    return _of_points(points_in_time(column))


def _of_points(points: np.ndarray, words: str = "dates") -> ReadColumn:
    if np.isnat(points).all():
        return _empty(points.size)
    block, cycles = encode_points(points)
    parts = ", ".join(["time since the first date", *cycles])
    return ReadColumn("date", block, f"{words}: {parts}", points=points)


def _of_clock(seconds: np.ndarray) -> ReadColumn:
    if np.isnan(seconds).all():
        return _empty(seconds.size)
    return ReadColumn("date", encode_phase(seconds / _SECONDS_OF_DAY), "times of day")


def _of_objects(levels: Levels, is_trusted: bool) -> ReadColumn:
    """Read a column of objects: by their types if all agree, otherwise by their text."""
    if not levels.values:
        return _empty(levels.codes.size)
    read = _of_python(levels)
    if read is None:
        texts = [_as_text(value) for value in levels.values]
        read = _of_text(levels, texts, is_trusted)
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


def _of_text(levels: Levels, texts: Sequence[str], is_trusted: bool) -> ReadColumn | None:
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
        if not is_trusted and identifies_rows(numbers):
            return _left_out(levels.codes.size, "identifier", _ROW_NUMBERS)
        return ReadColumn("number", numbers[:, None], found.words)
    if (dates := read_dates(held)) is not None:
        return _of_points(spread(dates[0]), dates[1])
    if (seconds := read_clock(held)) is not None:
        return _of_clock(spread(seconds))
    return _of_numbers_with_strays(levels, texts)


def _of_numbers_with_strays(levels: Levels, texts: Sequence[str]) -> ReadColumn | None:
    """Read numbers with a few other cells in between, such as "unknown".

    At most one cell in ``FEW_LEVELS`` may be something else, which counts as missing.
    """
    are_numbers = look_like_numbers(texts)
    is_stray = levels.spread(~are_numbers + 0.0)  # NaN where the value is missing
    if are_numbers.sum() <= FEW_LEVELS or np.nanmean(is_stray) > 1.0 / FEW_LEVELS:
        return None
    found = read_numerals([text for text, is_one in zip(texts, are_numbers, strict=True) if is_one])
    if found is None:
        return None
    values = np.full(are_numbers.size, np.nan)
    values[are_numbers] = found.values
    others = (text for text, is_one in zip(texts, are_numbers, strict=True) if not is_one)
    strays = [text for text in others if not is_missing_mark(text)]
    words = f"{found.words}; {listed(strays)} treated as missing"
    return ReadColumn("number", levels.spread(values)[:, None], words)


def read_categories(levels: Levels) -> ReadColumn:
    """Encode levels as indicators, with rare ones merged; exclude row identifiers."""
    n, n_levels = levels.n_present, len(levels.values)
    if n == 0:
        return _empty(levels.codes.size)
    words = f"{n_levels} value{'s' if n_levels > 1 else ''} in {n} rows"
    counts = np.bincount(levels.codes[levels.codes >= 0], minlength=n_levels)
    rare = counts < min(RARE_LEVEL[0], RARE_LEVEL[1] * n)
    hardly_repeat = 2 * n_levels > n and n_levels > FEW_LEVELS
    is_mostly_rare = n_levels > FEW_LEVELS and 2 * counts[rare].sum() > n
    is_prose = (hardly_repeat or is_mostly_rare) and _is_prose(levels.values)
    if hardly_repeat or rare.all() or is_prose:
        if is_prose:
            return _left_out(levels.codes.size, "free text", f"{words}, of several words each")
        if (presence := _presence(levels)) is None:
            return _left_out(levels.codes.size, "identifier", f"{words}: a row identifier")
        words += ": a row identifier, used only as an indicator of missingness"
        return ReadColumn("category", presence, words, "presence")
    block, n_merged = indicators(levels, rare)
    if n_merged:
        return ReadColumn("category", block, f"{words}, {n_merged} rare ones merged", "merged")
    return ReadColumn("category", block, words)


def _is_prose(values: Sequence[Any]) -> bool:
    """Tell whether most values are text of several words."""
    return bool(np.median([len(_as_text(value).split()) for value in values]) >= _WORDS)


def _presence(levels: Levels) -> np.ndarray | None:
    """Return an indicator of missingness, unless values are rarely missing or rarely present."""
    n = levels.n_present
    if min(n, levels.codes.size - n) < RARE_LEVEL[0]:
        return None
    return indicators(levels, np.ones(len(levels.values), dtype=bool))[0]


def indicators(levels: Levels, rare: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """Return an indicator column for each level, and the number of levels merged into one.

    Merges rare levels, and those beyond the maximum number. Missing values form a level.
    """
    values, codes = levels.values, levels.codes
    n_levels = len(values)
    n_missing = int((codes < 0).any())
    merged = np.zeros(n_levels, dtype=bool) if rare is None else rare.copy()
    most = MOST_LEVELS - n_missing
    if (~merged).sum() + merged.any() > most:
        counts = np.bincount(codes[codes >= 0], minlength=n_levels)
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


# --- columns whose kind is given ---------------------------------------------------------------


def read_as(kind: str, column: Any, label: Hashable) -> ReadColumn:
    """Read a column as one of ``KINDS``, as requested."""
    if kind == "drop":
        return _left_out(len(column), "dropped", "as requested")
    if kind == "category":
        return _as_category(Levels.of(column), label)
    if kind == "number":
        return _as_number(column, label)
    if kind == "text":
        return _as_words(Levels.of(column), label)
    read = _by_values(column)
    if read.kind in ("date", "empty"):
        return read
    raise _unread(label, "date", Levels.of(column), ", such as '2024-01-31'")


def _by_values(column: Any) -> ReadColumn:
    """Read a column by its values, even if its dtype is categorical."""
    if is_category(column.dtype):
        return _of_objects(Levels.of(column), is_trusted=True)
    return read_by_itself(column, is_trusted=True)


def _as_number(column: Any, label: Hashable) -> ReadColumn:
    if is_number(column.dtype):
        return ReadColumn("number", as_numbers(column)[:, None])
    read = _by_values(column)
    if read.kind in ("number", "empty"):
        return read
    if read.kind == "date":
        return ReadColumn("number", read.block[:, :1], "time since the first date, in days")
    levels = Levels.of(column)
    values = np.array([_parsed(_as_text(value)) for value in levels.values])
    if np.isnan(values).all():
        raise _unread(label, "number", levels)
    return ReadColumn("number", levels.spread(values)[:, None], "as requested")


def _parsed(text: str) -> float:
    """Convert a text, including a code such as "007", to a number; NaN if it is not a number."""
    try:
        return float(text)
    except ValueError:
        found = read_numerals([text])
        return np.nan if found is None else float(found.values[0])


def _as_category(levels: Levels, label: Hashable) -> ReadColumn:
    """Merge levels only if there are too many."""
    if not levels.values:
        return _empty(levels.codes.size)
    if FEW_LEVELS < len(levels.values) == levels.n_present:
        if (presence := _presence(levels)) is not None:
            return ReadColumn("category", presence)
        raise InputError(
            f"Categorical column {label!r} has {len(levels.values)} levels in as many rows: it "
            "identifies rows, not groups of rows. Merge levels, or drop the column.",
            "column_types",
            [label],
        )
    return ReadColumn("category", indicators(levels)[0])


def _as_words(levels: Levels, label: Hashable) -> ReadColumn:
    """Return the main directions of the frequencies of words, weighted by how rare a word is."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not levels.values:
        return _empty(levels.codes.size)
    texts = np.array([*map(_as_text, levels.values), ""], dtype=object)[levels.codes]
    try:
        words = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    except ValueError as error:  # no words
        raise _unread(label, "text", levels, ", and words have at least two letters") from error
    most = min(FEW_LEVELS, *(size - 1 for size in words.shape))
    block = words.toarray()
    if most > 0:
        block = TruncatedSVD(most, algorithm="arpack", random_state=0).fit_transform(words)
    block[levels.codes < 0] = np.nan
    said = f"frequencies of {words.shape[1]} words, in {block.shape[1]} numbers"
    return ReadColumn("text", block, said)


def _unread(label: Hashable, kind: str, levels: Levels, example: str = "") -> InputError:
    text = str(levels.values[0])
    return InputError(
        f"Column {label!r} cannot be read as a {kind}: it contains {text!r}{example}.",
        "column_types",
        [label],
    )


def values_as_read(column: Any, kind: str) -> np.ndarray:
    """Return the values of a column of known kind; text read as numbers or dates is converted."""
    if kind == "number" and not is_number(column.dtype):
        return _as_number(column, "").block[:, 0]
    if kind == "date" and not is_time(column.dtype):
        points = read_as("date", column, "").points
        return np.asarray(column) if points is None else points
    return np.asarray(column)
