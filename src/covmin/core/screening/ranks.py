"""Transform responses and columns to ranks, and columns to functions of their ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, to_numpy
from ..rows import map_blocks

#: Functions of the ranks of a column: a line and three cosines, the fastest with two periods.
N_FUNCTIONS = 4
# Numbers per tile: a few arrays of this size fit in the cache of a core.
_TILE_NUMBERS = 2**15
# Ties that change the spread of the ranks by less than this fraction are ignored.
_NEXT_TO_EQUAL = 1e-6


def response_codes(Y: Array, p: np.ndarray, share: float) -> np.ndarray:
    """Return the ranks of the principal components of a response as orthonormal vectors (n, k).

    Like all vectors here, they are centred and times √p. The components have a given share of the
    variance of the response Y.
    """
    responses, root = to_numpy(Y), np.sqrt(p)[:, None]
    centred = (responses - p @ responses).astype(np.float64)
    _, sizes, directions = np.linalg.svd(root * centred, full_matrices=False)
    power = np.cumsum(sizes**2)
    n_kept = int(np.searchsorted(power, share * power[-1])) + 1
    leading = np.ascontiguousarray((centred @ directions[:n_kept].T).T)
    return orthonormal(root * _standardize(_mean_ranks(leading, p), p).T)


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
            ranks = _mean_ranks(np.ascontiguousarray(values[:, block].T), p)
            ranks -= 0.5
            spread[block] = np.sqrt(np.einsum("dn,dn->d", ranks, ranks * p))
            line[block] = _standardize(ranks, p)

        _for_each_tile(rank, n, d, n_threads)
        of_even_ranks = np.sqrt((1.0 - n**-2.0) / 12.0)
        is_even = (np.ptp(p) == 0.0) & (np.abs(spread / of_even_ranks - 1.0) < _NEXT_TO_EQUAL)
        return cls(line, spread, p, is_even, n_threads)

    @cached_property
    def _of_even_ranks(self) -> np.ndarray:
        """Functions of evenly spaced ranks, by rank, (2·N_FUNCTIONS, n)."""
        n = self.p.size
        places = np.arange(n)[None, :] - 0.5 * (n - 1.0)
        spread = np.sqrt(places**2 @ self.p) / n
        return _functions(_standardize(places, self.p), spread, self.p, 2 * N_FUNCTIONS)[:, 0]

    def functions(self, columns: np.ndarray | slice, n_functions: int = N_FUNCTIONS) -> np.ndarray:
        """Return a line and cosines of increasing frequency in the ranks, (n_functions, d, n).

        Each is orthogonal to the earlier ones and has mean 0 and variance 1; it is zero if a
        column has too few distinct values. All are bounded, and so are their products.
        """
        line, spread = self.line[columns], self.spread[columns]
        if not self.is_even[columns].all():
            return _functions(line.astype(np.float64), spread, self.p, n_functions)
        n = self.p.size
        places = np.rint(line * (n * spread[:, None]) + 0.5 * (n - 1.0)).astype(np.intp)
        return np.take(self._of_even_ranks[:n_functions], places, axis=1)

    def kept(self, columns: np.ndarray, n_functions: int) -> np.ndarray:
        """Return the same in single precision, computed some columns at a time."""
        n, d = self.p.size, columns.size
        kept = np.empty((n_functions, d, n), dtype=np.float32)

        def fill(block: slice) -> None:
            kept[:, block] = self.functions(columns[block], n_functions)

        _for_each_tile(fill, n, d, self.n_threads)
        return kept

    def shares(self, codes: np.ndarray, n_functions: int = N_FUNCTIONS) -> np.ndarray:
        """Return the association (n_functions, d) of each function of each column with vectors."""
        n, d = self.p.size, self.spread.size
        shares = np.empty((n_functions, d))
        weighted = np.sqrt(self.p)[:, None] * codes

        def associate(block: slice) -> None:
            functions = self.functions(block, n_functions)
            shares[:, block] = ((functions @ weighted) ** 2).sum(axis=2)

        _for_each_tile(associate, n, d, self.n_threads)
        return shares


def _functions(line: np.ndarray, spread: np.ndarray, p: np.ndarray, n_functions: int) -> np.ndarray:
    """Return orthogonalised functions (n_functions, d, n) of standardised ranks (d, n)."""
    functions = np.empty((n_functions, *line.shape))
    functions[0] = line
    if n_functions == 1:
        return functions
    cosine = np.cos(np.pi * (0.5 + line * spread[:, None]))
    before, wave = cosine, 2.0 * cosine**2 - 1.0
    for k in range(1, n_functions):
        functions[k] = _standardize(wave.copy(), p)
        weighted = functions[k] * p
        for earlier in functions[:k]:
            functions[k] -= earlier * np.einsum("dn,dn->d", weighted, earlier)[:, None]
        _standardize(functions[k], p)
        before, wave = wave, 2.0 * cosine * wave - before
    return functions


def _for_each_tile(work: Callable[[slice], Any], n: int, d: int, n_threads: int) -> None:
    """Call ``work`` with slices of d columns of n numbers, small enough for the cache of a core."""
    size = max(1, _TILE_NUMBERS // n)
    tiles = ((slice(start, min(start + size, d)),) for start in range(0, d, size))
    for _ in map_blocks(work, tiles, n_threads):
        pass


def _mean_ranks(values: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the ranks in each row as fractions of the samples; ties share their mean rank."""
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


def _standardize(rows: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Scale rows to mean 0 and variance 1 under p, in place; constant rows become 0."""
    rows -= (rows @ p)[:, None]
    spread = np.sqrt(np.einsum("dn,dn->d", rows, rows * p))
    rows /= np.where(spread > 1e-6, spread, np.inf)[:, None]
    return rows
