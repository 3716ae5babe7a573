"""Kernel ridge regression on all features of a few rows: what it leaves unpredicted."""

from collections.abc import Iterable

import numpy as np

from .arrays import (
    Array,
    array_namespace,
    cos_sin,
    factorize,
    like,
    subtract_outer_sum,
    take,
)
from .kernels import ScaledKernel
from .kernels.additive import WaveSum
from .kernels.sum import Sum
from .problem import Problem, Sample

# Features whose components are made at once.
_COLUMNS = 512


def unpredicted_share(problem: Problem, n_rows: int, ridges: Iterable[float]) -> float:
    """Leave-one-out error with every feature at full weight, over that of the mean.

    At the best of the ridges, by the exact kernel of the first rows; one, where the mean is best.
    """
    features = np.arange(problem.n_features)
    sample = problem.sample.first(n_rows)
    of_the_mean = _mean_square(sample, sample.Y / (1.0 - sample.p)[:, None])
    if of_the_mean == 0.0:
        return 1.0  # a response that does not vary
    X = take(sample.X, problem.units.columns(features), axis=1)
    weights = problem.units.restrict(features).spread(np.ones(features.size))
    sigma = problem.bandwidth(features)
    if problem.kernel.sums_features:
        # An average over many features needs no more than single precision. In units of σ nothing
        # overflows, and less its mean no column loses digits.
        xp = array_namespace(X)
        X, sigma = xp.astype((X - xp.mean(X, axis=0)) / sigma, xp.float32), 1.0
    K = like(_matrix(problem.kernel_over(features, sigma), X, weights), sample.p)
    errors = (_leave_one_out(K, sample, ridge) for ridge in ridges)
    return min(of_the_mean, *errors) / of_the_mean


def _leave_one_out(K: Array, sample: Sample, ridge: float) -> float:
    """Mean squared leave-one-out residual ``αᵢ / (cᵢ − pᵢ²/ε)``, ``c = diag((G + ε/p)⁻¹)``."""
    p = sample.p
    means = K @ p
    G = subtract_outer_sum(K, means, means - p @ means, in_place=False)
    factor = factorize(G, ridge / p)
    return _mean_square(
        sample, factor.solve(sample.Y) / (factor.inverse_diagonal() - p**2 / ridge)[:, None]
    )


def _mean_square(sample: Sample, residuals: Array) -> float:
    return float(array_namespace(residuals).sum(sample.p[:, None] * residuals**2))


def _matrix(kernel: ScaledKernel, X: Array, w: np.ndarray) -> Array:
    """Kernel matrix of X at w, a sum over single features by its components."""
    if isinstance(kernel, Sum):
        return sum(coefficient * _matrix(part, X, w) for coefficient, part in kernel.terms)
    if isinstance(kernel, WaveSum):
        return _matrix_by_waves(kernel, X, w)
    return kernel.matrix_and_pullback(kernel.prepare(X), like(w, X))[0]


def _matrix_by_waves(kernel: WaveSum, X: Array, w: np.ndarray) -> Array:
    """The matrix of a sum over features by its components, some features at a time."""
    frequencies, shares = kernel.rules[kernel.n_waves]
    K: Array = 0.0
    for start in range(0, X.shape[1], _COLUMNS):
        columns = slice(start, start + _COLUMNS)
        roots = like(np.sqrt(np.tile(w[columns], 2) / kernel.budget), X)
        for frequency, share in zip(frequencies, shares, strict=True):
            angles = X[:, columns] * (frequency / kernel.scale)
            waves = cos_sin(angles, share**0.5) * roots
            K = K + waves @ waves.T
    return K
