"""Sums over blocks of rows: the only module that knows where the rows are stored.

With random Fourier features, the criterion uses the samples only through sums over blocks of
rows. Here the blocks are slices of arrays in memory. Other sources implement the same methods for
their own partitions.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from array_api_compat import is_numpy_array

from .arrays import Array, array_namespace, default_block_size, take

# (X_block, Y_block, p_block[, stored parts of the block]) → arrays to sum over the blocks
BlockFunction = Callable[..., tuple[Array, ...]]
# Arrays stored for each block between passes, or None
Kept = Sequence[Array] | None
# Largest number of stored values.
_KEPT_NUMBERS = 2**24
Result = TypeVar("Result")


class Rows(Protocol):
    """Samples X (n, d) with centred responses Y (n, k) and weights p (n,), Σp = 1."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    def sum(self, function: BlockFunction, *kept: Kept) -> tuple[Array, ...]:
        """Sum the results of ``function(X_block, Y_block, p_block, *kept)`` over all blocks."""

    def keep(self, function: Callable[[Array], Array], width: int) -> Kept:
        """Store ``function(X_block)``, which has ``width`` numbers per row, for all blocks.

        Returns None if the rows are not in memory or the result would be too large.
        """

    def restrict(self, columns: np.ndarray) -> Self:
        """Return the same rows with some of the columns."""


def add_up(parts: Iterable[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Sum tuples of arrays in float64, so that long sums of float32 blocks stay accurate."""
    totals: list[Array] = []
    for block in parts:
        spaces = [array_namespace(part) for part in block]
        if not totals:
            pairs = zip(spaces, block, strict=True)
            totals = [xp.astype(part, xp.float64, copy=True) for xp, part in pairs]
            continue
        for xp, total, part in zip(spaces, totals, block, strict=True):
            total += xp.astype(part, total.dtype, copy=False)
    return tuple(totals)


def map_blocks(
    function: Callable[..., Result], blocks: Iterable[tuple[Array, ...]], n_threads: int = 1
) -> Iterator[Result]:
    """Apply a function to blocks, several in parallel, and yield the results in order.

    The sum of the results is the same to the last bit for any number of threads. Threads help if
    each block is a NumPy array, because its operations release the interpreter lock; the caller
    should then limit BLAS to one thread. Blocks are read when needed, and at most
    ``n_threads + 1`` are held in memory.
    """
    if n_threads == 1:
        yield from (function(*block) for block in blocks)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        for block in blocks:
            waiting.append(pool.submit(function, *block))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@dataclass(frozen=True)
class Sample:
    """Rows in memory, all of them or a random sample, processed in slices of ``block_size``.

    They are in random order, so the first n of them are a sample of all.
    """

    X: Array  # (n, any)
    Y: Array  # (n, k), columns with weighted mean zero
    p: Array  # (n,), positive, sum to one
    block_size: int | None = None  # None: a size that suits the library and the device
    n_threads: int = 1  # blocks of NumPy arrays processed in parallel
    # Positions in X of the columns in use; None means all. Columns are extracted block by block, so
    # a restriction needs no memory.
    columns: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.X.shape
        return n, d if self.columns is None else self.columns.size

    def restrict(self, columns: np.ndarray) -> Self:
        return replace(self, columns=columns if self.columns is None else self.columns[columns])

    def first(self, n_rows: int) -> Self:
        """Return the first rows, with their responses and weights normalised again."""
        if n_rows >= self.X.shape[0]:
            return self
        p = self.p[:n_rows] / array_namespace(self.p).sum(self.p[:n_rows])
        Y = self.Y[:n_rows, :]
        return replace(self, X=self.X[:n_rows, :], Y=Y - p @ Y, p=p)

    def _blocks(self) -> Iterator[tuple[Array, Array, Array]]:
        n = self.X.shape[0]
        size = self.block_size or default_block_size(self.X)
        for start in range(0, n, size):
            block = slice(start, min(start + size, n))
            X = self.X[block, :]
            X = X if self.columns is None else take(X, self.columns, axis=1)
            yield X, self.Y[block, :], self.p[block]

    def _map(self, function: Callable[..., Result], blocks: Iterable[Any]) -> Iterator[Result]:
        # Other libraries use several threads themselves.
        return map_blocks(function, blocks, self.n_threads if is_numpy_array(self.X) else 1)

    def sum(self, function: BlockFunction, *kept: Kept) -> tuple[Array, ...]:
        parts = [repeat(None) if part is None else part for part in kept]
        blocks = ((*block, *more) for block, *more in zip(self._blocks(), *parts, strict=False))
        return add_up(self._map(function, blocks))

    def keep(self, function: Callable[[Array], Array], width: int) -> Kept:
        if self.shape[0] * width > _KEPT_NUMBERS:
            return None
        return list(self._map(function, ((X,) for X, _, _ in self._blocks())))
