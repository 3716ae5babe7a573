"""Kernel ridge regression on any features, with its own bandwidth and ridge.

The kernel is ``exp(c Σⱼ κ(xⱼ, x̃ⱼ))``, the exponential of a sum over single features. Its expansion
has a term for every feature, every pair, every triple and so on, with decreasing weights. The
factor of each feature contains the constants, which that of a Gaussian does not. A function of
some features is therefore also a function of more features, with no larger norm.

Bandwidth and ridge minimise the leave-one-out error on the samples that the regression is given.
The kernel and the ridge of the selection are not suitable here: they would leave much of a strong
effect unexplained.

Targets and vectors are scaled by √p, where p are the sample weights, so that sums of products are
plain sums.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

from covmin.constants import EXTRAPOLATION, FUNCTION_RIDGES, FUNCTION_SCALES, LANDMARKS

from .kernels.additive import GaussianSum

# Eigenvalues of the kernel matrix below this fraction of its trace are rounding errors.
_ROUNDING = 1e-12
# Rows to predict at a time, to limit memory.
_BLOCK_ROWS = 10_000
_TINY = np.finfo(float).tiny
#: Leading columns of which sums are regressed; and samples for each: a sum of so few columns is not
#: y by chance, even if they are chosen among thousands.
MOST_SUMMANDS, _FOR_EACH_SUMMAND = 100, 5


def landmarks_for(n_samples: int) -> int:
    """Return the number of landmarks of a regression on many sets.

    >>> [landmarks_for(n) for n in (50, 2000, 10**6)]
    [100, 268, 1000]
    """
    fewest, over_root, most = LANDMARKS
    return min(most, max(fewest, int(over_root * n_samples**0.5)))


def summed_kernel(A: np.ndarray, B: np.ndarray, weights: np.ndarray, scale: float) -> np.ndarray:
    """Return ``Σⱼ ωⱼ κ((aⱼ − bⱼ)/s)`` between two sets of samples."""
    if weights.size == 0:
        return np.zeros((len(A), len(B)))
    return np.asarray(GaussianSum(scale).cross(A, B, weights))


def errors_of_sums(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the leave-one-out errors of least squares on the first none, one, two, ... columns.

    They are relative to the first one. A kernel leaves something of a sum of many features, and
    this nothing.

    >>> X, p = np.random.default_rng(0).standard_normal((50, 3)), np.full(50, 0.02)
    >>> errors_of_sums(X, X[:, :2].sum(axis=1, keepdims=True), p).round(1)
    array([1. , 0.3, 0. , 0. ])
    """
    root = np.sqrt(p)[:, None]
    left, others, errors = root * Y, np.ones_like(root), []
    Q, _ = np.linalg.qr(root * np.hstack([np.ones_like(root), X[:, : len(X) // _FOR_EACH_SUMMAND]]))
    for q in Q.T[:, :, None]:
        left -= q * (q.T @ left)
        others -= q**2  # nothing, if no other sample tells of this column
        errors.append(((left / np.where(others > _ROUNDING, others, 1.0)) ** 2).sum())
    return np.array(errors) / max(errors[0], _TINY)


class CentredKernel:
    """Kernel matrices between all samples and the first of them, for regressions with few ridges.

    For one ridge this is several times as fast as a :class:`Basis`. There can be any number of
    matrices K (..., n, n_landmarks), which are overwritten.
    """

    def __init__(self, K: np.ndarray, p: np.ndarray) -> None:
        m, self._p = K.shape[-1], p
        self._near = K[..., :m, :].copy()
        K -= (p @ K)[..., None, :]
        K *= np.sqrt(p)[:, None]
        self._C, self._products = K, K.swapaxes(-1, -2) @ K
        self._products[..., range(m), range(m)] += _ROUNDING * m

    def leave_one_out(self, targets: np.ndarray, ridge: float) -> np.ndarray:
        """Return the leave-one-out residuals (..., n, k) of centred targets (n, k)."""
        A = self._products + ridge * self._near
        if A.ndim == 2:
            # LAPACK reads the transpose, which is the same matrix; L is lower, in Fortran order.
            L = dpotrf(A.T, lower=1, overwrite_a=1)[0]
            W = dtrmm(1.0, dtrtri(L, lower=1)[0], self._C.T, lower=1).T
        else:
            W = self._C @ np.linalg.inv(np.linalg.cholesky(A)).swapaxes(-1, -2)
        left = 1.0 - self._p - np.einsum("...ij,...ij->...i", W, W)
        residuals = targets - W @ (W.swapaxes(-1, -2) @ targets)
        residuals /= np.maximum(left, _TINY)[..., None]
        return residuals


@dataclass(frozen=True)
class Basis:
    """Orthonormal functions of some features: kernel principal components of the samples."""

    V: np.ndarray  # (n, D), orthonormal columns, orthogonal to √p
    variances: np.ndarray  # (D,), of the components along them, decreasing
    p: np.ndarray  # (n,), weights that sum to one
    rotation: np.ndarray  # (n_landmarks, D); the functions are ``(K − mean)·rotation``
    mean: np.ndarray  # (n_landmarks,), of the rows of K

    @classmethod
    def of(cls, Z: np.ndarray, weights: np.ndarray, p: np.ndarray, scale: float) -> Self:
        """Return the basis of features Z (n, q) in random order, at one length scale.

        The weights of the features add up to one. The first samples are the landmarks.
        """
        near = Z[: landmarks_for(len(Z))]
        return cls.of_kernel(np.exp(summed_kernel(Z, near, weights, scale)), p)

    @classmethod
    def of_kernel(cls, K: np.ndarray, p: np.ndarray) -> Self:
        """Return the basis of a kernel matrix between all samples and the first of them."""
        near = K[: K.shape[1]]
        power = np.trace(near)
        L = np.linalg.cholesky(near + _ROUNDING * power * np.eye(len(near)))
        F = solve_triangular(L, K.T, lower=True, check_finite=False).T
        F -= p @ F
        F *= np.sqrt(p)[:, None]
        variances, rotation = np.linalg.eigh(F.T @ F)
        kept = np.flatnonzero(variances > _ROUNDING * power / len(near))[::-1]
        variances = variances[kept]
        rotation = rotation[:, kept] / np.sqrt(variances)
        functions = solve_triangular(L, rotation, lower=True, trans="T", check_finite=False)
        return cls(F @ rotation, variances, p, functions, p @ K)

    @cached_property
    def squares(self) -> np.ndarray:
        """Squares of V, whose sums are leverages."""
        return self.V**2

    def components(self, most: int) -> np.ndarray:
        """Return the leading components, with variances that sum to at most one."""
        shares = self.variances[:most] / self.variances.sum()
        return self.V[:, :most] * np.sqrt(shares / self.p[:, None])

    def shrinkage(self, ridges: Sequence[float]) -> np.ndarray:
        """Return the factors (D, n_ridges) by which regression shrinks each direction."""
        return self.variances[:, None] / (self.variances[:, None] + np.array(ridges))

    def leave_one_out(self, targets: np.ndarray, factors: np.ndarray) -> list[np.ndarray]:
        """Return the leave-one-out residuals (n, k) of centred targets for each shrinkage."""
        left = 1.0 - self.p[:, None] - self.squares @ factors
        left = np.maximum(left, np.finfo(float).eps)
        along = self.V.T @ targets
        return [
            (targets - self.V @ (f[:, None] * along)) / h[:, None]
            for f, h in zip(factors.T, left.T, strict=True)
        ]


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
    box: np.ndarray  # range of the samples, (2, n_columns)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict the responses at new samples, given with all columns.

        Beyond the range of a column the function is that at its end: with a large bandwidth it is
        close to a polynomial, which takes extreme values where there are no samples.
        """
        predicted = np.empty((len(X), self.intercept.size))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            Z = np.clip(X[rows, self.columns], *self.box)
            total = summed_kernel(Z, self.near, self.weights, self.scale)
            predicted[rows] = np.exp(total) @ self.coefficients + self.intercept
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
    """Regress a response Y on each of several sets of columns of X; None means all columns.

    X (n, d) are standardised samples in random order, of which the first are the landmarks, and p
    their weights, which sum to one. The weights of the columns of a feature add up to one. Nested
    sets, in increasing order, are faster. Responses ``also`` are predicted after those of Y, with
    the same bandwidth and ridge.
    """
    sets = [np.arange(X.shape[1])] if sets is None else sets
    X = X.astype(np.float64, copy=False)
    n_landmarks = min(len(X), n_landmarks or landmarks_for(len(X)))
    responses = Y if also is None else np.column_stack([Y, also])
    bounds, mean = _bounds(responses), p @ responses
    targets = np.sqrt(p)[:, None] * (responses - mean)
    sums = [_Sums(X, weights, n_landmarks, scale) for scale in FUNCTION_SCALES]
    found: list[Regression] = []
    nearby: int | None = None  # the bandwidth of a set is close to that of the previous set
    searched = 0  # size of the set at the last search over bandwidths
    for columns in sets:

        @cache
        def regress(number: int, columns: np.ndarray = columns) -> Regression:
            basis = Basis.of_kernel(sums[number].kernel(columns), p)
            factors = basis.shrinkage(FUNCTION_RIDGES)
            errors = _bounded_errors(basis, Y, factors, bounds[:, : Y.shape[1]])
            least = int(np.argmin(errors))
            along = basis.V.T @ targets
            coefficients = basis.rotation @ (factors[:, least, None] * along)
            return Regression(
                float(errors[least] / max(errors[-1], _TINY)),
                columns,
                FUNCTION_SCALES[number],
                weights[columns] / max(weights[columns].sum(), _TINY),
                X[:n_landmarks, columns],
                coefficients,
                mean - basis.mean @ coefficients,
                bounds,
                np.array([X[:, columns].min(axis=0), X[:, columns].max(axis=0)]),
            )

        if columns.size == 0:
            found.append(regress(0))
            continue
        # Search again if the set has doubled, or if the new features matter.
        if nearby is not None and searched <= columns.size < 2 * searched:
            again = regress(nearby)
            if again.unexplained >= found[-1].unexplained:
                found.append(again)
                continue
        nearby = _least_nearby(lambda k: regress(k).unexplained, len(sums), nearby)
        searched = columns.size
        found.append(regress(nearby))
    return found


def _least_nearby(error: Callable[[int], float], n_scales: int, start: int | None) -> int:
    """Return the scale with the lowest error by a search from a start; without one, try all."""
    tried = {k: error(k) for k in (range(n_scales) if start is None else [start])}
    while True:
        best = min(tried, key=lambda k: (tried[k], k))
        new = [k for k in (best - 1, best + 1) if 0 <= k < n_scales and k not in tried]
        if not new:
            return best
        tried |= {k: error(k) for k in new}


def _bounded_errors(
    basis: Basis, Y: np.ndarray, factors: np.ndarray, bounds: np.ndarray
) -> np.ndarray:
    """Return the leave-one-out error of clipped predictions for each ridge; last, of the mean."""
    p, root = basis.p, np.sqrt(basis.p)[:, None]
    *left_out, of_mean = basis.leave_one_out(root * (Y - p @ Y), factors)
    predicted = (np.clip(Y - residuals / root, *bounds) for residuals in left_out)
    errors = [float(p @ ((Y - each) ** 2).sum(axis=1)) for each in predicted]
    return np.array([*errors, float((of_mean**2).sum())])


def _bounds(Y: np.ndarray) -> np.ndarray:
    """Return the smallest and largest allowed prediction of each response.

    Of a binary one these are its two values, others may exceed the observed range.
    """
    low, high = Y.min(axis=0), Y.max(axis=0)
    two_values = ((low == Y) | (high == Y)).all(axis=0)
    beyond = np.where(two_values, 0.0, EXTRAPOLATION * (high - low))
    return np.array([low - beyond, high + beyond])


class _Sums:
    """Sums over features between samples and landmarks at one scale, updated for larger sets."""

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
            Z = self._X[:, new]
            added = summed_kernel(Z, Z[: self._n_landmarks], self._weights[new], self._scale)
            self._total = self._total + added
        self._columns = columns
        share = self._weights[columns].sum()
        return np.exp(self._total / max(share, _TINY))
