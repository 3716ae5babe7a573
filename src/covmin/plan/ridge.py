"""How large a ridge ε is, by the numbers of samples and features and by what these predict."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covmin.core.units import Units

from .constants import (
    LARGEST_RIDGE,
    NOTHING_LEARNT,
    PAPER_RIDGE,
    RIDGE_LIMITS,
    RIDGE_OF_UNPREDICTED,
    RIDGE_OVER_SAMPLES,
    RIDGE_TIMES_FEATURES,
    RIDGE_TIMES_SAMPLES,
    UNPREDICTED,
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
    if formulation.is_path and task == "regression":
        return RIDGE_LIMITS[task][1], "the inverse-free form along a path"
    return PAPER_RIDGE[task], f"the paper's value for {task}"


def ridge_for_classes(n: int, d: int, error_of_all: Callable[[float], float]) -> Reasoned:
    """ε for classes along a path: smaller for more features, larger for noise that could be fitted.

    With d features it is 0.5/d, within [0.001, 0.01]: a function of few features is smooth. At
    most n/6000, for few samples show an interaction only to a small ridge; and at most 5/n, for
    many show a weak effect beside a strong one, of which a large ridge leaves too much.

    Classes that all features together do not predict, by the leave-one-out error with every
    feature at full weight and before anything is chosen, depend on an interaction of few among
    many, if on anything: no more than 0.15/n, but 0.001.

    Where features outnumber samples any labels can be fitted, also wrong ones, and the criterion
    cannot tell. The ratio ρ of noise to signal, by the same error, then makes it at least
    ``ρ³/2n``, up to 0.1. ``error_of_all`` gives that error for an ε.
    """
    most = min(RIDGE_TIMES_FEATURES / d, RIDGE_OVER_SAMPLES * n, RIDGE_TIMES_SAMPLES / n)
    least, largest = RIDGE_LIMITS["classification"]
    epsilon = float(np.clip(most, least, largest))
    reason = f"{d} features and {n} samples"
    if epsilon == least and d <= n:
        return epsilon, reason  # whatever all features predict
    noise = error_of_all(epsilon)
    if not noise < UNPREDICTED:
        small = min(epsilon, max(RIDGE_OF_UNPREDICTED / n, least))
        return small, "all features together do not predict the classes: small, for interactions"
    if d <= n or noise >= NOTHING_LEARNT:
        return epsilon, reason
    ratio = noise / (1.0 - noise)
    wanted = min(0.5 * ratio**3 / n, LARGEST_RIDGE)
    if wanted > epsilon:
        return wanted, f"{reason}; all features leave {noise:.0%} of the labels unpredicted"
    return epsilon, reason


def ridge_for_numbers(n: int) -> Reasoned:
    """ε for a real response along a path: 0.01, and less for many samples, down to 0.003.

    Those show a weak effect beside a strong one, of which a large ridge leaves more unexplained
    than the weak one explains.
    """
    return float(np.clip(RIDGE_TIMES_SAMPLES / n, *RIDGE_LIMITS["regression"])), f"{n} samples"


def ridge_for_units(units: Units, n_samples: int) -> float:
    """The least ε at which a unit of many columns does not win by its size alone.

    A category of twenty levels, or a group of twenty columns, fits twenty directions of chance
    where a single column fits few, and the criterion counts what is fitted. A sample's
    worth of ridge for each column more than the smallest unit has takes that back. Units of
    equal size have the same chance, so nothing is added.

    >>> category = np.array([0, 1, 2, 2, 2, 2, 2])  # five levels beside two numbers
    >>> ridge_for_units(Units(category, np.ones(7)), 100), ridge_for_units(Units.single(3), 100)
    (0.04, 0.0)
    """
    excess = int(np.ptp(units.sizes)) if units.size else 0
    return min(excess / n_samples, LARGEST_RIDGE)
