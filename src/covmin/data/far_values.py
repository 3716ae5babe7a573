"""Columns and responses that a few far values rule, and samples too few for anything."""

import numpy as np
from scipy.special import gammaln

# How the warning of them begins.
FAR_VALUES = "A few far values"
# A few values are this share; the others are next to equal where they vary by less than this
# share of the deviation.
_FEW = 0.05
_NEXT_TO_EQUAL = 0.1
# With fewer rows a few of them are no exception. More are not looked at.
_FEWEST_ROWS = 10
_MOST_ROWS = 1000


def rows_to_look_at(n_samples: int) -> np.ndarray:
    """Numbers of some rows, increasing, spread over all."""
    return np.unique(np.linspace(0, n_samples - 1, min(n_samples, _MOST_ROWS)).astype(int))


def ruled_by_far_values(values: np.ndarray) -> np.ndarray:
    """For each column, in units of its deviation, whether this is that of a few far values.

    Without the few farthest from the median, values vary, but next to nothing is left of the
    deviation: a kernel that sees the far ones cannot tell the others apart. Those at the median
    are equal whatever the far ones are, as the zeros of a count, and are no others; nor are fewer
    than the few.

    >>> near = np.arange(100.0)
    >>> far = np.append(near, 1e12)
    >>> ruled_by_far_values(np.c_[near / near.std()]), ruled_by_far_values(np.c_[far / far.std()])
    (array([False]), array([ True]))
    """
    n = values.shape[0]
    if n < _FEWEST_ROWS:
        return np.zeros(values.shape[1], dtype=bool)
    n_near = n - int(np.ceil(_FEW * n))
    # The values of a column side by side are sorted faster.
    columns = np.array(values.T, order="C")
    ordered = np.partition(columns, ((n - 1) // 2, n // 2), axis=1)
    columns -= 0.5 * (ordered[:, (n - 1) // 2] + ordered[:, n // 2])[:, None]
    near = np.partition(np.abs(columns, out=columns), n_near - 1, axis=1)[:, :n_near]
    n_others = (near > 0.0).sum(axis=1)
    spread = np.sqrt((near**2).sum(axis=1) / np.maximum(n_others, 1))
    ruled: np.ndarray = (n_others >= n - n_near) & (spread < _NEXT_TO_EQUAL)
    return ruled


def orders_by_chance(Y: np.ndarray, n_features: int, *, classes: bool) -> float:
    """How many of so many useless features sort the samples by their response.

    A feature of no use puts them into any order with the same chance. Classes may follow each
    other in any order, numbers fall or rise.

    >>> labels = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> round(orders_by_chance(labels, 30, classes=True))
    10
    """
    few = rows_to_look_at(Y.shape[0])
    if few.size < Y.shape[0]:
        # Who sorts all samples sorts some of them: these bound the chance, and are seldom sorted.
        at_most = orders_by_chance(Y[few], n_features, classes=classes)
        if at_most < 1.0:
            return at_most
    counts = np.unique(Y, axis=0, return_counts=True)[1]
    sortings = gammaln(counts + 1.0).sum() + (gammaln(counts.size + 1.0) if classes else np.log(2))
    return float(n_features * np.exp(min(sortings - gammaln(Y.shape[0] + 1.0), 0.0)))
