"""Evaluate feature sets by kernel ridge regression with its own bandwidth and ridge.

The kernel is ``exp(c Σⱼ κ(xⱼ, x̃ⱼ))``, the exponential of a sum over single features. Its expansion
has a term for every feature, every pair, every triple and so on, with decreasing weights. The
factor of each feature contains the constants, which that of a Gaussian does not. A function of
some features is therefore also a function of more features, with no larger norm.

Bandwidth and ridge minimise the leave-one-out error on the samples that the regression is given.
The kernel and the ridge of the selection are not suitable here: they would leave much of a strong
effect unexplained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import solve_triangular

from covmin.constants import EXTRAPOLATION, FUNCTION_RIDGES, FUNCTION_SCALES, LANDMARKS

from .kernels import GaussianSum

# Eigenvalues of the kernel matrix below this fraction of its trace are rounding errors.
_ROUNDING = 1e-12
# Rows to predict at a time, to limit memory.
_BLOCK_ROWS = 10_000


@dataclass(frozen=True)
class Regression:
    """A fitted function of some features, and its error."""

    unexplained: float  # leave-one-out error as a fraction of that of the mean; at most 1
    columns: np.ndarray  # columns that it depends on
    scale: float
    weights: np.ndarray  # of these columns in the exponent
    near: np.ndarray  # landmarks, (n_landmarks, n_columns)
    coefficients: np.ndarray  # (n_landmarks, n_responses)
    intercept: np.ndarray
    bounds: np.ndarray  # of the predictions, (2, n_responses)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict the responses at new samples, given with all columns."""
        predicted = np.empty((len(X), self.intercept.size))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            K = np.exp(_summed(X[rows, self.columns], self.near, self.weights, self.scale))
            predicted[rows] = K @ self.coefficients + self.intercept
        return np.clip(predicted, *self.bounds)


def regress_on_sets(
    X: np.ndarray,
    Y: np.ndarray,
    p: np.ndarray,
    weights: np.ndarray,
    sets: Sequence[np.ndarray] | None = None,
    *,
    also: np.ndarray | None = None,
    n_landmarks: int | None = None,
) -> list[Regression]:
    """Regress a response on each of several sets of columns.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Standardised samples in random order; the first are the landmarks.
    Y : ndarray of shape (n_samples, n_responses)
        Responses that determine bandwidth and ridge.
    p : ndarray of shape (n_samples,)
        Sample weights that sum to one.
    weights : ndarray of shape (n_columns,)
        Weights of the columns; those of a feature add up to one.
    sets : sequence of ndarrays of column numbers, default=None
        None means one set of all columns. Nested sets, in increasing order, are faster.
    also : ndarray of shape (n_samples, n_more), default=None
        Further responses to predict, after those of Y, with the same bandwidth and ridge.
    n_landmarks : int, default=None
        Number of landmarks; None means a small multiple of the root of the number of samples.

    Notes
    -----
    The prediction of a binary response stays between its two values. Other predictions exceed the
    observed range by at most half of it: with a large bandwidth the functions are close to
    polynomials, which can take extreme values where there are no samples.
    """
    sets = [np.arange(X.shape[1])] if sets is None else sets
    X = X.astype(np.float64, copy=False)
    n_landmarks = min(len(X), n_landmarks or landmarks_for(len(X)))
    responses = Y if also is None else np.column_stack([Y, also])
    bounds, mean = _bounds(responses), p @ responses
    sums = [_Sums(X, weights, n_landmarks, scale) for scale in FUNCTION_SCALES]
    found: list[Regression] = []
    nearby: int | None = None  # the bandwidth of a set is close to that of the previous set
    searched = 0  # size of the set at the last search over bandwidths
    for columns in sets:

        @cache
        def regress(number: int, columns: np.ndarray = columns) -> tuple[float, Regression]:
            kernel = _Components.of(sums[number].kernel(columns), p)
            errors = np.array(kernel.leave_one_out(Y, p, bounds[:, : Y.shape[1]]))
            shares = errors / max(errors[-1], np.finfo(float).tiny)
            least = int(np.argmin(shares))
            c = kernel.coefficients(responses, p, FUNCTION_RIDGES[least])
            return float(shares[least]), Regression(
                float(shares[least]),
                columns,
                FUNCTION_SCALES[number],
                _shares(weights[columns]),
                X[:n_landmarks, columns],
                c,
                mean - kernel.mean @ c,
                bounds,
            )

        if columns.size == 0:
            found.append(regress(0)[1])
            continue
        # Search again if the set has doubled, or if the new features matter.
        if nearby is not None and searched <= columns.size < 2 * searched:
            again = regress(nearby)[1]
            if again.unexplained >= found[-1].unexplained:
                found.append(again)
                continue
        nearby, regression = _least_nearby(regress, len(sums), nearby)
        searched = columns.size
        found.append(regression)
    return found


def landmarks_for(n_samples: int) -> int:
    """Return the number of landmarks of a regression on many sets.

    >>> [landmarks_for(n) for n in (50, 2000, 10**6)]
    [100, 268, 1000]
    """
    fewest, over_root, most = LANDMARKS
    return min(most, max(fewest, int(over_root * n_samples**0.5)))


def _least_nearby(
    regress: Callable[[int], tuple[float, Regression]], n_scales: int, start: int | None
) -> tuple[int, Regression]:
    """Return the scale with the lowest error and its regression, by a search from a start.

    Without a start all scales are tried.
    """
    tried = {k: regress(k) for k in (range(n_scales) if start is None else [start])}
    while True:
        best = min(tried, key=lambda k: (tried[k][0], k))
        new = [k for k in (best - 1, best + 1) if 0 <= k < n_scales and k not in tried]
        if not new:
            return best, tried[best][1]
        tried |= {k: regress(k) for k in new}


def summed_kernel(X: np.ndarray, weights: np.ndarray, scale: float) -> np.ndarray:
    """Return ``Σⱼ κ((xⱼ − x̃ⱼ)/s)`` between all samples."""
    return _summed(X, X, weights, scale)


def principal_components(K: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return kernel principal components of the samples, and their variances.

    K (n_samples, n_landmarks) is the kernel matrix between all samples and the first of them.
    """
    kernel = _Components.of(K, p)
    return kernel.Z, kernel.variances


@dataclass(frozen=True)
class _Components:
    """Centred kernel principal components ``Z = K·basis − mean·basis`` of the samples."""

    Z: np.ndarray
    variances: np.ndarray
    basis: np.ndarray  # (n_landmarks, n_components)
    mean: np.ndarray  # of the rows of K

    @classmethod
    def of(cls, K: np.ndarray, p: np.ndarray) -> _Components:
        near = K[: K.shape[1]]
        power = np.trace(near)
        L = np.linalg.cholesky(near + _ROUNDING * power * np.eye(len(near)))
        F = solve_triangular(L, K.T, lower=True, check_finite=False).T
        F -= p @ F
        G = np.sqrt(p)[:, None] * F
        variances, rotation = np.linalg.eigh(G.T @ G)
        kept = variances > _ROUNDING * power / len(near)
        rotation = rotation[:, kept]
        basis = solve_triangular(L, rotation, lower=True, trans="T", check_finite=False)
        return cls(F @ rotation, variances[kept], basis, p @ K)

    def coefficients(self, Y: np.ndarray, p: np.ndarray, ridge: float) -> np.ndarray:
        """Return the coefficients on the landmarks of the functions that predict Y."""
        along = self.Z.T @ (p[:, None] * Y)
        return np.asarray(self.basis @ (along / (self.variances + ridge)[:, None]))

    def leave_one_out(self, Y: np.ndarray, p: np.ndarray, bounds: np.ndarray) -> list[float]:
        """Return the mean squared leave-one-out residual at each ridge; the last is the mean's."""
        mean = p @ Y
        along = self.Z.T @ (p[:, None] * Y)
        shrunk = 1.0 / (self.variances[:, None] + np.array(FUNCTION_RIDGES))
        left_out = 1.0 - p[:, None] * (1.0 + self.Z**2 @ shrunk)
        left_out = np.maximum(left_out, np.finfo(float).eps)
        errors = []
        for number, ridge in enumerate(FUNCTION_RIDGES):
            fitted = mean + self.Z @ (shrunk[:, number, None] * along)
            residuals = (Y - fitted) / left_out[:, number, None]
            if np.isfinite(ridge):
                residuals = Y - np.clip(Y - residuals, *bounds)
            errors.append(float(p @ (residuals**2).sum(axis=1)))
        return errors


def _bounds(Y: np.ndarray) -> np.ndarray:
    """Return the smallest and largest allowed prediction of each response."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    two_values = ((low == Y) | (high == Y)).all(axis=0)
    beyond = np.where(two_values, 0.0, EXTRAPOLATION * (high - low))
    return np.array([low - beyond, high + beyond])


class _Sums:
    """Sums over features between all samples and the landmarks, at one scale.

    The sum for a set that contains the previous one is updated, not recomputed.
    """

    def __init__(self, X: np.ndarray, weights: np.ndarray, n_landmarks: int, scale: float) -> None:
        self._X, self._weights = X, weights
        self._n_landmarks, self._scale = n_landmarks, scale
        self._columns = np.empty(0, dtype=int)
        self._total = np.zeros((len(X), n_landmarks))

    def kernel(self, columns: np.ndarray) -> np.ndarray:
        """Return the exponential of the mean over some columns."""
        if not np.isin(self._columns, columns).all():
            self._columns, self._total = self._columns[:0], np.zeros_like(self._total)
        new = np.setdiff1d(columns, self._columns)
        if new.size:
            some = self._X[:, new]
            added = _summed(some, some[: self._n_landmarks], self._weights[new], self._scale)
            self._total = self._total + added
        self._columns = columns
        share = self._weights[columns].sum()
        return np.exp(self._total / max(share, np.finfo(float).tiny))


def _shares(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum() if weights.size else weights


def _summed(A: np.ndarray, B: np.ndarray, weights: np.ndarray, scale: float) -> np.ndarray:
    """Return ``Σⱼ κ((xⱼ − x̃ⱼ)/s)`` between two sets of samples."""
    if weights.size == 0:
        return np.zeros((len(A), len(B)))
    return np.asarray(GaussianSum(scale).cross(A, B, weights))
