"""Where the weights may lie: the budget as a constraint or as a price."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np


@dataclass(frozen=True)
class Constraint:
    """``{0 ≤ w ≤ 1}`` with nothing to pay: what the solver asks of a set, for others to narrow."""

    budget: float  # m
    has_price: ClassVar[bool] = False  # whether λ₁ means something to it

    @classmethod
    def candidates(cls, budget: float, prices: Sequence[float] = ()) -> list[Self]:
        """Constraints for a budget, to be tried until one leaves as many features."""
        return [cls(budget)]

    def project(self, v: np.ndarray) -> np.ndarray:
        """The closest feasible weights to v."""
        return np.clip(v, 0.0, 1.0)

    def price(self, w: np.ndarray) -> float:
        """What the weights cost."""
        return 0.0

    def slope(self, w: np.ndarray) -> np.ndarray | float:
        """The derivative of the price."""
        return 0.0

    def gap(self, w: np.ndarray, gradient: np.ndarray) -> float:
        """``max ⟨gradient, w − v⟩`` over feasible v: zero exactly at a stationary w."""
        return float(gradient @ w + np.maximum(-gradient, 0.0).sum())


@dataclass(frozen=True)
class CappedSimplex(Constraint):
    """``{0 ≤ w ≤ 1, Σw ≤ m}``, the hard budget."""

    def project(self, v: np.ndarray) -> np.ndarray:
        """Exact Euclidean projection ``clip(v − θ, 0, 1)`` in O(d log d).

        θ ≥ 0 is zero if the budget is then met, else the one that spends it exactly.
        """
        inside = super().project(v)
        if inside.sum() <= self.budget:
            return inside
        # θ lies between v₍⌊m⌋₊₁₎ − 1 and v₍⌈m⌉₎ (descending order), so relative to the
        # latter only values in [−3, 3] matter; huge entries then cost no accuracy.
        pivot = int(np.ceil(self.budget)) - 1
        largest = -np.partition(-v, pivot)[pivot]
        u = np.clip(v - largest, -3.0, 3.0)
        return np.clip(u - _shift(u, self.budget), 0.0, 1.0)

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
        enough = above(knots[middle]) - above(knots[middle] + 1.0) >= budget
        low, high = (middle, high) if enough else (low, middle)
    theta = 0.5 * (knots[low] + knots[high])
    full = (u - theta) >= 1.0
    free = ((u - theta) > 0.0) & ~full
    if not free.any():
        return float(theta)
    return float((u[free].sum() + full.sum() - budget) / free.sum())


@dataclass(frozen=True)
class SoftBudget(Constraint):
    """``{0 ≤ w ≤ 1}`` with the price ``λ₁(Σw − m)``."""

    unit_price: float  # λ₁
    has_price = True

    @classmethod
    def candidates(cls, budget: float, prices: Sequence[float] = ()) -> list[Self]:
        return [cls(budget, price) for price in prices]

    def price(self, w: np.ndarray) -> float:
        return self.unit_price * (float(w.sum()) - self.budget)

    def slope(self, w: np.ndarray) -> float:
        return self.unit_price


CONSTRAINTS: dict[str, type[Constraint]] = {"hard": CappedSimplex, "soft": SoftBudget}
