"""Sums over blocks of rows: the one place that knows where the rows are kept.

The random-feature criterion touches the samples only through sums of a function over
blocks of rows. Here the blocks are slices of arrays in memory; another engine plugs in
by offering the same two methods over its own partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from .arrays import Array, array_namespace, take

__all__ = ["ArrayRows", "Rows"]

# (X_block, Y_block, p_block) → arrays to be summed over the blocks
BlockFunction = Callable[[Array, Array, Array], tuple[Array, ...]]


class Rows(Protocol):
    """Samples X (n, d) with centred responses Y (n, k) and weights p (n,), Σp = 1."""

    def sum(self, function: BlockFunction) -> tuple[Array, ...]:
        """Sum the results of ``function(X_block, Y_block, p_block)`` over all blocks."""

    def restrict(self, columns: np.ndarray) -> Self:
        """The same rows with some of the features."""


@dataclass(frozen=True)
class ArrayRows:
    """Rows held in arrays, visited in slices of ``block_size``.

    Results are added in float64, so that float32 blocks lose nothing in a long sum.

    Examples
    --------
    >>> rows = ArrayRows(np.ones((5, 2)), np.zeros((5, 1)), np.full(5, 0.2), block_size=2)
    >>> rows.sum(lambda X, Y, p: (p @ X,))[0]
    array([1., 1.])
    """

    X: Array
    Y: Array
    p: Array
    block_size: int = 4096

    def sum(self, function: BlockFunction) -> tuple[Array, ...]:
        """Sum the results of ``function(X_block, Y_block, p_block)`` over all blocks."""
        xp = array_namespace(self.X)
        totals: list[Array] = []
        n = self.X.shape[0]
        for start in range(0, n, self.block_size):
            block = slice(start, min(start + self.block_size, n))
            parts = function(self.X[block, :], self.Y[block, :], self.p[block])
            if not totals:
                totals = [xp.astype(part, xp.float64, copy=True) for part in parts]
            else:
                for total, part in zip(totals, parts, strict=True):
                    total += xp.astype(part, xp.float64, copy=False)
        return tuple(totals)

    def restrict(self, columns: np.ndarray) -> ArrayRows:
        """The same rows with some of the features."""
        return replace(self, X=take(self.X, columns, axis=1))
