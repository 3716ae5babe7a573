"""Marginal distributions: columns as functions of latent Gaussian variables.

Each margin knows the interval of the latent variables that a value allows, and the value that
belongs to given latent variables.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from covmin.plan.constants import LOST_IN_TIES


class NumberMargin:
    """``x = F⁻¹(Φ(z))`` with F the distribution of the values of a column.

    Without ties, the latent variable is the normal score of the rank. Ties allow the interval
    between the scores of their first and last rank. A missing value allows everything.
    """

    def __init__(self, x: np.ndarray, p: np.ndarray) -> None:
        there = ~np.isnan(x)
        values, place = np.unique(x[there], return_inverse=True)
        share = np.bincount(place, p[there])
        share = share / share.sum()
        edges = ndtri(np.concatenate([[0.0], np.minimum(np.cumsum(share)[:-1], 1.0), [1.0]]))
        scores = ndtri(np.cumsum(share) - 0.5 * share)
        scores -= share @ scores
        scores /= np.sqrt(share @ scores**2)
        self._values, self._edges, self._scores = values, edges, scores
        self._has_ties = values.size < place.size
        low, high = scores, scores
        if self._has_ties and _lost_in_ties(edges, share) > LOST_IN_TIES:
            low, high = edges[:-1], edges[1:]
        self.lower = np.full((x.size, 1), -np.inf)
        self.upper = np.full((x.size, 1), np.inf)
        self.lower[there, 0], self.upper[there, 0] = low[place], high[place]

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the values (n_samples,) of latent variables (n_samples, 1)."""
        if self._has_ties:
            return self._values[np.searchsorted(self._edges[1:-1], z[:, 0])]
        return np.interp(z[:, 0], self._scores, self._values)


def _lost_in_ties(edges: np.ndarray, share: np.ndarray) -> float:
    """Return the variance of a standard normal variable within intervals."""
    means = -np.diff(norm.pdf(edges)) / share
    return float(1.0 - share @ means**2)


class LevelMargin:
    """Sequential levels, most frequent first: level l if ``zₗ > tₗ``, otherwise a later one.

    All levels but one have a latent variable. These are independent of each other, so the
    thresholds t follow from the frequencies of the levels.
    """

    def __init__(self, codes: np.ndarray, p: np.ndarray) -> None:
        share = np.bincount(codes, p)
        self._order = np.argsort(-share, kind="stable")
        share = share[self._order]
        left = np.cumsum(share[::-1])[::-1]
        self._thresholds = -ndtri(share[:-1] / left[:-1])
        turn = np.argsort(self._order)[codes][:, None]
        asked = np.arange(share.size - 1)
        self.lower = np.where(turn == asked, self._thresholds, -np.inf)
        self.upper = np.where(turn > asked, self._thresholds, np.inf)

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the codes (n_samples,) of latent variables (n_samples, n_levels − 1)."""
        hit = z > self._thresholds
        return self._order[np.where(hit.any(axis=1), hit.argmax(axis=1), hit.shape[1])]


class CategoryColumn:
    """A categorical column, given by the indicators of its levels."""

    def __init__(self, block: np.ndarray, p: np.ndarray) -> None:
        self._rows, codes = np.unique(block, axis=0, return_inverse=True)
        self._margin = LevelMargin(codes.ravel(), p)
        self.lower, self.upper = self._margin.lower, self._margin.upper
        self.n_independent = (self.lower.shape[1],)  # latent variables of each independent set

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the block of columns that belongs to latent variables."""
        return self._rows[self._margin.values(z)]


class NumberColumns:
    """A number, or the numbers that encode a date, and whether they are missing."""

    def __init__(self, block: np.ndarray, is_gap: np.ndarray, p: np.ndarray) -> None:
        self._is_gap, self._present = is_gap, block[~np.isnan(block).any(axis=1)]
        self._margins = [
            LevelMargin(x.astype(int), p) if marks else NumberMargin(x, p)
            for x, marks in zip(block.T, is_gap, strict=True)
        ]
        self.lower = np.hstack([margin.lower for margin in self._margins])
        self.upper = np.hstack([margin.upper for margin in self._margins])
        self.n_independent = (1,) * is_gap.size

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the block of columns that belongs to latent variables."""
        drawn = [m.values(z[:, k : k + 1]) for k, m in enumerate(self._margins)]
        block = np.column_stack(drawn).astype(np.float64)
        numbers = ~self._is_gap
        if numbers.sum() > 1:  # a date: use the nearest date of the table
            seen = self._present[:, numbers]
            scale = seen.std(axis=0) + np.finfo(np.float64).tiny
            nearest = KDTree(seen / scale).query(block[:, numbers] / scale)[1]
            block[:, numbers] = seen[nearest]
        for gap in np.flatnonzero(self._is_gap):
            block[np.ix_(block[:, gap] > 0.0, numbers)] = np.nan
        return block


def truncated_normal(
    u: np.ndarray, mean: np.ndarray, deviation: float, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Transform uniform variables to normal variables between bounds."""
    low, high = (lower - mean) / deviation, (upper - mean) / deviation
    # Above the mean, differences of the distribution function lose digits; use symmetry.
    flip = low > 0.0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    start = ndtr(low)
    z = ndtri(start + u * (ndtr(high) - start))
    z = np.where(np.isfinite(z), z, np.where(np.isfinite(high), high, low))
    return np.clip(mean + deviation * np.where(flip, -z, z), lower, upper)
