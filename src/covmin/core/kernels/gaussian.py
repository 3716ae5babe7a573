"""The Gaussian kernel, which the paper uses."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from ..arrays import Array, exp_in_place
from .radial import Radial


@dataclass(repr=False)
class Gaussian(Radial):
    """The Gaussian kernel ``k(x, x̃) = exp(−‖w ⊙ (x − x̃)‖² / 2σ²)``.

    Parameters
    ----------
    bandwidth : "median" or float, default="median"
        σ. "median" is the median distance between samples divided by √2, re-estimated on the
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

    def profile(self, E: Array) -> Array:
        return exp_in_place(E)

    def slope(self, K: Array) -> Array:
        return K

    def draw_mixture(self, n: int, rng: Generator) -> np.ndarray:
        """Return ones: there is a single scale."""
        return np.ones(n)
