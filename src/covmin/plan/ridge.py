"""How large a ridge ε is: the noise over the signal, for each sample."""

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
    """Values of ε that the user gave, increasing."""
    values = np.unique(np.atleast_1d(np.asarray(epsilon, dtype=np.float64)))
    if values.size == 0 or not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(
            f"epsilon must be positive and finite, got {epsilon!r}; "
            'epsilon="auto" takes a value that suits the data.'
        )
    return tuple(values.tolist())


def paper_ridge(task: str, formulation: Formulation) -> Reasoned:
    """The paper's ε; along a path of numbers, no more than that of a path."""
    if formulation.is_path and task != "classification":
        return RIDGE_LIMITS[1], "the inverse-free form along a path"
    return PAPER_RIDGE[task], f"the paper's value for {task}"


def is_by_chance(unpredicted: float, n_seen: float) -> bool:
    """Whether so much is predicted by chance, of as many samples.

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
    """``ε = ρ/n`` for a ratio ρ of noise to signal, by what all features leave unpredicted.

    Let the response be a function drawn from the Gaussian process with covariance ``s²·k``, plus
    noise of variance τ². Its likelihood contains ``Yᵀ(G + ρI)⁻¹Y`` with ``ρ = τ²/s²``, and the
    criterion is this for ``nε = ρ``. With a share L left unpredicted, ``ρ = L/(1 − L)``.

    L is measured before anything is chosen, so that it is honest. The features that a stage keeps
    may leave more or less than all of them, hence limits.

    Of an interaction of a few among many features, all together see nothing. Predictions by chance
    have a correlation with the response of ``1/√n``, n the number of samples on which L was
    measured (``n_seen``; all by default). Where ``√(1 − L)`` is within two of these of none, L says
    nothing about the noise. If no feature has an effect of its own that stands out either, ρ is
    taken to be small: a close fit may show what there is, and if there is nothing, no ridge finds
    it. Otherwise effects are weak, and the noise is large indeed.

    >>> ridge_for_noise(400, 0.75)
    (0.0075, 'all features leave 75% unpredicted, 400 samples')
    >>> ridge_for_noise(400, 0.999)
    (0.001, 'all features predict nothing: small, for interactions')
    """
    if is_by_chance(unpredicted, n_seen or n_samples) and not single_effects():
        epsilon = float(np.clip(NOISE_OF_UNPREDICTED / n_samples, LEAST_RIDGE, RIDGE_LIMITS[1]))
        return epsilon, "all features predict nothing: small, for interactions"
    ratio = unpredicted / max(1.0 - unpredicted, np.finfo(float).eps)
    epsilon = float(np.clip(ratio / n_samples, *RIDGE_LIMITS))
    return epsilon, f"all features leave {unpredicted:.0%} unpredicted, {n_samples:.0f} samples"


def ridge_for_units(sizes: np.ndarray, n_samples: int) -> float:
    """The least ε at which a unit of many columns does not win by its size alone.

    A category of twenty levels, or a group of twenty columns, fits twenty directions of chance
    where a single column fits few, and the criterion counts what is fitted. A sample's
    worth of ridge for each column more than the smallest unit has takes that back. Units of
    equal size have the same chance, so nothing is added.

    >>> beside_two_numbers = np.array([1.0, 1.0, 5.0])  # a category of five levels
    >>> ridge_for_units(beside_two_numbers, 100), ridge_for_units(np.ones(3), 100)
    (0.04, 0.0)
    """
    excess = float(np.ptp(sizes)) if sizes.size else 0.0
    return min(excess / n_samples, LARGEST_RIDGE_OF_UNITS)
