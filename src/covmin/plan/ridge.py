"""Choose the ridge ε: the noise-to-signal ratio divided by the number of samples."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .constants import (
    LARGEST_RIDGE_OF_UNITS,
    LEAST_RIDGE,
    NOISE_OF_UNPREDICTED,
    PAPER_RIDGE,
    RIDGE_LIMITS,
    STANDARD_ERRORS,
)
from .formulation import Formulation

Reasoned = tuple[float, str]


def given_ridges(epsilon: Any) -> tuple[float, ...]:
    """Return the values of ε that the user gave, in increasing order."""
    values = np.unique(np.atleast_1d(np.asarray(epsilon, dtype=np.float64)))
    if values.size == 0 or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(
            f"epsilon must be positive and finite, got {epsilon!r}; "
            'epsilon="auto" chooses a value that suits the data.'
        )
    return tuple(values.tolist())


def paper_ridge(task: str, formulation: Formulation) -> Reasoned:
    """Return the paper's ε; except for classes, a path uses the upper limit of a path."""
    if formulation.is_path and task != "classification":
        return RIDGE_LIMITS[1], "the inverse-free form on a path"
    return PAPER_RIDGE[task], f"the paper's value for {task}"


def is_by_chance(unpredicted: float, n_seen: float) -> bool:
    """Tell whether a prediction on ``n_seen`` samples is no better than chance.

    >>> is_by_chance(0.995, 400), is_by_chance(0.98, 400)
    (True, False)
    """
    return (1.0 - unpredicted) * n_seen <= STANDARD_ERRORS**2


def ridge_for_noise(
    n_samples: float,
    unpredicted: float,
    single_effects: Callable[[], bool] = lambda: False,
    n_seen: float | None = None,
) -> Reasoned:
    """Return ``ε = ρ/n`` for the noise-to-signal ratio ρ, and the reason.

    Suppose that the response is a draw from a Gaussian process with covariance ``s²·k``, plus
    noise with variance τ². Its log-likelihood contains ``Yᵀ(G + ρI)⁻¹Y`` with ``ρ = τ²/s²``, which
    is the criterion for ``nε = ρ``. If all features together leave a fraction L of the variance
    unpredicted, then ``ρ = L/(1 − L)``.

    L is measured before any selection, so it is not biased by it. The features that a stage keeps
    may leave more or less unpredicted than all of them, so ε has limits.

    All features together cannot predict an interaction of a few among many. By chance, a
    prediction has a correlation of ``1/√n`` with the response, where n is the number of samples
    used to measure L (``n_seen``; by default all). If ``√(1 − L)`` is below twice that, L carries
    no information about the noise. If, in addition, no single feature has a significant effect, ρ
    is set to a small value: a close fit can reveal an interaction, and if there is none, no ridge
    will find it. Otherwise the effects are weak and the noise is large.

    >>> ridge_for_noise(400, 0.75)
    (0.0075, 'all features together leave 75% of the variance unpredicted, 400 samples')
    >>> ridge_for_noise(400, 0.999)
    (0.001, 'all features together predict nothing; small enough for interactions')
    """
    if is_by_chance(unpredicted, n_seen or n_samples) and not single_effects():
        epsilon = float(np.clip(NOISE_OF_UNPREDICTED / n_samples, LEAST_RIDGE, RIDGE_LIMITS[1]))
        return epsilon, "all features together predict nothing; small enough for interactions"
    ratio = unpredicted / max(1.0 - unpredicted, np.finfo(float).eps)
    epsilon = float(np.clip(ratio / n_samples, *RIDGE_LIMITS))
    left = f"all features together leave {unpredicted:.0%} of the variance unpredicted"
    return epsilon, f"{left}, {n_samples:.0f} samples"


def ridge_for_units(sizes: np.ndarray, n_samples: int) -> float:
    """Return the smallest ε at which units with many columns gain nothing from their size.

    By chance, a category with twenty levels, or a group of twenty columns, fits twenty directions
    where a single column fits a few, and the criterion counts whatever is fitted. A ridge of one
    sample per column in excess of the smallest unit compensates for this. Units of equal size
    have equal chances, so nothing is added.

    >>> beside_two_numbers = np.array([1.0, 1.0, 5.0])  # a category of five levels
    >>> ridge_for_units(beside_two_numbers, 100), ridge_for_units(np.ones(3), 100)
    (0.04, 0.0)
    """
    excess = float(np.ptp(sizes)) if sizes.size else 0.0
    return min(excess / n_samples, LARGEST_RIDGE_OF_UNITS)
