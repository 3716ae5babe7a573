"""The criterion and its inverse-free form, over any Gram operator.

An objective is evaluated in two halves: :meth:`Objective.at` gives a point with its
value, and the point's :meth:`Point.gradient` does the second half of the work, which
a step that the line search refuses never pays for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np

from .arrays import Array, array_namespace
from .grams import Gram, Operator
from .units import EACH_COLUMN, EachColumn, Units


class Point(Protocol):
    """An objective at one w."""

    operator: Operator
    value: float
    state: Any  # what the next evaluation may start from

    def gradient(self) -> np.ndarray:
        """Gradient in w, shape (d,)."""


@dataclass(frozen=True)
class Objective:
    """A function of w that the solver can minimise: a gram of columns, by the weights of units."""

    gram: Gram
    epsilon: float  # ridge ε
    units: Units | EachColumn = field(default=EACH_COLUMN, kw_only=True)

    def operator(self, w: np.ndarray) -> Operator:
        return self.gram.at(self.units.spread(w))

    def at(self, w: np.ndarray, state: Any = None) -> Point:
        """Evaluate at w, starting from the state of an earlier point."""
        raise NotImplementedError

    @property
    def can_restrict(self) -> bool:
        """Whether the state of a point outlives :meth:`restrict`."""
        return True

    def restrict(self, units: np.ndarray) -> Self:
        """The same objective with some of the units."""
        gram = self.gram.restrict(self.units.columns(units))
        return replace(self, gram=gram, units=self.units.restrict(units))


def _ratio(numerator: Array, denominator: Array, where: Array) -> Array:
    """The ratio where it is meant, zero elsewhere."""
    xp = array_namespace(numerator)
    where = where & (denominator > 0.0)
    zero, one = xp.zeros_like(numerator), xp.ones_like(denominator)
    return xp.where(where, numerator, zero) / xp.where(where, denominator, one)


@dataclass(frozen=True)
class TraceObjective(Objective):
    """``Q(w) = tr(Yᵀ (G_w + nεI)⁻¹ Y) = ⟨Y, (C_w + εI)⁻¹ Y⟩`` (the paper's criterion).

    ``ε·Q`` estimates the trace of the conditional covariance operator of Y given w ⊙ X.
    """

    def at(self, w: np.ndarray, state: Any = None) -> TracePoint:
        """Evaluate at w: one Gram, one factorisation, k solves."""
        return TracePoint(self, w)


class TracePoint:
    """With ``f = (C + εI)⁻¹Y``: value ``⟨Y, f⟩``, gradient ``−∇⟨f, C f⟩``."""

    state = None

    def __init__(self, objective: TraceObjective, w: np.ndarray) -> None:
        self._units = objective.units
        self.operator = operator = objective.operator(w)
        self._f = operator.solve(objective.epsilon)
        self.value = float(array_namespace(self._f).sum(operator.dots(operator.Y, self._f)))

    def gradient(self) -> np.ndarray:
        """Gradient in w: one n×n×d product."""
        return -self._units.collect(self.operator.grad(self._f, self._f))


@dataclass(frozen=True)
class InverseFreeObjective(Objective):
    """``min_α tr(αᵀY) + λ₂‖(G_w + nεI)α − Y‖²``: no factorisation, only products.

    For each w, α follows by conjugate gradients on ``M²α = MY − Y/(2λ₂)`` from the α of
    the step before. Minimised over α the objective is ``yᵀM⁻¹y − ‖M⁻¹y‖²/(4λ₂)``; it
    falls with dependence for certain only if λ₂ ≥ 1/(2nε).
    """

    penalty: float  # μ = nλ₂, for the normalised inner product
    n_steps: int = 10  # of conjugate gradients, for each w

    def at(self, w: np.ndarray, state: Array | None = None) -> InverseFreePoint:
        return InverseFreePoint(self, w, state)

    @property
    def can_restrict(self) -> bool:
        return self.gram.keeps_vectors


class InverseFreePoint:
    """With ``f = nα`` and ``R = (C + εI)f − Y``: value ``⟨Y, f⟩ + μ⟨R, R⟩``, μ = nλ₂."""

    def __init__(self, objective: InverseFreeObjective, w: np.ndarray, state: Array | None) -> None:
        self._units = objective.units
        self.operator = operator = objective.operator(w)
        self._mu = objective.penalty
        self._epsilon = objective.epsilon
        self.state = self._conjugate_gradients(state, objective.n_steps)
        self._residual = R = self._shifted(self.state) - operator.Y
        terms = operator.dots(operator.Y, self.state) + self._mu * operator.dots(R, R)
        self.value = float(array_namespace(terms).sum(terms))

    def _shifted(self, F: Array) -> Array:
        return self.operator.matmul(F) + self._epsilon * F

    def _conjugate_gradients(self, F: Array | None, n_steps: int) -> Array:
        Y = self.operator.Y
        xp = array_namespace(Y)
        if F is None:
            F = xp.zeros_like(Y)
        # Half the negative gradient in f, over μ: T(Y − Tf) − Y/(2μ), with T = C + εI.
        R = self._shifted(Y - self._shifted(F)) - Y / (2.0 * self._mu)
        D, square = R, self.operator.dots(R, R)
        # A column whose residual has all but vanished is done: going on would divide by zero.
        done = float(xp.finfo(Y.dtype).eps) ** 4 * self.operator.dots(Y, Y)
        for _ in range(n_steps):
            TD = self._shifted(D)
            step = _ratio(square, self.operator.dots(TD, TD), square > done)
            F = F + step * D
            R = R - step * self._shifted(TD)
            square, previous = self.operator.dots(R, R), square
            D = R + _ratio(square, previous, square > done) * D
        return F

    def gradient(self) -> np.ndarray:
        """Gradient in w at fixed α: ``2μ ∇⟨R, C f⟩``."""
        return 2.0 * self._mu * self._units.collect(self.operator.grad(self._residual, self.state))


# How the linear systems are solved: exactly, or along with w.
OBJECTIVES = {"exact": TraceObjective, "free": InverseFreeObjective}
