"""Transform responses and columns to ranks, and columns to functions of their ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, to_numpy
from ..rows import map_blocks
from .search import N_WAVES, Search

# Numbers per tile: a few arrays of this size fit in the cache of a core.
_TILE_NUMBERS = 2**15
# Ties that change the spread of the ranks by less than this fraction are ignored.
_NEXT_TO_EQUAL = 1e-6


@dataclass(frozen=True)
class Codes:
    """A response as centred orthonormal columns, from the ranks of its principal components."""

    values: np.ndarray  # (n, k)
    p: np.ndarray  # (n,), weights that sum to one

    @classmethod
    def of(cls, Y: Array, p: Array, search: Search) -> Codes:
        responses, weights = to_numpy(Y), to_numpy(p).astype(np.float64)
        leading = _principal(responses, weights, search.response_share)
        return cls(whitened(ranks(leading, weights), weights), weights)

    @property
    def n_samples(self) -> float:
        """Effective number of samples, as if all had equal weight."""
        return float(1.0 / (self.p**2).sum())

    @property
    def size(self) -> int:
        """Number of dimensions of the response."""
        return int(self.values.shape[1])

    @property
    def weighted(self) -> np.ndarray:
        """The codes times √p, which are orthonormal vectors."""
        weighted: np.ndarray = np.sqrt(self.p)[:, None] * self.values
        return weighted

    def with_left(self, left: np.ndarray) -> Codes:
        """Return the codes of a residual response, given as (n, k) times √p."""
        left = left * ((left**2).sum(axis=0) > 1e-6)  # drop rounding errors
        return Codes(whitened(left / np.sqrt(self.p)[:, None], self.p), self.p)

    @property
    def squares(self) -> Codes:
        """The squared codes, orthogonal to the codes: they represent the spread of the response."""
        squares = standardized(self.values**2, self.p)
        beyond = squares - self.values @ (self.values.T @ (self.p[:, None] * squares))
        # For two classes only rounding errors remain.
        beyond = beyond * ((self.p @ beyond**2) > 1e-6)
        return Codes(whitened(beyond, self.p), self.p)


@dataclass(frozen=True)
class Ranked:
    """Columns as ranks, from which functions of the ranks are computed.

    The numbers of a column are contiguous, here and in the functions.
    """

    line: np.ndarray  # (d, n), ranks with mean 0 and variance 1, in single precision
    spread: np.ndarray  # (d,), standard deviation of the ranks as fractions of the samples
    p: np.ndarray  # (n,), weights that sum to one
    is_even: np.ndarray  # (d,) bool, evenly spaced ranks: equal weights and almost no ties
    n_threads: int = 1  # tiles of columns processed in parallel

    @classmethod
    def of(cls, X: Array, p: np.ndarray, n_threads: int = 1) -> Ranked:
        values = to_numpy(X)
        n, d = values.shape
        line, spread = np.empty((d, n), dtype=np.float32), np.empty(d)

        def rank(block: slice) -> None:
            middles = _middles(np.ascontiguousarray(values[:, block].T), p)
            middles -= 0.5
            spread[block] = np.sqrt(_squares(middles, p))
            line[block] = _standardize(middles, p)

        _for_each_tile(rank, n, d, n_threads)
        of_even_ranks = np.sqrt((1.0 - n**-2.0) / 12.0)
        is_even = (np.ptp(p) == 0.0) & (np.abs(spread / of_even_ranks - 1.0) < _NEXT_TO_EQUAL)
        return cls(line, spread, p, is_even, n_threads)

    @property
    def n_samples(self) -> float:
        """Effective number of samples, as if all had equal weight."""
        return float(1.0 / (self.p**2).sum())

    @cached_property
    def _of_even_ranks(self) -> np.ndarray:
        """Functions of evenly spaced ranks, by rank, (n_waves, n)."""
        n = self.p.size
        places = np.arange(n)[None, :] - 0.5 * (n - 1.0)
        spread = np.sqrt(_squares(places / n, self.p))
        return _waves(_standardize(places, self.p), spread, self.p, 2 * N_WAVES)[:, 0]

    def waves(self, columns: np.ndarray | slice, n_waves: int = N_WAVES) -> np.ndarray:
        """Return a line and cosines of increasing frequency in the ranks, (n_waves, columns, n).

        Each is orthogonal to the earlier ones and has mean 0 and variance 1; it is zero if a
        column has too few distinct values. All are bounded, and so are their products.
        """
        line, spread = self.line[columns], self.spread[columns]
        if not self.is_even[columns].all():
            return _waves(line.astype(np.float64), spread, self.p, n_waves)
        n = self.p.size
        places = np.rint(line * (n * spread[:, None]) + 0.5 * (n - 1.0)).astype(np.intp)
        return np.take(self._of_even_ranks[:n_waves], places, axis=1)

    def kept(self, columns: np.ndarray, n_waves: int) -> np.ndarray:
        """Return the same in single precision, computed some columns at a time."""
        n, d = self.p.size, columns.size
        kept = np.empty((n_waves, d, n), dtype=np.float32)

        def fill(block: slice) -> None:
            kept[:, block] = self.waves(columns[block], n_waves)

        _for_each_tile(fill, n, d, self.n_threads)
        return kept

    def shares(self, *responses: Codes, n_waves: int = N_WAVES) -> list[np.ndarray]:
        """Return the association of each function of each column with each response."""
        n, d = self.p.size, self.spread.size
        shares = [np.empty((n_waves, d)) for _ in responses]
        weighted = [self.p[:, None] * codes.values for codes in responses]

        def associate(block: slice) -> None:
            waves = self.waves(block, n_waves)
            for share, codes in zip(shares, weighted, strict=True):
                share[:, block] = ((waves @ codes) ** 2).sum(axis=2)

        _for_each_tile(associate, n, d, self.n_threads)
        return shares


def _waves(line: np.ndarray, spread: np.ndarray, p: np.ndarray, n_waves: int) -> np.ndarray:
    """Return orthogonalised functions (n_waves, d, n) of standardised ranks (d, n)."""
    waves = np.empty((n_waves, *line.shape))
    waves[0] = line
    if n_waves == 1:
        return waves
    cosine = np.cos(np.pi * (0.5 + line * spread[:, None]))
    before, wave = cosine, 2.0 * cosine**2 - 1.0
    for k in range(1, n_waves):
        waves[k] = _standardize(wave.copy(), p)
        weighted = waves[k] * p
        for earlier in waves[:k]:
            waves[k] -= earlier * np.einsum("dn,dn->d", weighted, earlier)[:, None]
        _standardize(waves[k], p)
        before, wave = wave, 2.0 * cosine * wave - before
    return waves


def _for_each_tile(work: Callable[[slice], Any], n: int, d: int, n_threads: int) -> None:
    """Call ``work`` with slices of d columns of n numbers, small enough for the cache of a core."""
    size = max(1, _TILE_NUMBERS // n)
    tiles = ((slice(start, min(start + size, d)),) for start in range(0, d, size))
    for _ in map_blocks(work, tiles, n_threads):
        pass


def _principal(Y: np.ndarray, p: np.ndarray, share: float) -> np.ndarray:
    """Return the leading principal components of the responses."""
    centred = (Y - p @ Y).astype(np.float64)
    _, sizes, directions = np.linalg.svd(np.sqrt(p)[:, None] * centred, full_matrices=False)
    power = np.cumsum(sizes**2)
    n_kept = int(np.searchsorted(power, share * power[-1])) + 1
    return centred @ directions[:n_kept].T


def ranks(values: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the ranks in each column, with mean 0 and variance 1 under p."""
    return standardized(_middles(np.ascontiguousarray(values.T), p).T, p)


def _middles(values: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the ranks in each row as fractions of the samples, ½ on average.

    Ties share their mean rank, so that a duplicate of a sample is equivalent to twice its weight.
    """
    order = np.argsort(values, axis=1)
    weight = np.take(p, order)
    ends = np.cumsum(weight, axis=1)
    order += values.shape[1] * np.arange(len(values))[:, None]  # positions in the flattened array
    ordered = np.take(values, order)
    is_new = np.ones(values.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=is_new[:, 1:])
    if is_new.all():
        middle = ends - 0.5 * weight
    else:
        group = np.cumsum(is_new.ravel()) - 1
        last = np.flatnonzero(np.append(np.diff(group), 1))
        middles = ends.ravel()[last] - 0.5 * np.bincount(group, weight.ravel())
        middle = middles[group].reshape(values.shape)
    result: np.ndarray = np.empty(values.shape)
    np.put(result, order, middle)
    return result


def _squares(rows: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the mean squares of rows under p."""
    squares: np.ndarray = np.einsum("dn,dn->d", rows, rows * p)
    return squares


def _standardize(rows: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Scale rows to mean 0 and variance 1 under p, in place; constant rows become 0."""
    rows -= (rows @ p)[:, None]
    spread = np.sqrt(_squares(rows, p))
    rows /= np.where(spread > 1e-6, spread, np.inf)[:, None]
    return rows


def standardized(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return columns with mean 0 and variance 1 under p; constant columns become 0."""
    centred = columns - p @ columns
    spread = np.sqrt(p @ centred**2)
    return centred / np.where(spread > 1e-6, spread, np.inf)


def whitened(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return columns that are orthonormal under p and span the given ones."""
    root = np.sqrt(p)[:, None]
    basis, sizes, _ = np.linalg.svd(root * columns, full_matrices=False)
    return basis[:, sizes > 1e-6 * sizes.max(initial=0.0)] / root
