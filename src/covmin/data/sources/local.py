"""Arrays and mapped files read in blocks of rows by this process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from covmin.core.rows import map_blocks
from covmin.runtime.threads import row_threads

from .base import Merge, RawFunction, float_dtype

# Rows of a block: their components should stay in the cache.
BLOCK_ROWS = 1024


class LocalSource:
    """What sources read by this process share."""

    reads_in_blocks = True
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: list[str] | None = None

    @cached_property
    def n_threads(self) -> int:
        """Threads for blocks: those BLAS had when the source was first asked."""
        return row_threads()

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Raw blocks with the number of their first row."""
        raise NotImplementedError

    def with_responses(
        self, Y: np.ndarray, p: np.ndarray, columns: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Raw blocks beside their responses and weights."""
        for start, X in self.blocks(columns):
            stop = start + X.shape[0]
            yield X, Y[start:stop], p[start:stop]

    def beside(self, values: np.ndarray) -> np.ndarray:
        return values

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        return merge(map_blocks(function, self.with_responses(Y, p, columns), self.n_threads))

    def take(self, rows: np.ndarray) -> np.ndarray:
        taken = np.empty((rows.size, self.shape[1]), dtype=self.dtype)
        for start, X in self.blocks():
            first, last = np.searchsorted(rows, (start, start + X.shape[0]))
            taken[first:last] = X[rows[first:last] - start]
        return taken

    def keep(self, kept: np.ndarray) -> KeptRows:
        return KeptRows(self, kept)


class KeptRows(LocalSource):
    """Some rows of a source: the others are passed over as blocks are read."""

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
            # There is no smallest entry of no rows.
            if block.shape[0]:
                yield start, block
                start += block.shape[0]

    def take(self, rows: np.ndarray) -> np.ndarray:
        return self._source.take(np.flatnonzero(self._kept)[rows])


class ArraySource(LocalSource):
    """An array in memory or a mapped file, never copied whole."""

    def __init__(self, X: np.ndarray) -> None:
        self._X = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = float_dtype(X.dtype)

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        for start in range(0, self.shape[0], BLOCK_ROWS):
            X = self._X[start : start + BLOCK_ROWS]
            yield start, X if columns is None else np.take(X, columns, axis=1)

    def take(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self._X[rows], dtype=self.dtype)
