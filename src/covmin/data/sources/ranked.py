"""A table in which the scores of ranks stand for the values."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from covmin.data.ranks import NormalScores

from .base import Merge, RawFunction, Source


class RankedSource:
    """The scores of a source, made as its blocks pass, where these are."""

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
        # Without the source, so that it can be sent elsewhere.
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
    # Whole numbers have scores that are none.
    return function(scores.apply(X.astype(dtype, copy=False)), *others)
