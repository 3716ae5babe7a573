"""The Gram operator from the n×n kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    Factor,
    array_namespace,
    centred,
    column_dots,
    factorize,
    like,
    take,
    to_numpy,
)
from ..kernels import ScaledKernel


@dataclass(frozen=True)
class ExactGram:
    """``C_w`` from the n×n kernel matrix: O(n²d + n³) time, O(n² + nd) memory."""

    kernel: ScaledKernel
    X: Array  # (n, d)
    Y: Array  # (n, k), columns centred under p
    p: Array  # (n,), positive, sum to one
    prepared: Any = field(default=None, repr=False)  # what the kernel precomputed from X
    keeps_vectors = True

    def __post_init__(self) -> None:
        if self.prepared is None:
            object.__setattr__(self, "prepared", self.kernel.prepare(self.X))

    @property
    def zero_is_absorbing(self) -> bool:
        return self.kernel.zero_is_absorbing

    def at(self, w: np.ndarray) -> ExactOperator:
        return ExactOperator(self, w)

    def restrict(self, columns: np.ndarray) -> ExactGram:
        prepared = self.kernel.restrict(self.prepared, columns)
        X = prepared if self.prepared is self.X else take(self.X, columns, axis=1)
        return ExactGram(self.kernel, X, self.Y, self.p, prepared)


class ExactOperator:
    """``C_w f = H K_w Hᵀ (p ∘ f)`` with a stored kernel matrix."""

    def __init__(self, gram: ExactGram, w: np.ndarray) -> None:
        self._gram, self.Y = gram, gram.Y
        self._K, self._pullback = gram.kernel.matrix_and_pullback(gram.prepared, like(w, gram.X))
        self._factors: dict[float, Factor] = {}

    def _dual(self, F: Array) -> Array:
        """Return ``Hᵀ(p ∘ F)``, the coefficients of a centred function of the samples."""
        p = self._gram.p
        D = F * p[:, None]
        D -= p[:, None] * array_namespace(F).sum(D, axis=0)
        return D

    def matmul(self, F: Array) -> Array:
        KF = self._K @ self._dual(F)
        KF -= self._gram.p @ KF
        return KF

    def _factor(self, ridge: float) -> Factor:
        if ridge not in self._factors:
            p = self._gram.p
            self._factors = {ridge: factorize(centred(self._K, p), ridge / p)}
        return self._factors[ridge]

    def solve(self, ridge: float) -> Array:
        """Return ``(C_w + ridge·I)⁻¹ Y`` by one Cholesky factorisation and k solves."""
        return self._factor(ridge).solve(self.Y) / self._gram.p[:, None]

    def dots(self, P: Array, Q: Array) -> Array:
        return column_dots(P * self._gram.p[:, None], Q)

    def grad(self, P: Array, Q: Array) -> np.ndarray:
        """Return the gradient of ``tr(aᵀK_w b)`` for the coefficients a of P and b of Q."""
        a = self._dual(P)
        b = a if P is Q else self._dual(Q)
        return to_numpy(self._pullback(a, b)).astype(np.float64, copy=False)

    def leave_one_out(self, ridge: float) -> float:
        """Return the mean square of ``αᵢ / (cᵢ − pᵢ²/ε)`` with ``c = diag((G + ε/p)⁻¹)``."""
        factor = self._factor(ridge)
        p = self._gram.p
        residuals = factor.solve(self.Y) / (factor.inverse_diagonal() - p**2 / ridge)[:, None]
        return float(array_namespace(p).sum(p[:, None] * residuals**2))
