"""Kernels of the inner product of weighted samples: linear and polynomial."""

from dataclasses import dataclass
from numbers import Integral
from typing import Self

import numpy as np

from ..arrays import Array, column_dots
from .base import Components, Pullback, SampleKernel, Scale, is_finite_number, outer


@dataclass(repr=False)
class Linear(SampleKernel):
    """The linear kernel ``k(x, x̃) = Σⱼ wⱼ² xⱼ x̃ⱼ``; it has no bandwidth.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0]])
    >>> Linear().cross(X, X, np.ones(1))
    array([[1., 2.],
           [2., 4.]])
    """

    name = "linear"
    bandwidth = 1.0
    zero_is_absorbing = True
    sees_interactions = False
    has_components = True
    components_are_exact = True

    def at(self, scale: Scale) -> Self:
        return self

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        return (A * w) @ (B * w).T

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """Return K and the pullback ``2wⱼ Σ (XᵀP)ⱼ ∘ (XᵀQ)ⱼ``."""
        X = prepared
        Z = X * w
        return Z @ Z.T, lambda P, Q: 2.0 * w * column_dots(P.T @ X, Q.T @ X)

    def components(self, frequencies: Array) -> Components:
        """Return ``Φ = X`` with powers w²: exact, with D = d."""
        return Components(fixed=self)

    def transform(self, X: Array) -> Array:
        return X

    def powers(self, w: np.ndarray) -> np.ndarray:
        return w**2

    def collect(self, slopes: np.ndarray, w: np.ndarray) -> np.ndarray:
        return 2.0 * w * slopes

    def places(self, columns: np.ndarray) -> np.ndarray:
        return columns


@dataclass(repr=False)
class Polynomial(SampleKernel):
    """The polynomial kernel ``k(x, x̃) = (c + Σⱼ wⱼ² xⱼ x̃ⱼ / σ²)^p``.

    Parameters
    ----------
    degree : int, default=3
        Power p.
    coef0 : float, default=1.0
        Constant c.
    bandwidth : "median" or float, default="median"
        Scale σ of the inner product.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0]])
    >>> Polynomial(degree=2, bandwidth=1.0).cross(X, X, np.ones(1))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    degree: int = 3
    coef0: float = 1.0
    bandwidth: float | str = "median"
    name = "polynomial"
    zero_is_absorbing = True

    @property
    def sees_interactions(self) -> bool:  # type: ignore[override]
        return self.degree > 1

    def check(self) -> None:
        super().check()
        if not isinstance(self.degree, Integral) or self.degree < 1:
            raise ValueError(f"degree must be an integer ≥ 1; got {self.degree!r}.")
        if not (is_finite_number(self.coef0) and self.coef0 >= 0.0):
            raise ValueError(f"coef0 must be a number ≥ 0; got {self.coef0!r}.")

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        scale = w / float(self.bandwidth)
        return ((A * scale) @ (B * scale).T + self.coef0) ** self.degree

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """Return K and the pullback: that of the linear kernel times the slope of the power."""
        X, sigma = prepared, float(self.bandwidth)
        Z = X * (w / sigma)
        S = Z @ Z.T + self.coef0
        slope = S ** (self.degree - 1)
        K = S * slope

        def pullback(P: Array, Q: Array) -> Array:
            B = outer(P, Q)
            B *= slope
            return (2.0 * self.degree / sigma**2) * w * column_dots(X, B @ X)

        return K, pullback
