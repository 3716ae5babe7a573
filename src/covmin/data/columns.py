"""Infer what a column holds (numbers, categories, dates, row identifiers) and encode it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.stats import chi2
from sklearn.utils import _safe_indexing

from covmin.constants import FEW_LEVELS, MOST_LEVELS, RARE_LEVEL
from covmin.remarks import InputError
from covmin.text import count_of, listed

from . import parsing
from .blocks.array import ArrayBlocks, Blocks
from .dtypes import as_numbers, checked_numbers, holds_numbers, is_frame, is_missing, kind_of
from .layout import Names, position

#: Kinds that the user may request for a column.
KINDS = ("number", "category", "date", "text", "drop")
# Kinds of columns that are excluded from the selection, the last one as requested.
LEFT_OUT = ("identifier", "free text", "empty", "dropped")
_SAID = {
    "number": "Read as numbers",
    "category": "Read as categories",
    "date": "Read as dates",
    "text": "Read as text",
    "doubtful": "Read as numbers, though never repeated and evenly spread, as identifiers are",
    "presence": "Used only as indicators of missingness, because their values hardly repeat",
    "identifier": "Excluded because their values hardly repeat, as in row identifiers",
    "free text": "Excluded as free text",
    "empty": "Excluded because empty",
    "dropped": "Excluded as requested",
}
_LIKE_ROWS, _NO_VALUES = "integers that never repeat, like row numbers", "no values"
# Integers that show whether they are spread evenly: a bell would not be.
_TELLING = 100
# Words of a cell of free text.
_WORDS = 3


@dataclass(frozen=True)
class ReadColumn:
    """A column encoded as numbers."""

    kind: str  # "number", "category", "date", "text", or one of LEFT_OUT
    block: np.ndarray  # (n_samples, n_encoded), NaN where a number or a date is missing
    words: str = ""  # how it was read, if the dtype alone does not tell
    # "presence" if only whether there is a value is used; "doubtful" if integers may identify rows
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
        how = "excluded" if self.kind in LEFT_OUT else _SAID[self.kind].lower()
        return f"{self.column!r} {how}"

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
    def counts(self) -> np.ndarray:
        """Number of samples of each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def spread(self, numbers: np.ndarray) -> np.ndarray:
        """Return the number of each sample's level; NaN or NaT if it is missing."""
        nothing = np.array([np.nan]).astype(numbers.dtype)
        return np.concatenate([numbers, nothing])[self.codes]


def like_row_numbers(column: Any, n_columns: int = 1) -> str:
    """Tell whether integers identify rows ("identifier"), may do so ("doubtful"), or neither ("").

    Of n independent integers from a range of R, all differ with probability ``Π (1 − i/R)`` over
    i < n. They identify rows if it is small even among ``n_columns``. In a wider range, numbers of
    customers differ, and quantities too, but these are rarely spread evenly (Neyman's smooth test,
    four Legendre polynomials). Missing values, and steps larger than one, identify nothing.
    """
    numbers = np.asarray(column)
    if numbers.dtype.kind not in "iu":  # as integers, if none is missing: large ones differ there
        numbers = as_numbers(column)
    n, exact = numbers.size, int if numbers.dtype.kind in "iu" else float
    size = exact(numbers.max()) - exact(numbers.min()) + 1  # NaN if a value is missing
    if not 1 < n <= size or not float(numbers[0]).is_integer():
        return ""
    numbers = np.sort(numbers)
    steps = np.diff(numbers)
    if steps.min() < 1 or (steps % 1).any() or np.gcd.reduce(steps.astype(np.int64)) > 1:
        return ""
    # With more than one integer, a range beyond n²/2 makes none equal on average.
    if size < n * n and np.log1p(-np.arange(n) / size).sum() < -FEW_LEVELS - np.log(n_columns):
        return "identifier"
    place = (numbers - exact(numbers[0])) / (size - 1)
    waves = legvander(2.0 * place - 1.0, 4)[:, 1:].mean(axis=0)
    unlike = n * (waves**2 @ np.arange(3, 10, 2))
    return "doubtful" if n >= _TELLING and unlike < chi2.isf(0.01, 4) else ""


# --- columns whose kind is inferred ------------------------------------------------------------


def read_by_itself(column: Any, *, is_trusted: bool = False) -> ReadColumn:
    """Read a column as the kind that it appears to hold; trust integers like row numbers or not."""
    if (kind := kind_of(column.dtype)) in "biuf":
        if not is_trusted and kind in "iu" and like_row_numbers(column) == "identifier":
            return _left_out(len(column), "identifier", _LIKE_ROWS)
        return ReadColumn("number", as_numbers(column)[:, None])
    levels = Levels.of(column)
    if kind != "C":
        return _of_objects(levels, is_trusted)
    read = read_categories(levels)
    # If no level is merged, the dtype tells everything.
    is_whole = read.block.shape[1] == len(levels.values) + (levels.codes < 0).any()
    return replace(read, words="") if is_whole else read


def _left_out(n_samples: int, kind: str, words: str) -> ReadColumn:
    return ReadColumn(kind, np.empty((n_samples, 0)), words)


def _of_points(points: np.ndarray, words: str = "dates") -> ReadColumn:
    block, cycles = parsing.encode_points(points)
    parts = ", ".join(["time since the first date", *cycles])
    return ReadColumn("date", block, f"{words}: {parts}", points=points)


def _of_objects(levels: Levels, is_trusted: bool) -> ReadColumn:
    """Read objects: by their types if all agree, otherwise by their text."""
    values = levels.values
    if not values:
        return _left_out(levels.codes.size, "empty", _NO_VALUES)
    # First, because durations of NumPy are integers.
    if all(isinstance(each, timedelta | np.timedelta64) for each in values):
        days = np.array([each / np.timedelta64(1, "D") for each in values])
        return ReadColumn("number", levels.spread(days)[:, None], "durations, in days")
    if all(isinstance(each, (Real, Decimal, np.bool_)) for each in values):
        numbers = np.array([float(each) for each in values])
        return ReadColumn("number", levels.spread(numbers)[:, None])
    if all(isinstance(x, date | np.datetime64) or hasattr(x, "to_timestamp") for x in values):
        return _of_points(levels.spread(parsing.points_in_time(values)))
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
    texts = np.array([_as_text(value) for value in levels.values], dtype=object)
    if not any(text.strip() for text in texts):
        return _left_out(levels.codes.size, "empty", _NO_VALUES)
    is_mark = np.array([parsing.is_missing_mark(text) for text in texts])
    are_numbers = parsing.look_like_numbers(texts) & ~is_mark
    is_stray, counts = ~(are_numbers | is_mark), levels.counts
    if are_numbers.sum() <= FEW_LEVELS or FEW_LEVELS * counts[is_stray].sum() > counts.sum():
        is_stray[:] = False
    there = ~(is_mark | is_stray)
    # Among the values that are there; the others are missing.
    codes = np.append(np.where(there, np.cumsum(there) - 1, -1), -1)[levels.codes]
    held = Levels(texts[there].tolist(), codes)
    if (found := parsing.read_numerals(held.values)) is not None:
        numbers, words = held.spread(found[0]), found[1]
        if not is_trusted and like_row_numbers(numbers) == "identifier":
            return _left_out(codes.size, "identifier", _LIKE_ROWS)
        if is_stray.any():
            words += f"; {listed(texts[is_stray].tolist())} treated as missing"
        return ReadColumn("number", numbers[:, None], words)
    if (dates := parsing.read_dates(held.values)) is not None:
        return _of_points(held.spread(dates[0]), dates[1])
    if (phases := parsing.read_clock(held.values)) is not None:
        return ReadColumn("date", parsing.encode_phase(held.spread(phases)), "times of day")
    return None


def read_categories(levels: Levels) -> ReadColumn:
    """Encode levels as indicators, with rare ones merged; exclude row identifiers and free text."""
    counts, n_levels = levels.counts, len(levels.values)
    if (n := int(counts.sum())) == 0:
        return _left_out(levels.codes.size, "empty", _NO_VALUES)
    words = f"{count_of(n_levels, 'value')} in {count_of(n, 'row')}"
    rare = counts < min(RARE_LEVEL[0], RARE_LEVEL[1] * n)
    hardly_repeat = 2 * n_levels > n and n_levels > FEW_LEVELS
    is_mostly_rare = n_levels > FEW_LEVELS and 2 * counts[rare].sum() > n
    n_words = [len(_as_text(value).split()) for value in levels.values]
    if (hardly_repeat or is_mostly_rare) and np.median(n_words) >= _WORDS:
        return _left_out(levels.codes.size, "free text", f"{words}, of several words each")
    if hardly_repeat or rare.all():
        if (presence := _presence(levels)) is None:
            return _left_out(levels.codes.size, "identifier", f"{words}, which hardly repeat")
        words += ", which hardly repeat: used only as an indicator of missingness"
        return ReadColumn("category", presence, words, "presence")
    block, n_merged = indicators(levels, rare)
    merged = f", {n_merged} rare ones merged" if n_merged else ""
    return ReadColumn("category", block, words + merged)


def _presence(levels: Levels) -> np.ndarray | None:
    """Return an indicator of missingness, unless values are rarely missing or rarely present."""
    if np.bincount(levels.codes < 0, minlength=2).min() < RARE_LEVEL[0]:
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
        merged[np.lexsort((place, -levels.counts))[most - 1 :]] = True
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
        return _left_out(levels.codes.size, "empty", _NO_VALUES)
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
    text = f"Column {label!r} cannot be read as a {kind}: it contains {str(levels.values[0])!r}"
    raise InputError(f"{text}{needs.get(kind, '')}.", "column_types", [label])


def _parsed(text: str) -> float:
    """Convert a text, including a code such as "007", to a number; NaN if it is not a number."""
    try:
        return float(text)
    except ValueError:
        found = parsing.read_numerals([text])
        return np.nan if found is None else float(found[0][0])


def _as_category(levels: Levels, label: Hashable) -> ReadColumn:
    if len(levels.values) <= FEW_LEVELS or levels.counts.max() > 1:
        return ReadColumn("category", indicators(levels)[0])
    if (presence := _presence(levels)) is not None:
        return ReadColumn("category", presence)
    text = f"Categorical column {label!r} has {len(levels.values)} levels in as many rows: it"
    cure = "identifies rows, not groups of rows. Merge levels, or drop the column."
    raise InputError(f"{text} {cure}", "column_types", [label])


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


# --- all columns ----------------------------------------------------------------------------------


def read_matrix(
    X: Any, names: Names, column_types: Any, is_given: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray, tuple[Reading, ...]]:
    """Encode a table: numbers unchanged, other columns in memory by what they hold.

    Returns an array or blocks (n_samples, n_encoded), with NaN where a number or a date is missing;
    the column that each encoded one comes from; and the kinds of the columns, and how they were
    read, if they are not plain numbers.
    """
    numbered = np.arange(is_given.size)
    unchanged = numbered, np.full(is_given.size, "number"), ()
    wanted = {} if column_types == "auto" else _wanted_kinds(X, names, column_types)
    if isinstance(X, Blocks):
        if set(wanted.values()) <= {"number"}:
            return X, *unchanged
        if not isinstance(X, ArrayBlocks):
            text = "column_types requires a table in memory, but this X is read in blocks."
            cure = "Encode these columns first, or load the table into memory."
            raise InputError(f"{text} {cure}", "column_types")
        X = X.array
    others = [j for j, kind in wanted.items() if kind != "number"]
    plain, doubtful = np.ones(is_given.size, dtype=bool), set[int]()
    if column_types != "strict":
        plain, doubtful = _plain_columns(X, names, is_given | np.isin(numbered, list(wanted)))
    plain[others] = False
    if plain.all() and not doubtful:
        return checked_numbers(X), *unchanged
    numbers = np.empty((X.shape[0], 0))
    if plain.any():
        numbers = checked_numbers(_safe_indexing(X, np.flatnonzero(plain), axis=1))
    labels, next_numbers = list(names or numbered.tolist()), iter(numbers.T)

    def read_column(j: int) -> ReadColumn:
        if plain[j]:
            said = ("integers that never repeat", "doubtful") if j in doubtful else ()
            return ReadColumn("number", next(next_numbers)[:, None], *said)
        column = _safe_indexing(X, j, axis=1)
        if j in wanted:
            return read_as(wanted[j], column, labels[j])
        return read_by_itself(column, is_trusted=bool(is_given[j]))

    columns = list(map(read_column, numbered.tolist()))
    told = [(label, read) for label, read in zip(labels, columns, strict=True) if read.words]
    readings = tuple(Reading(label, read.kind, read.words, read.note) for label, read in told)
    if all(read.kind in LEFT_OUT for read in columns):
        text = f"No column is left to select from. {' '.join(summary(readings))}"
        raise InputError(text, "column_types", advice="Use column_types to change this.")
    matrix = np.concatenate([read.block for read in columns], axis=1, dtype=numbers.dtype)
    source = np.repeat(numbered, [read.block.shape[1] for read in columns])
    return matrix, source, np.array([read.kind for read in columns]), readings


def _wanted_kinds(X: Any, names: Names, column_types: Any) -> dict[int, str]:
    """Return the kinds that the user asks for, by the number of the column."""
    if column_types == "strict":
        dtypes = X.dtypes if is_frame(X) else ()
        return {j: "category" for j, dtype in enumerate(dtypes) if kind_of(dtype) == "C"}
    wanted = dict[int, str]()
    for column, kind in column_types.items():
        if kind not in KINDS:
            text = f"column_types has {kind!r} for column {column!r}; allowed are"
            known = ", ".join(map(repr, KINDS))
            raise InputError(f"{text} {known}.", "column_types", [column])
        wanted[position(column, names, X.shape[1], "column_types")] = kind
    return wanted


def _plain_columns(X: Any, names: Names, is_trusted: np.ndarray) -> tuple[np.ndarray, set[int]]:
    """Return a mask of the columns that hold numbers, not row numbers, and which are doubtful."""
    if names is None:  # users number arrays on purpose
        return np.full(is_trusted.size, holds_numbers(X)), set()
    kinds = list(map(kind_of, X.dtypes))
    # Complex numbers raise an error later, together with the other numbers.
    plain = np.array([kind in "biufc" for kind in kinds])
    free = [j for j in np.flatnonzero(plain & ~is_trusted).tolist() if kinds[j] in "iu"]
    like = {j: like_row_numbers(_safe_indexing(X, j, axis=1), len(free)) for j in free}
    plain[[j for j in free if like[j] == "identifier"]] = False
    return plain, {j for j in free if like[j] == "doubtful"}
