"""The linear kernel."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from ..arrays import Array, column_dots
from .base import SampleKernel, Scale
from .components import Components, Pullback


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

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        return np.empty((n_columns, 0))

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
