"""Arrays and memory-mapped files, read in blocks of rows by this process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np

from covmin.core.rows import map_blocks
from covmin.runtime.threads import row_threads

from .base import Merge, RawFunction, float_dtype

# Rows per block: enough that the overhead of a block does not count.
BLOCK_ROWS = 8192
# Largest number of values in a block of wide rows.
BLOCK_NUMBERS = 2**22
# Results of blocks merged together; with many columns each result is large.
_MERGED = 64


def block_rows(n_columns: int) -> int:
    """Return the number of rows per block for a number of columns.

    >>> block_rows(10), block_rows(50_000)
    (8192, 83)
    """
    return min(BLOCK_ROWS, max(1, BLOCK_NUMBERS // max(n_columns, 1)))


class LocalSource:
    """Base class of sources that are read by this process."""

    reads_in_blocks = True
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: list[str] | None = None

    @cached_property
    def n_threads(self) -> int:
        """Number of threads for blocks: that of BLAS when the source is first used."""
        return row_threads()

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Yield raw blocks with the number of their first row."""
        raise NotImplementedError

    def with_responses(
        self, Y: np.ndarray, p: np.ndarray, columns: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield raw blocks with their responses and weights."""
        for start, X in self.blocks(columns):
            stop = start + X.shape[0]
            yield X, Y[start:stop], p[start:stop]

    def beside(self, values: np.ndarray) -> np.ndarray:
        return values

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        results = map_blocks(function, self.with_responses(Y, p, columns), self.n_threads)
        return merge(merge(chain([first], islice(results, _MERGED - 1))) for first in results)

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        n_columns = self.shape[1] if columns is None else columns.size
        taken = np.empty((rows.size, n_columns), dtype=self.dtype)
        for start, X in self.blocks(columns):
            first, last = np.searchsorted(rows, (start, start + X.shape[0]))
            taken[first:last] = X[rows[first:last] - start]
        return taken

    def keep(self, kept: np.ndarray) -> LocalSource:
        return KeptRows(self, kept)


class KeptRows(LocalSource):
    """Some rows of a source; the others are skipped as blocks are read."""

    def __init__(self, source: Any, kept: np.ndarray) -> None:
        self._source = source
        self._kept = kept
        self.names = source.names
        self.dtype = source.dtype
        self.shape = (int(kept.sum()), source.shape[1])

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        start = 0
        for first, X in self._source.blocks(columns):
            block = X[self._kept[first : first + X.shape[0]]]
            # Skip blocks without rows: they have no minimum.
            if block.shape[0]:
                yield start, block
                start += block.shape[0]

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        return self._source.take(np.flatnonzero(self._kept)[rows], columns)


class ArraySource(LocalSource):
    """An array in memory or a memory-mapped file, never copied as a whole."""

    def __init__(self, X: np.ndarray) -> None:
        self._X = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = float_dtype(X.dtype)

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        size = block_rows(self.shape[1] if columns is None else columns.size)
        for start in range(0, self.shape[0], size):
            X = self._X[start : start + size]
            yield start, X if columns is None else np.take(X, columns, axis=1)

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        taken = self._X[rows] if columns is None else self._X[np.ix_(rows, columns)]
        return np.asarray(taken, dtype=self.dtype)
