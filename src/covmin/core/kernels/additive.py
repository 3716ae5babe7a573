"""The additive kernel, and the mixed kernel: a joint kernel for interactions plus an additive part.

With few samples and many features, all pairs of samples are at a similar distance for a joint
kernel of all features. A sum of one-dimensional kernels does not have this problem: it weighs
each feature by what it explains on its own. The mixture finds single effects when n ≪ d, and is
still characteristic, so it also finds interactions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ..arrays import (
    Array,
    array_namespace,
    column_dots,
    cos_sin,
    like,
    row_tiles,
    take,
    to_numpy,
    transposed,
)
from .base import Kernel, Scale, is_finite_number
from .components import Components, Pullback
from .distances import RationalQuadratic

# Frequencies (in units of 1/s) and weights of the cosines that form the one-dimensional kernel.
# As in a one-dimensional rational quadratic kernel (0.79, 0.16, 0.04, 0.01), most of the weight
# is on slow trends: more weight on high frequencies needs more samples if there are many columns.
# The high frequencies are still needed: a Gaussian has almost no weight beyond 4, so it misses an
# effect such as sin(4x) of a standardised column. With fewer frequencies, each covers a wider band.
Rules = dict[int, tuple[tuple[float, ...], tuple[float, ...]]]
_RULES: Rules = {
    8: ((0.5, 1.5, 2.8, 4.5), (0.75, 0.15, 0.06, 0.04)),
    4: ((0.7, 3.0), (0.9, 0.1)),
    2: ((1.0,), (1.0,)),
}
_N_WAVES = max(_RULES)
# With many columns there are fewer cosines and sines per column, so that their total stays below
# this number; there is a minimum per column, however.
_MOST_WAVES = 1024
# The cosines and sines of all features are stored up to this many numbers (1 GiB of float64);
# beyond that they are recomputed in blocks.
_KEEP_NUMBERS = 2**27
_BLOCK_NUMBERS = 2**24
# Copy the features with positive weight before a product if they are less than this share.
_WORTH_THE_COPY = 0.75


def waves_for(n_columns: int, *, alone: bool = False) -> int:
    """Return the number of cosines and sines per column, smaller for many columns.

    Two functions have a single frequency, at which the two values of a binary column may be 2π
    apart, so that the column looks constant. Next to a joint kernel of all columns that does no
    harm. For the additive kernel ``alone`` the minimum is four.
    """
    fewest = 4 if alone else 2
    return next((n for n in (_N_WAVES, 4) if n * n_columns <= _MOST_WAVES), fewest)


@dataclass(frozen=True)
class WaveSum:
    """``k(x, x̃) = (1/m) Σⱼ wⱼ κ((xⱼ − x̃ⱼ)/s)`` with ``κ(t) = Σ_q a_q cos(ω_q t)``, κ(0) = 1.

    κ has up to four frequencies: the lowest captures trends, the highest fast oscillations. The
    kernel is an inner product of the cosines and sines of each feature, so its matrix and its
    gradient are matrix products. It is linear in w, and the criterion is convex in w.

    The cosines and sines are also the finite features of the kernel, with powers ``a_q wⱼ/m``.
    They do not depend on w, so the criterion of this kernel alone needs a single pass over the
    rows, whatever the number of steps.
    """

    scale: float = 1.0  # bandwidth s of each feature
    budget: float = 1.0  # m; the kernel of a sample with itself is Σw/m
    # Number of cosines and sines per feature (even).
    n_waves: int = _N_WAVES
    zero_is_absorbing = False
    rules: ClassVar[Rules] = _RULES

    def _rule(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the frequencies, and the weights of their cosines followed by their sines."""
        frequencies, weights = self.rules[self.n_waves]
        return np.array(frequencies), np.array([*weights, *weights])

    def prepare(self, X: Array) -> Array:
        """Return the cosines and sines of every feature, shape (d, n_waves, n), for all w.

        If they need too much memory, return the features themselves, shape (d, n), which are then
        expanded block by block.
        """
        if X.shape[0] * X.shape[1] * self.n_waves <= _KEEP_NUMBERS:
            return self._expand(transposed(X))
        return transposed(X)

    def restrict(self, prepared: Array, columns: np.ndarray) -> Array:
        return take(prepared, columns, axis=0)

    def _expand(self, features: Array) -> Array:
        xp = array_namespace(features)
        d, n = features.shape
        frequencies = like(self._rule()[0] / float(self.scale), features)
        angles = xp.reshape(features[:, None, :] * frequencies[:, None], (d, -1))
        return xp.reshape(cos_sin(angles, 1.0), (d, self.n_waves, n))

    def _blocks(self, prepared: Array, rows: int = 0) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of features, for ``rows`` samples, with their waves (n_waves·block, n)."""
        xp = array_namespace(prepared)
        d, n = prepared.shape[0], prepared.shape[-1]
        size = d if prepared.ndim == 3 else max(1, _BLOCK_NUMBERS // (max(n, rows) * self.n_waves))
        for start in range(0, d, size):
            columns = slice(start, min(start + size, d))
            part = prepared[columns, ...]
            waves = part if part.ndim == 3 else self._expand(part)
            yield columns, xp.reshape(waves, (-1, n))

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        total: Array = 0.0
        rows = max(A.shape[0], B.shape[0])
        pairs = zip(self._blocks(A.T, rows), self._blocks(B.T, rows), strict=True)
        for (columns, left), (_, right) in pairs:
            total = total + (left * self.powers(w[columns])[:, None]).T @ right
        return total

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """Return K, and the pullback ``(1/m) Σ (ΦⱼᵀP) ∘ (ΦⱼᵀQ)``.

        The matrix uses only the features with positive weight.
        """
        xp = array_namespace(prepared)
        K: Array = None
        weighted, powers = prepared, self.powers(w)
        positive = np.flatnonzero(to_numpy(w))
        if 0 < positive.size < _WORTH_THE_COPY * w.shape[0]:
            weighted = self.restrict(prepared, positive)
            powers = self.powers(take(w, positive, axis=0))
        for columns, waves in self._blocks(weighted):
            S = waves * xp.sqrt(
                powers[self.n_waves * columns.start : self.n_waves * columns.stop, None]
            )
            part = S.T @ S
            K = part if K is None else K + part

        def pullback(P: Array, Q: Array) -> Array:
            weights = like(self._rule()[1], prepared)
            slopes = []
            for _, waves in self._blocks(prepared):
                left = waves @ P
                right = left if P is Q else waves @ Q
                dots = column_dots(left.T, right.T)
                slopes.append(xp.reshape(dots, (-1, self.n_waves)) @ weights)
            return xp.concat(slopes) / self.budget

        return K, pullback

    def powers(self, w: Array) -> Array:
        """Return ``a_q wⱼ/m`` for each cosine and sine of a feature."""
        xp = array_namespace(w)
        return xp.reshape((w / self.budget)[:, None] * like(self._rule()[1], w), (-1,))

    def components(self, frequencies: Array) -> Components:
        return Components(fixed=self)

    def transform(self, X: Array) -> Array:
        """Return Φ (n, d·n_waves): ``cos(ω_q xⱼ/s), sin(ω_q xⱼ/s)``, grouped by feature."""
        xp = array_namespace(X)
        frequencies = like(self._rule()[0] / float(self.scale), X)
        angles = xp.reshape(X[:, :, None] * frequencies, (-1, self.n_waves // 2))
        return xp.reshape(cos_sin(angles, 1.0), (X.shape[0], -1))

    def collect(self, slopes: np.ndarray, w: np.ndarray) -> np.ndarray:
        return slopes.reshape(-1, self.n_waves) @ self._rule()[1] / self.budget

    def places(self, columns: np.ndarray) -> np.ndarray:
        return (columns[:, None] * self.n_waves + np.arange(self.n_waves)).ravel()


def _gauss_hermite(n_waves: int) -> Rules:
    """Return the Gauss–Hermite rule; with 8 its error is 0.001 up to 3.5 deviations apart."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_waves)
    positive = nodes > 0.0
    shares = weights[positive] / weights[positive].sum()
    return {n_waves: (tuple(nodes[positive]), tuple(shares))}


class GaussianSum(WaveSum):
    """The same with a one-dimensional Gaussian kernel κ, which has a single scale."""

    rules = _gauss_hermite(_N_WAVES)


@dataclass(frozen=True)
class Sum:
    """The kernel ``k = Σᵢ cᵢ kᵢ``."""

    terms: tuple[tuple[float, Any], ...]  # coefficients cᵢ > 0, and kernels kᵢ at their scales

    @property
    def zero_is_absorbing(self) -> bool:
        return all(kernel.zero_is_absorbing for _, kernel in self.terms)

    def prepare(self, X: Array) -> tuple[Any, ...]:
        return tuple(kernel.prepare(X) for _, kernel in self.terms)

    def restrict(self, prepared: tuple[Any, ...], columns: np.ndarray) -> tuple[Any, ...]:
        pairs = zip(self.terms, prepared, strict=True)
        return tuple(kernel.restrict(part, columns) for (_, kernel), part in pairs)

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        return sum(coefficient * kernel.cross(A, B, w) for coefficient, kernel in self.terms)

    def matrix_and_pullback(self, prepared: tuple[Any, ...], w: Array) -> tuple[Array, Pullback]:
        parts = []
        total: Array = None
        for (coefficient, kernel), part in zip(self.terms, prepared, strict=True):
            K, pullback = kernel.matrix_and_pullback(part, w)
            parts.append((coefficient, pullback))
            if total is None:
                total = coefficient * K
                continue
            for tile in row_tiles(total):
                total[tile, :] += coefficient * K[tile, :]

        def pull(P: Array, Q: Array) -> Array:
            return sum(c * pullback(P, Q) for c, pullback in parts)

        return total, pull

    def components(self, frequencies: Array) -> Components:
        """Combine at most one moving and one fixed feature map."""
        total = Components()
        for coefficient, kernel in self.terms:
            part = kernel.components(frequencies)
            if part.moving is not None:
                assert total.moving is None
                total = replace(total, moving=part.moving, moving_share=coefficient)
            else:
                assert total.fixed is None
                total = replace(total, fixed=part.fixed, fixed_share=coefficient)
        return total


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
