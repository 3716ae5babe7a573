"""Kernels of the scaled samples ``w ⊙ x``, their derivatives and their random features.

A kernel answers three questions: its matrix between two sets of samples
(:meth:`Kernel.cross`), its matrix on one set together with the way back from a
derivative in K to a derivative in w (:meth:`Kernel.matrix_and_pullback`), and its
finite features (:meth:`Kernel.features`). Sums of kernels follow from the same
three answers, because the matrix and the pullback of a sum are sums
(:mod:`covmin.core.mixing`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from .arrays import (
    Array,
    add_diagonal,
    array_namespace,
    column_dots,
    exp_in_place,
    l1_distances,
    pairwise_l1_dots,
    subtract_outer_sum,
    take,
    to_numpy,
)
from .features import FiniteKernel, FourierMap, LinearMap, orthogonal_frequencies

__all__ = [
    "KERNELS",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Pullback",
    "median_bandwidth",
    "median_rows",
]

Pullback = Callable[[Array, Array], Array]

# Beyond this many samples the median distance is taken over the pairs of a sample of rows:
# half a million pairs fix it to a fraction of a per cent.
_MEDIAN_ROWS = 1024
# Frequencies of the Laplacian's random features are cut off here, in units of 1/σ.
_LARGEST_FREQUENCY = 200.0
_POLYNOMIAL_FEATURES = (
    "The polynomial kernel has no random Fourier features; use approximation=None (exact), or "
    "another kernel."
)


class Kernel(Protocol):
    """What the Gram operators ask of a kernel."""

    @property
    def zero_is_absorbing(self) -> bool:
        """Whether ∂K/∂wⱼ vanishes at wⱼ = 0, so that a feature at zero stays there."""

    @property
    def order(self) -> int:
        """Which distances set the bandwidth: 1 for L1, 2 for Euclidean."""

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        """Kernel matrix (n, m) between the rows of A (n, d) and of B (m, d)."""

    def prepare(self, X: Array) -> Any:
        """What the kernel can compute of X (n, d) once for all w."""

    def narrow(self, prepared: Any, columns: np.ndarray) -> Any:
        """What :meth:`prepare` gives for some of the features."""

    def matrix_and_pullback(self, prepared: Any, w: Array) -> tuple[Array, Pullback]:
        """Kernel matrix K (n, n), and the map from P and Q (n, k) to ``tr(Pᵀ ∂K/∂wⱼ Q)``."""

    def draw_frequencies(
        self, n_features: int, n_components: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw the frequencies Ω of random features for unit bandwidth, (n_features, any)."""

    def features(self, frequencies: Array) -> FiniteKernel:
        """The features whose inner products approximate the kernel."""


class _OfSamples:
    """A kernel that works on the samples themselves and prepares nothing."""

    def prepare(self, X: Array) -> Array:
        """The samples."""
        return X

    def narrow(self, prepared: Array, columns: np.ndarray) -> Array:
        """Some of the features."""
        return take(prepared, columns, axis=1)


class _ShiftInvariant(_OfSamples):
    """A kernel of differences, which has random Fourier features."""

    sigma: float

    def features(self, frequencies: Array) -> FiniteKernel:
        """A cosine and a sine for each frequency."""
        return FiniteKernel(moving=FourierMap(frequencies, self.sigma))


def _outer(P: Array, Q: Array) -> Array:
    """The symmetric part of ``PQᵀ``: the derivative of ``tr(PᵀKQ)`` in K."""
    if P is Q:
        return P @ P.T
    B = P @ Q.T
    return 0.5 * (B + B.T)


def _squared_distances(A: Array, B: Array) -> Array:
    S = A @ B.T
    S *= -2.0
    S += column_dots(A.T, A.T)[:, None]
    S += column_dots(B.T, B.T)[None, :]
    return S


@dataclass(frozen=True)
class Gaussian(_ShiftInvariant):
    """``k(x, x̃) = exp(−‖w ⊙ (x − x̃)‖² / 2σ²)``.

    Parameters
    ----------
    sigma : float
        Bandwidth σ.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> Gaussian(1.0).cross(X, X, np.ones(1)).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    sigma: float = 1.0
    zero_is_absorbing = True
    order = 2

    def prepare(self, X: Array) -> Array:
        """The samples less their mean: distances between far-away samples drown in rounding."""
        return X - array_namespace(X).mean(X, axis=0)

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        """Kernel matrix (n, m) between the rows of A and of B."""
        # The scale goes on the features (n·d numbers), not on the n² distances; the mean is
        # taken off because distances between far-away samples would drown in rounding.
        scale = w / (math.sqrt(2.0) * float(self.sigma))
        centre = array_namespace(B).mean(B, axis=0)
        S = _squared_distances((A - centre) * scale, (B - centre) * scale)
        S *= -1.0
        return exp_in_place(S)

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """Kernel matrix, and the pullback by one n×n×d product.

        With ``B = PQᵀ ∘ K``, made symmetric, and the graph Laplacian ``L = diag(B1) − B``:
        ``tr(Pᵀ ∂K/∂wⱼ Q) = −(2wⱼ/σ²) (XᵀLX)ⱼⱼ``. L is formed among the n² numbers of B, so
        that the n·d numbers of the product are passed over once.
        """
        X = prepared
        Z = X * (w / float(self.sigma))
        half = 0.5 * column_dots(Z.T, Z.T)
        K = exp_in_place(subtract_outer_sum(Z @ Z.T, half, half, in_place=True))
        del Z

        def pullback(P: Array, Q: Array) -> Array:
            B = _outer(P, Q)
            B *= K
            minus_L = add_diagonal(B, -array_namespace(B).sum(B, axis=1))
            return (2.0 / float(self.sigma) ** 2) * w * column_dots(X, minus_L @ X)

        return K, pullback

    def draw_frequencies(
        self, n_features: int, n_components: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Normal frequencies, orthogonal in blocks: one for a cosine and a sine."""
        return orthogonal_frequencies(n_features, (n_components + 1) // 2, rng)


@dataclass(frozen=True)
class Laplacian(_ShiftInvariant):
    """``k(x, x̃) = exp(−Σⱼ wⱼ |xⱼ − x̃ⱼ| / σ)``.

    The derivative does not vanish at wⱼ = 0, so a feature can come back.

    Parameters
    ----------
    sigma : float
        Bandwidth σ.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> Laplacian(1.0).cross(X, X, np.ones(1)).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    sigma: float = 1.0
    zero_is_absorbing = False
    order = 1

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        """Kernel matrix (n, m) between the rows of A and of B."""
        scale = w / float(self.sigma)
        S = l1_distances(A * scale, B * scale)
        S *= -1.0
        return exp_in_place(S)

    def matrix_and_pullback(self, X: Array, w: Array) -> tuple[Array, Pullback]:
        """Kernel matrix, and the pullback ``−(1/σ) Σₐᵦ (PQᵀ∘K)ₐᵦ |xₐⱼ − xᵦⱼ|``."""
        K = self.cross(X, X, w)

        def pullback(P: Array, Q: Array) -> Array:
            B = _outer(P, Q)
            B *= K
            return (-1.0 / float(self.sigma)) * pairwise_l1_dots(X, B)

        return K, pullback

    def draw_frequencies(
        self, n_features: int, n_components: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Cauchy frequencies, cut off at 200/σ.

        The slope of a feature in w is proportional to its frequency, and a Cauchy frequency
        has no mean: without the cut the gradient would not settle however many are drawn.
        The cut leaves out 0.3 % of the frequencies of each feature.
        """
        shape = (n_features, (n_components + 1) // 2)
        quantiles = rng.uniform(-1.0, 1.0, shape)
        return np.tan(quantiles * math.atan(_LARGEST_FREQUENCY))


@dataclass(frozen=True)
class Linear(_OfSamples):
    """``k(x, x̃) = Σⱼ wⱼ² xⱼ x̃ⱼ``.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0]])
    >>> Linear().cross(X, X, np.ones(1))
    array([[1., 2.],
           [2., 4.]])
    """

    sigma: float = 1.0  # accepted for a uniform construction; a linear kernel has no scale
    zero_is_absorbing = True
    order = 2

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        """Kernel matrix (n, m) between the rows of A and of B."""
        return (A * w) @ (B * w).T

    def matrix_and_pullback(self, X: Array, w: Array) -> tuple[Array, Pullback]:
        """Kernel matrix, and the pullback ``2wⱼ Σ (XᵀP)ⱼ ∘ (XᵀQ)ⱼ``."""
        Z = X * w
        return Z @ Z.T, lambda P, Q: 2.0 * w * column_dots(P.T @ X, Q.T @ X)

    def draw_frequencies(
        self, n_features: int, n_components: int, rng: np.random.Generator
    ) -> np.ndarray:
        """None: the low-rank form is exact."""
        return np.empty((n_features, 0))

    def features(self, frequencies: Array) -> FiniteKernel:
        """The samples themselves."""
        return FiniteKernel(fixed=LinearMap())


@dataclass(frozen=True)
class Polynomial(_OfSamples):
    """``k(x, x̃) = (c + Σⱼ wⱼ² xⱼ x̃ⱼ / σ²)^p``.

    Parameters
    ----------
    sigma : float
        Scale σ of the inner product.
    degree : int
        Power p.
    coef0 : float
        Constant c.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0]])
    >>> Polynomial(degree=2).cross(X, X, np.ones(1))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    sigma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    zero_is_absorbing = True
    order = 2

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        """Kernel matrix (n, m) between the rows of A and of B."""
        return self._base(A, B, w) ** self.degree

    def _base(self, A: Array, B: Array, w: Array) -> Array:
        scale = w / float(self.sigma)
        S = (A * scale) @ (B * scale).T
        S += self.coef0
        return S

    def matrix_and_pullback(self, X: Array, w: Array) -> tuple[Array, Pullback]:
        """Kernel matrix, and the pullback of the linear kernel under the power's slope."""
        S = self._base(X, X, w)
        slope = S ** (self.degree - 1)
        K = S * slope

        def pullback(P: Array, Q: Array) -> Array:
            B = _outer(P, Q)
            B *= slope
            return (2.0 * self.degree / float(self.sigma) ** 2) * w * column_dots(X, B @ X)

        return K, pullback

    def draw_frequencies(
        self, n_features: int, n_components: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Refuse: the polynomial kernel is not shift-invariant."""
        raise ValueError(_POLYNOMIAL_FEATURES)

    def features(self, frequencies: Array) -> FiniteKernel:
        """Refuse, as :meth:`draw_frequencies` does."""
        raise ValueError(_POLYNOMIAL_FEATURES)


KERNELS: dict[str, type[Any]] = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "linear": Linear,
    "polynomial": Polynomial,
}


@lru_cache(maxsize=2)
def _pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of n rows: asked for by every stage of a path."""
    return np.triu_indices(n, 1)


def _distinct_pairs(X: Array, order: int) -> tuple[np.ndarray, np.ndarray]:
    """L1 or squared Euclidean distances of all pairs of rows, and which of them differ."""
    xp = array_namespace(X)
    upper = _pairs(X.shape[0])
    if order == 1:
        pairs = to_numpy(l1_distances(X, X))[upper]
        return pairs, pairs > 0.0
    X = X - xp.mean(X, axis=0)
    pairs = to_numpy(_squared_distances(X, X))[upper]
    # Squared distances of equal rows are rounding errors of the squared lengths.
    lengths = to_numpy(column_dots(X.T, X.T))
    rounding = 4.0 * float(xp.finfo(X.dtype).eps) * (lengths[upper[0]] + lengths[upper[1]])
    return pairs, pairs > rounding


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """Median of values that count as often as their weights say.

    Examples
    --------
    >>> _weighted_median(np.array([3.0, 1.0, 2.0]), np.array([2.0, 1.0, 1.0]))
    2.5
    """
    order = np.argsort(values)
    values, reached = values[order], np.cumsum(weights[order])
    half = 0.5 * reached[-1]
    # Exactly half below is an even count: the mean of the two in the middle.
    slack = 1e-9 * half
    low = int(np.searchsorted(reached, half - slack))
    high = int(np.searchsorted(reached, half + slack))
    return float(0.5 * (values[low] + values[min(high, values.size - 1)]))


def median_rows(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """The rows whose distances set the bandwidth: all, or a sample of them.

    Examples
    --------
    >>> median_rows(3, np.random.default_rng(0))
    array([0, 1, 2])
    """
    if n_samples <= _MEDIAN_ROWS:
        return np.arange(n_samples)
    return np.sort(rng.choice(n_samples, _MEDIAN_ROWS, replace=False))


def median_bandwidth(
    X: Array, order: int, rng: np.random.Generator, p: np.ndarray | None = None
) -> float:
    """Bandwidth at which the kernel of a pair at the median distance is 1/e.

    For Euclidean distances (``order=2``) this is the median over pairs divided by √2,
    as in the paper; for L1 distances (``order=1``) the median itself. Pairs of equal
    samples do not count, so that a column with few distinct values has a scale too.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    order : {1, 2}
        L1 or Euclidean distances.
    rng : numpy.random.Generator
        Draws the rows when there are more than 1024.
    p : ndarray of shape (n_samples,), optional
        Sample weights: a pair counts by the product of its two. Equal by default.

    Returns
    -------
    sigma : float

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> rng = np.random.default_rng(0)
    >>> round(median_bandwidth(X, 2, rng), 3), median_bandwidth(X, 1, rng)
    (1.414, 2.0)
    """
    if p is None:
        p = np.ones(X.shape[0])
    if X.shape[0] > _MEDIAN_ROWS:
        rows = median_rows(X.shape[0], rng)
        X, p = take(X, rows, axis=0), p[rows]
    pairs, distinct = _distinct_pairs(X, order)
    if not distinct.any() or not np.isfinite(pairs).all():
        raise ValueError(
            "The median bandwidth is not defined: all samples are equal, or their distances "
            "overflow. Check that the columns vary, standardise them (standardize=True), or "
            "pass bandwidth as a positive number."
        )
    if np.ptp(p) == 0.0:
        median = float(np.median(pairs[distinct]))
    else:
        first, second = _pairs(p.size)
        median = _weighted_median(pairs[distinct], (p[first] * p[second])[distinct])
    return median if order == 1 else float(np.sqrt(median / 2.0))
