"""Sparse matrices, converted to dense a few rows at a time."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from covmin.constants import MEMORY_NUMBERS

from .array import Blocks, block_rows, float_dtype


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
        X = self._X[rows]
        taken: np.ndarray = (X if columns is None else X[:, columns]).toarray()
        return taken

    def keep(self, kept: np.ndarray) -> Self:
        return self.reordered(np.flatnonzero(kept))

    def reordered(self, rows: np.ndarray) -> Self:
        """Return some rows in the given order, still sparse."""
        return type(self)(self._X[rows])


def sparse_table(X: Any) -> np.ndarray | SparseBlocks:
    """Convert a sparse matrix of any format to an array if it is small, else to blocks.

    >>> sparse_table(csr_array(([1, 2], ([0, 0], [1, 1])), shape=(1, 2)))
    array([[0., 3.]])
    """
    assert issparse(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions; this sparse array has {X.ndim}.")
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must hold real numbers; the dtype of this sparse matrix is {X.dtype}. "
            "Complex data not supported."
        )
    table = csr_array(X, dtype=float_dtype(X.dtype), copy=True)  # leave the user's unchanged
    table.sum_duplicates()
    if not np.isfinite(table.data).all():
        bad = np.unique(table.indices[~np.isfinite(table.data)])
        raise ValueError(
            "Input X contains NaN or infinity among the stored values of a sparse matrix, first "
            f"in column {bad[0]} and in {bad.size} altogether; drop or impute those values first."
        )
    is_small = table.shape[0] * table.shape[1] <= MEMORY_NUMBERS
    return table.toarray() if is_small else SparseBlocks(table)
