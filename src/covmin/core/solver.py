"""Projected gradient with short, checked steps.

The problem is not convex, and the path taken decides which stationary point is found:
from the uniform start, a few moves of bounded length that each lower the objective end in
better points than long steps do, and in far fewer evaluations than a small fixed step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .constraints import Constraint
from .grams import Operator
from .objectives import Objective, Point
from .watch import SILENT, Iteration, Watch

_SUFFICIENT_DECREASE = 1e-4
# A fall of the objective by less than so many of its last digits is lost in rounding.
_RESOLVED = 8.0
_DOUBLE = float(np.finfo(np.float64).eps)
_MAX_HALVINGS = 30
# Steps that need not say in which order features close are twice as long as the last.
_GROWTH = 2.0
# Columns are copied when the features at zero are this share of those still in the arrays.
_WORTH_THE_COPY = 0.25


@dataclass(frozen=True)
class Steps:
    """How a solve walks."""

    max_iter: int = 200  # most accepted steps
    tol: float = 1e-3  # stop when the optimality gap is at most this share of the objective
    max_step: float = 0.2  # largest change of a weight in one step
    growth: float = 1.0  # of that change, where the objective bends downwards

    def looser(self, factor: float) -> Steps:
        """The same for a set of features alone: a larger tolerance, and steps that grow."""
        return replace(self, tol=factor * self.tol, growth=_GROWTH)


STEPS = Steps()


@dataclass(frozen=True)
class Solution:
    """Result of :func:`minimize`."""

    w: np.ndarray  # (d,), the best weights
    gradient: np.ndarray  # (d,), there, with the price of a soft budget; 0 where zero is absorbing
    value: float  # objective there, with the price of a soft budget
    gap: float  # what the objective could still fall by, to first order, as a share of it
    converged: bool  # gap within the tolerance, or no descent that floating point can resolve
    n_iter: int  # accepted steps
    n_evaluations: int
    last_active: np.ndarray  # (d,), the last step after which each weight was positive
    state: Any = None  # of the objective, for an evaluation nearby to start from
    operator: Operator | None = None  # may hold an n×n matrix; to be let go of after use


@dataclass
class _State:
    """The current iterate, on the features that are still in the arrays."""

    objective: Objective
    columns: np.ndarray
    w: np.ndarray
    point: Point
    gradient: np.ndarray
    value: float
    length: float = np.inf  # step length suggested by the curvature of the last step
    # Largest change of a weight in the next step, as a multiple of that of the first.
    reach: float = 1.0


def minimize(
    objective: Objective,
    constraint: Constraint,
    w0: np.ndarray,
    steps: Steps = STEPS,
    watch: Watch = SILENT,
    rounding: float = _DOUBLE,
) -> Solution:
    """Minimise ``objective(w) + price`` over the constraint, from ``w0`` (d,).

    Each step moves along ``P(w − t·g)``, with the Barzilai–Borwein length t, cut so that no
    weight changes by more than ``steps.max_step``, and halved until the objective falls enough.
    After a step along which the objective bends downwards the next may be ``steps.growth`` times
    as long: among many features the first steps move few weights.
    The objective never rises, so the last iterate is the best. The watch is told of each accepted
    step, and asked before each whether to end here. ``rounding`` is that of the numbers that the
    objective is made from: a fall that drowns in it is none.
    """
    w = constraint.project(np.asarray(w0, dtype=np.float64))
    state = _evaluated(objective, constraint, w)
    if not (np.isfinite(state.value) and np.isfinite(state.gradient).all()):
        raise FloatingPointError(
            "The criterion is not finite at the start: the data or the parameters overflow. "
            "Standardise the features (standardize=True), or check y, epsilon and lambda2."
        )
    n_evaluations, n_iter, stuck = 1, 0, False
    last_active = np.zeros(w.size, dtype=int)
    while True:
        gap = _relative_gap(state, constraint)
        converged = gap <= steps.tol or stuck
        if converged or n_iter == steps.max_iter or watch.stop():
            # Features set aside come back before a solve may end; where zero is absorbing they
            # could only stay there.
            if state.columns.size < w.size and not objective.gram.zero_is_absorbing:
                full = _scatter(state.w, state.columns, w.size)
                reopened = _evaluated(objective, constraint, full, state.point.state)
                state, n_evaluations = replace(reopened, length=state.length), n_evaluations + 1
                stuck = False
                if converged:
                    continue
                gap = _relative_gap(state, constraint)
            break
        before = state.w
        evaluations, moved = _advance(state, constraint, steps, rounding)
        n_evaluations += evaluations
        stuck = not moved  # no descent left that floating point can see
        if stuck:
            continue
        n_iter += 1
        last_active[state.columns[state.w > 0.0]] = n_iter
        move = float(np.abs(state.w - before).max())
        watch.iteration(Iteration(n_iter, state.value, gap, int((state.w > 0).sum()), move))
        _set_zeros_aside(state)
    return Solution(
        w=_scatter(state.w, state.columns, w.size),
        gradient=_scatter(state.gradient, state.columns, w.size),
        value=state.value,
        gap=gap,
        converged=converged,
        n_iter=n_iter,
        n_evaluations=n_evaluations,
        last_active=last_active,
        state=state.point.state,
        operator=state.point.operator,
    )


def _scatter(values: np.ndarray, columns: np.ndarray, size: int) -> np.ndarray:
    full = np.zeros(size)
    full[columns] = values
    return full


def _evaluated(
    objective: Objective, constraint: Constraint, w: np.ndarray, state: Any = None
) -> _State:
    point = objective.at(w, state)
    gradient = point.gradient() + constraint.slope(w)
    value = point.value + constraint.price(w)
    return _State(objective, np.arange(w.size), w, point, gradient, value)


def _relative_gap(state: _State, constraint: Constraint) -> float:
    scale = max(abs(state.point.value), np.finfo(float).tiny)
    return max(constraint.gap(state.w, state.gradient), 0.0) / scale


def _advance(
    state: _State, constraint: Constraint, steps: Steps, rounding: float
) -> tuple[int, bool]:
    """Make one step in place; return the evaluations spent and whether one was found."""
    cap = min(state.reach * steps.max_step, 1.0)
    length = min(_capped_length(state, constraint, cap), state.length)
    for trial in range(_MAX_HALVINGS):
        w = constraint.project(state.w - length * state.gradient)
        move = w - state.w
        expected = float(state.gradient @ move)
        if -expected <= _RESOLVED * rounding * abs(state.value):
            return trial, False
        point = state.objective.at(w, state.point.state)
        value = point.value + constraint.price(w)
        if value <= state.value + _SUFFICIENT_DECREASE * expected:
            gradient = point.gradient() + constraint.slope(w)
            curvature = float(move @ (gradient - state.gradient))
            state.length = float(move @ move) / curvature if curvature > 0.0 else np.inf
            # The slope grows steeper on the way, so that nothing speaks against going further.
            state.reach = 1.0 if curvature > 0.0 else steps.growth * state.reach
            state.w, state.point, state.value, state.gradient = w, point, value, gradient
            return trial + 1, True
        length *= 0.5
    return _MAX_HALVINGS, False


def _capped_length(state: _State, constraint: Constraint, max_step: float) -> float:
    """The step length t at which ``P(w − t·g)`` moves a weight by ``max_step``.

    The projection takes back what all features share, so t is searched for, not read off
    the gradient. This costs no evaluation of the objective.
    """
    length = max_step / max(float(np.abs(state.gradient).max()), np.finfo(float).tiny)
    before = 0.0
    for _ in range(60):
        move = float(np.abs(constraint.project(state.w - length * state.gradient) - state.w).max())
        # The window is wide, so that rounding does not decide how the search ends.
        if 0.9 * max_step <= move <= 1.05 * max_step:
            break
        if 0.0 < move == before:  # at a corner: no longer step goes further
            break
        before = move
        length *= min(max_step / max(move, 1e-12 * max_step), 10.0)
    return length


def _set_zeros_aside(state: _State) -> None:
    """Take features at exactly zero out of the arrays, when there are enough to pay the copy."""
    keep = np.flatnonzero(state.w > 0.0)
    enough = 0 < keep.size <= (1.0 - _WORTH_THE_COPY) * state.w.size
    if enough and state.objective.can_restrict:
        state.objective = state.objective.restrict(keep)
        state.columns, state.w = state.columns[keep], state.w[keep]
        state.gradient = state.gradient[keep]
