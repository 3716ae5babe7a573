"""The mixed kernel: a joint kernel for interactions plus an additive part for single effects.

With few samples and many features, all pairs of samples are at a similar distance for a joint
kernel of all features. A sum of one-dimensional kernels does not have this problem: it weighs
each feature by what it explains on its own. The mixture finds single effects when n ≪ d, and is
still characteristic, so it also finds interactions.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from .additive import WaveSum
from .base import Kernel, Scale, is_finite_number
from .rational_quadratic import RationalQuadratic
from .sum import Sum


class _WithAdditivePart(Kernel):
    """A joint kernel of all features plus a sum over single features."""

    mixing: float | str
    sums_features = True
    has_components = True

    def at(self, scale: Scale) -> Sum:
        """Return ``(1 − γ)·rational quadratic + γ·sum`` at the scale of a stage."""
        # σ² is roughly the sum of the features' variances; each feature gets an equal share.
        share = float(self.mixing)
        summed = WaveSum(scale.sigma / math.sqrt(scale.n_features), scale.budget, scale.n_waves)
        if share == 1.0:
            return Sum(((1.0, summed),))
        together = RationalQuadratic(bandwidth=scale.sigma)
        return Sum(((1.0 - share, together), (share, summed)))

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Draw frequencies for the joint kernel; those of the additive part are fixed."""
        return RationalQuadratic().draw_frequencies(n_columns, n_components, rng)


@dataclass(repr=False)
class Mixed(_WithAdditivePart):
    """The mixed kernel ``(1 − γ)·k_w + (γ/m)·Σⱼ wⱼ κ(xⱼ, x̃ⱼ)`` of a stage that keeps m features.

    k is the :class:`RationalQuadratic` kernel and κ a one-dimensional kernel with four
    frequencies. Both capture slow as well as fast effects.

    Parameters
    ----------
    mixing : "auto" or float in [0, 1], default="auto"
        Share γ of the sum. "auto" depends on the numbers of samples and features.
    bandwidth : "median" or float, default="median"
        σ of k; each feature in the sum gets an equal share of σ².

    Examples
    --------
    >>> Mixed(mixing=0.5).sees_interactions, Mixed(mixing=1.0).sees_interactions
    (True, False)
    """

    mixing: float | str = "auto"
    bandwidth: float | str = "median"
    name = "mixed"

    @property
    def sees_interactions(self) -> bool:  # type: ignore[override]
        return self.mixing != 1.0

    def check(self) -> None:
        super().check()
        mixing: Any = self.mixing
        if mixing != "auto" and not (is_finite_number(mixing) and 0.0 <= mixing <= 1.0):
            raise ValueError(f'mixing must be "auto" or a number in [0, 1]; got {mixing!r}.')


@dataclass(repr=False)
class Additive(_WithAdditivePart):
    """The additive kernel ``(1/m) Σⱼ wⱼ κ(xⱼ, x̃ⱼ)``: convex in w, but blind to interactions.

    Parameters
    ----------
    bandwidth : "median" or float, default="median"
        σ of all features together; each feature gets an equal share of σ².

    Examples
    --------
    >>> Additive().sees_interactions
    False
    """

    bandwidth: float | str = "median"
    name = "additive"
    mixing = 1.0
    sees_interactions = False

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        return np.empty((n_columns, 0))
