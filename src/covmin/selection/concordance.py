"""The concordance index: how well predicted risks order survival times."""

from __future__ import annotations

from typing import Any

import numpy as np

from covmin.data.survival import survival_times


def concordance_index(y: Any, risk: Any, sample_weight: Any = None) -> float:
    """Return Harrell's concordance index of predicted risks and survival times.

    It is the fraction of comparable pairs in which the sample with the higher risk has the event
    first.

    Parameters
    ----------
    y : array-like
        Events and times, in any form that :meth:`covmin.CCMSelector.fit` accepts for
        ``task="survival"``.
    risk : array-like of shape (n_samples,)
        Predicted risks; a higher risk means an earlier event.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights; a pair has the product of its two weights.

    Returns
    -------
    concordance : float
        From 0 to 1; ½ corresponds to random predictions, and is also the result if no two samples
        are comparable.

    Notes
    -----
    Two samples are comparable if the event of one was observed while the other was under
    observation: at an earlier time, or at the time when the other was censored. Two events at the
    same time are not comparable. Equal risks count one half. The time is of order n log² n.

    References
    ----------
    .. [1] F. E. Harrell, R. M. Califf, D. B. Pryor, K. L. Lee and R. A. Rosati, "Evaluating the
       yield of medical tests", JAMA 247, 1982.

    Examples
    --------
    >>> from covmin import concordance_index
    >>> y = [(True, 1.0), (True, 3.0), (False, 2.0), (True, 4.0)]
    >>> concordance_index(y, [4.0, 1.0, 2.0, 2.0])
    0.75
    """
    times = survival_times(y, "survival")
    risk = np.asarray(risk, dtype=np.float64)
    n = 0 if times is None else len(times)
    if times is None or np.isnan(times).any() or np.isnan(risk).any():
        raise ValueError("Events, times and risks must not be NaN; drop these samples.")
    if n == 0:
        raise ValueError("y has no samples, but at least one is required.")
    if risk.shape != (n,):
        raise ValueError(f"risk must have one number for each of {n} samples; got {risk.shape}.")
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have {n} numbers; got shape {weight.shape}.")
    return concordance(times, risk, weight)[0]


def concordance(times: np.ndarray, risk: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return the index of events and times (n, 2), and its variance over samples.

    The index is a ratio of sums over pairs. The variance is that of the first-order term of its
    expansion in the samples (Hoeffding projection).
    """
    event = times[:, 0] == 1.0
    # At equal times, events come first: a sample censored then has not had the event before.
    later = _places(np.lexsort((~event, times[:, 1])), times[:, 1], event)
    higher = _places(np.argsort(risk, kind="stable"), risk)
    first = weight * event
    # As the first of a pair, and as the second.
    right = first * _half_ties(-later, higher, weight) + weight * _half_ties(later, -higher, first)
    every = first * _below(-later, weight) + weight * _below(later, first)
    total = every.sum()
    if total <= 0.0:
        return 0.5, 0.0
    index = right.sum() / total
    # Each pair involves two samples, and appears twice in both sums.
    influence = 2.0 * (right - index * every) / total
    return float(index), float(influence @ influence)


def _places(order: np.ndarray, *keys: np.ndarray) -> np.ndarray:
    """Return ranks from zero; samples with equal keys share a rank."""
    new = np.zeros(order.size, dtype=bool)
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    places = np.empty(order.size, dtype=np.intp)
    places[order] = np.cumsum(new)
    return places


def _below(place: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return, for each sample, the weight of those with lower ranks."""
    shifted = place - place.min()
    sums = np.bincount(shifted, weight)
    below: np.ndarray = (np.cumsum(sums) - sums)[shifted]
    return below


def _half_ties(a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weight of samples lower in both a and b; ties in b count one half."""
    return 0.5 * (_below_in_both(a, b, weight) + _below_in_both(a, b, weight, or_equal=True))


def _below_in_both(
    a: np.ndarray, b: np.ndarray, weight: np.ndarray, *, or_equal: bool = False
) -> np.ndarray:
    """Return, for each sample, the weight of those lower in a and lower (or equal) in b.

    Samples are ordered by b and merge-sorted by a: when two neighbouring runs are merged, each
    sample of the right run counts the samples of the left run that are lower in a.
    """
    # Among ties in b, a sample must come after those it counts; it is not lower than itself in a.
    order = np.lexsort((a if or_equal else -a, b))
    rank, w = a[order], weight[order]
    total, place = np.zeros(rank.size), np.arange(rank.size)
    width = 1
    while width < rank.size:
        # Sort by pairs of runs and, within a pair, by a; on ties the right run comes first.
        right = (place // width) % 2 == 1
        merged = np.lexsort((~right, rank, place // (2 * width)))
        is_right, left_weight = right[merged], np.where(right[merged], 0.0, w[merged])
        before = np.cumsum(left_weight)
        pair = place[merged] // (2 * width)
        start = np.searchsorted(pair, pair, side="left")
        before -= np.where(start > 0, before[np.maximum(start - 1, 0)], 0.0)
        total[merged[is_right]] += before[is_right]
        width *= 2
    found = np.empty_like(total)
    found[order] = total
    return found
