"""The Laplacian kernel."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from ..arrays import Array, exp_in_place, l1_distances, pairwise_l1_dots
from .base import ShiftInvariant, outer
from .components import Pullback

# Cut-off of the frequencies of the random Fourier features, in units of 1/σ.
_LARGEST_FREQUENCY = 200.0


@dataclass(repr=False)
class Laplacian(ShiftInvariant):
    """The Laplacian kernel ``k(x, x̃) = exp(−Σⱼ wⱼ |xⱼ − x̃ⱼ| / σ)``.

    The derivative does not vanish at wⱼ = 0, so a feature at zero can come back.

    Parameters
    ----------
    bandwidth : "median" or float, default="median"
        σ. "median" is the median L1 distance between samples.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> Laplacian(1.0).cross(X, X, np.ones(1)).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    bandwidth: float | str = "median"
    name = "laplacian"
    zero_is_absorbing = False
    order = 1

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        scale = w / self.sigma
        S = l1_distances(A * scale, B * scale)
        S *= -1.0
        return exp_in_place(S)

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """Return K and the pullback ``−(1/σ) Σₐᵦ (PQᵀ∘K)ₐᵦ |xₐⱼ − xᵦⱼ|``."""
        K = self.cross(prepared, prepared, w)

        def pullback(P: Array, Q: Array) -> Array:
            B = outer(P, Q)
            B *= K
            return (-1.0 / self.sigma) * pairwise_l1_dots(prepared, B)

        return K, pullback

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Draw Cauchy frequencies, cut off at 200/σ, which omits 0.3 % of them per feature.

        The derivative in the weight of a feature is proportional to its frequency, and a Cauchy
        variable has no mean: without the cut-off the gradient would not converge as the number of
        draws grows.
        """
        quantiles = rng.uniform(-1.0, 1.0, (n_columns, (n_components + 1) // 2))
        return np.tan(quantiles * math.atan(_LARGEST_FREQUENCY))
