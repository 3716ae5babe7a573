"""Finite feature maps with ``K_w ≈ c U_w U_wᵀ + Φ S_w Φᵀ``, evaluated on blocks of rows.

Here the features of a map are called components, to distinguish them from the features to be
selected. Components of the first kind, U_w, move with the weights: random Fourier features.
Components of the second kind, Φ, are fixed, and only their powers, the diagonal matrix S_w,
depend on the weights. A linear kernel and a sum of one-dimensional kernels are of the second
kind: sums over the rows are then computed once, for all weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..arrays import Array, array_namespace, cos_sin, device_of, like, row_tiles, take

Pullback = Callable[[Array, Array], Array]

# Up to this many columns, a product with all components is faster than passes over them.
_FEW_COLUMNS = 2


class FixedMap(Protocol):
    """Components that do not depend on the weights, with powers that do."""

    zero_is_absorbing: bool

    def transform(self, X: Array) -> Array:
        """Return the components Φ (n, D) of the rows of X (n, d)."""

    def powers(self, w: np.ndarray) -> np.ndarray:
        """Return the diagonal (D,) of S_w."""

    def collect(self, slopes: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the derivative in w (d,), given the derivative in the powers (D,)."""

    def places(self, columns: np.ndarray) -> np.ndarray:
        """Return the positions, among all D, of the components of some columns of X."""


@dataclass(frozen=True)
class Components:
    """A finite feature map of a kernel: ``K_w ≈ c U_w U_wᵀ + g Φ S_w Φᵀ``."""

    moving: FourierMap | None = None  # U_w
    fixed: FixedMap | None = None  # Φ and S_w
    moving_share: float = 1.0  # c
    fixed_share: float = 1.0  # g

    @property
    def zero_is_absorbing(self) -> bool:
        return self.moving is None and self.fixed is not None and self.fixed.zero_is_absorbing

    def restrict(self, columns: np.ndarray) -> Components:
        """Return the same components for some of the columns of X."""
        return self if self.moving is None else replace(self, moving=self.moving.restrict(columns))

    def like(self, X: Array) -> Components:
        """Return the same components in the array library, device and dtype of X."""
        return self if self.moving is None else replace(self, moving=self.moving.like(X))

    def components(self, X: Array, w: Array) -> Array:
        """Return ``[U_w Φ]`` (n, D) for the rows of X (n, d)."""
        parts = [] if self.moving is None else [self.moving.transform(X, w)]
        if self.fixed is not None:
            parts.append(self.fixed.transform(X))
        return parts[0] if len(parts) == 1 else array_namespace(X).concat(parts, axis=1)

    def powers(self, w: np.ndarray, n_moving: int) -> np.ndarray:
        """Return the factor (D,) of each column of :meth:`components` in the kernel."""
        moving = np.full(n_moving, self.moving_share)
        if self.fixed is None:
            return moving
        return np.concatenate([moving, self.fixed_share * self.fixed.powers(w)])


@dataclass(frozen=True)
class FourierMap:
    """Random Fourier features ``U = √(2/D) [cos((X ∘ w) Ω/σ), sin((X ∘ w) Ω/σ)]``.

    There are D/2 frequencies. Using both cosine and sine needs no random phase: the diagonal of
    ``UUᵀ`` is exact, and the product with Ω is half the size.

    At wⱼ = 0 the derivative is zero only on average over Ω, not for a single draw. Unlike with
    the exact Gaussian kernel, a feature at zero can therefore come back.
    """

    frequencies: Array  # Ω (n_columns, D/2), drawn for unit bandwidth
    sigma: float = 1.0  # bandwidth σ

    def restrict(self, columns: np.ndarray) -> FourierMap:
        return FourierMap(take(self.frequencies, columns, axis=0), self.sigma)

    def like(self, X: Array) -> FourierMap:
        return FourierMap(like(self.frequencies, X), self.sigma)

    def transform(self, X: Array, w: Array) -> Array:
        # The weights scale Ω (d·D/2 numbers), not X (n·d numbers).
        angles = X @ (self.frequencies * (w / float(self.sigma))[:, None])
        return cos_sin(angles, float(1.0 / np.sqrt(self.frequencies.shape[1])))

    def pullback(self, X: Array, U: Array, F: Array, W: Array) -> Array:
        """Return ``Σ (FWᵀ) ∘ ∂U/∂wⱼ`` (d,), by one d×n×(D/2) product; U is :meth:`transform`.

        F is (n, k) and W (D, k), with small k. The derivative of the cosine in its angle is minus
        the sine, and that of the sine is the cosine: the product is
        ``Xᵀ((FW_sᵀ) ∘ cos − (FW_cᵀ) ∘ sin)``.
        """
        xp, half = array_namespace(X), self.frequencies.shape[1]
        products: Array = 0.0
        if F.shape[1] <= _FEW_COLUMNS:
            for k in range(F.shape[1]):
                XU = (X * F[:, k : k + 1]).T @ U
                products = products + (XU[:, :half] * W[half:, k] - XU[:, half:] * W[:half, k])
        else:
            slopes = xp.empty((U.shape[0], half), dtype=U.dtype, device=device_of(U))
            for tile in row_tiles(U):
                part = F[tile, :] @ W[half:, :].T
                part *= U[tile, :half]
                other = F[tile, :] @ W[:half, :].T
                other *= U[tile, half:]
                part -= other
                slopes[tile, :] = part
            products = X.T @ slopes
        return xp.sum(self.frequencies * products, axis=1) / float(self.sigma)


def orthogonal_frequencies(
    n_columns: int, n_frequencies: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw normal frequencies in blocks of orthogonal directions, (n_columns, n_frequencies).

    Each column is standard normal. Within a block of up to ``n_columns`` columns the directions
    are orthogonal, which makes the error of the kernel several times smaller.
    """
    blocks = []
    for start in range(0, n_frequencies, n_columns):
        size = min(n_columns, n_frequencies - start)
        directions, R = np.linalg.qr(rng.standard_normal((n_columns, size)))
        # Without these signs the directions would not be uniformly distributed.
        directions *= np.where(np.diag(R) < 0.0, -1.0, 1.0)
        blocks.append(directions * np.sqrt(rng.chisquare(n_columns, size)))
    return np.concatenate(blocks, axis=1)
