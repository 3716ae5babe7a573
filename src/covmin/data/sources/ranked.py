"""Replace the values of a table by normal scores of their ranks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from covmin.data.ranks import NormalScores

from .base import Merge, RawFunction, Source


class RankedSource:
    """The normal scores of a source, computed block by block, where the blocks are."""

    reads_in_blocks = True

    def __init__(self, source: Source, scores: NormalScores) -> None:
        self._source = source
        self._scores = scores
        self.shape, self.dtype, self.names = source.shape, source.dtype, source.names

    def beside(self, values: np.ndarray) -> Any:
        return self._source.beside(values)

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        # The function must not hold the source, so that it can be sent to other processes.
        of_scores = partial(_on_scores, function, self._scores.restrict(columns), self.dtype)
        return self._source.reduce(of_scores, merge, Y, p, columns)

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        return self._scores.restrict(columns).apply(self._source.take(rows, columns))

    def keep(self, kept: np.ndarray) -> RankedSource:
        return RankedSource(self._source.keep(kept), self._scores)


def _on_scores(
    function: RawFunction,
    scores: NormalScores,
    dtype: np.dtype[Any],
    X: np.ndarray,
    *others: np.ndarray,
) -> Any:
    # Convert first: the scores of integers are not integers.
    return function(scores.apply(X.astype(dtype, copy=False)), *others)
