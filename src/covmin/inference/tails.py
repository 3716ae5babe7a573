"""Tail probabilities of weighted χ² sums, and p-values adjusted for multiple testing."""

import numpy as np
from scipy.stats import gamma, norm

# Weights below this fraction of the largest do not affect the tail.
_NEGLIGIBLE = 1e-6
_HALVINGS = 60


def weighted_chi2_tail(weights: np.ndarray, value: float) -> float:
    """Return P(Σₖ λₖ χ²ₖ ≥ value) for independent χ² variables with one degree of freedom.

    Uses the saddlepoint formula of Lugannani and Rice in the form of Barndorff-Nielsen, whose
    relative error is a few per cent even for very small probabilities. Below the mean, where no
    decision is made, it uses a gamma distribution with the same mean and variance.

    Parameters
    ----------
    weights : ndarray of shape (n_terms,)
        The λₖ ≥ 0.
    value : float

    Returns
    -------
    tail : float

    Examples
    --------
    >>> import numpy as np
    >>> round(weighted_chi2_tail(np.array([1.0]), 3.841), 2)
    0.05
    """
    largest = float(weights.max(initial=0.0))
    if largest <= 0.0:
        return 1.0
    weights = weights[weights > _NEGLIGIBLE * largest] / largest
    value = value / largest
    mean, variance = float(weights.sum()), 2.0 * float((weights**2).sum())
    if value <= mean + 0.1 * np.sqrt(variance):  # the saddlepoint is close to zero
        return float(gamma.sf(value, mean**2 / variance, scale=variance / mean))
    low, high = 0.0, 0.5
    for _ in range(_HALVINGS):
        s = 0.5 * (low + high)
        low, high = (s, high) if (weights / (1.0 - 2.0 * s * weights)).sum() < value else (low, s)
    cumulant = -0.5 * np.log1p(-2.0 * s * weights).sum()
    curvature = 2.0 * ((weights / (1.0 - 2.0 * s * weights)) ** 2).sum()
    w = np.sqrt(2.0 * (s * value - cumulant))
    v = s * np.sqrt(curvature)
    return float(norm.sf(w + np.log(v / w) / w))


def adjusted_p_values(p_values: np.ndarray, method: str) -> np.ndarray:
    """Return the smallest false discovery rate at which each hypothesis is rejected.

    Parameters
    ----------
    p_values : ndarray of shape (n_hypotheses,)
    method : {"bh", "by"}
        Benjamini–Hochberg; or Benjamini–Yekutieli, which allows any dependence.

    Returns
    -------
    adjusted : ndarray of shape (n_hypotheses,)

    Examples
    --------
    >>> import numpy as np
    >>> adjusted_p_values(np.array([0.01, 0.04, 0.03, 0.8]), "bh").round(3)
    array([0.04 , 0.053, 0.053, 0.8  ])
    """
    n = p_values.size
    places = np.arange(1, n + 1)
    factor = (1.0 / places).sum() if method == "by" else 1.0
    order = np.argsort(p_values, kind="stable")
    levels = p_values[order] * (factor * n / places)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.minimum.accumulate(levels[::-1])[::-1], 1.0)
    return adjusted
