"""Predict each column from all others, with all regressions from one decomposition.

Belloni, Chernozhukov and Hansen condition on what matters to y *and* on what matters to x, so that
a feature missed by one of the two regressions is included by the other. Here the prediction of x
is a single column, the fitted mean, like a propensity score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from covmin.core.screening import Ranked
from covmin.plan.constants import DETERMINED, NEIGHBOUR_RIDGES

from .residual_products import normal_scores


def determined_by_another(X: np.ndarray, of_column: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return which units are copies: each of their columns is a line in a column of another unit.

    Regressions on many columns do not find a copy among them to the last per cent.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Normal scores, centred and of unit variance.
    of_column : ndarray of shape (n_columns,)
        Unit of each column; −1 for columns that are always among the others.
    p : ndarray of shape (n_samples,)
        Weights that sum to one.

    Returns
    -------
    is_copy : ndarray of bool of shape (n_units,)
    """
    is_copy = np.empty(int(of_column.max(initial=-1)) + 1, dtype=bool)
    for unit in range(is_copy.size):
        mine = of_column == unit
        correlations = (p[:, None] * X[:, mine]).T @ X[:, ~mine]
        closest = (correlations**2).max(axis=1, initial=0.0)
        is_copy[unit] = closest.min() > 1.0 - DETERMINED
    return is_copy


def fitted_by_others(X: np.ndarray, of_column: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
    """Return the columns of each unit as predicted by an additive model of all other columns.

    With Θ = (BᵀB + λI)⁻¹ for a basis B of all columns, the ridge regression of the columns U of a
    unit on the others has residuals ``BΘ_U Θ_UU⁻¹`` and leverages ``hᵢ = (BΘBᵀ)ᵢᵢ − bᵢᵀΘ_UU⁻¹bᵢ``,
    where b are the rows of BΘ_U. The ridge minimises the leave-one-out error.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Normal scores.
    of_column : ndarray of shape (n_columns,)
        Unit of each column; −1 for columns that are always among the others.
    p : ndarray of shape (n_samples,)
        Weights that sum to one.

    Returns
    -------
    scores : list of ndarray of shape (n_samples, n_fitted)
        Normal scores of the predictions for each unit, for the columns that can be predicted.
    """
    B, unit, n_own = _basis(X, of_column, p)
    members = [np.flatnonzero(unit == u) for u in range(int(of_column.max(initial=-1)) + 1)]
    own = [each[each < n_own] for each in members]
    least = np.sum((B[:, :n_own] / (1.0 - p[:, None])) ** 2, axis=0)  # error of the mean
    fitted = np.full((len(X), n_own), np.nan)
    for inverse in _inverses(B):
        leverage = inverse.leverage
        for columns, targets in zip(members, own, strict=True):
            U = inverse.M[:, columns]
            left = np.linalg.solve(inverse.block(columns), U.T).T
            h = leverage - (left * U).sum(axis=1)
            # A unit's own columns come first. Predict each sample without itself: otherwise many
            # columns would fit a feature that they cannot predict.
            left = left[:, : targets.size] / np.maximum(1.0 - h - p, 1e-3)[:, None]
            errors = (left**2).sum(axis=0)
            better = errors < least[targets]
            least[targets[better]] = errors[better]
            fitted[:, targets[better]] = (B[:, targets] - left)[:, better]
    fitted /= np.sqrt(p)[:, None]
    return [normal_scores(fitted[:, each][:, ~np.isnan(fitted[0, each])], p) for each in own]


def _basis(
    X: np.ndarray, of_column: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the columns and cosines of their ranks, times √p, and the unit of each."""
    waves = Ranked.of(X, p).waves(np.arange(X.shape[1]))[1:]
    bent = waves.reshape(-1, len(X)).T
    varies = (p @ bent**2) > 0.5
    B = np.hstack([X - p @ X, bent[:, varies]]) * np.sqrt(p)[:, None]
    unit = np.concatenate([of_column, np.tile(of_column, len(waves))[varies]])
    return B, unit, X.shape[1]


@dataclass(frozen=True)
class _Inverse:
    """The inverse Θ = (BᵀB + λI)⁻¹, through the parts that are needed."""

    B: np.ndarray
    ridge: float
    M: np.ndarray  # BΘ
    Q: np.ndarray  # eigenvectors of BᵀB, or of BBᵀ if that is smaller
    shrunk: np.ndarray  # 1/(eigenvalues + λ)

    @property
    def leverage(self) -> np.ndarray:
        """``diag(BΘBᵀ)``."""
        leverage: np.ndarray = (self.M * self.B).sum(axis=1)
        return leverage

    def block(self, U: np.ndarray) -> np.ndarray:
        """Return Θ_UU."""
        if len(self.Q) == self.B.shape[1]:
            block: np.ndarray = (self.Q[U] * self.shrunk) @ self.Q[U].T
            return block
        # Θ = (I − Bᵀ(BBᵀ + λI)⁻¹B) / λ
        return (np.eye(U.size) - self.B[:, U].T @ self.M[:, U]) / self.ridge


def _inverses(B: np.ndarray) -> Iterator[_Inverse]:
    """Yield the inverse for each ridge, from one decomposition."""
    wide = B.shape[1] > B.shape[0]
    values, Q = np.linalg.eigh(B @ B.T if wide else B.T @ B)
    turned = Q.T @ B if wide else B @ Q
    for ridge in NEIGHBOUR_RIDGES:
        shrunk = 1.0 / (np.maximum(values, 0.0) + ridge)
        M = (Q * shrunk) @ turned if wide else (turned * shrunk) @ Q.T
        yield _Inverse(B, ridge, M, Q, shrunk)
