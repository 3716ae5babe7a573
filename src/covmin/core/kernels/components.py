"""Finitely many components with ``K_w ≈ c U_w U_wᵀ + Φ S_w Φᵀ``, evaluated on blocks of rows.

Components of the first kind move with the weights (random Fourier components); those of the
second stay where they are, and only their powers S_w, a diagonal matrix, follow the
weights. A linear kernel and a sum of one-dimensional kernels are of the second kind: sums
over the rows are then taken once, for all weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..arrays import Array, array_namespace, cos_sin, device_of, like, row_tiles, take

Pullback = Callable[[Array, Array], Array]

# Up to this many columns a product with all components is cheaper than passes over them.
_FEW_COLUMNS = 2


class FixedMap(Protocol):
    """Components that do not depend on the weights, with powers that do."""

    zero_is_absorbing: bool

    def transform(self, X: Array) -> Array:
        """Components Φ (n, D) of the rows of X (n, d)."""

    def powers(self, w: np.ndarray) -> np.ndarray:
        """The diagonal of S_w, shape (D,)."""

    def collect(self, slopes: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The derivative in w, shape (d,), from that in the powers, shape (D,)."""

    def places(self, columns: np.ndarray) -> np.ndarray:
        """Where the components of some columns of X are among all D of them."""


@dataclass(frozen=True)
class Components:
    """``K_w ≈ c U_w U_wᵀ + g Φ S_w Φᵀ``: a kernel by finitely many components."""

    moving: FourierMap | None = None  # U_w
    fixed: FixedMap | None = None  # Φ and S_w
    moving_share: float = 1.0  # c
    fixed_share: float = 1.0  # g

    @property
    def zero_is_absorbing(self) -> bool:
        return self.moving is None and self.fixed is not None and self.fixed.zero_is_absorbing

    @property
    def fixed_size(self) -> bool:
        """Whether the number of components stays the same when columns of X go."""
        return self.fixed is None

    def restrict(self, columns: np.ndarray) -> Components:
        """The same components for some of the columns of X."""
        return self if self.moving is None else replace(self, moving=self.moving.restrict(columns))

    def like(self, X: Array) -> Components:
        """The same components with their numbers in the library, device and dtype of X."""
        return self if self.moving is None else replace(self, moving=self.moving.like(X))

    def components(self, X: Array, w: Array) -> Array:
        """``[U_w Φ]`` (n, D) of the rows of X (n, d)."""
        parts = []
        if self.moving is not None:
            parts.append(self.moving.transform(X, w))
        if self.fixed is not None:
            parts.append(self.fixed.transform(X))
        return parts[0] if len(parts) == 1 else array_namespace(X).concat(parts, axis=1)

    def powers(self, w: np.ndarray, n_moving: int) -> np.ndarray:
        """What the columns of :meth:`components` count for in the kernel, shape (D,)."""
        moving = np.full(n_moving, self.moving_share)
        if self.fixed is None:
            return moving
        return np.concatenate([moving, self.fixed_share * self.fixed.powers(w)])


@dataclass(frozen=True)
class FourierMap:
    """``U = √(2/D) [cos((X ∘ w) Ω/σ), sin((X ∘ w) Ω/σ)]`` with D/2 frequencies.

    Cosine and sine together need no random phase: the diagonal of ``UUᵀ`` is exact, and
    the product with Ω is half as large as with one component for each frequency.

    At wⱼ = 0 the derivative is zero only on average over Ω, not for one draw: a feature
    at zero is not absorbed, unlike with the exact Gaussian kernel.
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
        """``Σ (FWᵀ) ∘ ∂U/∂wⱼ``, shape (d,), by one d×n×(D/2) product; U is :meth:`transform`.

        F is (n, k) and W (D, k) with few columns.
        """
        products = self._narrow_products if F.shape[1] <= _FEW_COLUMNS else self._wide_products
        dots = array_namespace(X).sum(self.frequencies * products(X, U, F, W), axis=1)
        return dots / float(self.sigma)

    # Xᵀ times the slopes of the angles: the slope of a cosine is minus the sine, and of a sine
    # the cosine.

    def _narrow_products(self, X: Array, U: Array, F: Array, W: Array) -> Array:
        """``Xᵀ((FW_sᵀ)∘cos − (FW_cᵀ)∘sin)`` for few columns of F: no pass over n·D numbers."""
        half = self.frequencies.shape[1]
        total: Array = 0.0
        for column in range(F.shape[1]):
            XU = (X * F[:, column : column + 1]).T @ U
            total = total + (XU[:, :half] * W[half:, column] - XU[:, half:] * W[:half, column])
        return total

    def _wide_products(self, X: Array, U: Array, F: Array, W: Array) -> Array:
        """The same for any number of columns: the slopes first, then one product."""
        half = self.frequencies.shape[1]
        xp = array_namespace(X)
        slopes = xp.empty((U.shape[0], half), dtype=U.dtype, device=device_of(U))
        for tile in row_tiles(U):
            part = F[tile, :] @ W[half:, :].T
            part *= U[tile, :half]
            other = F[tile, :] @ W[:half, :].T
            other *= U[tile, half:]
            part -= other
            slopes[tile, :] = part
        return X.T @ slopes


def orthogonal_frequencies(
    n_columns: int, n_frequencies: int, rng: np.random.Generator
) -> np.ndarray:
    """Normal frequencies in blocks of orthogonal directions, shape (n_columns, n_frequencies).

    Each column is standard normal by itself; within a block of up to ``n_columns`` of them
    the directions repel each other, which makes the kernel's error several times smaller.
    """
    blocks = []
    for start in range(0, n_frequencies, n_columns):
        size = min(n_columns, n_frequencies - start)
        directions, R = np.linalg.qr(rng.standard_normal((n_columns, size)))
        # Without the signs of R's diagonal the directions would not be uniform.
        directions *= np.where(np.diag(R) < 0.0, -1.0, 1.0)
        blocks.append(directions * np.sqrt(rng.chisquare(n_columns, size)))
    return np.concatenate(blocks, axis=1)
