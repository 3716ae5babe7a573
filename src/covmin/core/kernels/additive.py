"""The additive kernel, and the mixed kernel: a joint kernel for interactions plus an additive part.

With few samples and many features, all pairs of samples are at a similar distance for a joint
kernel of all features. A sum of one-dimensional kernels does not have this problem: it weighs
each feature by what it explains on its own. The mixture finds single effects when n ≪ d, and is
still characteristic, so it also finds interactions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ..arrays import Array, array_namespace, column_dots, cos_sin, like, row_tiles, take, to_numpy
from .base import Components, Kernel, Pullback, Scale, ScaledKernel, is_finite_number
from .distances import RationalQuadratic

# Frequencies (in units of 1/s) of the one-dimensional kernel, and the weights of their cosines,
# then of their sines, by the number of both. As in a one-dimensional rational quadratic kernel
# (0.79, 0.16, 0.04, 0.01), most of the weight is on slow trends: more weight on high frequencies
# needs more samples if there are many columns. The high frequencies are still needed: a Gaussian
# has almost no weight beyond 4, so it misses an effect such as sin(4x) of a standardised column.
# With fewer frequencies, each covers a wider band.
Rules = dict[int, tuple[np.ndarray, np.ndarray]]
_RULES: Rules = {
    8: (np.array([0.5, 1.5, 2.8, 4.5]), np.tile([0.75, 0.15, 0.06, 0.04], 2)),
    4: (np.array([0.7, 3.0]), np.tile([0.9, 0.1], 2)),
    2: (np.array([1.0]), np.ones(2)),
}
_N_WAVES = max(_RULES)
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(_N_WAVES)
_SHARES /= 0.5 * _SHARES.sum()
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
    """``k(x, x̃) = (1 − γ) k_w(x, x̃) + (γ/m) Σⱼ wⱼ κ((xⱼ − x̃ⱼ)/s)``, ``κ(t) = Σ_q a_q cos(ω_q t)``.

    The sum is an inner product of the cosines and sines of each feature, so its matrix and its
    gradient are matrix products. It is linear in w; without a joint kernel k_w the criterion is
    convex in w. The cosines and sines are also its finite features, with powers ``a_q wⱼ/m``.
    """

    scale: float = 1.0  # bandwidth s of each feature
    budget: float = 1.0  # m; the sum of a sample with itself is Σw/m
    n_waves: int = _N_WAVES  # cosines and sines per feature, an even number
    share: float = 1.0  # γ
    joint: ScaledKernel | None = None  # k_w, at its bandwidth
    zero_is_absorbing = False
    rules: ClassVar[Rules] = _RULES

    def prepare(self, X: Array) -> tuple[Any, Array]:
        """Return what the joint kernel needs, and the cosines and sines (d, n_waves, n) for all w.

        If these need too much memory, the features (d, n) take their place.
        """
        joint, features = self.joint and self.joint.prepare(X), X.T
        is_large = math.prod(X.shape) * self.n_waves > _KEEP_NUMBERS
        return joint, features if is_large else self._waves(features)

    def _waves(self, features: Array) -> Array:
        """Return the cosines and sines (d, n_waves, n) of features (d, n)."""
        xp, (d, n) = array_namespace(features), features.shape
        frequencies = like(self.rules[self.n_waves][0] / float(self.scale), features)
        angles = xp.reshape(features[:, None, :] * frequencies[:, None], (d, -1))
        return xp.reshape(cos_sin(angles, 1.0), (d, self.n_waves, n))

    def restrict(self, prepared: tuple[Any, Array], columns: np.ndarray) -> tuple[Any, Array]:
        joint = self.joint and self.joint.restrict(prepared[0], columns)
        return joint, take(prepared[1], columns, axis=0)

    def _blocks(self, waves: Array, rows: int = 0) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of features, for ``rows`` samples, with their waves (n_waves·block, n)."""
        xp = array_namespace(waves)
        d, n = waves.shape[0], waves.shape[-1]
        size = d if waves.ndim == 3 else max(1, _BLOCK_NUMBERS // (max(n, rows) * self.n_waves))
        for start in range(0, d, size):
            columns = slice(start, min(start + size, d))
            part = waves[columns, ...]
            part = part if part.ndim == 3 else self._waves(part)
            yield columns, xp.reshape(part, (-1, n))

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        rows, total = max(A.shape[0], B.shape[0]), 0.0
        pairs = zip(self._blocks(A.T, rows), self._blocks(B.T, rows), strict=True)
        for (columns, left), (_, right) in pairs:
            total = total + (left * self.powers(w[columns])[:, None]).T @ right
        if self.joint is None:
            return self.share * total
        return (1.0 - self.share) * self.joint.cross(A, B, w) + self.share * total

    def matrix_and_pullback(self, prepared: tuple[Any, Array], w: Array) -> tuple[Array, Pullback]:
        """Return K, and the pullback, of which the sum's part is ``(γ/m) Σ (ΦⱼᵀP) ∘ (ΦⱼᵀQ)``.

        The matrix uses only the features with positive weight.
        """
        of_joint, waves_of_all = prepared
        xp = array_namespace(w)
        weighted, powers = waves_of_all, self.powers(w)
        positive = np.flatnonzero(to_numpy(w))
        if 0 < positive.size < _WORTH_THE_COPY * w.shape[0]:
            weighted = take(waves_of_all, positive, axis=0)
            powers = self.powers(take(w, positive, axis=0))

        K: Array = None
        for columns, waves in self._blocks(weighted):
            some = slice(self.n_waves * columns.start, self.n_waves * columns.stop)
            S = waves * xp.sqrt(powers[some, None])
            part = S.T @ S
            K = part if K is None else K + part
        K *= self.share
        pull_joint: Pullback | None = None
        if self.joint is not None:
            J, pull_joint = self.joint.matrix_and_pullback(of_joint, w)
            for tile in row_tiles(K):
                K[tile, :] += (1.0 - self.share) * J[tile, :]

        def pullback(P: Array, Q: Array) -> Array:
            weights = like(self.rules[self.n_waves][1], w)
            slopes = []
            for _, waves in self._blocks(waves_of_all):
                left = waves @ P
                right = left if P is Q else waves @ Q
                dots = column_dots(left.T, right.T)
                slopes.append(xp.reshape(dots, (-1, self.n_waves)) @ weights)
            total = self.share * (xp.concat(slopes) / self.budget)
            return total if pull_joint is None else (1.0 - self.share) * pull_joint(P, Q) + total

        return K, pullback

    def components(self, frequencies: Array) -> Components:
        if self.joint is None:
            return Components(fixed=self, fixed_share=self.share)
        moving = self.joint.components(frequencies).moving
        return Components(moving, self, 1.0 - self.share, self.share)

    def transform(self, X: Array) -> Array:
        """Return Φ (n, d·n_waves): ``cos(ω_q xⱼ/s), sin(ω_q xⱼ/s)``, grouped by feature."""
        xp = array_namespace(X)
        frequencies = like(self.rules[self.n_waves][0] / float(self.scale), X)
        angles = xp.reshape(X[:, :, None] * frequencies, (-1, self.n_waves // 2))
        return xp.reshape(cos_sin(angles, 1.0), (X.shape[0], -1))

    def powers(self, w: Array) -> Array:
        """Return ``a_q wⱼ/m`` for each cosine and sine of a feature."""
        weights = like(self.rules[self.n_waves][1], w)
        return array_namespace(w).reshape((w / self.budget)[:, None] * weights, (-1,))

    def collect(self, slopes: np.ndarray, w: np.ndarray) -> np.ndarray:
        return slopes.reshape(-1, self.n_waves) @ self.rules[self.n_waves][1] / self.budget

    def places(self, columns: np.ndarray) -> np.ndarray:
        return (columns[:, None] * self.n_waves + np.arange(self.n_waves)).ravel()


class GaussianSum(WaveSum):
    """The same with a one-dimensional Gaussian kernel κ, which has a single scale.

    The Gauss–Hermite rule with eight nodes has an error of 0.001 up to 3.5 deviations apart.
    """

    rules: ClassVar[Rules] = {_N_WAVES: (_NODES[_NODES > 0.0], np.tile(_SHARES[_NODES > 0.0], 2))}


@dataclass(repr=False)
class Mixed(Kernel):
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
    >>> Mixed(mixing=0.5).sees_interactions
    True
    """

    mixing: float | str = "auto"
    bandwidth: float | str = "median"
    name = "mixed"
    sums_features = True
    has_components = True

    def check(self) -> None:
        super().check()
        mixing: Any = self.mixing
        if mixing != "auto" and not (is_finite_number(mixing) and 0.0 <= mixing <= 1.0):
            raise ValueError(f'mixing must be "auto" or a number in [0, 1]; got {mixing!r}.')

    def at(self, scale: Scale) -> WaveSum:
        # σ² is roughly the sum of the features' variances; each feature gets an equal share.
        sigma = scale.sigma / math.sqrt(scale.n_features)
        joint = RationalQuadratic(bandwidth=scale.sigma)
        return WaveSum(sigma, scale.budget, scale.n_waves, float(self.mixing), joint)

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        return RationalQuadratic().draw_frequencies(n_columns, n_components, rng)


@dataclass(repr=False)
class Additive(Kernel):
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
    sees_interactions = False
    sums_features = True
    has_components = True

    def at(self, scale: Scale) -> WaveSum:
        sigma = scale.sigma / math.sqrt(scale.n_features)
        return WaveSum(sigma, scale.budget, scale.n_waves)
