"""Error control: how many false selections to expect of stability selection and of knockoffs."""

from bisect import bisect_left
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from sklearn.utils import Bunch

# --- stability selection -------------------------------------------------------------------------
# A feature is *rarely selected* if one fit on half of the samples selects it with probability at
# most θ = q/d, where q of the d features are selected on average. Each bound is on the expected
# number of rarely selected features with a frequency of at least τ over B pairs of complementary
# halves (R. D. Shah and R. J. Samworth, "Variable selection with error control: another look at
# stability selection", JRSS B, 2013).

# Concavity, by Shah and Samworth, of the fraction of pairs that select a feature twice, and of the
# fraction of halves that select it.
_CONCAVITY_PAIRS = -0.5
_CONCAVITY_HALVES = -0.25
# Range of the offset a in (a + i)^(1/r): from all mass at zero to the uniform distribution.
_LOG_OFFSETS = (-20.0, 14.0)


def false_selections(threshold: float, n_selected: float, n_features: int, n_pairs: int) -> Bunch:
    """Bound the expected number of rarely selected features that reach a threshold τ.

    ``n_selected`` is q and ``n_pairs`` is B. The bounds are without further assumptions, and with
    concavity; at a threshold of ½ or less, both are the number of features.
    """
    halves = int(np.ceil(2 * n_pairs * threshold - 1e-9))  # out of 2B
    if halves <= n_pairs:
        return Bunch(worst_case=float(n_features), r_concave=float(n_features))
    theta = n_selected / n_features
    tau = halves / (2 * n_pairs)
    bound = min(theta * n_selected / (2 * tau - 1), float(n_features))
    tail = min(
        tail_bound(theta**2, halves - n_pairs, n_pairs, _CONCAVITY_PAIRS),
        tail_bound(theta, halves, 2 * n_pairs, _CONCAVITY_HALVES),
    )
    return Bunch(worst_case=bound, r_concave=min(bound, n_features * tail))


def smallest_threshold(most: float, n_selected: float, n_features: int, n_pairs: int) -> float:
    """Return the smallest threshold whose bound ``r_concave`` is at most ``most``."""
    known = n_selected, n_features, n_pairs
    least = false_selections(1.0, *known).r_concave
    if least > most:
        raise ValueError(
            f"No threshold bounds the expected number of false selections by {most:g}: even "
            f"features that are always selected have a bound of {least:.3g}. Let the estimator "
            f"select fewer features (it selects {n_selected:.3g} of {n_features} on average), "
            "raise n_pairs, or allow more false selections."
        )
    thresholds = [halves / (2 * n_pairs) for halves in range(n_pairs + 1, 2 * n_pairs + 1)]
    # The bound decreases with the threshold.
    found = bisect_left(
        thresholds, True, key=lambda tau: false_selections(tau, *known).r_concave <= most
    )
    return thresholds[found]


@lru_cache(maxsize=4096)
def tail_bound(mean: float, start: int, size: int, r: float) -> float:
    """Return the largest P(X ≥ start/size) of an r-concave X on {0, 1/size, …, 1}, r < 0.

    The mean of X is given. The extreme distributions have masses c·(a + i)^(1/r) on 0..k, and the
    remainder, less than the next such mass, on k + 1. For each k the mean determines one for each a
    in an interval. The bound is 1 if the mean is too large.
    """
    mu = mean * size
    if start <= np.ceil(2.0 * mu):
        return 1.0
    if mu == 0.0:
        return 0.0
    values = np.arange(size + 2)

    def masses(log_a: float, k: int) -> np.ndarray:
        """Return ``(1 + i/a)^(1/r)`` for i = 0..k, proportional to the masses, no overflow."""
        return np.asarray((1.0 + values[: k + 1] * np.exp(-log_a)) ** (1.0 / r))

    def log_offset(k: int) -> float:
        """Return log a for which the masses on 0..k have mean μ."""

        def excess(log_a: float) -> float:
            return float(np.average(values[: k + 1], weights=masses(log_a, k)) - mu)

        # Up to the uniform distribution, unless its mean is too small.
        return _LOG_OFFSETS[1] if excess(_LOG_OFFSETS[1]) <= 0.0 else brentq(excess, *_LOG_OFFSETS)

    def less_tail(log_a: float, k: int) -> float:
        """Return P(X < start), with the mass on k + 1 chosen so that the mean is μ."""
        found = masses(log_a, k)
        return float((k + 1 - mu) * found[:start].sum() / (found @ (k + 1 - values[: k + 1])))

    offsets = {k: log_offset(k) for k in range(start - 1, size + 1)}
    least = less_tail(offsets[size], size)
    for k in range(start - 1, size):
        ends = offsets[k + 1], offsets[k]
        inside = minimize_scalar(less_tail, bounds=ends, args=(k,), method="bounded")
        least = min(least, less_tail(ends[0], k), less_tail(ends[1], k), float(inside.fun))
    return float(np.clip(1.0 - least, 0.0, 1.0))


# --- knockoffs -----------------------------------------------------------------------------------
# A statistic W is positive if a feature is better than its copy. Below zero, it shows how often a
# copy wins by chance.


def knockoff_q_values(W: np.ndarray) -> np.ndarray:
    """Return the smallest level at which the knockoff filter keeps each feature; ∞ if W ≤ 0.

    A feature is kept at level q if ``(1 + #{W ≤ −t}) / #{W ≥ t} ≤ q`` for some t ≤ W.
    """
    q, smallest = np.full(W.size, np.inf), np.inf
    for t in np.unique(W[W > 0.0]):
        smallest = min(smallest, (1 + np.count_nonzero(-t >= W)) / np.count_nonzero(t <= W))
        q[t == W] = smallest
    return q
