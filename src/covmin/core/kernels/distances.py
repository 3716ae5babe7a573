"""Kernels of distances: Gaussian, rational quadratic, Laplacian; and the median rule."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from ..arrays import (
    Array,
    array_namespace,
    column_dots,
    device_of,
    l1_distances,
    pairwise_l1_dots,
    row_tiles,
    take,
    to_numpy,
)
from .base import Pullback, ShiftInvariant, is_finite_number, outer

# Smallest number of rows of a matrix product.
_PRODUCT_ROWS = 128
# Smallest and largest α of the rational quadratic kernel.
_LIMITS = (0.01, 100.0)
# Cut-off of the frequencies of the random Fourier features of the Laplacian, in units of 1/σ.
_LARGEST_FREQUENCY = 200.0
# With more samples than this, the median distance is that of the pairs of a subsample: half a
# million pairs determine it to a fraction of a per cent.
MEDIAN_ROWS = 1024
# The median of many values is bracketed by two quantiles of every 64th, if these are enough.
_STRIDE, _FEWEST_OF_FEW = 64, 500


def squared_distances(A: Array, B: Array) -> Array:
    """Return ``‖a − b‖²`` for all pairs of rows."""
    S = A @ B.T
    S *= -2.0
    S += column_dots(A.T, A.T)[:, None]
    S += column_dots(B.T, B.T)[None, :]
    return S


def median_bandwidth(X: Array, order: int, p: np.ndarray | None = None, *, seed: int = 0) -> float:
    """Return the bandwidth for which a pair of rows at the median distance has kernel value 1/e.

    For Euclidean distances (``order=2``) this is the median over pairs divided by √2, as in the
    paper; for L1 distances (``order=1``) it is the median. A pair is weighted by the product of
    its weights p. Pairs of equal samples do not count, so that columns with few distinct values
    also have a scale. If there are more than 1024 rows, a subsample of 1024 is used.
    """
    xp = array_namespace(X)
    p = np.ones(X.shape[0]) if p is None else p
    if X.shape[0] > MEDIAN_ROWS:
        rows = np.random.default_rng(seed).choice(X.shape[0], MEDIAN_ROWS, replace=False)
        X, p = take(X, rows, axis=0), p[rows]
    X = X if order == 1 else X - xp.mean(X, axis=0)
    distances = to_numpy(l1_distances(X, X) if order == 1 else squared_distances(X, X))
    pairs = np.concatenate([row[k:] for k, row in enumerate(distances, 1)])  # faster than indices

    # For equal rows the squared distance is a rounding error of the squared lengths.
    rounding = 0.0 if order == 1 else 4.0 * float(xp.finfo(X.dtype).eps)
    lengths = to_numpy(column_dots(X.T, X.T))
    is_weighted = np.ptp(p) > 0.0
    weights = None
    if is_weighted or pairs.min(initial=np.inf) <= 2.0 * rounding * lengths.max():
        first, second = np.triu_indices(len(lengths), 1)
        distinct = pairs > rounding * (lengths[first] + lengths[second])
        weights = (p[first] * p[second])[distinct] if is_weighted else None
        pairs = pairs[distinct]
    if pairs.size == 0 or not np.isfinite(pairs.max()):
        text = "The median bandwidth is undefined: all samples are equal, or distances overflow."
        cure = "Standardise the columns (standardize=True), or pass bandwidth as a positive number."
        raise ValueError(f"{text} {cure}")
    median = _median(pairs, weights)
    return median if order == 1 else float(np.sqrt(median / 2.0))


def _median(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the median; without weights, by searching only between two sample quantiles."""
    if weights is not None:
        order = np.argsort(values)
        values, reached = values[order], np.cumsum(weights[order])
        # If exactly half of the weight lies below, take the mean of the two middle values.
        halves = 0.5 * reached[-1] * np.array([1.0 - 1e-9, 1.0 + 1e-9])
        middle = np.minimum(np.searchsorted(reached, halves), values.size - 1)
        return float(values[middle].mean())
    ends = (values.size - 1) // 2, values.size // 2
    few = np.sort(values[::_STRIDE])
    if few.size > _FEWEST_OF_FEW:
        low, high = few[int(0.45 * few.size)], few[int(0.55 * few.size)]
        near = values[(values >= low) & (values <= high)]
        below = int(np.count_nonzero(values < low))
        if below <= ends[0] and ends[1] < below + near.size:
            values, ends = near, (ends[0] - below, ends[1] - below)
    ordered = np.partition(values, ends)
    return float(0.5 * (ordered[ends[0]] + ordered[ends[1]]))


class Radial(ShiftInvariant):
    """``k(x, x̃) = κ(−‖w ⊙ (x − x̃)‖² / 2σ²)`` with κ(0) = 1.

    A kernel of this form that is valid for any number of columns is a mixture of Gaussians with
    different bandwidths: ``κ(E) = 𝔼 exp(sE)`` for a random s ≥ 0. A subclass defines κ, its
    derivative, and draws of s.
    """

    zero_is_absorbing = True

    def profile(self, E: Array) -> Array:
        """Return κ(E) for exponents E ≤ 0, which may be overwritten."""
        raise NotImplementedError

    def slope(self, K: Array) -> Array:
        """Return κ′(E), given K = κ(E)."""
        raise NotImplementedError

    def draw_mixture(self, n: int, rng: Generator) -> np.ndarray:
        """Draw s for each of n frequencies."""
        raise NotImplementedError

    def prepare(self, X: Array) -> Array:
        """Return the centred samples: distances between far-away samples lose digits."""
        return X - array_namespace(X).mean(X, axis=0)

    def cross(self, A: Array, B: Array, w: Array) -> Array:
        # Scale the columns (n·d numbers), not the n² distances.
        scale = w / (math.sqrt(2.0) * float(self.bandwidth))
        centre = array_namespace(B).mean(B, axis=0)
        E = squared_distances((A - centre) * scale, (B - centre) * scale)
        E *= -1.0
        return self.profile(E)

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """Return K and the pullback ``−(2wⱼ/σ²) (XᵀLX)ⱼⱼ``, by one n×n×d product.

        L is the graph Laplacian ``diag(B1) − B`` of the symmetrised ``B = PQᵀ ∘ κ′``. It is
        processed in tiles of rows that fit in the cache, and by half: B is symmetric.
        """
        X, n, xp = prepared, prepared.shape[0], array_namespace(prepared)
        sigma = float(self.bandwidth)
        Z = X * (w / sigma)
        half = 0.5 * column_dots(Z.T, Z.T)
        K = Z @ Z.T
        for tile in row_tiles(K):  # several passes while the tile is in the cache
            E = K[tile, :]
            E -= half[tile, None]
            E -= half
            K[tile, :] = self.profile(E)

        def pullback(P: Array, Q: Array) -> Array:
            total: Array = 0.0
            degrees = xp.zeros(n, dtype=X.dtype, device=device_of(X))
            for tile in row_tiles(K, fewest=_PRODUCT_ROWS):
                right = slice(tile.start, n)
                B = outer(P, Q, tile, right)
                B *= self.slope(K[tile, right])
                B[:, tile.stop - tile.start :] *= 2.0
                degrees[right] += 0.5 * xp.sum(B, axis=0)
                part = B @ X[right, :]
                part -= 0.5 * xp.sum(B, axis=1)[:, None] * X[tile, :]
                total = total + column_dots(X[tile, :], part)
            total = total - column_dots(X, degrees[:, None] * X)
            return (2.0 / sigma**2) * w * total

        return K, pullback

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Draw normal frequencies times √s; each has a cosine and a sine.

        Within a block of up to ``n_columns`` frequencies the directions are orthogonal, which makes
        the error of the kernel several times smaller.
        """
        n_frequencies = (n_components + 1) // 2
        blocks = []
        for start in range(0, n_frequencies, n_columns):
            size = min(n_columns, n_frequencies - start)
            directions, R = np.linalg.qr(rng.standard_normal((n_columns, size)))
            # Without these signs the directions would not be uniformly distributed.
            directions *= np.where(np.diag(R) < 0.0, -1.0, 1.0)
            blocks.append(directions * np.sqrt(rng.chisquare(n_columns, size)))
        return np.concatenate(blocks, axis=1) * np.sqrt(self.draw_mixture(n_frequencies, rng))


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
        return array_namespace(E).exp(E)

    def slope(self, K: Array) -> Array:
        return K

    def draw_mixture(self, n: int, rng: Generator) -> np.ndarray:
        return np.ones(n)  # a single scale


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
            text = f"alpha must be a number from {least:g} to {most:g}; got {self.alpha!r}."
            raise ValueError(f"{text} Others give a nearly constant or nearly Gaussian kernel.")

    def profile(self, E: Array) -> Array:
        """Return ``(1 − E/α)^−α = 𝔼 exp(sE)``."""
        E *= -1.0 / float(self.alpha)
        E += 1.0
        if self.alpha == 0.5:  # NumPy takes twice as long for a general power as for a root
            E **= 0.5
            return 1.0 / E
        E **= -float(self.alpha)
        return E

    def slope(self, K: Array) -> Array:
        """Return ``(1 − E/α)^−(α+1)``."""
        slope = K ** (1.0 / float(self.alpha))
        slope *= K
        return slope

    def draw_mixture(self, n: int, rng: Generator) -> np.ndarray:
        """Draw gamma variables with shape α and mean one."""
        return rng.gamma(float(self.alpha), 1.0 / float(self.alpha), n)


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
        scale = w / float(self.bandwidth)
        return array_namespace(A).exp(-l1_distances(A * scale, B * scale))

    def matrix_and_pullback(self, prepared: Array, w: Array) -> tuple[Array, Pullback]:
        """Return K and the pullback ``−(1/σ) Σₐᵦ (PQᵀ∘K)ₐᵦ |xₐⱼ − xᵦⱼ|``."""
        K = self.cross(prepared, prepared, w)

        def pullback(P: Array, Q: Array) -> Array:
            B = outer(P, Q)
            B *= K
            return (-1.0 / float(self.bandwidth)) * pairwise_l1_dots(prepared, B)

        return K, pullback

    def draw_frequencies(self, n_columns: int, n_components: int, rng: Generator) -> np.ndarray:
        """Draw Cauchy frequencies, cut off at 200/σ, which omits 0.3 % of them per feature.

        The derivative in the weight of a feature is proportional to its frequency, and a Cauchy
        variable has no mean: without the cut-off the gradient would not converge with more draws.
        """
        quantiles = rng.uniform(-1.0, 1.0, (n_columns, (n_components + 1) // 2))
        return np.tan(quantiles * math.atan(_LARGEST_FREQUENCY))
