"""Detect columns and responses dominated by outliers, and tables with too few samples."""

import numpy as np
from scipy.special import gammaln

# How the warning about outliers begins.
OUTLIERS = "A few outliers"
# A few values are this share of all; the others are nearly equal if their spread is below this
# fraction of the standard deviation.
_FEW = 0.05
_NEXT_TO_EQUAL = 0.1
# With fewer rows, a few of them are no exception. More rows than this need not be inspected.
_FEWEST_ROWS = 10
_MOST_ROWS = 1000


def rows_to_look_at(n_samples: int) -> np.ndarray:
    """Return the increasing numbers of some rows, spread over all of them."""
    return np.unique(np.linspace(0, n_samples - 1, min(n_samples, _MOST_ROWS)).astype(int))


def dominated_by_outliers(values: np.ndarray) -> np.ndarray:
    """Return a mask of the columns whose standard deviation is due to a few outliers.

    The columns are in units of their standard deviation. Without the few values farthest from the
    median, the others still vary, but by a tiny fraction of the standard deviation, so a kernel
    scaled to the outliers cannot distinguish them. Values equal to the median, such as the zeros
    of a count, are equal anyway and are not counted; a column with fewer other values than
    outliers is not reported.

    >>> near = np.arange(100.0)
    >>> far = np.append(near, 1e12)
    >>> [dominated_by_outliers(np.c_[x / x.std()]) for x in (near, far)]
    [array([False]), array([ True])]
    """
    n = values.shape[0]
    if n < _FEWEST_ROWS:
        return np.zeros(values.shape[1], dtype=bool)
    n_near = n - int(np.ceil(_FEW * n))
    # Contiguous columns are sorted faster.
    columns = np.array(values.T, order="C")
    ordered = np.partition(columns, ((n - 1) // 2, n // 2), axis=1)
    columns -= 0.5 * (ordered[:, (n - 1) // 2] + ordered[:, n // 2])[:, None]
    near = np.partition(np.abs(columns, out=columns), n_near - 1, axis=1)[:, :n_near]
    n_others = (near > 0.0).sum(axis=1)
    spread = np.sqrt((near**2).sum(axis=1) / np.maximum(n_others, 1))
    ruled: np.ndarray = (n_others >= n - n_near) & (spread < _NEXT_TO_EQUAL)
    return ruled


def orders_by_chance(Y: np.ndarray, n_features: int, *, classes: bool) -> float:
    """Return the expected number of useless features that sort the samples by their response.

    A useless feature puts the samples in any order with equal probability. Classes may follow each
    other in any order; numbers may increase or decrease.

    >>> labels = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> round(orders_by_chance(labels, 30, classes=True))
    10
    """
    few = rows_to_look_at(Y.shape[0])
    if few.size < Y.shape[0]:
        # A feature that sorts all samples also sorts a subset, so the subset gives a bound.
        at_most = orders_by_chance(Y[few], n_features, classes=classes)
        if at_most < 1.0:
            return at_most
    counts = np.unique(Y, axis=0, return_counts=True)[1]
    sortings = gammaln(counts + 1.0).sum() + (gammaln(counts.size + 1.0) if classes else np.log(2))
    return float(n_features * np.exp(min(sortings - gammaln(Y.shape[0] + 1.0), 0.0)))
