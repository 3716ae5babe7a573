"""Ranks of columns and responses, and functions of the ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, to_numpy
from ..rows import map_blocks

#: Functions of the ranks of a column: a line and three cosines, the fastest with two periods.
N_FUNCTIONS = 4
# Functions of a column that represent its effect, enough for products of its functions.
ALL_FUNCTIONS = 2 * N_FUNCTIONS
# Numbers per tile: a few arrays of this size fit in the cache of a core.
_TILE_NUMBERS = 2**15
# Largest number of values of functions to store.
_STORED_NUMBERS = 2**24
# Ties that change the spread of the ranks by less than this fraction are ignored.
_NEXT_TO_EQUAL = 1e-6
# Below this, the standard deviation of what is left of a function is a rounding error.
_ROUNDING = 1e-6


def orthonormal(vectors: np.ndarray, least: float = 0.0) -> np.ndarray:
    """Return orthonormal vectors that span those given whose squared length exceeds ``least``."""
    vectors = vectors * ((vectors**2).sum(axis=0) > least)
    basis, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    return basis[:, sizes > 1e-6 * sizes.max(initial=0.0)]


@dataclass(frozen=True)
class Ranked:
    """Columns as ranks, from which functions of the ranks are computed.

    The numbers of a column are contiguous, here and in the functions.
    """

    X: Array  # (n, d), the columns; they determine the device
    line: np.ndarray  # (d, n), ranks with mean 0 and variance 1, in single precision
    spread: np.ndarray  # (d,), standard deviation of the ranks as fractions of the samples
    p: np.ndarray  # (n,), weights that sum to one
    n_samples: float  # effective number, as if all had equal weight
    is_even: np.ndarray  # (d,) bool, evenly spaced ranks: equal weights and almost no ties
    of_even_ranks: np.ndarray  # (ALL_FUNCTIONS, n), functions of such ranks, by rank
    n_threads: int = 1  # tiles of columns processed in parallel
    stored: np.ndarray | None = None  # (N_FUNCTIONS, d, n), for several responses

    @classmethod
    def of(cls, X: Array, p: Array, n_threads: int = 1) -> Ranked:
        values, p = to_numpy(X), to_numpy(p).astype(np.float64)
        n, d = values.shape
        ranks = over_tiles(
            lambda tile: standard_ranks(values[:, tile], p, np.float32), n, d, n_threads
        )
        line, spread = (np.concatenate(parts) for parts in zip(*ranks, strict=True))
        places, (of_places,) = standard_ranks(np.arange(n)[:, None], np.full(n, 1.0 / n))
        is_even = (np.ptp(p) == 0.0) & (np.abs(spread / of_places - 1.0) < _NEXT_TO_EQUAL)
        of_even_ranks = _functions(places, np.array([of_places]), p, ALL_FUNCTIONS)[:, 0]
        n_samples = float(1.0 / (p**2).sum())
        return cls(X, line, spread, p, n_samples, is_even, of_even_ranks, n_threads)

    def functions(self, columns: np.ndarray | slice, n_functions: int = N_FUNCTIONS) -> np.ndarray:
        """Return a line and cosines of increasing frequency in the ranks, (n_functions, d, n).

        Each is orthogonal to the earlier ones and has mean 0 and variance 1; it is zero if a
        column has too few distinct values. All are bounded, and so are their products.
        """
        if self.stored is not None and n_functions <= len(self.stored):
            return self.stored[:n_functions, columns]
        line, spread = self.line[columns], self.spread[columns]
        if not self.is_even[columns].all():
            return _functions(line.astype(np.float64), spread, self.p, n_functions)
        n = self.p.size
        places = np.rint(line * (n * spread[:, None]) + 0.5 * (n - 1.0)).astype(np.intp)
        return np.take(self.of_even_ranks[:n_functions], places, axis=1)

    def kept(self, columns: np.ndarray, n_functions: int) -> np.ndarray:
        """Return the same in single precision, computed some columns at a time."""
        n, d = self.p.size, columns.size
        kept = np.empty((n_functions, d, n), dtype=np.float32)
        over_tiles(
            lambda tile: np.copyto(kept[:, tile], self.functions(columns[tile], n_functions)),
            n,
            d,
            self.n_threads,
        )
        return kept

    def with_stored_functions(self) -> Ranked:
        """Return the same with the functions of all columns in memory, if there is room."""
        if N_FUNCTIONS * self.line.size > _STORED_NUMBERS:
            return self
        return replace(self, stored=self.kept(np.arange(len(self.line)), N_FUNCTIONS))

    def shares(self, codes: np.ndarray, n_functions: int = N_FUNCTIONS) -> np.ndarray:
        """Return the association (n_functions, d) of each function of each column with vectors."""
        weighted = np.sqrt(self.p)[:, None] * codes
        shares = over_tiles(
            lambda tile: ((self.functions(tile, n_functions) @ weighted) ** 2).sum(axis=2),
            self.p.size,
            self.spread.size,
            self.n_threads,
        )
        return np.concatenate(shares, axis=1)


def over_tiles(work: Callable[[slice], Any], n: int, d: int, n_threads: int) -> list[Any]:
    """Apply ``work`` to slices of d columns of n numbers, small enough for the cache of a core."""
    size = max(1, _TILE_NUMBERS // n)
    tiles = ((slice(start, min(start + size, d)),) for start in range(0, d, size))
    return list(map_blocks(work, tiles, n_threads))


def standard_ranks(
    values: np.ndarray, p: np.ndarray, dtype: type = np.float64
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks (d, n) of the columns of values (n, d), and their standard deviations (d,).

    Ranks are fractions of the samples, and ties share their mean rank; they are then scaled to mean
    0 and variance 1. Constant columns become 0.
    """
    values = np.ascontiguousarray(values.T)
    order = np.argsort(values, axis=1)
    weight = np.take(p, order)
    ends = np.cumsum(weight, axis=1)
    order += values.shape[1] * np.arange(len(values))[:, None]  # positions in the flattened array
    ordered = np.take(values, order)
    is_new = np.ones(values.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=is_new[:, 1:])
    middle = ends - 0.5 * weight
    if not is_new.all():
        starts = np.flatnonzero(is_new)
        sizes = np.diff(starts, append=is_new.size)
        ends_of_ties = ends.ravel()[starts + sizes - 1]
        middle = 0.5 * ((ends - weight).ravel()[starts] + ends_of_ties).repeat(sizes)
    ranks: np.ndarray = np.empty(values.shape)
    np.put(ranks, order, middle)
    ranks -= (ranks @ p)[:, None]
    spread = np.sqrt(np.einsum("dn,dn->d", ranks, ranks * p))
    ranks /= np.where(spread > _ROUNDING, spread, np.inf)[:, None]
    return ranks.astype(dtype, copy=False), spread


def _functions(line: np.ndarray, spread: np.ndarray, p: np.ndarray, n_functions: int) -> np.ndarray:
    """Return orthogonalised functions (n_functions, d, n) of standardised ranks (d, n)."""
    functions = np.empty((n_functions, *line.shape))
    functions[0] = line
    if n_functions == 1:
        return functions
    cosine = np.cos(np.pi * (0.5 + line * spread[:, None]))
    before, wave = cosine, 2.0 * cosine**2 - 1.0
    for k in range(1, n_functions):
        rest = functions[k]
        rest[:] = wave - (wave @ p)[:, None]
        whole = np.einsum("dn,dn->d", rest, rest * p)
        weighted = rest * p
        for earlier in functions[:k]:
            rest -= earlier * np.einsum("dn,dn->d", weighted, earlier)[:, None]
        rest -= (rest @ p)[:, None]
        left = np.einsum("dn,dn->d", rest, rest * p)
        is_left = left > _ROUNDING**2 * np.maximum(whole, 1.0)
        rest /= np.sqrt(np.where(is_left, left, np.inf))[:, None]
        before, wave = wave, 2.0 * cosine * wave - before
    return functions
