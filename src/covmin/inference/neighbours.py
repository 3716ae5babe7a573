"""What all other columns say about each column: every regression from one decomposition.

Belloni, Chernozhukov and Hansen condition on what matters to y *and* on what matters to x, so that
a feature forgotten by one of the two regressions is there in the other. What the others say about
x is here one column, the fitted mean, as a propensity score is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from covmin.core.nominations import Ranked
from covmin.plan.constants import NEIGHBOUR_RIDGES

from .residual_products import normal_scores


def fitted_by_others(X: np.ndarray, of_column: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
    """For each unit, its columns as fitted by a sum of functions of the columns of all others.

    With Θ = (BᵀB + λI)⁻¹ for a basis B of all columns, the ridge regression of the columns U of a
    unit on the others leaves ``BΘ_U Θ_UU⁻¹``, of leverage ``hᵢ = (BΘBᵀ)ᵢᵢ − bᵢᵀΘ_UU⁻¹bᵢ``,
    b the rows of BΘ_U. The ridge is that of the least leave-one-out error.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Standard scores.
    of_column : ndarray of shape (n_columns,)
        Unit of each column; those of −1 are no unit, but one of the others.
    p : ndarray of shape (n_samples,)
        Weights that sum to one.

    Returns
    -------
    scores : list of ndarray of shape (n_samples, n_fitted)
        Standard scores for each unit; of those columns that the others say something about.
    """
    B, unit, n_own = _basis(X, of_column, p)
    members = [np.flatnonzero(unit == u) for u in range(int(of_column.max(initial=-1)) + 1)]
    own = [each[each < n_own] for each in members]
    least = np.sum((B[:, :n_own] / (1.0 - p[:, None])) ** 2, axis=0)  # the mean alone leaves that
    fitted = np.full((len(X), n_own), np.nan)
    for inverse in _inverses(B):
        leverage = inverse.leverage
        for columns, targets in zip(members, own, strict=True):
            U = inverse.M[:, columns]
            left = np.linalg.solve(inverse.block(columns), U.T).T
            h = leverage - (left * U).sum(axis=1)
            # A unit's own columns come first. Each sample is fitted without itself: among many
            # columns a feature that none of them knows would else be fitted too.
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
    """The columns and the waves of their ranks but the first, times √p, and the unit of each."""
    waves = Ranked.of(X, p).waves(np.arange(X.shape[1]))[1:]
    bent = waves.reshape(-1, len(X)).T
    varies = (p @ bent**2) > 0.5
    B = np.hstack([X - p @ X, bent[:, varies]]) * np.sqrt(p)[:, None]
    unit = np.concatenate([of_column, np.tile(of_column, len(waves))[varies]])
    return B, unit, X.shape[1]


@dataclass(frozen=True)
class _Inverse:
    """Θ = (BᵀB + λI)⁻¹, by what is asked of it."""

    B: np.ndarray
    ridge: float
    M: np.ndarray  # BΘ
    Q: np.ndarray  # eigenvectors of BᵀB, or of BBᵀ where that is smaller
    shrunk: np.ndarray  # 1/(eigenvalues + λ)

    @property
    def leverage(self) -> np.ndarray:
        """diag(BΘBᵀ)."""
        leverage: np.ndarray = (self.M * self.B).sum(axis=1)
        return leverage

    def block(self, U: np.ndarray) -> np.ndarray:
        """Θ_UU."""
        if len(self.Q) == self.B.shape[1]:
            block: np.ndarray = (self.Q[U] * self.shrunk) @ self.Q[U].T
            return block
        # Θ = (I − Bᵀ(BBᵀ + λI)⁻¹B) / λ
        return (np.eye(U.size) - self.B[:, U].T @ self.M[:, U]) / self.ridge


def _inverses(B: np.ndarray) -> Iterator[_Inverse]:
    """One for each ridge, from one decomposition."""
    wide = B.shape[1] > B.shape[0]
    values, Q = np.linalg.eigh(B @ B.T if wide else B.T @ B)
    turned = Q.T @ B if wide else B @ Q
    for ridge in NEIGHBOUR_RIDGES:
        shrunk = 1.0 / (np.maximum(values, 0.0) + ridge)
        M = (Q * shrunk) @ turned if wide else (turned * shrunk) @ Q.T
        yield _Inverse(B, ridge, M, Q, shrunk)
