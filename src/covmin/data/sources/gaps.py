"""Append indicators of missingness to a table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .base import Merge, RawFunction, Source


class GapSource:
    """The columns of a source, followed by indicators of missingness for some of them.

    The indicators are computed block by block, where the blocks are.
    """

    reads_in_blocks = True

    def __init__(self, source: Source, columns: np.ndarray) -> None:
        self._source = source
        # Source column of each column, and whether it is an indicator of missingness.
        self._behind = np.concatenate([np.arange(source.shape[1]), columns])
        self._is_gap = np.arange(self._behind.size) >= source.shape[1]
        self.shape = (source.shape[0], self._behind.size)
        self.dtype = source.dtype
        names = source.names
        self.names = None if names is None else [names[j] for j in self._behind]

    def beside(self, values: np.ndarray) -> Any:
        return self._source.beside(values)

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        some = np.arange(self.shape[1]) if columns is None else columns
        # The function must not hold the source, so that it can be sent to other processes.
        marked = partial(_on_marked, function, self._is_gap[some])
        return self._source.reduce(marked, merge, Y, p, self._behind[some])

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        some = np.arange(self.shape[1]) if columns is None else columns
        return _marked(self._source.take(rows, self._behind[some]), self._is_gap[some])

    def keep(self, kept: np.ndarray) -> GapSource:
        return GapSource(self._source.keep(kept), self._behind[self._is_gap])


def _on_marked(
    function: RawFunction, is_gap: np.ndarray, X: np.ndarray, *others: np.ndarray
) -> Any:
    return function(_marked(X, is_gap), *others)


def _marked(X: np.ndarray, is_gap: np.ndarray) -> np.ndarray:
    """Replace some columns of a copy of the values by indicators of missingness."""
    X[:, is_gap] = np.isnan(X[:, is_gap])
    return X
