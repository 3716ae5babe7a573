"""The median rule: a bandwidth from the median distance between samples."""

import numpy as np

from ..arrays import Array, array_namespace, column_dots, l1_distances, take, to_numpy
from .base import squared_distances

# With more samples than this, use the pairs of a subsample: half a million pairs determine the
# median distance to a fraction of a per cent.
MEDIAN_ROWS = 1024
# The median of many values is bracketed by two quantiles of every 64th value, if there are enough.
_STRIDE = 64
_FEWEST_OF_FEW = 500


def median_bandwidth(X: Array, order: int, p: np.ndarray | None = None, *, seed: int = 0) -> float:
    """Return the bandwidth for which a pair of rows at the median distance has kernel value 1/e.

    For Euclidean distances (``order=2``) this is the median over pairs divided by √2, as in the
    paper; for L1 distances (``order=1``) it is the median. A pair is weighted by the product of
    its weights p. Pairs of equal samples do not count, so that columns with few distinct values
    also have a scale. If there are more than 1024 rows, a subsample of 1024 is used.
    """
    xp = array_namespace(X)
    p = np.ones(X.shape[0]) if p is None else p
    if X.shape[0] > MEDIAN_ROWS:
        rows = np.random.default_rng(seed).choice(X.shape[0], MEDIAN_ROWS, replace=False)
        X, p = take(X, rows, axis=0), p[rows]
    X = X if order == 1 else X - xp.mean(X, axis=0)
    distances = to_numpy(l1_distances(X, X) if order == 1 else squared_distances(X, X))
    pairs = np.concatenate([row[k:] for k, row in enumerate(distances, 1)])  # faster than indices

    # For equal rows the squared distance is a rounding error of the squared lengths.
    rounding = 0.0 if order == 1 else 4.0 * float(xp.finfo(X.dtype).eps)
    lengths = to_numpy(column_dots(X.T, X.T))
    is_weighted = np.ptp(p) > 0.0
    weights = None
    if is_weighted or pairs.min(initial=np.inf) <= 2.0 * rounding * lengths.max():
        first, second = np.triu_indices(len(lengths), 1)
        distinct = pairs > rounding * (lengths[first] + lengths[second])
        weights = (p[first] * p[second])[distinct] if is_weighted else None
        pairs = pairs[distinct]
    if pairs.size == 0 or not np.isfinite(pairs.max()):
        raise ValueError(
            "The median bandwidth is undefined: all samples are equal, or their distances "
            "overflow. Check that the columns vary, standardise them (standardize=True), or "
            "pass bandwidth as a positive number."
        )
    median = _median(pairs, weights)
    return median if order == 1 else float(np.sqrt(median / 2.0))


def _median(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the median; without weights, by searching only between two sample quantiles."""
    if weights is not None:
        order = np.argsort(values)
        values, reached = values[order], np.cumsum(weights[order])
        # If exactly half of the weight lies below, take the mean of the two middle values.
        halves = 0.5 * reached[-1] * np.array([1.0 - 1e-9, 1.0 + 1e-9])
        middle = np.minimum(np.searchsorted(reached, halves), values.size - 1)
        return float(values[middle].mean())
    ends = (values.size - 1) // 2, values.size // 2
    few = np.sort(values[::_STRIDE])
    if few.size > _FEWEST_OF_FEW:
        low, high = few[int(0.45 * few.size)], few[int(0.55 * few.size)]
        near = values[(values >= low) & (values <= high)]
        below = int(np.count_nonzero(values < low))
        if below <= ends[0] and ends[1] < below + near.size:
            values, ends = near, (ends[0] - below, ends[1] - below)
    ordered = np.partition(values, ends)
    return float(0.5 * (ordered[ends[0]] + ordered[ends[1]]))
