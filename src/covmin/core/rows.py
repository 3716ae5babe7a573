"""Sums over blocks of rows: the one place that knows where the rows are kept.

The random-feature criterion touches the samples only through sums of a function over
blocks of rows. Here the blocks are slices of arrays in memory; another engine plugs in
by offering the same few methods over its own partitions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Protocol, Self, TypeVar

import numpy as np

from .arrays import Array, array_namespace, default_block_size, take

__all__ = ["ArrayRows", "BlockFunction", "Rows", "add_up", "map_blocks", "sum_blocks"]

# (X_block, Y_block, p_block) → arrays to be summed over the blocks
BlockFunction = Callable[[Array, Array, Array], tuple[Array, ...]]
Block = tuple[Array, Array, Array]
Result = TypeVar("Result")


class Rows(Protocol):
    """Samples X (n, d) with centred responses Y (n, k) and weights p (n,), Σp = 1."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""

    def sum(self, function: BlockFunction) -> tuple[Array, ...]:
        """Sum the results of ``function(X_block, Y_block, p_block)`` over all blocks."""

    def restrict(self, columns: np.ndarray) -> Self:
        """The same rows with some of the features."""


def add_up(parts: Iterable[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Sum tuples of arrays in float64, so that float32 blocks lose nothing in a long sum.

    Examples
    --------
    >>> add_up([(np.ones(2, dtype=np.float32),)] * 3)[0]
    array([3., 3.])
    """
    totals: list[Array] = []
    for block in parts:
        if not totals:
            totals = [
                array_namespace(part).astype(part, array_namespace(part).float64, copy=True)
                for part in block
            ]
        else:
            for total, part in zip(totals, block, strict=True):
                total += array_namespace(part).astype(part, total.dtype, copy=False)
    return tuple(totals)


def map_blocks(
    function: Callable[..., Result], blocks: Iterable[Block], n_threads: int = 1
) -> Iterator[Result]:
    """Apply a function to blocks, several at once, and give the results in their order.

    Threads pay where each block is a NumPy array: its passes and products release the
    interpreter lock. BLAS should then be held to one thread by the caller.

    Parameters
    ----------
    function : callable
    blocks : iterable of (X_block, Y_block, p_block)
        Read as they are needed: at most ``n_threads + 1`` are held at once.
    n_threads : int

    Yields
    ------
    result : what ``function`` returns

    Examples
    --------
    >>> blocks = [(np.full(1, i), None, None) for i in range(4)]
    >>> [int(x) for x in map_blocks(lambda X, Y, p: X[0], blocks, n_threads=2)]
    [0, 1, 2, 3]
    """
    blocks = iter(blocks)
    first = list(islice(blocks, 2))
    single = len(first) == 1
    blocks = chain(first, blocks)
    del first  # blocks are let go of as they are done
    if n_threads == 1 or single:  # a pool for one block would cost more than it
        for block in blocks:
            yield function(*block)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        for block in blocks:
            waiting.append(pool.submit(function, *block))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def sum_blocks(
    function: BlockFunction, blocks: Iterable[Block], n_threads: int = 1
) -> tuple[Array, ...]:
    """Sum a function over blocks, always in the order of the blocks.

    The result does not depend on the number of threads, to the last bit.
    """
    return add_up(map_blocks(function, blocks, n_threads))


@dataclass(frozen=True)
class ArrayRows:
    """Rows held in arrays, visited in slices of ``block_size``.

    Parameters
    ----------
    X : array of shape (n_samples, n_all)
    Y : array of shape (n_samples, n_responses)
    p : array of shape (n_samples,)
    block_size : int, optional
        What suits the library and the device by default.
    n_threads : int
        Blocks worked on at once.
    columns : ndarray, optional
        Features of X that count; all by default. They are taken out block by block, so that
        a restriction costs no memory.

    Examples
    --------
    >>> rows = ArrayRows(np.ones((5, 2)), np.zeros((5, 1)), np.full(5, 0.2), block_size=2)
    >>> rows.sum(lambda X, Y, p: (p @ X,))[0]
    array([1., 1.])
    """

    X: Array
    Y: Array
    p: Array
    block_size: int | None = None
    n_threads: int = 1
    columns: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        n, d = self.X.shape
        return n, d if self.columns is None else self.columns.size

    def _blocks(self) -> Iterator[Block]:
        n = self.X.shape[0]
        size = self.block_size or default_block_size(self.X)
        for start in range(0, n, size):
            block = slice(start, min(start + size, n))
            yield self._narrow(self.X[block, :]), self.Y[block, :], self.p[block]

    def _narrow(self, X: Array) -> Array:
        return X if self.columns is None else take(X, self.columns, axis=1)

    def sum(self, function: BlockFunction) -> tuple[Array, ...]:
        """Sum the results of ``function(X_block, Y_block, p_block)`` over all blocks."""
        return sum_blocks(function, self._blocks(), self.n_threads)

    def restrict(self, columns: np.ndarray) -> ArrayRows:
        """The same rows with some of the features."""
        return replace(self, columns=columns if self.columns is None else self.columns[columns])
