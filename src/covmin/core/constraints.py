"""The feasible set of the weights: the budget as a hard constraint or as a penalty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class Constraint:
    """``{0 ≤ w ≤ 1}`` with the penalty ``λ₁(Σw − m)``; the base class of all constraints."""

    budget: float  # m
    unit_price: float = 0.0  # λ₁; zero means no penalty

    @classmethod
    def candidates(cls, budget: float, prices: Sequence[float] = ()) -> list[Self]:
        """Return constraints for a budget, to be tried until one keeps that many features."""
        return [cls(budget)]

    def project(self, v: np.ndarray) -> np.ndarray:
        """Return the feasible weights closest to v."""
        return np.clip(v, 0.0, 1.0)

    def price(self, w: np.ndarray) -> tuple[float, float]:
        """Return the penalty at w and its derivative."""
        return self.unit_price * (float(w.sum()) - self.budget), self.unit_price

    def gap(self, w: np.ndarray, gradient: np.ndarray) -> float:
        """Return ``max ⟨gradient, w − v⟩`` over feasible v; it is zero exactly at stationarity."""
        return float(gradient @ w + np.maximum(-gradient, 0.0).sum())


@dataclass(frozen=True)
class CappedSimplex(Constraint):
    """The hard budget ``{0 ≤ w ≤ 1, Σw ≤ m}``."""

    def project(self, v: np.ndarray) -> np.ndarray:
        """Return the exact Euclidean projection ``clip(v − θ, 0, 1)`` in O(d log d).

        θ is 0 if that meets the budget, and otherwise the value for which Σw = m.
        """
        inside = np.clip(v, 0.0, 1.0)
        if inside.sum() <= self.budget:
            return inside
        # θ lies between v₍⌊m⌋₊₁₎ − 1 and v₍⌈m⌉₎ (in descending order). Relative to the latter only
        # values in [−3, 3] matter, so huge entries cost no accuracy.
        pivot = int(np.ceil(self.budget)) - 1
        largest = -np.partition(-v, pivot)[pivot]
        u = np.clip(v - largest, -3.0, 3.0)
        ordered = np.sort(u)
        knots = np.sort(np.concatenate([ordered - 1.0, ordered]), kind="stable")  # two sorted runs
        tails = np.append(np.cumsum(ordered[::-1])[::-1], 0.0)
        low, high = 0, knots.size - 1
        while high - low > 1:  # Σw decreases with θ: bisect over the knots
            middle = (low + high) // 2
            ends = knots[middle] + np.array([0.0, 1.0])
            places = ordered.searchsorted(ends)
            above = tails[places] - (u.size - places) * ends  # Σ max(u − θ, 0) at both ends
            enough = above[0] - above[1] >= self.budget
            low, high = (middle, high) if enough else (low, middle)
        theta = 0.5 * (knots[low] + knots[high])
        full = (u - theta) >= 1.0
        free = ((u - theta) > 0.0) & ~full
        if free.any():  # between two knots Σw is linear in θ
            theta = (u[free].sum() + full.sum() - self.budget) / free.sum()
        return np.clip(u - theta, 0.0, 1.0)

    def gap(self, w: np.ndarray, gradient: np.ndarray) -> float:
        """Return the first-order gain of the best vertex: the m steepest descents at weight 1."""
        descent = np.sort(np.maximum(-gradient, 0.0))[::-1]
        whole = min(int(self.budget), descent.size)
        best = descent[:whole].sum()
        if whole < descent.size:
            best += (self.budget - whole) * descent[whole]
        return float(gradient @ w + best)


@dataclass(frozen=True)
class SoftBudget(Constraint):
    """The soft budget: a price in place of a bound on Σw."""

    @classmethod
    def candidates(cls, budget: float, prices: Sequence[float] = ()) -> list[Self]:
        return [cls(budget, price) for price in prices]


CONSTRAINTS: dict[str, type[Constraint]] = {"hard": CappedSimplex, "soft": SoftBudget}
