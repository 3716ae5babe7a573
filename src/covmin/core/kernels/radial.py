"""Kernels of the Euclidean distance between scaled samples."""

import math

import numpy as np
from numpy.random import Generator

from ..arrays import Array, array_namespace, column_dots, device_of, row_tiles
from .base import ShiftInvariant, outer, squared_distances
from .components import Pullback, orthogonal_frequencies

# Rows of a product at once.
_PRODUCT_ROWS = 128


class Radial(ShiftInvariant):
    """``k(x, x̃) = κ(−‖w ⊙ (x − x̃)‖² / 2σ²)`` with κ(0) = 1.

    Such a kernel, if it is one in any number of columns, is a mixture of Gaussians of different
    bandwidths: ``κ(E) = 𝔼 exp(sE)`` for a random s ≥ 0. A kernel gives κ, its slope, and draws
    of s.
    """

    zero_is_absorbing = True

    def profile(self, E: Array) -> Array:
        """κ(E) for exponents E ≤ 0, which are overwritten where the library can."""
        raise NotImplementedError

    def slope(self, K: Array) -> Array:
        """κ′(E), given K = κ(E)."""
        raise NotImplementedError

    def draw_mixture(self, n: int, rng: Generator) -> np.ndarray:
        """Draws of s, one for each of n frequencies."""
        raise NotImplementedError

    def prepare(self, X: Array) -> Array:
        """The samples less their mean: distances between far-away samples drown in rounding."""
        return X - array_namespace(X).mean(X, axis=0)

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        # The scale goes on the columns (n·d numbers), not on the n² distances.
        scale = w / (math.sqrt(2.0) * self.sigma)
        centre = array_namespace(B).mean(B, axis=0)
        E = squared_distances((A - centre) * scale, (B - centre) * scale)
        E *= -1.0
        return self.profile(E)

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """``tr(Pᵀ ∂K/∂wⱼ Q) = −(2wⱼ/σ²) (XᵀLX)ⱼⱼ``, by one n×n×d product.

        L is the graph Laplacian ``diag(B1) − B`` of ``B = PQᵀ ∘ κ′``, made symmetric. Some rows of
        it at a time, so that they stay in the cache.
        """
        X = prepared
        Z = X * (w / self.sigma)
        half = 0.5 * column_dots(Z.T, Z.T)
        K = Z @ Z.T
        for tile in row_tiles(K):  # while they are in the cache
            E = K[tile, :]
            E -= half[tile, None]
            E -= half
            K[tile, :] = self.profile(E)
        del Z

        def pullback(P: Array, Q: Array) -> Array:
            return (2.0 / self.sigma**2) * w * self._laplacian_dots(X, K, P, Q)

        return K, pullback

    def _laplacian_dots(self, X: Array, K: Array, P: Array, Q: Array) -> Array:
        """``−(XᵀLX)ⱼⱼ = −½ Σ Bₐᵦ (xₐⱼ − xᵦⱼ)²`` for every column j.

        B is symmetric: entries right of a tile of rows stand for those below it too.
        """
        xp = array_namespace(X)
        total: Array = 0.0
        degrees = xp.zeros(X.shape[0], dtype=X.dtype, device=device_of(X))
        for tile in row_tiles(K, fewest=_PRODUCT_ROWS):
            right = slice(tile.start, X.shape[0])
            B = outer(P, Q, tile, right)
            B *= self.slope(K[tile, right])
            B[:, tile.stop - tile.start :] *= 2.0
            degrees[right] += 0.5 * xp.sum(B, axis=0)
            part = B @ X[right, :]
            part -= 0.5 * xp.sum(B, axis=1)[:, None] * X[tile, :]
            total = total + column_dots(X[tile, :], part)
        return total - column_dots(X, degrees[:, None] * X)

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Normal, orthogonal in blocks, times √s: one for a cosine and a sine."""
        n_frequencies = (n_components + 1) // 2
        normal = orthogonal_frequencies(n_columns, n_frequencies, rng)
        return normal * np.sqrt(self.draw_mixture(n_frequencies, rng))
