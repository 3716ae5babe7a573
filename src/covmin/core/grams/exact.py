"""The Gram operator from the n×n kernel matrix."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ..arrays import Array, array_namespace, centred, column_dots, factorize, like, to_numpy
from ..kernels import ScaledKernel
from ..kernels.base import Pullback


@dataclass(eq=False)
class ExactOperator:
    """``C_w f = H K_w Hᵀ (p ∘ f)`` with a stored kernel matrix."""

    Y: Array
    p: Array
    K: Array = field(repr=False)
    pullback: Pullback

    def _dual(self, F: Array) -> Array:
        """Return ``Hᵀ(p ∘ F)``, the coefficients of a centred function of the samples."""
        p = self.p
        D = F * p[:, None]
        D -= p[:, None] * array_namespace(F).sum(D, axis=0)
        return D

    def matmul(self, F: Array) -> Array:
        KF = self.K @ self._dual(F)
        KF -= self.p @ KF
        return KF

    def solve(self, ridge: float) -> Array:
        """Return ``(C_w + ridge·I)⁻¹ Y`` by one Cholesky factorisation and k solves."""
        factor = factorize(centred(self.K, self.p), ridge / self.p)
        return factor.solve(self.Y) / self.p[:, None]

    def dots(self, P: Array, Q: Array) -> Array:
        return column_dots(P * self.p[:, None], Q)

    def grad(self, P: Array, Q: Array) -> np.ndarray:
        """Return the gradient of ``tr(aᵀK_w b)`` for the coefficients a of P and b of Q."""
        a = self._dual(P)
        b = a if P is Q else self._dual(Q)
        return to_numpy(self.pullback(a, b)).astype(np.float64, copy=False)

    def leave_one_out(self, ridge: float) -> float:
        """Return the mean square of ``αᵢ / (cᵢ − pᵢ²/ε)`` with ``c = diag((G + ε/p)⁻¹)``."""
        p = self.p
        factor = factorize(centred(self.K, p), ridge / p)
        residuals = factor.solve(self.Y) / (factor.inverse_diagonal() - p**2 / ridge)[:, None]
        return float(array_namespace(p).sum(p[:, None] * residuals**2))


@dataclass(frozen=True)
class ExactGram:
    """``C_w`` from the n×n kernel matrix: O(n²d + n³) time, O(n² + nd) memory."""

    kernel: ScaledKernel
    prepared: Any = field(repr=False)  # what the kernel precomputed from the samples (n, d)
    Y: Array  # (n, k), columns centred under p
    p: Array  # (n,), positive, sum to one
    keeps_vectors = True

    @property
    def zero_is_absorbing(self) -> bool:
        return self.kernel.zero_is_absorbing

    def at(self, w: np.ndarray) -> ExactOperator:
        K, pullback = self.kernel.matrix_and_pullback(self.prepared, like(w, self.Y))
        return ExactOperator(self.Y, self.p, K, pullback)

    def restrict(self, columns: np.ndarray) -> Self:
        return replace(self, prepared=self.kernel.restrict(self.prepared, columns))
