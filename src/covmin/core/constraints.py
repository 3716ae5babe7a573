"""Where the weights may lie: the budget as a constraint or as a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

__all__ = ["CappedSimplex", "Constraint", "SoftBudget"]


class Constraint(Protocol):
    """What the solver asks of a constraint set with a linear price on the weights."""

    @property
    def budget(self) -> float:
        """Number m of features paid for."""

    @property
    def price(self) -> float:
        """λ₁: added to the objective for each unit of weight."""

    def project(self, v: np.ndarray) -> np.ndarray:
        """The closest feasible weights to v."""

    def penalty(self, w: np.ndarray) -> float:
        """What the price adds to the objective."""

    def gap(self, w: np.ndarray, gradient: np.ndarray) -> float:
        """``max ⟨gradient, w − v⟩`` over feasible v: zero exactly at a stationary w."""


@dataclass(frozen=True)
class CappedSimplex:
    """``{0 ≤ w ≤ 1, Σw ≤ m}``, the hard budget.

    Parameters
    ----------
    budget : float
        m.

    Examples
    --------
    >>> CappedSimplex(1).project(np.array([2.0, 0.5, -1.0]))
    array([1., 0., 0.])
    >>> CappedSimplex(2).project(np.array([0.9, 0.7, 0.6]))
    array([0.83..., 0.63..., 0.53...])
    """

    budget: float
    price = 0.0

    def project(self, v: np.ndarray) -> np.ndarray:
        """Exact Euclidean projection ``clip(v − θ, 0, 1)`` in O(d log d).

        θ ≥ 0 is zero if the budget is then met, else the one that spends it exactly.
        """
        inside = np.clip(v, 0.0, 1.0)
        if inside.sum() <= self.budget:
            return inside
        # θ lies between v₍⌊m⌋₊₁₎ − 1 and v₍⌈m⌉₎ (descending order), so relative to the
        # latter only values in [−3, 3] matter; huge entries then cost no accuracy.
        pivot = int(np.ceil(self.budget)) - 1
        largest = -np.partition(-v, pivot)[pivot]
        u = np.clip(v - largest, -3.0, 3.0)
        return np.clip(u - _shift(u, self.budget), 0.0, 1.0)

    def penalty(self, w: np.ndarray) -> float:
        """Zero: a hard budget has no price."""
        return 0.0

    def gap(self, w: np.ndarray, gradient: np.ndarray) -> float:
        """First-order gain of the best feasible point: the m steepest descents at full weight."""
        descent = np.sort(np.maximum(-gradient, 0.0))[::-1]
        whole = min(int(self.budget), descent.size)
        best = descent[:whole].sum()
        if whole < descent.size:
            best += (self.budget - whole) * descent[whole]
        return float(gradient @ w + best)


def _shift(u: np.ndarray, budget: float) -> float:
    """The θ with ``Σ clip(u − θ, 0, 1) = budget``, exact on its linear piece."""
    ordered = np.sort(u)
    knots = np.sort(np.concatenate([ordered - 1.0, ordered]), kind="stable")  # two sorted runs
    tails = np.append(np.cumsum(ordered[::-1])[::-1], 0.0)

    def above(theta: float) -> float:
        """``Σ max(u − θ, 0)``."""
        place = int(ordered.searchsorted(theta))
        return float(tails[place] - (u.size - place) * theta)

    low, high = 0, knots.size - 1
    while high - low > 1:  # the sum falls with θ: bisect over the knots
        middle = (low + high) // 2
        if above(knots[middle]) - above(knots[middle] + 1.0) >= budget:
            low = middle
        else:
            high = middle
    middle_point = 0.5 * (knots[low] + knots[high])
    full = (u - middle_point) >= 1.0
    free = ((u - middle_point) > 0.0) & ~full
    if not free.any():
        return float(middle_point)
    return float((u[free].sum() + full.sum() - budget) / free.sum())


@dataclass(frozen=True)
class SoftBudget:
    """``{0 ≤ w ≤ 1}`` with the price ``λ₁(Σw − m)``.

    Parameters
    ----------
    budget : float
        m.
    price : float
        λ₁.

    Examples
    --------
    >>> SoftBudget(1, price=0.5).project(np.array([2.0, 0.5, -1.0]))
    array([1. , 0.5, 0. ])
    """

    budget: float
    price: float

    def project(self, v: np.ndarray) -> np.ndarray:
        """Clip to the box."""
        return np.clip(v, 0.0, 1.0)

    def penalty(self, w: np.ndarray) -> float:
        """``λ₁(Σw − m)``."""
        return self.price * (float(w.sum()) - self.budget)

    def gap(self, w: np.ndarray, gradient: np.ndarray) -> float:
        """First-order gain of the best corner of the box."""
        return float(gradient @ w + np.maximum(-gradient, 0.0).sum())
