"""Projected gradient descent with short steps and a line search.

The problem is not convex, and the path of the iterates decides which stationary point is found.
From the uniform start, a few steps of bounded length that each decrease the objective end in better
points than long steps, and need far fewer evaluations than a small fixed step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .constraints import Constraint
from .objectives import Objective, Point

_SUFFICIENT_DECREASE = 1e-4
# A decrease of the objective by less than this many of its last digits is lost in rounding.
_RESOLVED = 8.0
_DOUBLE = float(np.finfo(np.float64).eps)
_MAX_HALVINGS = 30
# Growth of the step length in solves whose order of closing features is not needed.
_GROWTH = 2.0
# Set the features at zero aside, by a copy of the others, when they are this share.
_WORTH_THE_COPY = 0.25


@dataclass(frozen=True)
class Iteration:
    """The report of an accepted step of a solve.

    Attributes
    ----------
    n_iter : int
        Accepted steps so far.
    value : float
        Objective, including the penalty of a soft budget.
    gap : float
        Optimality gap at the start of the step, relative to the objective.
    n_active : int
        Number of features with positive weight.
    step : float
        Largest change of a weight.
    """

    n_iter: int
    value: float
    gap: float
    n_active: int
    step: float


@dataclass(frozen=True)
class Progress:
    """The information that a callback receives after each step of each stage.

    Attributes
    ----------
    stage : int
        Number of the stage, from 0.
    n_stages : int
        Number of stages of the path.
    budget : int
        Number of features that the stage keeps.
    iteration : Iteration
        The step.
    """

    stage: int
    n_stages: int
    budget: int
    iteration: Iteration


class Watch:
    """Observer of a path; this base class does nothing."""

    finished: Sequence[Any] = ()  # the first stages, if an earlier run has saved them

    def step(self, progress: Progress) -> None:
        """Receive an accepted step of a stage."""

    def stage_done(self, number: int, stage: Any) -> None:
        """Receive a finished stage of a path."""

    def stop(self) -> bool:
        """Tell whether to stop here and use the current state."""
        return False


SILENT = Watch()


@dataclass(frozen=True)
class Steps:
    """Parameters of the solver."""

    max_iter: int = 200  # maximum number of accepted steps
    tol: float = 1e-3  # stop when the optimality gap is at most this fraction of the objective
    max_step: float = 0.2  # largest change of a weight in one step
    growth: float = 1.0  # factor of that change while the curvature allows it

    def looser(self, factor: float) -> Self:
        """Return steps with a larger tolerance that may grow, if only the set matters."""
        return replace(self, tol=factor * self.tol, growth=_GROWTH)


STEPS = Steps()


@dataclass(frozen=True)
class Solution:
    """Result of :func:`minimize`."""

    w: np.ndarray  # (d,), the best weights
    gradient: np.ndarray  # (d,), with the penalty of a soft budget; 0 where zero is absorbing
    value: float  # objective, including the penalty of a soft budget
    gap: float  # possible first-order decrease, as a fraction of the objective
    converged: bool  # gap within the tolerance, or no decrease that floating point can resolve
    n_iter: int  # accepted steps
    last_active: np.ndarray  # (d,), the last step after which each weight was positive
    state: Any = None  # of the objective, as a starting point for nearby evaluations
    length: float | None = None  # step length suggested by the last curvature, if any


@dataclass
class _State:
    """The current iterate, restricted to the features in the arrays."""

    objective: Objective
    columns: np.ndarray
    w: np.ndarray
    point: Point
    gradient: np.ndarray
    value: float
    length: float = np.inf  # step length suggested by the curvature of the last step
    # Largest change of a weight in the next step, relative to that in the first.
    reach: float = 1.0


def minimize(
    objective: Objective,
    constraint: Constraint,
    w0: np.ndarray,
    steps: Steps = STEPS,
    report: Callable[[Iteration], None] = lambda _: None,
    stop: Callable[[], bool] = SILENT.stop,
    rounding: float = _DOUBLE,
    length: float | None = None,
) -> Solution:
    """Minimise ``objective(w) + penalty`` over the constraint, starting from ``w0`` (d,).

    Each step moves to ``P(w − t·g)``. The Barzilai–Borwein length t is reduced until no weight
    changes by more than ``steps.max_step``, and then halved until the objective decreases enough,
    so the last iterate is the best. The next step may be ``steps.growth`` times as long if the
    curvature allows it: with many features, the first steps change few weights.
    ``report`` receives each accepted step, and ``stop`` can end the solve before each.
    ``rounding`` is the relative rounding error of the data; a smaller decrease does not count.
    ``length`` limits t in the first step, if a similar problem has been solved before.
    """
    w = constraint.project(np.asarray(w0, dtype=np.float64))
    state = replace(_evaluated(objective, constraint, w), length=length or np.inf)
    if not (np.isfinite(state.value) and np.isfinite(state.gradient).all()):
        raise FloatingPointError(
            "The criterion is not finite at the start: the data or the parameters overflow. "
            "Standardise the features (standardize=True), or check y, epsilon and lambda2."
        )
    n_iter, stuck, stopped = 0, False, False
    last_active = np.zeros(w.size, dtype=int)
    while True:
        scale = max(abs(state.point.value), np.finfo(float).tiny)
        gap = max(constraint.gap(state.w, state.gradient), 0.0) / scale
        converged = not stopped and (gap <= steps.tol or stuck)
        stopped = stopped or (not converged and (n_iter == steps.max_iter or stop()))
        if converged or stopped:
            if state.columns.size == w.size or objective.gram.zero_is_absorbing:
                break
            # Before the solve may end, check the features that were set aside; if zero is
            # absorbing, they could only stay at zero.
            full = np.bincount(state.columns, state.w, w.size)
            reopened = _evaluated(objective, constraint, full, state.point.state)
            state = replace(reopened, length=state.length)
            stuck = False
            continue
        before = state.w
        stuck = not _advance(state, constraint, steps, rounding)
        if stuck:
            continue
        n_iter += 1
        last_active[state.columns[state.w > 0.0]] = n_iter
        move = float(np.abs(state.w - before).max())
        report(Iteration(n_iter, state.value, gap, int((state.w > 0).sum()), move))
        keep = np.flatnonzero(state.w > 0.0)
        worth_it = 0 < keep.size <= (1.0 - _WORTH_THE_COPY) * state.w.size
        if worth_it and state.objective.can_restrict:
            state.objective = state.objective.restrict(keep)
            state.columns, state.w = state.columns[keep], state.w[keep]
            state.gradient = state.gradient[keep]
    return Solution(
        w=np.bincount(state.columns, state.w, w.size),
        gradient=np.bincount(state.columns, state.gradient, w.size),
        value=state.value,
        gap=gap,
        converged=converged,
        n_iter=n_iter,
        last_active=last_active,
        state=state.point.state,
        length=state.length if np.isfinite(state.length) else None,
    )


def _evaluated(
    objective: Objective, constraint: Constraint, w: np.ndarray, state: Any = None
) -> _State:
    point = objective.at(w, state)
    price, slope = constraint.price(w)
    gradient, value = point.gradient() + slope, point.value + price
    return _State(objective, np.arange(w.size), w, point, gradient, value)


def _advance(state: _State, constraint: Constraint, steps: Steps, rounding: float) -> bool:
    """Take one step in place, if there is a decrease that floating point can resolve."""
    # The length at which a weight moves by ``cap`` is searched for, without evaluations: the
    # projection subtracts what all features share, so the gradient does not tell it.
    cap, before = min(state.reach * steps.max_step, 1.0), 0.0
    length = cap / max(float(np.abs(state.gradient).max()), np.finfo(float).tiny)
    for _ in range(60):
        moved = constraint.project(state.w - length * state.gradient) - state.w
        largest = float(np.abs(moved).max())
        # A wide window, so that rounding does not decide when the search ends. At a corner, a
        # longer step makes no difference.
        if 0.9 * cap <= largest <= 1.05 * cap or 0.0 < largest == before:
            break
        before = largest
        length *= min(cap / max(largest, 1e-12 * cap), 10.0)
    length = min(length, state.length)
    for _ in range(_MAX_HALVINGS):
        w = constraint.project(state.w - length * state.gradient)
        move = w - state.w
        expected = float(state.gradient @ move)
        if -expected <= _RESOLVED * rounding * abs(state.value):
            return False
        point = state.objective.at(w, state.point.state)
        price, slope = constraint.price(w)
        value = point.value + price
        if value <= state.value + _SUFFICIENT_DECREASE * expected:
            gradient = point.gradient() + slope
            curvature = float(move @ (gradient - state.gradient))
            state.length = float(move @ move) / curvature if curvature > 0.0 else np.inf
            # If the curvature allows a step that is longer by this factor, so may the limit.
            grows = state.length >= steps.growth * length
            state.reach = steps.growth * state.reach if grows else 1.0
            state.w, state.point, state.value, state.gradient = w, point, value, gradient
            return True
        length *= 0.5
    return False
