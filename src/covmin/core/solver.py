"""Projected gradient with short, checked steps.

The problem is not convex, and the path taken decides which stationary point is found:
from the uniform start, a few dozen moves of bounded length that each lower the
objective end in better points than long steps do, and in far fewer evaluations than a
small fixed step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .constraints import Constraint
from .grams import Operator
from .objectives import Objective, Point

__all__ = ["Iteration", "Solution", "minimize"]

_SUFFICIENT_DECREASE = 1e-4
_MAX_HALVINGS = 30
# Columns are copied when the features at zero are this share of those still in the arrays.
_WORTH_THE_COPY = 0.25


@dataclass(frozen=True)
class Iteration:
    """What a callback sees after each accepted step.

    Attributes
    ----------
    n_iter : int
        Steps accepted so far.
    value : float
        Objective with the price of a soft budget.
    gap : float
        Optimality gap at the start of the step, relative to the objective.
    n_active : int
        Features with positive weight.
    step : float
        Largest change of a weight.
    """

    n_iter: int
    value: float
    gap: float
    n_active: int
    step: float


@dataclass(frozen=True)
class Solution:
    """Result of :func:`minimize`.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        Best weights.
    gradient : ndarray of shape (n_features,)
        Gradient there, with the price of a soft budget; zero for features at which zero is
        absorbing.
    value : float
        Objective there, with the price of a soft budget.
    gap : float
        Optimality gap there, relative to the objective: what the objective could still
        fall by within the constraint, to first order.
    converged : bool
        Whether the gap is within the tolerance, or the line search found no descent
        that floating point can resolve.
    n_iter, n_evaluations : int
        Accepted steps, and evaluations of the objective.
    last_active : ndarray of shape (n_features,)
        The last step after which each weight was positive.
    state : object
        State of the objective there, for an evaluation nearby to start from.
    operator : Operator or None
        The Gram operator there, which may hold an n×n matrix; to be let go of after use.
    """

    w: np.ndarray
    gradient: np.ndarray
    value: float
    gap: float
    converged: bool
    n_iter: int
    n_evaluations: int
    last_active: np.ndarray
    state: Any = None
    operator: Operator | None = None


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


def minimize(
    objective: Objective,
    constraint: Constraint,
    w0: np.ndarray,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
    max_step: float = 0.2,
    callback: Callable[[Iteration], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Solution:
    """Minimise ``objective(w) + price`` over the constraint, from ``w0``.

    Each step moves along ``P(w − t·g)``, with the Barzilai–Borwein length t, cut so that no
    weight changes by more than ``max_step``, and halved until the objective falls enough.
    The objective never rises, so the last iterate is the best.

    Parameters
    ----------
    objective : Objective
    constraint : Constraint
    w0 : ndarray of shape (n_features,)
    max_iter : int
        Most accepted steps.
    tol : float
        Stop when the optimality gap is at most ``tol`` times the objective.
    max_step : float
        Largest change of a weight in one step.
    callback : callable, optional
        Called with an :class:`Iteration` after each accepted step.
    stop : callable, optional
        Asked before each step whether to end here.

    Returns
    -------
    Solution
    """
    w = constraint.project(np.asarray(w0, dtype=np.float64))
    state = _start(objective, constraint, w)
    n_evaluations, converged, stuck, n_iter = 1, False, False, 0
    last_active = np.zeros(w.size, dtype=int)
    while True:
        gap = _relative_gap(state, constraint)
        if gap <= tol or stuck:
            if not _reopen(state, objective, constraint, w.size):
                converged = True
                break
            n_evaluations, stuck = n_evaluations + 1, False
            continue
        if n_iter == max_iter or (stop is not None and stop()):
            if _reopen(state, objective, constraint, w.size):
                n_evaluations, gap = n_evaluations + 1, _relative_gap(state, constraint)
            break
        before = state.w
        evaluations, moved = _advance(state, constraint, max_step)
        n_evaluations += evaluations
        stuck = not moved  # no descent left that floating point can see
        if stuck:
            continue
        n_iter += 1
        last_active[state.columns[state.w > 0.0]] = n_iter
        if callback is not None:
            move = float(np.abs(state.w - before).max())
            callback(Iteration(n_iter, state.value, gap, int((state.w > 0).sum()), move))
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


def _start(objective: Objective, constraint: Constraint, w: np.ndarray) -> _State:
    point = objective.at(w)
    gradient = point.gradient() + constraint.price
    value = point.value + constraint.penalty(w)
    if not (np.isfinite(value) and np.isfinite(gradient).all()):
        raise FloatingPointError(
            "The criterion is not finite at the start: the data or the parameters overflow. "
            "Standardise the features (standardize=True), or check y, epsilon and lambda2."
        )
    return _State(objective, np.arange(w.size), w, point, gradient, value)


def _relative_gap(state: _State, constraint: Constraint) -> float:
    scale = max(abs(state.point.value), np.finfo(float).tiny)
    return max(constraint.gap(state.w, state.gradient), 0.0) / scale


def _advance(state: _State, constraint: Constraint, max_step: float) -> tuple[int, bool]:
    """Make one step in place; return the evaluations spent and whether one was found."""
    length = min(_capped_length(state, constraint, max_step), state.length)
    for trial in range(_MAX_HALVINGS):
        w = constraint.project(state.w - length * state.gradient)
        move = w - state.w
        expected = float(state.gradient @ move)
        if -expected <= np.finfo(float).eps * abs(state.value):
            return trial, False
        point = state.objective.at(w, state.point.state)
        value = point.value + constraint.penalty(w)
        if value <= state.value + _SUFFICIENT_DECREASE * expected:
            gradient = point.gradient() + constraint.price
            curvature = float(move @ (gradient - state.gradient))
            state.length = float(move @ move) / curvature if curvature > 0.0 else np.inf
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
    for _ in range(60):
        move = float(np.abs(constraint.project(state.w - length * state.gradient) - state.w).max())
        # The window is wide, so that rounding does not decide how the search ends.
        if 0.9 * max_step <= move <= 1.05 * max_step:
            break
        length *= min(max_step / max(move, 1e-12 * max_step), 10.0)
    return length


def _set_zeros_aside(state: _State) -> None:
    """Take features at exactly zero out of the arrays, when there are enough to pay the copy."""
    keep = np.flatnonzero(state.w > 0.0)
    if not state.objective.can_restrict or keep.size == 0:
        return
    if keep.size > (1.0 - _WORTH_THE_COPY) * state.w.size:
        return
    state.objective = state.objective.restrict(keep)
    state.columns, state.w = state.columns[keep], state.w[keep]
    state.gradient = state.gradient[keep]


def _reopen(state: _State, objective: Objective, constraint: Constraint, size: int) -> bool:
    """Bring features set aside back before a solve may end, unless zero is absorbing.

    Returns whether there were any.
    """
    if state.columns.size == size or objective.gram.zero_is_absorbing:
        return False
    w = _scatter(state.w, state.columns, size)
    state.objective, state.columns, state.w = objective, np.arange(size), w
    state.point = objective.at(w, state.point.state)
    state.value = state.point.value + constraint.penalty(w)
    state.gradient = state.point.gradient() + constraint.price
    return True
