"""The mixed kernel: interactions from a kernel of all features, single effects from a sum.

With few samples and many features a kernel of all of them sees every pair of samples
at much the same distance. A sum of one-dimensional kernels does not: it weighs each
feature by what it explains by itself. Their mixture finds single effects at n ≪ d and
stays characteristic, so it still sees interactions.
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


class _WithSum(Kernel):
    """A kernel of all features and a sum over single ones; :meth:`at` gives what computes."""

    mixing: float | str
    sums_features = True
    has_components = True

    def at(self, scale: Scale) -> Sum:
        """``(1 − γ)·rational quadratic + γ·sum`` at the scale of a stage."""
        # σ² is about the sum of the variances of the features: a fair share of it for each.
        share = float(self.mixing)
        summed = WaveSum(scale.sigma / math.sqrt(scale.n_features), scale.budget, scale.n_waves)
        if share == 1.0:
            return Sum(((1.0, summed),))
        together = RationalQuadratic(bandwidth=scale.sigma)
        return Sum(((1.0 - share, together), (share, summed)))

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Of the kernel of all features: the waves of single ones are those of a fixed rule."""
        return RationalQuadratic().draw_frequencies(n_columns, n_components, rng)


@dataclass(repr=False)
class Mixed(_WithSum):
    """``(1 − γ)·k_w + (γ/m)·Σⱼ wⱼ κ(xⱼ, x̃ⱼ)`` at a stage that keeps m features.

    k is the :class:`RationalQuadratic` kernel, κ a one-dimensional kernel of four waves: both see
    slow effects and fast ones.

    Parameters
    ----------
    mixing : "auto" or float in [0, 1], default="auto"
        Share γ of the sum. "auto" goes by the numbers of samples and features.
    bandwidth : "median" or float, default="median"
        σ of k; each feature of the sum has a fair share of σ².

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
class Additive(_WithSum):
    """``(1/m) Σⱼ wⱼ κ(xⱼ, x̃ⱼ)``: convex in w, and blind to interactions.

    Parameters
    ----------
    bandwidth : "median" or float, default="median"
        σ of all features together; each has a fair share of σ².

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
