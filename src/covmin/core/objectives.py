"""The criterion and its inverse-free form, for any Gram operator."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from .arrays import Array, array_namespace
from .grams import Gram
from .units import Units


@dataclass(frozen=True)
class Point:
    """An objective evaluated at one w."""

    value: float
    gradient: Callable[[], np.ndarray]  # a step that the line search rejects never needs it
    state: Any = None  # from which the next evaluation starts


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

    ``ε·Q`` estimates the trace of the conditional covariance operator of Y given w ⊙ X. With
    ``f = (C + εI)⁻¹Y``, the gradient is ``−∇⟨f, C f⟩``.
    """

    def at(self, w: np.ndarray, state: Any = None) -> Point:
        operator = self.gram.at(self.units.spread(w))
        f = operator.solve(self.epsilon)
        value = float(array_namespace(f).sum(operator.dots(operator.Y, f)))
        return Point(value, lambda: -self.units.collect(operator.grad(f, f)))


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

    @property
    def can_restrict(self) -> bool:  # type: ignore[override]
        return self.gram.keeps_vectors

    def at(self, w: np.ndarray, state: Array | None = None) -> Point:
        """Return ``⟨Y, F⟩ + μ⟨R, R⟩`` with ``F = nα`` and ``R = TF − Y``, ``T = C + εI``.

        Its gradient at fixed α is ``2μ ∇⟨R, C F⟩``.
        """
        operator, mu = self.gram.at(self.units.spread(w)), self.penalty
        Y, dots = operator.Y, operator.dots
        xp = array_namespace(Y)

        def T(F: Array) -> Array:
            return operator.matmul(F) + self.epsilon * F

        F = xp.zeros_like(Y) if state is None else state
        # Half the negative gradient in F, divided by μ: T(Y − TF) − Y/(2μ).
        R = T(Y - T(F)) - Y / (2.0 * mu)
        D, square = R, dots(R, R)
        # Stop updating a column whose residual has vanished; continuing would divide by zero.
        done = float(xp.finfo(Y.dtype).eps) ** 4 * dots(Y, Y)
        for _ in range(self.n_first if state is None else self.n_steps):
            TD = T(D)
            step = _ratio(square, dots(TD, TD), square > done)
            F = F + step * D
            R = R - step * T(TD)
            square, previous = dots(R, R), square
            D = R + _ratio(square, previous, square > done) * D
        R = T(F) - Y
        value = float(xp.sum(dots(Y, F) + mu * dots(R, R)))
        return Point(value, lambda: 2.0 * mu * self.units.collect(operator.grad(R, F)), F)


# How to solve the linear systems: exactly, or by conjugate gradients along with w.
OBJECTIVES = {"exact": TraceObjective, "free": InverseFreeObjective}
