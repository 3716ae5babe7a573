"""The rational quadratic kernel, a mixture of Gaussians with many bandwidths."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from ..arrays import Array, power_in_place
from .base import is_finite_number
from .radial import Radial

# Smallest and largest α.
_LIMITS = (0.01, 100.0)


@dataclass(repr=False)
class RationalQuadratic(Radial):
    """The rational quadratic kernel ``k(x, x̃) = (1 + ‖w ⊙ (x − x̃)‖² / 2ασ²)^−α``.

    A mixture of Gaussians with bandwidths σ/√s, where s has a gamma distribution with shape α and
    mean one. A smaller α spreads the mixture over more scales; as α grows, the kernel approaches
    the Gaussian. With α = ½ it is ``1 / √(1 + ‖w ⊙ (x − x̃)‖²/σ²)``, and s is the square of a
    standard normal variable.

    Parameters
    ----------
    alpha : float in [0.01, 100], default=0.5
        Power α.
    bandwidth : "median" or float, default="median"
        σ. "median" is the median distance between samples divided by √2, as for the Gaussian.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> RationalQuadratic(bandwidth=1.0).cross(X, X, np.ones(1)).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """

    alpha: float = 0.5
    bandwidth: float | str = "median"
    name = "rational-quadratic"

    def check(self) -> None:
        super().check()
        least, most = _LIMITS
        if not (is_finite_number(self.alpha) and least <= self.alpha <= most):
            raise ValueError(
                f"alpha must be a number from {least:g} to {most:g}: outside this range the kernel "
                f"is nearly constant or nearly Gaussian; got {self.alpha!r}."
            )

    def profile(self, E: Array) -> Array:
        """Return ``(1 − E/α)^−α = 𝔼 exp(sE)``."""
        E *= -1.0 / float(self.alpha)
        E += 1.0
        return power_in_place(E, -float(self.alpha))

    def slope(self, K: Array) -> Array:
        """Return ``(1 − E/α)^−(α+1)``."""
        slope = K ** (1.0 / float(self.alpha))
        slope *= K
        return slope

    def draw_mixture(self, n: int, rng: Generator) -> np.ndarray:
        """Draw gamma variables with shape α and mean one."""
        return rng.gamma(float(self.alpha), 1.0 / float(self.alpha), n)
