"""Finite feature maps ``U_w`` with ``K_w ≈ U_w U_wᵀ``, evaluated on blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from .arrays import Array, array_namespace, column_dots, like, take

__all__ = ["FeatureMap", "FourierMap", "LinearMap"]


class FeatureMap(Protocol):
    """What :class:`~covmin.core.grams.FourierGram` asks of a feature map."""

    zero_is_absorbing: bool

    def at(self, columns: np.ndarray, sigma: float) -> Self:
        """The same draw for some of the features and at another bandwidth."""

    def like(self, X: Array) -> Self:
        """The same map with its numbers in the library, device and dtype of X."""

    def transform(self, X: Array, w: Array) -> Array:
        """Features U (n, D) of the rows of X (n, d)."""

    def transform_and_pullback(self, X: Array, w: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Features U, and the map from E (n, D) to ``Σ E ∘ ∂U/∂wⱼ``, shape (d,)."""


@dataclass(frozen=True)
class FourierMap:
    """``U = √(2/D) cos((X ∘ w) Ω/σ + b)``.

    At wⱼ = 0 the derivative is zero only on average over Ω, not for one draw: a feature
    at zero is not absorbed, unlike with the exact Gaussian kernel.

    Parameters
    ----------
    frequencies : array of shape (n_features, n_components)
        Ω, drawn for unit bandwidth.
    phases : array of shape (n_components,)
        b, uniform on [0, 2π).
    sigma : float
        Bandwidth σ.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> omega = rng.standard_normal((1, 20_000))
    >>> U = FourierMap.with_phases(omega, 1.0, rng).transform(np.array([[0.], [1.]]), np.ones(1))
    >>> bool(abs(U[0] @ U[1] - np.exp(-0.5)) < 0.02)
    True
    """

    frequencies: Array
    phases: Array
    sigma: float = 1.0
    zero_is_absorbing = False

    @classmethod
    def with_phases(
        cls, frequencies: np.ndarray, sigma: float, rng: np.random.Generator
    ) -> FourierMap:
        """Draw the phases b for given frequencies Ω."""
        return cls(frequencies, rng.uniform(0.0, 2.0 * np.pi, frequencies.shape[1]), sigma)

    def at(self, columns: np.ndarray, sigma: float) -> FourierMap:
        """The same draw for some of the features and at another bandwidth."""
        return FourierMap(take(self.frequencies, columns, axis=0), self.phases, sigma)

    def like(self, X: Array) -> FourierMap:
        """The same map with its numbers in the library, device and dtype of X."""
        return FourierMap(like(self.frequencies, X), like(self.phases, X), self.sigma)

    def _angles(self, X: Array, w: Array) -> Array:
        # The weights scale Ω (d·D numbers), not X (n·d numbers).
        angles = X @ (self.frequencies * (w / self.sigma)[:, None])
        angles += self.phases
        return angles

    @property
    def _amplitude(self) -> float:
        return float(np.sqrt(2.0 / self.phases.shape[0]))

    def transform(self, X: Array, w: Array) -> Array:
        """Features U (n, D) of the rows of X (n, d)."""
        U = array_namespace(X).cos(self._angles(X, w))
        U *= self._amplitude
        return U

    def transform_and_pullback(self, X: Array, w: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Features U, and the pullback by one d×n×D product."""
        xp = array_namespace(X)
        angles = self._angles(X, w)
        U = xp.cos(angles)
        U *= self._amplitude

        def pullback(E: Array) -> Array:
            E = E * xp.sin(angles)
            return (-self._amplitude / self.sigma) * xp.sum(self.frequencies * (X.T @ E), axis=1)

        return U, pullback


@dataclass(frozen=True)
class LinearMap:
    """``U = X ∘ w``: the linear kernel, exactly, with D = d.

    Examples
    --------
    >>> LinearMap().transform(np.array([[1.0, 2.0]]), np.array([0.5, 1.0]))
    array([[0.5, 2. ]])
    """

    zero_is_absorbing = True

    def at(self, columns: np.ndarray, sigma: float) -> LinearMap:
        """The same map: it holds nothing that depends on the features."""
        return self

    def like(self, X: Array) -> LinearMap:
        """The same map: it holds no numbers."""
        return self

    def transform(self, X: Array, w: Array) -> Array:
        """Features U (n, d) of the rows of X (n, d)."""
        return X * w

    def transform_and_pullback(self, X: Array, w: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Features U, and the pullback ``Σₐ Eₐⱼ xₐⱼ``."""
        return X * w, lambda E: column_dots(E, X)
