r"""Test whether x explains y beyond z, by products of the residuals of both given z.

With residuals :math:`r = y - \hat m(z)` and :math:`e = \varphi(x - \hat g(z)) - \hat h(z)` the
statistics are

.. math:: T = \Bigl\| \sum_i r_i e_i \Bigr\|^2, \qquad
   T' = \Bigl\| \sum_i r_i e_i \otimes \psi(z_i) \Bigr\|^2,

for effects of x alone and for effects that depend on z, where ψ(z) are the given features. If x
adds nothing, each product has mean zero, up to the *product* of the errors of both regressions.
Given the size of each product, their sum is approximately normal, so T is a weighted sum of χ²
variables with the eigenvalues of :math:`\sum_i r_i^2 e_i e_i^\top` as weights. Nothing is assumed
about how the spread of x or y depends on z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covmin.core.regression import Basis, Given
from covmin.data.blocks import NormalScores
from covmin.plan.constants import DETERMINED, FEATURE_SCALE, FEATURE_SHARE

from .tails import weighted_chi2_tail


@dataclass(frozen=True)
class Added:
    """Result of the test of a set of columns given others."""

    p_value: float
    alone: float  # p-value for effects that do not depend on the given features
    together: float  # p-value for effects that do
    ratio: float  # statistic of the smaller p-value, divided by its null mean


NOTHING = Added(1.0, 1.0, 1.0, 0.0)


def added_by(X: np.ndarray, weights: np.ndarray, Y: np.ndarray, given: Given) -> Added:
    """Test whether columns of normal scores explain Y beyond the given features.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Normal scores of the columns to test, as one set, with the same rows as ``given``.
    weights : ndarray of shape (n_columns,)
        Weight of each column.
    Y : ndarray of shape (n_samples, n_responses)
    given : Given
    """
    if X.shape[1] == 0:
        return NOTHING
    p = given.p
    scaled = given.scaled(X)
    of_x, left_of_x = given.smoother(scaled)
    if left_of_x < DETERMINED:
        return NOTHING
    responses = given.scaled(Y)
    of_y, _ = given.smoother(responses)
    R = of_y.residuals(responses)
    features = given.scaled(_features(of_x.residuals(scaled) / np.sqrt(p)[:, None], weights, p))
    of_features, _ = given.smoother(features)
    E = of_features.residuals(features)
    # Residuals on the fitted samples are too small, and so are their products; correct for this.
    spread = np.sqrt(of_y.left_by_both(of_features) / (of_y.left * of_features.left))
    alone, ratio = _tail(E, R, spread)
    if not given.bases:
        return Added(alone, alone, 1.0, ratio)
    products = (E[:, :, None] * given.lines[:, None, :]).reshape(len(E), -1)
    together, other = _tail(products, R, spread)
    p_value = min(1.0, 2.0 * min(alone, together))
    return Added(p_value, alone, together, ratio if alone <= together else other)


def _features(residuals: np.ndarray, weights: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the leading components of the normal scores of the residuals."""
    basis = Basis.of(normal_scores(residuals, p), weights / weights.sum(), p, FEATURE_SCALE)
    shares = np.cumsum(basis.variances) / basis.variances.sum()
    return basis.components(int(np.searchsorted(shares, FEATURE_SHARE)) + 1)


def normal_scores(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return normal scores of each column with unit variance; constant columns become zero."""
    every = np.zeros(columns.shape[1], dtype=bool)
    scores = NormalScores.of(columns, p, every).apply(columns)
    scores -= p @ scores
    spread = np.sqrt(p @ scores**2)
    return scores / np.where(spread > 1e-6, spread, np.inf)


def _tail(E: np.ndarray, R: np.ndarray, spread: np.ndarray) -> tuple[float, float]:
    """Return the p-value of ``‖Σᵢ rᵢ eᵢ‖²``, and its ratio to the null mean."""
    products = (E[:, :, None] * R[:, None, :]).reshape(len(E), -1)
    statistic = float((products.sum(axis=0) ** 2).sum())
    products = products * spread[:, None]
    wide = products.shape[1] > len(products)
    moments = products @ products.T if wide else products.T @ products
    weights = np.maximum(np.linalg.eigvalsh(moments), 0.0)
    mean = float(weights.sum())
    if mean <= 0.0:
        return 1.0, 0.0
    return weighted_chi2_tail(weights, statistic), statistic / mean
