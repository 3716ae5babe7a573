"""Established tests of conditional independence, written small: one column x, one y, some z.

Each returns a p-value. Regressions are kernel ridge with scale and ridge by leave-one-out error,
the same for all.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import gamma, norm

from covmin.core.regression import Given, regress_on_sets
from covmin.inference.residual_products import normal_scores


def _residuals(Z: np.ndarray, targets: np.ndarray) -> np.ndarray:
    p = np.full(len(Z), 1.0 / len(Z))
    given = Given.of(normal_scores(Z, p), np.ones(Z.shape[1]), p)
    scaled = given.scaled(targets)
    return given.smoother(scaled)[0].residuals(scaled) * np.sqrt(len(Z))


def _normal_tail(products: np.ndarray, sides: int = 2) -> float:
    n = len(products)
    t = np.sqrt(n) * products.mean() / max(products.std(), 1e-300)
    return float(2.0 * norm.sf(abs(t)) if sides == 2 else norm.sf(t))


def gcm_linear(x: np.ndarray, y: np.ndarray, Z: np.ndarray) -> float:
    """Generalised covariance measure (Shah and Peters, 2020) with least squares."""
    columns = np.column_stack([np.ones(len(Z)), Z])
    both = np.column_stack([x, y])
    left = both - columns @ np.linalg.lstsq(columns, both, rcond=None)[0]
    return _normal_tail(left[:, 0] * left[:, 1])


def gcm_kernel(x: np.ndarray, y: np.ndarray, Z: np.ndarray) -> float:
    """Generalised covariance measure with kernel ridge regressions."""
    return _normal_tail(_residuals(Z, x[:, None])[:, 0] * _residuals(Z, y[:, None])[:, 0])


def pcm(x: np.ndarray, y: np.ndarray, Z: np.ndarray) -> float:
    """Projected covariance measure (Lundborg, Kim, Shah and Samworth, 2024), one split.

    One half learns what x adds to z; the other regresses that and y on z, and looks at the mean
    product of what is left.
    """
    half, n = len(y) // 2, len(y)
    columns = normal_scores(np.column_stack([x, Z]), np.full(n, 1.0 / n))
    Y = (y - y.mean())[:, None]
    p, ones = np.full(half, 1.0 / half), np.ones(columns.shape[1])
    whole, without = regress_on_sets(
        columns[:half], Y[:half], p, ones, [np.arange(columns.shape[1]), np.arange(1, len(ones))]
    )
    direction = (whole.predict(columns) - without.predict(columns))[half:]
    if direction.std() < 1e-9:
        return 1.0
    left = _residuals(Z[half:], direction / direction.std())[:, 0]
    return _normal_tail(left * _residuals(Z[half:], Y[half:])[:, 0], sides=1)


def _rbf(columns: np.ndarray) -> np.ndarray:
    columns = (columns - columns.mean(axis=0)) / np.maximum(columns.std(axis=0), 1e-12)
    squares = (columns**2).sum(axis=1)
    distances = squares[:, None] + squares - 2.0 * columns @ columns.T
    return np.exp(-distances / max(np.median(distances), 1e-12))


def kci(x: np.ndarray, y: np.ndarray, Z: np.ndarray, ridge: float = 1e-3) -> float:
    """Kernel conditional independence test (Zhang et al., 2011): kernel partial correlation.

    The null distribution is a gamma distribution of the same two moments.
    """
    n = len(y)
    H = np.eye(n) - 1.0 / n
    R = ridge * np.linalg.inv(H @ _rbf(Z) @ H + ridge * np.eye(n))
    A = R @ H @ _rbf(np.column_stack([x, 0.5 * Z])) @ H @ R
    B = R @ H @ _rbf(y[:, None]) @ H @ R
    statistic = np.trace(A @ B)
    mean, variance = np.trace(A) * np.trace(B) / n, 2.0 * (A**2).sum() * (B**2).sum() / n**2
    return float(gamma.sf(statistic, mean**2 / variance, scale=variance / mean))


RIVALS = {"GCM, linear": gcm_linear, "GCM, kernel": gcm_kernel, "PCM": pcm, "KCI": kci}
