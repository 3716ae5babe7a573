"""Predict each unit from all others, with all regressions from one decomposition.

Belloni, Chernozhukov and Hansen condition on what matters to y *and* on what matters to x, so that
a feature missed by one of the two regressions is included by the other. Here the prediction of x
is a single column, the fitted mean, like a propensity score.

In all functions X (n_samples, n_columns) are normal scores, centred and of unit variance,
``of_column`` is the unit of each column, or −1 for columns that are always among the others, and p
are weights that sum to one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from covmin.constants import NEGLIGIBLE_SHARE, NEIGHBOUR_RIDGES
from covmin.core.screening import Ranked

from .residual_products import normal_scores


def is_copy(X: np.ndarray, of_column: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return which units are copies: each of their columns is a line in a column of another unit.

    Regressions on many columns do not find a copy among them to the last per cent.
    """
    copies = np.empty(int(of_column.max(initial=-1)) + 1, dtype=bool)
    for unit in range(copies.size):
        own = of_column == unit
        correlations = (p[:, None] * X[:, own]).T @ X[:, ~own]
        closest = (correlations**2).max(axis=1, initial=0.0)
        copies[unit] = closest.min() > 1.0 - NEGLIGIBLE_SHARE
    return copies


def predicted_by_others(X: np.ndarray, of_column: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
    """Return the columns of each unit as predicted by an additive model of all other columns.

    With Θ = (BᵀB + λI)⁻¹ for a basis B of all columns, the ridge regression of the columns U of a
    unit on the others has residuals ``BΘ_U Θ_UU⁻¹`` and leverages ``hᵢ = (BΘBᵀ)ᵢᵢ − bᵢᵀΘ_UU⁻¹bᵢ``,
    where b are the rows of BΘ_U. The ridge minimises the leave-one-out error.

    Returns
    -------
    scores : list of ndarray of shape (n_samples, n_predicted)
        Normal scores of the predictions for each unit, for the columns that can be predicted.
    """
    B, unit = _basis(X, of_column, p)
    n_columns = X.shape[1]
    members = [np.flatnonzero(unit == u) for u in range(int(of_column.max(initial=-1)) + 1)]
    # The columns themselves come first in the basis; functions of them follow.
    targets = [columns[columns < n_columns] for columns in members]
    least = np.sum((B[:, :n_columns] / (1.0 - p[:, None])) ** 2, axis=0)  # error of the mean
    predicted = np.full((len(X), n_columns), np.nan)
    for inverse in _inverses(B):
        leverage = inverse.leverage
        for columns, own in zip(members, targets, strict=True):
            U = inverse.M[:, columns]
            residuals = np.linalg.solve(inverse.block(columns), U.T).T
            h = leverage - (residuals * U).sum(axis=1)
            # Predict each sample without itself: otherwise many columns would fit a feature that
            # they cannot predict.
            left_out = residuals[:, : own.size] / np.maximum(1.0 - h - p, 1e-3)[:, None]
            errors = (left_out**2).sum(axis=0)
            better = errors < least[own]
            least[own[better]] = errors[better]
            predicted[:, own[better]] = (B[:, own] - left_out)[:, better]
    predicted /= np.sqrt(p)[:, None]
    has_prediction = ~np.isnan(predicted[0])
    return [normal_scores(predicted[:, own[has_prediction[own]]], p) for own in targets]


def _basis(X: np.ndarray, of_column: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns and cosines of their ranks, times √p, and the unit of each."""
    cosines = Ranked.of(X, p).functions(np.arange(X.shape[1]))[1:]
    functions = cosines.reshape(-1, len(X)).T
    varies = (p @ functions**2) > 0.5  # those of a column of few values are zero
    B = np.hstack([X - p @ X, functions[:, varies]]) * np.sqrt(p)[:, None]
    return B, np.concatenate([of_column, np.tile(of_column, len(cosines))[varies]])


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
        return np.asarray((self.M * self.B).sum(axis=1))

    def block(self, U: np.ndarray) -> np.ndarray:
        """Return Θ_UU."""
        if len(self.Q) == self.B.shape[1]:
            return np.asarray((self.Q[U] * self.shrunk) @ self.Q[U].T)
        # Θ = (I − Bᵀ(BBᵀ + λI)⁻¹B) / λ
        return np.asarray((np.eye(U.size) - self.B[:, U].T @ self.M[:, U]) / self.ridge)


def _inverses(B: np.ndarray) -> Iterator[_Inverse]:
    """Yield the inverse for each ridge, from one decomposition."""
    wide = B.shape[1] > B.shape[0]
    values, Q = np.linalg.eigh(B @ B.T if wide else B.T @ B)
    turned = Q.T @ B if wide else B @ Q
    for ridge in NEIGHBOUR_RIDGES:
        shrunk = 1.0 / (np.maximum(values, 0.0) + ridge)
        M = (Q * shrunk) @ turned if wide else (turned * shrunk) @ Q.T
        yield _Inverse(B, ridge, M, Q, shrunk)
