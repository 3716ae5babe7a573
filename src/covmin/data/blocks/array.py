"""Tables that are too large to copy: read in blocks of rows and standardised on the fly.

Arrays, memory-mapped files and Parquet files are read in this process; Dask collections are
processed on the workers (:mod:`~covmin.data.blocks.dask`). All have the same methods.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from covmin.constants import MEMORY_NUMBERS
from covmin.core.arrays import Array, take, to_device
from covmin.core.rows import map_blocks
from covmin.remarks import InputError
from covmin.runtime.machine import row_threads
from covmin.text import count_of, listed

# (raw X_block, Y_block, p_block) → anything
RawFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]
# results in order, merged or not → the result for all of them
Merge = Callable[[list[Any]], Any]

# Rows per block, enough that its overhead does not count, and most values in a block of wide rows,
# also on an accelerator, which has room for several blocks in double precision.
BLOCK_ROWS, BLOCK_NUMBERS, _DEVICE_NUMBERS = 8192, 2**22, 2**26
# Results of blocks merged together; with many columns each result is large.
_MERGED = 64


def block_rows(n_columns: int) -> int:
    """Return the number of rows per block for a number of columns."""
    return min(BLOCK_ROWS, max(1, BLOCK_NUMBERS // max(n_columns, 1)))


class Blocks:
    """A table of numbers that is read in blocks of rows, here by this process."""

    shape: tuple[int, int]  # numbers of rows and columns
    dtype: np.dtype[Any]  # float32 or float64, the dtype of standardised blocks
    names: list[str] | None = None  # of the columns, if they have any

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Yield raw blocks with the number of their first row; ``None`` means all columns."""
        raise NotImplementedError

    def beside(self, values: np.ndarray) -> Any:
        """Store one response or weight per row next to the rows, for many passes."""
        return values

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        """Merge the results of ``function(X_block, Y_block, p_block)`` over all blocks.

        Y and p are arrays, or results of :meth:`beside`.
        """
        rows = ((slice(start, start + len(X)), X) for start, X in self.blocks(columns))
        blocks = ((X, Y[part], p[part]) for part, X in rows)
        results = map_blocks(function, blocks, row_threads())
        return merge([merge([first, *islice(results, _MERGED - 1)]) for first in results])

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """Return rows by number, in any order."""
        n_columns = self.shape[1] if columns is None else columns.size
        taken = np.empty((rows.size, n_columns), dtype=self.dtype)
        order = np.argsort(rows)
        rows = rows[order]
        for start, X in self.blocks(columns):
            first, last = np.searchsorted(rows, (start, start + X.shape[0]))
            taken[order[first:last]] = X[rows[first:last] - start]
        return taken

    def keep(self, kept: np.ndarray) -> "Blocks":
        """Return blocks of the rows where a mask is true."""
        return KeptRows(self, kept)


def as_blocks(X: Any, device: str | None = None) -> Any:
    """Return an array as blocks, on a device if one is named, and blocks unchanged."""
    if isinstance(X, Blocks):
        return X
    return ArrayBlocks(X) if device is None else DeviceBlocks(X, device)


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return rows of an array or blocks in any order, in memory; sparse ones stay sparse."""
    if not isinstance(X, Blocks):
        return X[rows]
    return X.reordered(rows) if hasattr(X, "reordered") else X.take(rows)


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """Return float32 for float32, and float64 for anything else."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


class KeptRows(Blocks):
    """Some rows of a table; the others are skipped as blocks are read."""

    def __init__(self, source: Any, kept: np.ndarray) -> None:
        self._source, self._kept = source, kept
        self.names, self.dtype = source.names, source.dtype
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


class ArrayBlocks(Blocks):
    """An array in memory or a memory-mapped file, never copied as a whole."""

    def __init__(self, X: np.ndarray) -> None:
        self.array = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = float_dtype(X.dtype)

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        size = block_rows(self.shape[1] if columns is None else columns.size)
        for start in range(0, self.shape[0], size):
            X = self.array[start : start + size]
            yield start, X if columns is None else np.take(X, columns, axis=1)

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        order = np.argsort(rows)  # a file is read from front to back
        read = rows[order] if columns is None else np.ix_(rows[order], columns)
        return self.array[read].astype(self.dtype, copy=False)[np.argsort(order)]


class DeviceBlocks(ArrayBlocks):
    """An array that is copied to a device, where everything is computed of it."""

    def __init__(self, X: np.ndarray, device: str) -> None:
        super().__init__(X)
        self.array = to_device(X.astype(self.dtype, copy=False), device)
        self._device = device

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        Y, p = to_device(Y, self._device), to_device(p, self._device)
        X = self.array if columns is None else take(self.array, columns, axis=1)
        size = max(1, _DEVICE_NUMBERS // X.shape[1])
        parts = (slice(start, start + size) for start in range(0, X.shape[0], size))
        return merge([function(X[part, :], Y[part, :], p[part]) for part in parts])

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> Array:
        X = take(self.array, rows, axis=0)
        return X if columns is None else take(X, columns, axis=1)


class SparseBlocks(Blocks):
    """A sparse matrix of which a few rows, or a few columns, are dense at a time."""

    def __init__(self, X: csr_array) -> None:
        self._X = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = float_dtype(X.dtype)

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        X = self._X if columns is None else self._X[:, columns]
        size = block_rows(X.shape[1])
        for start in range(0, self.shape[0], size):
            yield start, X[start : start + size].toarray()

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        X = self._X[rows] if columns is None else self._X[rows][:, columns]
        return np.asarray(X.toarray())

    def keep(self, kept: np.ndarray) -> Self:
        return self.reordered(np.flatnonzero(kept))

    def reordered(self, rows: np.ndarray) -> Self:
        """Return some rows in the given order, still sparse."""
        return type(self)(self._X[rows])


def sparse_table(X: Any) -> np.ndarray | SparseBlocks:
    """Convert a sparse matrix of any format to an array if it is small, else to blocks."""
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions; this sparse array has {X.ndim}.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers, not {X.dtype}. Complex data not supported.")
    table = csr_array(X, dtype=float_dtype(X.dtype), copy=True)  # leave the user's unchanged
    table.sum_duplicates()
    if (bad := np.unique(table.indices[~np.isfinite(table.data)])).size:
        text = f"Input X is sparse and contains NaN or infinity in {count_of(bad.size, 'column')}"
        raise InputError(f"{text}: {listed(bad.tolist())}; drop or impute those values first.", "X")
    is_small = int(X.shape[0]) * int(X.shape[1]) <= MEMORY_NUMBERS
    return table.toarray() if is_small else SparseBlocks(table)
