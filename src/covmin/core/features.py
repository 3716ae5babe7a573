"""Finite feature maps ``U_w`` with ``K_w ≈ U_w U_wᵀ``, evaluated on blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from .arrays import Array, array_namespace, column_dots, like, take

__all__ = ["FeatureMap", "FourierMap", "LinearMap", "orthogonal_frequencies"]


class FeatureMap(Protocol):
    """What :class:`~covmin.core.grams.FourierGram` asks of a feature map."""

    zero_is_absorbing: bool
    fixed_size: bool
    """Whether D stays the same when columns go."""

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
    """``U = √(2/D) [cos((X ∘ w) Ω/σ), sin((X ∘ w) Ω/σ)]`` with D/2 frequencies.

    Cosine and sine together need no random phase: the diagonal of ``UUᵀ`` is exact, and
    the product with Ω is half as large as with one feature for each frequency.

    At wⱼ = 0 the derivative is zero only on average over Ω, not for one draw: a feature
    at zero is not absorbed, unlike with the exact Gaussian kernel.

    Parameters
    ----------
    frequencies : array of shape (n_features, n_components // 2)
        Ω, drawn for unit bandwidth.
    sigma : float
        Bandwidth σ.

    Examples
    --------
    >>> omega = np.random.default_rng(0).standard_normal((1, 10_000))
    >>> U = FourierMap(omega).transform(np.array([[0.0], [1.0]]), np.ones(1))
    >>> bool(abs(U[0] @ U[1] - np.exp(-0.5)) < 0.02)
    True
    """

    frequencies: Array
    sigma: float = 1.0
    zero_is_absorbing = False
    fixed_size = True

    def at(self, columns: np.ndarray, sigma: float) -> FourierMap:
        """The same draw for some of the features and at another bandwidth."""
        return FourierMap(take(self.frequencies, columns, axis=0), sigma)

    def like(self, X: Array) -> FourierMap:
        """The same map with its numbers in the library, device and dtype of X."""
        return FourierMap(like(self.frequencies, X), self.sigma)

    def _waves(self, X: Array, w: Array) -> tuple[Array, Array]:
        xp = array_namespace(X)
        # The weights scale Ω (d·D/2 numbers), not X (n·d numbers).
        angles = X @ (self.frequencies * (w / float(self.sigma))[:, None])
        return xp.cos(angles), xp.sin(angles)

    @property
    def _amplitude(self) -> float:
        return float(1.0 / np.sqrt(self.frequencies.shape[1]))

    def transform(self, X: Array, w: Array) -> Array:
        """Features U (n, D) of the rows of X (n, d)."""
        U = array_namespace(X).concat(self._waves(X, w), axis=1)
        U *= self._amplitude
        return U

    def transform_and_pullback(self, X: Array, w: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Features U, and the pullback by one d×n×(D/2) product."""
        xp = array_namespace(X)
        cosines, sines = self._waves(X, w)
        U = xp.concat((cosines, sines), axis=1)
        U *= self._amplitude
        half = self.frequencies.shape[1]

        def pullback(E: Array) -> Array:
            slopes = E[:, half:] * cosines
            slopes -= E[:, :half] * sines
            scale = self._amplitude / float(self.sigma)
            return scale * xp.sum(self.frequencies * (X.T @ slopes), axis=1)

        return U, pullback


def orthogonal_frequencies(
    n_features: int, n_frequencies: int, rng: np.random.Generator
) -> np.ndarray:
    """Normal frequencies in blocks of orthogonal directions, shape (n_features, n_frequencies).

    Each column is standard normal by itself; within a block of up to ``n_features`` of them
    the directions repel each other, which makes the kernel's error several times smaller.

    Examples
    --------
    >>> omega = orthogonal_frequencies(3, 3, np.random.default_rng(0))
    >>> bool(np.allclose(np.tril(omega.T @ omega, -1), 0))
    True
    """
    blocks = []
    for start in range(0, n_frequencies, n_features):
        size = min(n_features, n_frequencies - start)
        directions, R = np.linalg.qr(rng.standard_normal((n_features, size)))
        # Without the signs of R's diagonal the directions would not be uniform.
        directions *= np.where(np.diag(R) < 0.0, -1.0, 1.0)
        blocks.append(directions * np.sqrt(rng.chisquare(n_features, size)))
    return np.concatenate(blocks, axis=1)


@dataclass(frozen=True)
class LinearMap:
    """``U = X ∘ w``: the linear kernel, exactly, with D = d.

    Examples
    --------
    >>> LinearMap().transform(np.array([[1.0, 2.0]]), np.array([0.5, 1.0]))
    array([[0.5, 2. ]])
    """

    zero_is_absorbing = True
    fixed_size = False

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
