"""Infer what a column holds (numbers, categories, dates, row identifiers) and encode it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np

from covmin.constants import FEW_LEVELS, MOST_LEVELS, RARE_LEVEL
from covmin.remarks import InputError
from covmin.text import listed

from .dtypes import as_numbers, is_category, is_integer, is_missing, is_number
from .parsing import (
    encode_phase,
    encode_points,
    is_missing_mark,
    look_like_numbers,
    points_in_time,
    read_clock,
    read_dates,
    read_numerals,
)

#: Kinds that the user may request for a column.
KINDS = ("number", "category", "date", "text", "drop")
# Kinds of columns that are excluded from the selection, the last one as requested.
LEFT_OUT = ("identifier", "free text", "empty", "dropped")
_SAID = {
    "number": "Read as numbers",
    "category": "Read as categories",
    "date": "Read as dates",
    "text": "Read as text",
    "presence": "Row identifiers, used only as indicators of missingness",
    "identifier": "Excluded as row identifiers, whose values hardly repeat",
    "free text": "Excluded as free text",
    "empty": "Excluded because empty",
    "dropped": "Excluded as requested",
}
# Words of a cell of free text.
_WORDS = 3


@dataclass(frozen=True)
class ReadColumn:
    """A column encoded as numbers."""

    kind: str  # "number", "category", "date", "text", or one of LEFT_OUT
    block: np.ndarray  # (n_samples, n_encoded), NaN where a number or a date is missing
    words: str = ""  # how it was read, if the dtype alone does not tell
    note: str = ""  # "presence" if only whether there is a value is used
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
        return (
            f"{self.column!r} {'excluded' if self.kind in LEFT_OUT else _SAID[self.kind].lower()}"
        )

    def __str__(self) -> str:
        return f"{self.choice} ({self.words})"


def summary(readings: Sequence[Reading]) -> list[str]:
    """Return one sentence for each kind that columns were read as.

    >>> print(*summary([Reading("sex", "category", "2 values"), Reading(3, "empty", "")]))
    Read as categories: 'sex'. Excluded because empty: 3.
    """
    sentences = []
    for kind, what in _SAID.items():
        found = [read for read in readings if (read.note or read.kind) == kind]
        names = listed([read.column for read in found])
        if len(found) == 1 and kind in ("number", "date", "text"):
            names += f" ({found[0].words})"
        if found:
            sentences.append(f"{what}: {names}.")
    return sentences


@dataclass(frozen=True)
class Levels:
    """The distinct values of a column, and the value of each sample."""

    values: list[Any]
    codes: np.ndarray  # (n_samples,), -1 where the value is missing

    @classmethod
    def of(cls, column: Any) -> Self:
        """Find the distinct values of a column."""
        entries = column.to_list() if hasattr(column, "to_list") else list(column)
        try:
            found = dict.fromkeys(entries)
        except TypeError:  # unhashable values such as lists are compared as text
            entries = list(map(str, entries))
            found = dict.fromkeys(entries)
        values = [value for value in found if not is_missing(value)]
        number = dict.fromkeys(found, -1) | {value: i for i, value in enumerate(values)}
        codes = np.fromiter(map(number.__getitem__, entries), dtype=np.intp, count=len(entries))
        return cls(values, codes)

    @property
    def n_present(self) -> int:
        """Number of values that are not missing."""
        return int((self.codes >= 0).sum())

    def spread(self, numbers: np.ndarray) -> np.ndarray:
        """Return the number of each sample's level; NaN or NaT if it is missing."""
        nothing = np.array([np.nan]).astype(numbers.dtype)
        return np.concatenate([numbers, nothing])[self.codes]


def identifies_rows(column: Any, n_columns: int = 1) -> bool:
    """Tell whether integers identify rows: all differ although they lie close together.

    Row numbers do, and numbers of customers or of answers. Of n independent integers from a range
    of R, all differ with probability ``Π (1 − i/R)`` over i < n. Small probabilities are allowed
    for among many columns. Missing values, and steps larger than one, identify nothing.
    """
    numbers = np.asarray(column)
    if numbers.dtype.kind not in "iu":  # as integers, if none is missing: large ones differ there
        numbers = as_numbers(column)
    n, exact = numbers.size, int if numbers.dtype.kind in "iu" else float
    size = exact(numbers.max()) - exact(numbers.min()) + 1  # NaN if a value is missing
    # With more than one integer, a range beyond n²/2 makes none equal on average.
    if not (n > 1 and n <= size < n * n) or not float(numbers[0]).is_integer():
        return False
    steps = np.diff(np.sort(numbers))
    if steps.min() < 1 or (steps % 1).any() or np.gcd.reduce(steps.astype(np.int64)) > 1:
        return False
    return bool(np.log1p(-np.arange(n) / size).sum() < -FEW_LEVELS - np.log(n_columns))


# --- columns whose kind is inferred ------------------------------------------------------------


def read_by_itself(column: Any, *, is_trusted: bool = False) -> ReadColumn:
    """Read a column as the kind that it appears to hold.

    Parameters
    ----------
    column : pandas or polars series, or array of shape (n_samples,)
    is_trusted : bool
        Whether to use integers even if they look like row numbers.
    """
    if is_number(column.dtype):
        if not is_trusted and is_integer(column.dtype) and identifies_rows(column):
            return _row_numbers(len(column))
        return ReadColumn("number", as_numbers(column)[:, None])
    levels = Levels.of(column)
    if not is_category(column.dtype):
        return _of_objects(levels, is_trusted)
    read = read_categories(levels)
    # If no level is merged, the dtype tells everything.
    is_whole = read.block.shape[1] == len(levels.values) + (levels.codes < 0).any()
    return replace(read, words="") if is_whole else read


def _left_out(n_samples: int, kind: str, words: str) -> ReadColumn:
    return ReadColumn(kind, np.empty((n_samples, 0)), words)


def _row_numbers(n_samples: int) -> ReadColumn:
    words = "integers that never repeat, like row numbers"
    return _left_out(n_samples, "identifier", words)


def _empty(n_samples: int) -> ReadColumn:
    return _left_out(n_samples, "empty", "no values")


def _of_points(points: np.ndarray, words: str = "dates") -> ReadColumn:
    block, cycles = encode_points(points)
    parts = ", ".join(["time since the first date", *cycles])
    return ReadColumn("date", block, f"{words}: {parts}", points=points)


def _of_objects(levels: Levels, is_trusted: bool) -> ReadColumn:
    """Read objects: by their types if all agree, otherwise by their text."""
    values = levels.values
    if not values:
        return _empty(levels.codes.size)
    # First, because durations of NumPy are integers.
    if all(isinstance(value, timedelta | np.timedelta64) for value in values):
        days = np.array([value / np.timedelta64(1, "D") for value in values])
        return ReadColumn("number", levels.spread(days)[:, None], "durations, in days")
    if all(isinstance(value, (Real, Decimal, np.bool_)) for value in values):
        numbers = np.array([float(value) for value in values])
        return ReadColumn("number", levels.spread(numbers)[:, None])
    dates = date | np.datetime64
    if all(isinstance(each, dates) or hasattr(each, "to_timestamp") for each in values):
        return _of_points(levels.spread(points_in_time(values)))
    return _of_text(levels, is_trusted) or read_categories(levels)


def _as_text(value: Any) -> str:
    if isinstance(value, time):
        value = value.replace(tzinfo=None)  # the local clock
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _of_text(levels: Levels, is_trusted: bool) -> ReadColumn | None:
    """Read text as numbers, dates or times; None if it is something else.

    Marks of missing values count as missing, and so does what is no number among many numbers, such
    as "unknown": at most one cell in ``FEW_LEVELS``.
    """
    texts = [_as_text(value) for value in levels.values]
    if not any(text.strip() for text in texts):
        return _empty(levels.codes.size)
    is_mark = np.array([is_missing_mark(text) for text in texts])
    are_numbers = look_like_numbers(texts) & ~is_mark
    is_stray = ~(are_numbers | is_mark)
    n_stray = is_stray[levels.codes[levels.codes >= 0]].sum()
    if are_numbers.sum() <= FEW_LEVELS or FEW_LEVELS * n_stray > levels.n_present:
        is_stray[:] = False
    there = ~(is_mark | is_stray)
    held = [texts[i] for i in np.flatnonzero(there)]

    def spread(values: np.ndarray) -> np.ndarray:
        placed = np.full(there.size, np.nan).astype(values.dtype)
        placed[there] = values
        return levels.spread(placed)

    if (found := read_numerals(held)) is not None:
        numbers, words = spread(found[0]), found[1]
        if not is_trusted and identifies_rows(numbers):
            return _row_numbers(levels.codes.size)
        if is_stray.any():
            words += f"; {listed([texts[i] for i in np.flatnonzero(is_stray)])} treated as missing"
        return ReadColumn("number", numbers[:, None], words)
    if (dates := read_dates(held)) is not None:
        return _of_points(spread(dates[0]), dates[1])
    if (phases := read_clock(held)) is not None:
        return ReadColumn("date", encode_phase(spread(phases)), "times of day")
    return None


def read_categories(levels: Levels) -> ReadColumn:
    """Encode levels as indicators, with rare ones merged; exclude row identifiers and free text."""
    n, n_levels = levels.n_present, len(levels.values)
    if n == 0:
        return _empty(levels.codes.size)
    words = f"{n_levels} value{'s' if n_levels > 1 else ''} in {n} rows"
    counts = np.bincount(levels.codes[levels.codes >= 0], minlength=n_levels)
    rare = counts < min(RARE_LEVEL[0], RARE_LEVEL[1] * n)
    hardly_repeat = 2 * n_levels > n and n_levels > FEW_LEVELS
    is_mostly_rare = n_levels > FEW_LEVELS and 2 * counts[rare].sum() > n
    n_words = [len(_as_text(value).split()) for value in levels.values]
    if (hardly_repeat or is_mostly_rare) and np.median(n_words) >= _WORDS:
        return _left_out(levels.codes.size, "free text", f"{words}, of several words each")
    if hardly_repeat or rare.all():
        if (presence := _presence(levels)) is None:
            return _left_out(levels.codes.size, "identifier", f"{words}: a row identifier")
        words += ": a row identifier, used only as an indicator of missingness"
        return ReadColumn("category", presence, words, "presence")
    block, n_merged = indicators(levels, rare)
    return ReadColumn(
        "category", block, f"{words}, {n_merged} rare ones merged" if n_merged else words
    )


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
    codes, n_levels = levels.codes, len(levels.values)
    n_missing = int((codes < 0).any())
    # Ties are broken by value, so that the order of the rows does not matter.
    keys = [(str(type(value)), str(value)) for value in levels.values]
    place = np.argsort(sorted(range(n_levels), key=keys.__getitem__))
    merged = np.zeros(n_levels, dtype=bool) if rare is None else rare.copy()
    most = MOST_LEVELS - n_missing
    if (~merged).sum() + merged.any() > most:
        counts = np.bincount(codes[codes >= 0], minlength=n_levels)
        merged[np.lexsort((place, -counts))[most - 1 :]] = True
    if merged.sum() < 2:
        merged[:] = False
    n_own = int((~merged).sum())
    n_columns = n_own + int(merged.any()) + n_missing
    number = np.full(n_levels + 1, n_columns - 1)  # the last one is for missing values
    number[np.lexsort((place, merged))] = np.minimum(np.arange(n_levels), n_own)
    return np.eye(n_columns)[number[codes]], int(merged.sum())


# --- columns whose kind is given ---------------------------------------------------------------


def read_as(kind: str, column: Any, label: Hashable) -> ReadColumn:
    """Read a column as one of ``KINDS``, as requested."""
    if kind == "drop":
        return _left_out(len(column), "dropped", "as requested")
    levels = Levels.of(column)
    if not levels.values:
        return _empty(levels.codes.size)
    if kind == "category":
        return _as_category(levels, label)
    read = _of_words(levels) if kind == "text" else _of_objects(levels, is_trusted=True)
    if read is not None and read.kind == kind:
        return read
    if kind == "number":
        if read is not None and read.kind == "date":
            return ReadColumn("number", read.block[:, :1], "time since the first date, in days")
        values = np.array([_parsed(_as_text(value)) for value in levels.values])
        if not np.isnan(values).all():
            return ReadColumn("number", levels.spread(values)[:, None], "as requested")
    needs = {"date": ", such as '2024-01-31'", "text": ", and words have at least two letters"}
    raise InputError(
        f"Column {label!r} cannot be read as a {kind}: it contains "
        f"{str(levels.values[0])!r}{needs.get(kind, '')}.",
        "column_types",
        [label],
    )


def _parsed(text: str) -> float:
    """Convert a text, including a code such as "007", to a number; NaN if it is not a number."""
    try:
        return float(text)
    except ValueError:
        found = read_numerals([text])
        return np.nan if found is None else float(found[0][0])


def _as_category(levels: Levels, label: Hashable) -> ReadColumn:
    """Merge levels only if there are too many."""
    if not FEW_LEVELS < len(levels.values) == levels.n_present:
        return ReadColumn("category", indicators(levels)[0])
    if (presence := _presence(levels)) is not None:
        return ReadColumn("category", presence)
    raise InputError(
        f"Categorical column {label!r} has {len(levels.values)} levels in as many rows: it "
        "identifies rows, not groups of rows. Merge levels, or drop the column.",
        "column_types",
        [label],
    )


def _of_words(levels: Levels) -> ReadColumn | None:
    """Return the main directions of the frequencies of words, weighted by how rare a word is."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = np.array([*map(_as_text, levels.values), ""], dtype=object)[levels.codes]
    try:
        words = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    except ValueError:  # no words
        return None
    most = min(FEW_LEVELS, *(size - 1 for size in words.shape))
    block = words.toarray()
    if most > 0:
        block = TruncatedSVD(most, random_state=0).fit_transform(words)
    block[levels.codes < 0] = np.nan
    said = f"frequencies of {words.shape[1]} words, in {block.shape[1]} numbers"
    return ReadColumn("text", block, said)
