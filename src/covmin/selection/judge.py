"""The judge of a set of features: kernel ridge regression with a scale and a ridge of its own.

The kernel is ``exp(c Σⱼ κ(xⱼ, x̃ⱼ))``, a sum over single features inside an exponential: expanded,
it has a term for every feature, every pair, every triple, with the higher ones weighing less.
A factor of it for each feature contains the constants, which a Gaussian does not. So a function
of some features is one of more features as well, at no greater norm.

Scale and ridge are those of the smallest leave-one-out error among the samples that the judge
is given. The kernel and the ridge that select features serve another end: they would leave much
of a strong effect unexplained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from covmin.core.kernels import GaussianSum
from covmin.plan import budgets
from covmin.plan.constants import EXTRAPOLATION, FUNCTION_RIDGES, FUNCTION_SCALES

# Directions of the kernel matrix below this share of its trace are rounding errors.
_ROUNDING = 1e-12
# Rows that are predicted at once: as many as fit into the memory of a few hundred columns.
_BLOCK_ROWS = 10_000


@dataclass(frozen=True)
class Regression:
    """A function of some features, and what it leaves unexplained."""

    unexplained: float  # leave-one-out error, as a share of that of the mean; at most 1
    columns: np.ndarray  # columns of the samples that it depends on
    scale: float
    weights: np.ndarray  # of these columns in the exponent
    near: np.ndarray  # samples around which it is built, (n_landmarks, n_columns)
    coefficients: np.ndarray  # (n_landmarks, n_responses)
    intercept: np.ndarray
    bounds: np.ndarray  # of the predictions, (2, n_responses)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The responses at new samples, of which all columns are given."""
        predicted = np.empty((len(X), self.intercept.size))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            K = np.exp(_summed(X[rows, self.columns], self.near, self.weights, self.scale))
            predicted[rows] = K @ self.coefficients + self.intercept
        return np.clip(predicted, *self.bounds)


def judge(
    X: np.ndarray,
    Y: np.ndarray,
    p: np.ndarray,
    weights: np.ndarray,
    sets: Sequence[np.ndarray] | None = None,
    *,
    also: np.ndarray | None = None,
    n_landmarks: int | None = None,
) -> list[Regression]:
    """Regress a response on each of some sets of columns.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Standardised samples, in random order: functions are built around the first.
    Y : ndarray of shape (n_samples, n_responses)
        What decides on scale and ridge.
    p : ndarray of shape (n_samples,)
        Weights of the samples; they sum to one.
    weights : ndarray of shape (n_columns,)
        Weights of the columns; those of a feature add up to one.
    sets : sequence of ndarrays of column numbers, default=None
        None is the set of all. Where each holds the one before, sums are not made anew.
    also : ndarray of shape (n_samples, n_more), default=None
        Responses that are predicted too, after those of Y, by the same scale and ridge.
    n_landmarks : int, default=None
        Samples around which functions are built; None takes a few for the root of their number.

    Notes
    -----
    A response of two values is never predicted outside of these. Others go beyond the values
    seen by half of their range at most: wide functions are next to polynomials, which may go
    anywhere where there are no samples.
    """
    sets = [np.arange(X.shape[1])] if sets is None else sets
    X = X.astype(np.float64, copy=False)
    n_landmarks = min(len(X), n_landmarks or budgets.n_landmarks(len(X)))
    responses = Y if also is None else np.column_stack([Y, also])
    bounds, mean = _bounds(responses), p @ responses
    sums = [_Sums(X, weights, n_landmarks, scale) for scale in FUNCTION_SCALES]
    found: list[Regression] = []
    nearby: int | None = None  # functions of a set are about as fast as those of the set before
    searched = 0  # size of the set for which scales were last compared: when it doubles, again
    for columns in sets:

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

        if columns.size == 0 or (nearby is not None and searched <= columns.size < 2 * searched):
            found.append(regress(nearby or 0)[1])
            continue
        nearby, regression = _least_nearby(regress, len(sums), nearby)
        searched = columns.size
        found.append(regression)
    return found


def _least_nearby(
    regress: Callable[[int], tuple[float, Regression]], n_scales: int, start: int | None
) -> tuple[int, Regression]:
    """The scale of the least error, and its regression: from a start on, neighbour by neighbour.

    Without a start all are tried.
    """
    tried = {k: regress(k) for k in (range(n_scales) if start is None else [start])}
    while True:
        best = min(tried, key=lambda k: (tried[k][0], k))
        new = [k for k in (best - 1, best + 1) if 0 <= k < n_scales and k not in tried]
        if not new:
            return best, tried[best][1]
        tried |= {k: regress(k) for k in new}


def summed_kernel(X: np.ndarray, weights: np.ndarray, scale: float) -> np.ndarray:
    """``Σⱼ κ((xⱼ − x̃ⱼ)/s)`` between all samples."""
    return _summed(X, X, weights, scale)


def principal_components(K: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal components of the samples, as a kernel sees them, and their variances.

    K (n_samples, n_landmarks) is the kernel between all samples and the first of them.
    """
    kernel = _Components.of(K, p)
    return kernel.Z, kernel.variances


@dataclass(frozen=True)
class _Components:
    """Centred components ``Z = K·basis − mean·basis`` of the samples."""

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
        """Coefficients on the landmarks of the functions that predict Y."""
        along = self.Z.T @ (p[:, None] * Y)
        return np.asarray(self.basis @ (along / (self.variances + ridge)[:, None]))

    def leave_one_out(self, Y: np.ndarray, p: np.ndarray, bounds: np.ndarray) -> list[float]:
        """Mean squared leave-one-out residual at each ridge; the last is that of the mean."""
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
    """Least and largest prediction of each response."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    two_values = ((low == Y) | (high == Y)).all(axis=0)
    beyond = np.where(two_values, 0.0, EXTRAPOLATION * (high - low))
    return np.array([low - beyond, high + beyond])


class _Sums:
    """Sums over features between all samples and the landmarks, at one scale.

    Where a set holds the one before, its sum goes on from there.
    """

    def __init__(self, X: np.ndarray, weights: np.ndarray, n_landmarks: int, scale: float) -> None:
        self._X, self._weights = X, weights
        self._n_landmarks, self._scale = n_landmarks, scale
        self._columns = np.empty(0, dtype=int)
        self._total = np.zeros((len(X), n_landmarks))

    def kernel(self, columns: np.ndarray) -> np.ndarray:
        """``exp`` of the mean over some columns."""
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
    """``Σⱼ κ((xⱼ − x̃ⱼ)/s)`` between some samples and others."""
    if weights.size == 0:
        return np.zeros((len(A), len(B)))
    return np.asarray(GaussianSum(scale).cross(A, B, weights))
