"""The Gaussian kernel, the paper's."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from ..arrays import (
    Array,
    add_diagonal,
    array_namespace,
    column_dots,
    exp_in_place,
    subtract_outer_sum,
)
from .base import ShiftInvariant, outer, squared_distances
from .components import Pullback, orthogonal_frequencies


@dataclass(repr=False)
class Gaussian(ShiftInvariant):
    """``k(x, x̃) = exp(−‖w ⊙ (x − x̃)‖² / 2σ²)``.

    Parameters
    ----------
    bandwidth : "median" or float, default="median"
        σ. "median" is the median distance between samples over √2, measured anew on the
        features of each stage.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> Gaussian(1.0).cross(X, X, np.ones(1)).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    bandwidth: float | str = "median"
    name = "gaussian"
    zero_is_absorbing = True

    def prepare(self, X: Array) -> Array:
        """The samples less their mean: distances between far-away samples drown in rounding."""
        return X - array_namespace(X).mean(X, axis=0)

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        # The scale goes on the columns (n·d numbers), not on the n² distances.
        scale = w / (math.sqrt(2.0) * self.sigma)
        centre = array_namespace(B).mean(B, axis=0)
        S = squared_distances((A - centre) * scale, (B - centre) * scale)
        S *= -1.0
        return exp_in_place(S)

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """``tr(Pᵀ ∂K/∂wⱼ Q) = −(2wⱼ/σ²) (XᵀLX)ⱼⱼ``, by one n×n×d product.

        L is the graph Laplacian ``diag(B1) − B`` of ``B = PQᵀ ∘ K``, made symmetric. It is formed
        among the n² numbers of B, so that the n·d numbers of the product are passed over once.
        """
        X = prepared
        Z = X * (w / self.sigma)
        half = 0.5 * column_dots(Z.T, Z.T)
        K = exp_in_place(subtract_outer_sum(Z @ Z.T, half, half, in_place=True))
        del Z

        def pullback(P: Array, Q: Array) -> Array:
            B = outer(P, Q)
            B *= K
            minus_L = add_diagonal(B, -array_namespace(B).sum(B, axis=1))
            return (2.0 / self.sigma**2) * w * column_dots(X, minus_L @ X)

        return K, pullback

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Normal, orthogonal in blocks: one for a cosine and a sine."""
        return orthogonal_frequencies(n_columns, (n_components + 1) // 2, rng)
