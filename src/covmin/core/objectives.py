"""The criterion and its inverse-free form, for any Gram operator.

An objective is evaluated in two steps. :meth:`Objective.at` returns a point with its value, and
:meth:`gradient` of the point does the second half of the work. A step that the line search rejects
never needs the second half.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from .arrays import Array, array_namespace
from .grams import Gram, Operator
from .units import Units


@dataclass(frozen=True)
class Objective:
    """A function of the weights of the units, from a Gram operator of the columns."""

    gram: Gram
    epsilon: float  # ridge ε
    units: Units = field(kw_only=True)
    can_restrict = True  # whether the state of a point remains valid after restrict

    def at(self, w: np.ndarray, state: Any = None) -> Point:
        """Evaluate at w, starting from the state of an earlier point."""
        raise NotImplementedError

    def restrict(self, units: np.ndarray) -> Self:
        """Return the same objective for some of the units."""
        gram = self.gram.restrict(self.units.columns(units))
        return replace(self, gram=gram, units=self.units.restrict(units))


def _ratio(numerator: Array, denominator: Array, where: Array) -> Array:
    """Return the ratio where ``where`` is true and the denominator positive, else zero."""
    xp = array_namespace(numerator)
    where = where & (denominator > 0.0)
    zero, one = xp.zeros_like(numerator), xp.ones_like(denominator)
    return xp.where(where, numerator, zero) / xp.where(where, denominator, one)


@dataclass(frozen=True)
class TraceObjective(Objective):
    """The criterion of the paper, ``Q(w) = tr(Yᵀ (G_w + nεI)⁻¹ Y) = ⟨Y, (C_w + εI)⁻¹ Y⟩``.

    ``ε·Q`` estimates the trace of the conditional covariance operator of Y given w ⊙ X.
    """

    def at(self, w: np.ndarray, state: Any = None) -> TracePoint:
        operator = self.gram.at(self.units.spread(w))
        f = operator.solve(self.epsilon)
        value = float(array_namespace(f).sum(operator.dots(operator.Y, f)))
        return TracePoint(self.units, operator, f, value)


@dataclass(eq=False)
class TracePoint:
    """The criterion at w, with ``f = (C + εI)⁻¹Y``: value ``⟨Y, f⟩``, gradient ``−∇⟨f, C f⟩``."""

    units: Units
    operator: Operator
    f: Array
    value: float
    state: None = None

    def gradient(self) -> np.ndarray:
        return -self.units.collect(self.operator.grad(self.f, self.f))


@dataclass(frozen=True)
class InverseFreeObjective(Objective):
    """``min_α tr(αᵀY) + λ₂‖(G_w + nεI)α − Y‖²``: matrix products only, no factorisation.

    For each w, α is computed by conjugate gradients on ``M²α = MY − Y/(2λ₂)``, starting from the
    α of the previous step. Minimised over α, the objective is ``yᵀM⁻¹y − ‖M⁻¹y‖²/(4λ₂)``. It is
    guaranteed to decrease with dependence only if λ₂ ≥ 1/(2nε).
    """

    penalty: float  # μ = nλ₂, for the normalised inner product
    n_steps: int = 10  # conjugate gradient steps for each w
    n_first: int = 100  # for the first one, which may be the last: all weights may be one

    def at(self, w: np.ndarray, state: Array | None = None) -> InverseFreePoint:
        return InverseFreePoint(self, w, state)

    @property
    def can_restrict(self) -> bool:  # type: ignore[override]
        return self.gram.keeps_vectors


class InverseFreePoint:
    """The objective at w, with ``f = nα`` and ``R = (C + εI)f − Y``: ``⟨Y, f⟩ + nλ₂⟨R, R⟩``."""

    def __init__(self, objective: InverseFreeObjective, w: np.ndarray, state: Array | None) -> None:
        self._units = objective.units
        self.operator = operator = objective.gram.at(objective.units.spread(w))
        self._mu, self._epsilon = objective.penalty, objective.epsilon
        Y, dots = operator.Y, operator.dots
        xp = array_namespace(Y)
        F = xp.zeros_like(Y) if state is None else state
        # Half the negative gradient in f, divided by μ: T(Y − Tf) − Y/(2μ), with T = C + εI.
        R = self._shifted(Y - self._shifted(F)) - Y / (2.0 * self._mu)
        D, square = R, dots(R, R)
        # Stop updating a column whose residual has vanished; continuing would divide by zero.
        done = float(xp.finfo(Y.dtype).eps) ** 4 * dots(Y, Y)
        for _ in range(objective.n_first if state is None else objective.n_steps):
            TD = self._shifted(D)
            step = _ratio(square, dots(TD, TD), square > done)
            F = F + step * D
            R = R - step * self._shifted(TD)
            square, previous = dots(R, R), square
            D = R + _ratio(square, previous, square > done) * D
        self.state = F
        self._residual = R = self._shifted(F) - Y
        self.value = float(xp.sum(dots(Y, F) + self._mu * dots(R, R)))

    def _shifted(self, F: Array) -> Array:
        return self.operator.matmul(F) + self._epsilon * F

    def gradient(self) -> np.ndarray:
        """Return the gradient in w at fixed α: ``2μ ∇⟨R, C f⟩``."""
        return 2.0 * self._mu * self._units.collect(self.operator.grad(self._residual, self.state))


# An objective evaluated at one w: a value, and the state from which the next evaluation starts.
Point = TracePoint | InverseFreePoint
# How to solve the linear systems: exactly, or by conjugate gradients along with w.
OBJECTIVES = {"exact": TraceObjective, "free": InverseFreeObjective}
