"""Replace the values of a column by normal scores of their ranks, which are robust to outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

# How to standardise columns: mean 0 and variance 1 (True), normal scores ("rank"), or not at all.
Standardize = bool | str
# With more samples than this, ranks come from a subsample: they are then accurate to 0.4 %.
RANKED_ROWS = 20_000
# Values of a column at which its scores are stored; scores in between are interpolated.
KNOTS = 2000
_Knots = tuple[np.ndarray, np.ndarray]  # increasing values, and their scores


@dataclass(frozen=True)
class NormalScores:
    """``Φ⁻¹(F(x))`` for each column, where F is the fraction below x plus half of that at x.

    Values outside the observed range get the score of the nearest observed value.
    """

    knots: tuple[_Knots | None, ...]  # of each column; None leaves it unchanged

    @classmethod
    def of(cls, X: np.ndarray, p: np.ndarray, left: np.ndarray) -> NormalScores:
        """Compute scores from samples (n_samples, n_columns) with weights p; skip ``left``."""
        eps = np.finfo(X.dtype).eps
        columns = zip(X.T, left, strict=True)
        return cls(tuple(None if stays else _scores(column, p, eps) for column, stays in columns))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of samples (n_samples, n_columns); NaN and infinity stay."""
        scores = np.array(X, order="C")
        for j, knots in enumerate(self.knots):
            if knots is not None:
                known = np.interp(X[:, j], *knots)
                scores[:, j] = np.where(np.isfinite(X[:, j]), known, X[:, j])
        return scores

    def restrict(self, columns: np.ndarray | None) -> NormalScores:
        """Return the scores for some of the columns, or for all."""
        return self if columns is None else NormalScores(tuple(self.knots[j] for j in columns))


def _scores(column: np.ndarray, p: np.ndarray, eps: float) -> _Knots | None:
    """Return the distinct values and their scores; equal values share their mean rank.

    Missing values have no rank. Returns None if the values vary only by rounding errors, which
    must not be ranked.

    >>> values, scores = _scores(np.array([0.0, 3.0, 0.0, 1e12]), np.full(4, 0.25), 1e-16)
    >>> values.tolist(), scores.round(2).tolist()
    ([0.0, 3.0, 1000000000000.0], [-0.67, 0.32, 1.15])
    """
    there = ~np.isnan(column)
    if not there.all():
        column, p = column[there], p[there]
    if column.size == 0:
        return None
    values, place = np.unique(column.astype(np.float64), return_inverse=True)
    size = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
    if not (np.isfinite(size) and values[-1] / size - values[0] / size > 4.0 * eps):
        return None
    share = np.bincount(place, p / p.sum())
    middle = np.cumsum(share) - 0.5 * share
    # Otherwise a sample would lie farther out the smaller its weight.
    least = 0.5 / RANKED_ROWS
    scores = ndtri(np.clip(middle, least, 1.0 - least))
    if values.size > KNOTS:
        kept = np.searchsorted(middle, np.linspace(middle[0], middle[-1], KNOTS))
        kept = np.unique(np.minimum(kept, values.size - 1))
        values, scores = values[kept], scores[kept]
    return values, scores


def ranked_rows(n_samples: int) -> np.ndarray:
    """Return the samples that determine the ranks: all, or a subsample."""
    if n_samples <= RANKED_ROWS:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, RANKED_ROWS, replace=False))


def goes_by_rank(standardize: Any) -> bool:
    """Tell whether columns are replaced by normal scores of their ranks.

    >>> goes_by_rank("rank"), goes_by_rank(True)
    (True, False)
    """
    return isinstance(standardize, str) and standardize == "rank"
