"""Ranks of columns and responses, and functions of the ranks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from array_api_compat import is_numpy_array

from ..arrays import (
    Array,
    array_namespace,
    column_dots,
    device_of,
    like,
    take,
    to_numpy,
    transposed,
)
from ..rows import map_blocks

#: Functions of the ranks of a column: a line and three cosines, the fastest with two periods.
N_FUNCTIONS = 4
# Functions of a column that represent its effect, enough for products of its functions.
ALL_FUNCTIONS = 2 * N_FUNCTIONS
# Of a column and its square: what a product of their functions may be close to.
OF_SQUARES = 4 * N_FUNCTIONS
# Numbers per tile: a few arrays of this size fit in the cache of a core.
_TILE_NUMBERS = 2**15
# The same on an accelerator, which has memory for a few dozen of them.
_PIECE_NUMBERS = 2**23
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
    """Columns as ranks, and functions of the ranks, on the device of the columns.

    The numbers of a column are contiguous, here and in the functions.
    """

    line: Array  # (d, n), ranks with mean 0 and variance 1, in single precision
    spread: np.ndarray  # (d,), standard deviation of the ranks as fractions of the samples
    p: np.ndarray  # (n,), weights that sum to one
    n_samples: float  # effective number, as if all had equal weight
    is_even: np.ndarray  # (d,) bool, evenly spaced ranks: equal weights and almost no ties
    of_even_ranks: Array  # (OF_SQUARES, n), functions of such ranks, by rank
    n_threads: int = 1  # tiles of columns processed in parallel
    stored: Array | None = None  # (N_FUNCTIONS, d, n), for several responses

    @classmethod
    def of(cls, X: Array, p: Array, n_threads: int = 1) -> Self:
        xp, n, p = array_namespace(X), X.shape[0], to_numpy(p).astype(np.float64)
        ranks = over_tiles(lambda tile: standard_ranks(X[:, tile], p, single=True), X.T, n_threads)
        line, spread = (xp.concat(parts) for parts in zip(*ranks, strict=True))
        spread = to_numpy(spread)
        places = xp.arange(n, dtype=xp.float64, device=device_of(X))[:, None]
        places, of_places = standard_ranks(places, np.full(n, 1.0 / n))
        is_even = (np.ptp(p) == 0.0) & (np.abs(spread / to_numpy(of_places) - 1.0) < _NEXT_TO_EQUAL)
        of_even_ranks = _functions(places, of_places, p, OF_SQUARES)[:, 0, :]
        n_samples = float(1.0 / (p**2).sum())
        return cls(line, spread, p, n_samples, is_even, of_even_ranks, n_threads)

    def functions(self, columns: np.ndarray | slice, n_functions: int = N_FUNCTIONS) -> Array:
        """Return a line and cosines of increasing frequency in the ranks, (n_functions, d, n).

        Each is orthogonal to the earlier ones and has mean 0 and variance 1; it is zero if a
        column has too few distinct values. All are bounded, and so are their products.
        """
        if self.stored is not None and n_functions <= len(self.stored):
            return self.stored[:n_functions, columns]
        xp, n, line = array_namespace(self.line), self.p.size, self.line[columns, :]
        spread = like(self.spread[columns], self.of_even_ranks)
        if not self.is_even[columns].all():
            return _functions(xp.astype(line, spread.dtype), spread, self.p, n_functions)
        places = xp.astype(xp.round(line * (n * spread[:, None]) + 0.5 * (n - 1.0)), xp.int64)
        functions = take(self.of_even_ranks[:n_functions, :], xp.reshape(places, (-1,)), axis=1)
        return xp.reshape(functions, (n_functions, *line.shape))

    def kept(self, columns: np.ndarray, n_functions: int) -> Array:
        """Return the same in single precision, computed some columns at a time."""
        xp = array_namespace(self.line)
        shape = n_functions, columns.size, self.p.size
        kept = xp.empty(shape, dtype=xp.float32, device=device_of(self.line))

        def fill(tile: slice) -> None:
            kept[:, tile, :] = self.functions(columns[tile], n_functions)

        over_tiles(fill, kept[0, ...], self.n_threads)
        return kept

    def shares(self, codes: np.ndarray, n_functions: int = N_FUNCTIONS) -> np.ndarray:
        """Return the association (n_functions, d) of each function of each column with vectors."""
        weighted = like(np.sqrt(self.p)[:, None] * codes, self.of_even_ranks)
        shares = over_tiles(
            lambda tile: to_numpy((self.functions(tile, n_functions) @ weighted) ** 2).sum(axis=2),
            self.line,
            self.n_threads,
        )
        return np.concatenate(shares, axis=1)


def over_tiles(work: Callable[[slice], Any], columns: Array, n_threads: int) -> list[Any]:
    """Apply ``work`` to slices of columns (d, n), small enough for the cache of a core.

    An accelerator gets them in one piece.
    """
    d, n = columns.shape
    size = max(1, (_TILE_NUMBERS if is_numpy_array(columns) else _PIECE_NUMBERS) // n)
    tiles = ((slice(start, min(start + size, d)),) for start in range(0, d, size))
    return list(map_blocks(work, tiles, n_threads if is_numpy_array(columns) else 1))


def standard_ranks(values: Array, p: np.ndarray, single: bool = False) -> tuple[Array, Array]:
    """Return the ranks (d, n) of the columns of values (n, d), and their standard deviations (d,).

    Ranks are fractions of the samples, and ties share their mean rank; they are then scaled to mean
    0 and variance 1. Constant columns become 0.
    """
    xp, values = array_namespace(values), transposed(values)
    d, n = values.shape
    order, p = xp.argsort(values, axis=1, stable=False), xp.asarray(p, device=device_of(values))
    weight = xp.reshape(take(p, xp.reshape(order, (-1,)), axis=0), (d, n))
    ends = xp.cumulative_sum(weight, axis=1)
    order += n * xp.arange(d, device=device_of(values))[:, None]  # positions in the flattened array
    order = xp.reshape(order, (-1,))
    ordered = xp.reshape(take(xp.reshape(values, (-1,)), order, axis=0), (d, n))
    middle = xp.reshape(ends - 0.5 * weight, (-1,))
    is_tied = ordered[:, 1:] == ordered[:, :-1]
    if xp.any(is_tied):
        is_new = xp.ones((d, n), dtype=xp.bool, device=device_of(values))
        is_new[:, 1:] = ~is_tied
        starts = xp.nonzero(xp.reshape(is_new, (-1,)))[0]
        stops = xp.concat([starts[1:], xp.asarray([d * n], device=device_of(values))])
        begins, ends = xp.reshape(ends - weight, (-1,)), xp.reshape(ends, (-1,))
        middle = xp.repeat(0.5 * (begins[starts] + ends[stops - 1]), stops - starts)
    flat = xp.empty_like(middle)
    flat[order] = middle
    ranks = xp.reshape(flat, (d, n))
    ranks -= (ranks @ p)[:, None]
    spread = xp.sqrt(column_dots(ranks.T, (ranks * p).T))
    ranks /= xp.where(spread > _ROUNDING, spread, np.inf)[:, None]
    return xp.astype(ranks, xp.float32 if single else xp.float64, copy=False), spread


def _functions(line: Array, spread: Array, p: np.ndarray, n_functions: int) -> Array:
    """Return orthogonalised functions (n_functions, d, n) of standardised ranks (d, n)."""
    xp, p = array_namespace(line), like(p, line)
    functions = xp.empty((n_functions, *line.shape), dtype=line.dtype, device=device_of(line))
    functions[0, ...] = line
    if n_functions == 1:
        return functions
    cosine = xp.cos(np.pi * (0.5 + line * spread[:, None]))
    before, wave = cosine, 2.0 * cosine**2 - 1.0
    for k in range(1, n_functions):
        rest = functions[k, ...]
        rest[...] = wave - (wave @ p)[:, None]
        weighted = (rest * p).T
        whole = column_dots(rest.T, weighted)
        for j in range(k):
            rest -= functions[j, ...] * column_dots(weighted, functions[j, ...].T)[:, None]
        rest -= (rest @ p)[:, None]
        left = column_dots(rest.T, (rest * p).T)
        is_left = left > _ROUNDING**2 * xp.where(whole > 1.0, whole, 1.0)
        rest /= xp.sqrt(xp.where(is_left, left, np.inf))[:, None]
        before, wave = wave, 2.0 * cosine * wave - before
    return functions
