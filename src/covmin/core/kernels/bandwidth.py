"""The median rule: a bandwidth from the median distance between samples."""

from functools import lru_cache

import numpy as np

from ..arrays import Array, array_namespace, column_dots, l1_distances, take, to_numpy
from .base import squared_distances

# With more samples than this, use the pairs of a subsample: half a million pairs determine the
# median distance to a fraction of a per cent.
MEDIAN_ROWS = 1024
# The median of many values is bracketed by two quantiles of every 64th value, if there are enough.
_STRIDE = 64
_FEWEST_OF_FEW = 500


@lru_cache(maxsize=2)
def _pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of n rows; cached, because every stage of a path needs them."""
    return np.triu_indices(n, 1)


def _distinct_pairs(X: Array, order: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return L1 or squared Euclidean distances of all pairs, and which are distinct (None: all)."""
    xp = array_namespace(X)
    X = X if order == 1 else X - xp.mean(X, axis=0)
    distances = to_numpy(l1_distances(X, X) if order == 1 else squared_distances(X, X))
    pairs = np.concatenate([row[k:] for k, row in enumerate(distances, 1)])  # faster than indices
    if order == 1:
        return pairs, None if pairs.min(initial=1.0) > 0.0 else pairs > 0.0
    # For equal rows the squared distance is a rounding error of the squared lengths.
    lengths = to_numpy(column_dots(X.T, X.T))
    rounding = 4.0 * float(xp.finfo(X.dtype).eps)
    if pairs.min(initial=np.inf) > 2.0 * rounding * lengths.max():
        return pairs, None
    first, second = _pairs(X.shape[0])
    return pairs, pairs > rounding * (lengths[first] + lengths[second])


def _median(values: np.ndarray) -> float:
    """Return the median of many values by searching only between two sample quantiles."""
    middle = (values.size - 1) // 2, values.size // 2
    few = np.sort(values[::_STRIDE])
    if few.size > _FEWEST_OF_FEW:
        low, high = few[int(0.45 * few.size)], few[int(0.55 * few.size)]
        near = values[(values >= low) & (values <= high)]
        below = int(np.count_nonzero(values < low))
        if below <= middle[0] and middle[1] < below + near.size:
            values, middle = near, (middle[0] - below, middle[1] - below)
    ordered = np.partition(values, middle)
    return float(0.5 * (ordered[middle[0]] + ordered[middle[1]]))


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted median."""
    order = np.argsort(values)
    values, reached = values[order], np.cumsum(weights[order])
    half = 0.5 * reached[-1]
    # If exactly half of the weight lies below, take the mean of the two middle values.
    slack = 1e-9 * half
    low = int(np.searchsorted(reached, half - slack))
    high = int(np.searchsorted(reached, half + slack))
    return float(0.5 * (values[low] + values[min(high, values.size - 1)]))


def median_bandwidth(X: Array, order: int, p: np.ndarray | None = None, *, seed: int = 0) -> float:
    """Return the bandwidth for which a pair of rows at the median distance has kernel value 1/e.

    For Euclidean distances (``order=2``) this is the median over pairs divided by √2, as in the
    paper; for L1 distances (``order=1``) it is the median. A pair is weighted by the product of
    its weights p. Pairs of equal samples do not count, so that columns with few distinct values
    also have a scale. If there are more than 1024 rows, a subsample of 1024 is used.
    """
    p = np.ones(X.shape[0]) if p is None else p
    if X.shape[0] > MEDIAN_ROWS:
        rows = np.random.default_rng(seed).choice(X.shape[0], MEDIAN_ROWS, replace=False)
        X, p = take(X, rows, axis=0), p[rows]
    pairs, distinct = _distinct_pairs(X, order)
    if (distinct is not None and not distinct.any()) or not np.isfinite(pairs.max(initial=-np.inf)):
        raise ValueError(
            "The median bandwidth is undefined: all samples are equal, or their distances "
            "overflow. Check that the columns vary, standardise them (standardize=True), or "
            "pass bandwidth as a positive number."
        )
    kept = slice(None) if distinct is None else distinct
    if np.ptp(p) == 0.0:
        median = _median(pairs[kept])
    else:
        first, second = _pairs(p.size)
        median = _weighted_median(pairs[kept], (p[first] * p[second])[kept])
    return median if order == 1 else float(np.sqrt(median / 2.0))
