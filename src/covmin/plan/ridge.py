"""What the samples say before a path begins: how large a ridge, and which kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from covmin.core.arrays import like, take, to_numpy
from covmin.core.path import default_budgets, run_path
from covmin.core.problem import Problem
from covmin.core.units import Units

__all__ = [
    "RIDGE_LIMITS",
    "is_better_without_sum",
    "ridge_for_classes",
    "ridge_for_numbers",
    "ridge_for_units",
]

# ε along a path, from the least to the most. Random features stand for many samples, among which
# copies are not looked for, and take the least.
RIDGE_LIMITS = {"classification": (0.001, 0.01), "regression": (0.003, 0.01)}
# For classes, this over the number of features, less for few samples, and for many. And that of
# classes which all features together do not predict, by a leave-one-out error beyond this share
# of the variance.
_RIDGE = 0.5
_RIDGE_OF_FEW_SAMPLES = 1.0 / 6000
_RIDGE_OF_MANY_SAMPLES = 5.0  # over their number, also for a real response
_UNPREDICTED = 0.98
_SMALL_RIDGE = 0.15  # over the number of samples
# An error beyond this share says nothing about the noise.
_NOTHING_LEARNT = 0.95
_LARGEST_RIDGE = 0.1
_LARGEST_RIDGE_FOR_UNITS = 0.1
# Samples up to which a path is tried with two kernels, and how much better the second must be.
_FEW_SAMPLES = 1000
_MUCH_BETTER = 0.9


def ridge_for_classes(problem: Problem) -> float:
    """ε for classes: smaller for more features, larger for noise that could be fitted.

    With d features it is 0.5/d, within [0.001, 0.01]: a function of few features is smooth. At
    most n/6000, for few samples show an interaction only to a small ridge; and at most 5/n, for
    many show a weak effect beside a strong one, of which a large ridge leaves too much.

    Classes that all features together do not predict, by the leave-one-out error with every
    feature at full weight and before anything is chosen, depend on an interaction of few among
    many, if on anything: no more than 0.15/n, but 0.001.

    Where features outnumber samples any labels can be fitted, also wrong ones, and the criterion
    cannot tell. The ratio ρ of noise to signal, by the same error, then makes it at least
    ``ρ³/2n``, up to 0.1.
    """
    n, d = problem.n_samples, problem.n_features
    most = min(_RIDGE / d, _RIDGE_OF_FEW_SAMPLES * n, _RIDGE_OF_MANY_SAMPLES / n)
    least, largest = RIDGE_LIMITS["classification"]
    epsilon = float(np.clip(most, least, largest))
    noise = _error_of_all(_without_repeats(problem), epsilon)
    if not noise < _UNPREDICTED:
        return min(epsilon, max(_SMALL_RIDGE / n, least))
    if d <= n or noise >= _NOTHING_LEARNT:
        return epsilon
    ratio = noise / (1.0 - noise)
    return max(epsilon, min(0.5 * ratio**3 / n, _LARGEST_RIDGE))


def ridge_for_numbers(problem: Problem) -> float:
    """ε for a real response along a path: 0.01, and less for many samples, down to 0.003.

    Those show a weak effect beside a strong one, of which a large ridge leaves more unexplained
    than the weak one explains.
    """
    ridge = _RIDGE_OF_MANY_SAMPLES / problem.n_samples
    return float(np.clip(ridge, *RIDGE_LIMITS["regression"]))


def ridge_for_units(units: Units, n_samples: int) -> float:
    """The least ε at which a unit of many columns does not win by its size alone.

    A category of twenty levels, or a group of twenty columns, fits twenty directions of chance
    where a single column fits few, and the criterion counts what is fitted. A sample's
    worth of ridge for each column more than the smallest unit has takes that back. Units of
    equal size have the same chance, so nothing is added.

    Examples
    --------
    >>> category = np.array([0, 1, 2, 2, 2, 2, 2])  # five levels beside two numbers
    >>> ridge_for_units(Units(category, np.ones(7)), 100), ridge_for_units(Units.single(3), 100)
    (0.04, 0.0)
    """
    excess = int(np.ptp(units.sizes)) if units.size else 0
    return min(excess / n_samples, _LARGEST_RIDGE_FOR_UNITS)


def is_better_without_sum(
    problem: Problem, m: int | None, stop: Callable[[], bool] | None = None
) -> bool:
    """Whether the Gaussian by itself finds what the mixed kernel does not.

    Where all features together predict nothing, what there is may be an interaction of a few
    among many. None of them has an effect of its own, so the sum of one-dimensional kernels
    looks elsewhere. The path is then tried with it and without it, and goes by the
    leave-one-out error of the features it keeps: both have chosen on the same samples.

    Not where a pair stands out, which either path holds on to. Not where features outnumber
    samples: some of them interact by chance, and the Gaussian would find these.

    Parameters
    ----------
    problem : Problem
        With the mixed kernel.
    m : int or None
        Features to keep; None where that is not known yet.
    stop : callable, optional
        See :func:`~covmin.core.path.run_path`.
    """
    n = problem.n_samples
    if problem.frequencies is not None or problem.share == 0.0:
        return False
    if not problem.n_features <= n <= _FEW_SAMPLES:
        return False
    problem = _without_repeats(problem)
    error = _error_of_all(problem, problem.formulation.epsilon)
    if error < _NOTHING_LEARNT or problem.pairs().members.size:
        return False
    gaussian = replace(problem, formulation=replace(problem.formulation, mixing=0.0))
    alone, mixed = (_error_along_path(each, m, stop) for each in (gaussian, problem))
    return alone < _MUCH_BETTER * mixed


def _error_of_all(problem: Problem, epsilon: float) -> float:
    """Leave-one-out error with every feature at full weight: nothing has been chosen."""
    features = np.arange(problem.n_features)
    gram = problem.gram(features, problem.bandwidth(features))
    return gram.at(np.ones(features.size)).leave_one_out(epsilon)


def _error_along_path(problem: Problem, m: int | None, stop: Callable[[], bool] | None) -> float:
    """Leave-one-out error of the m features that a path keeps, or of its best stage."""
    budgets = default_budgets(problem.n_features, m)
    stages = run_path(problem, [b for b in budgets if m is None or b >= m], stop=stop).stages
    return min(stage.loo_error for stage in (stages if m is None else stages[-1:]))


def _without_repeats(problem: Problem) -> Problem:
    """The problem with repeated samples merged: one copy would give the other away."""
    if problem.n_distinct in (None, problem.X.shape[0]):
        return problem
    X, Y, p = (to_numpy(array) for array in (problem.X, problem.Y, problem.p))
    _, first, copies = np.unique(np.hstack([X, Y]), axis=0, return_index=True, return_inverse=True)
    merged = np.bincount(copies.ravel(), p).astype(p.dtype)
    return replace(
        problem,
        X=take(problem.X, first, axis=0),
        Y=take(problem.Y, first, axis=0),
        p=like(merged, problem.X),
    )
