"""A table in blocks as the criterion uses it: indicators of missing values, ranks, standardised."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from array_api_compat import is_numpy_array
from scipy.special import ndtri

from covmin.constants import MANY_ROWS, SAMPLE_ROWS
from covmin.core.arrays import Array, array_namespace, default_block_size, like, row_tiles, to_numpy
from covmin.core.rows import BlockFunction, add_up

from .array import Blocks, Merge, RawFunction

# Rows that are enough to find far values.
_LOOKED_AT = 1000
_Knots = tuple[np.ndarray, np.ndarray]  # increasing values, and their scores


@dataclass(frozen=True)
class NormalScores:
    """``Φ⁻¹(F(x))`` for each column, where F is the fraction below x plus half of that at x.

    Values that were not observed get the mean score of the next ones on both sides, so that only
    the order of the values counts.
    """

    knots: tuple[_Knots | None, ...]  # of each column; None leaves it unchanged
    clips: bool = False  # whether knots are bounds, between which values stay

    @classmethod
    def of(cls, X: np.ndarray, p: np.ndarray, left: np.ndarray) -> Self:
        """Compute scores from samples (n_samples, n_columns) with weights p; skip ``left``."""
        eps = np.finfo(X.dtype).eps
        columns = zip(X.T, left, strict=True)
        return cls(tuple(None if stays else _scores(column, p, eps) for column, stays in columns))

    @classmethod
    def clipped(cls, X: np.ndarray, n_samples: int, left: np.ndarray) -> Self | None:
        """Return the clipping of columns with a few far values; None if there are none.

        A column is clipped outside the range in which all of so many normal values with the same
        median and median absolute deviation would lie, with 95 % probability, if that halves its
        standard deviation: then a few values make all others nearly equal.
        """
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of empty columns
            middle = _median(np.asarray(X, dtype=np.float64))
            deviation = _median(np.abs(X - middle)) / ndtri(0.75)
            reach = -ndtri(0.025 / n_samples) * deviation
            low, high = middle - reach, middle + reach
            far = np.nanstd(np.clip(X, low, high), axis=0) < 0.5 * np.nanstd(X, axis=0)
        far &= (low < high) & ~left
        if not far.any():
            return None
        bounds = [np.array(pair, dtype=np.float64) for pair in zip(low, high, strict=True)]
        knots = tuple((b, b) if f else None for b, f in zip(bounds, far, strict=True))
        return cls(knots, clips=True)

    def apply(self, X: Array) -> Array:
        """Return the scores of samples (n_samples, n_columns); NaN and infinity stay."""
        if not is_numpy_array(X):
            return like(self.apply(to_numpy(X)), X)
        scores = np.array(X, order="C")
        for j, knots in enumerate(self.knots):
            if knots is None:
                continue
            values, of_values = knots
            if self.clips:
                known = np.clip(X[:, j], *values)
            else:
                next_up = np.searchsorted(values, X[:, j]).clip(max=values.size - 1)
                next_down = np.searchsorted(values, X[:, j], side="right").clip(min=1) - 1
                known = 0.5 * (of_values[next_up] + of_values[next_down])
            scores[:, j] = np.where(np.isfinite(X[:, j]), known, X[:, j])
        return scores

    def restrict(self, columns: np.ndarray) -> Self:
        """Return the scores for some of the columns."""
        return replace(self, knots=tuple(self.knots[j] for j in columns))


def _median(X: np.ndarray) -> np.ndarray:
    """Return the median of each column without missing values, which are sorted to the end."""
    n_known = X.shape[0] - np.isnan(X).sum(axis=0)
    middle = np.array([(n_known - 1) // 2, n_known // 2])
    return np.take_along_axis(np.sort(X, axis=0), middle, axis=0).mean(axis=0)


def _scores(column: np.ndarray, p: np.ndarray, eps: float) -> _Knots | None:
    """Return the distinct values and their scores; None if they vary only by rounding errors."""
    there = ~np.isnan(column)
    column, p = column[there], p[there]
    if column.size == 0:
        return None
    values, place = np.unique(column.astype(np.float64), return_inverse=True)
    size = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
    if not (np.isfinite(size) and values[-1] / size - values[0] / size > 4.0 * eps):
        return None
    share = np.bincount(place, p / p.sum())
    middle = np.cumsum(share) - 0.5 * share
    # Otherwise a sample would lie farther out the smaller its weight.
    least = 0.5 / MANY_ROWS
    scores = ndtri(np.clip(middle, least, 1.0 - least))
    if values.size > SAMPLE_ROWS:
        kept = np.searchsorted(middle, np.linspace(middle[0], middle[-1], SAMPLE_ROWS))
        kept = np.unique(np.minimum(kept, values.size - 1))
        values, scores = values[kept], scores[kept]
    return values, scores


def rows_to_look_at(n_samples: int, most: int = _LOOKED_AT) -> np.ndarray:
    """Return the increasing numbers of some rows, spread over all of them."""
    return np.unique(np.linspace(0, n_samples - 1, min(n_samples, most)).astype(int))


@dataclass(frozen=True)
class Marks:
    """Indicators of missingness in place of some columns."""

    is_mark: np.ndarray  # (n_columns,) bool

    def restrict(self, columns: np.ndarray) -> Self:
        return type(self)(self.is_mark[columns])

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Change the columns of X in place."""
        X[:, self.is_mark] = np.isnan(X[:, self.is_mark])
        return X


@dataclass(frozen=True)
class Standardization:
    """``(X − mean) / scale``, computed in float64, with missing values replaced."""

    mean: np.ndarray  # (n_columns,)
    scale: np.ndarray
    missing_at: np.ndarray | None  # value of a missing entry; None if none is missing

    def restrict(self, columns: np.ndarray) -> Self:
        missing_at = None if self.missing_at is None else self.missing_at[columns]
        return type(self)(self.mean[columns], self.scale[columns], missing_at)

    def apply(self, X: Array) -> Array:
        """Return standardised rows, in the dtype of X."""
        xp = array_namespace(X)
        prepared = xp.empty_like(X)
        for tile in row_tiles(X):
            rows = xp.astype(X[tile, :], xp.float64)
            rows -= like(self.mean, rows)
            rows /= like(self.scale, rows)
            if self.missing_at is not None:
                rows = xp.where(xp.isnan(rows), like(self.missing_at, rows), rows)
            prepared[tile, :] = xp.astype(rows, X.dtype, copy=False)
        return prepared


class ChangedBlocks(Blocks):
    """Some columns of a table, changed block by block, where the blocks are."""

    def __init__(
        self,
        source: Blocks,
        change: NormalScores | Marks | Standardization,
        index: np.ndarray | None = None,
        dtype: Any = None,
    ) -> None:
        self.source, self.change = source, change
        # Column of the source that each column is made of.
        self.index = np.arange(source.shape[1]) if index is None else index
        self.shape = (source.shape[0], self.index.size)
        self.dtype = source.dtype if dtype is None else np.dtype(dtype)
        self.names = source.names and [source.names[j] for j in self.index]

    def restrict(self, columns: np.ndarray) -> Self:
        change = self.change.restrict(columns)
        return type(self)(self.source, change, self.index[columns], self.dtype)

    def beside(self, values: np.ndarray) -> Any:
        return self.source.beside(values)

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        if columns is not None:
            return self.restrict(columns).reduce(function, merge, Y, p)
        # The function must not hold the blocks, so that it can be sent to other processes.
        changed = partial(_changed, self.change, self.source.dtype, self.dtype, function)
        return self.source.reduce(changed, merge, Y, p, self.index)

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        if columns is not None:
            return self.restrict(columns).take(rows)
        X = self.source.take(rows, self.index)
        return _changed(self.change, self.source.dtype, self.dtype, lambda X: X, X)

    def keep(self, kept: np.ndarray) -> Self:
        return type(self)(self.source.keep(kept), self.change, self.index, self.dtype)

    def rows(self, Y: np.ndarray, p: np.ndarray) -> "BlockRows":
        """Return the rows with responses and weights, for sums over blocks."""
        return BlockRows(self, *(self.beside(each.astype(self.dtype)) for each in (Y, p)))


def _changed(change: Any, raw: Any, dtype: Any, function: Any, X: Array, *others: Array) -> Any:
    """Call a function of a changed block; it is converted first: scores are not integers."""
    xp = array_namespace(X)
    X = change.apply(xp.astype(X, getattr(xp, raw.name), copy=False))
    return function(xp.astype(X, getattr(xp, dtype.name), copy=False), *others)


@dataclass(frozen=True)
class BlockRows:
    """Rows of a table in blocks, with responses and weights."""

    columns: ChangedBlocks
    Y: Any  # responses (n_rows, n_responses) as the blocks store them, like the weights p
    p: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns.shape

    def restrict(self, columns: np.ndarray) -> Self:
        return replace(self, columns=self.columns.restrict(columns))

    def keep(self, function: Callable[[Any], Any], width: int) -> None:
        """Store nothing, because blocks are read again in each pass."""

    def sum(self, function: BlockFunction, *kept: Any) -> tuple[Any, ...]:
        in_parts = partial(_in_parts, function, [None] * len(kept))  # nothing is stored
        return self.columns.reduce(in_parts, add_up, self.Y, self.p)


def _in_parts(
    function: BlockFunction, kept: list[None], X: np.ndarray, *others: np.ndarray
) -> tuple[Any, ...]:
    """Add up the results of parts of a block: their Fourier features should fit in the cache."""
    size = default_block_size(X)
    parts = (slice(start, start + size) for start in range(0, X.shape[0], size))
    return add_up(function(X[part], *(each[part] for each in others), *kept) for part in parts)
