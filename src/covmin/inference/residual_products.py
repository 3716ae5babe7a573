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

import numpy as np
from scipy.optimize import brentq
from scipy.stats import gamma, norm

from covmin.constants import FUNCTION_SCALES, NEGLIGIBLE_SHARE
from covmin.core.regression import Basis
from covmin.data.blocks import NormalScores

from .given import Given

# Length scale of the functions φ of a residual: most of their variance is a line, some oscillates.
_FEATURE_SCALE = FUNCTION_SCALES[1]
# Share of the variance of these functions that is used; the rest does not change a p-value.
_FEATURE_SHARE = 0.999
# χ² weights below this fraction of the largest do not affect the tail.
_NEGLIGIBLE_WEIGHT = 1e-6


def residual_product_test(
    X: np.ndarray, weights: np.ndarray, Y: np.ndarray, given: Given
) -> tuple[float, float]:
    """Test whether columns of normal scores explain Y beyond the given features.

    The columns X (n, c), with their weights, are tested as one set. They and the responses Y (n, k)
    have the same rows as ``given``. Returns the p-value, twice the smaller one of effects that
    depend on the given features and of effects that do not, and its statistic divided by its mean
    under the null hypothesis.
    """
    if X.shape[1] == 0:
        return 1.0, 0.0
    p = given.p
    columns, responses = given.scaled(X), given.scaled(Y)
    regressions = given.regressions(columns, responses)
    smoother_of_x, share_left = regressions.smoother(columns)
    if share_left < NEGLIGIBLE_SHARE:  # the given features determine X
        return 1.0, 0.0
    smoother_of_y, _ = regressions.smoother(responses)
    R = smoother_of_y.residuals(responses)
    # Functions of the normal scores of residuals: their leading kernel components.
    scores = normal_scores(smoother_of_x.residuals(columns) / np.sqrt(p)[:, None], p)
    basis = Basis.of(scores, weights / weights.sum(), p, _FEATURE_SCALE)
    shares = np.cumsum(basis.variances) / basis.variances.sum()
    features = given.scaled(basis.components(int(np.searchsorted(shares, _FEATURE_SHARE)) + 1))
    smoother, _ = regressions.smoother(features)
    E = smoother.residuals(features)
    # Residuals on the fitted samples are too small, and so are their products; correct for this.
    left = smoother_of_y.left * smoother.left
    spread = np.sqrt(smoother_of_y.left_by_both(smoother) / left)
    alone = _tail(spread, R, E)
    if given.Z.shape[1] == 0:
        return alone
    p_value, ratio = min(alone, _tail(spread, R, E, given.lines))
    return min(1.0, 2.0 * p_value), ratio


def normal_scores(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return normal scores of each column with unit variance; constant columns become zero."""
    skipped = np.zeros(columns.shape[1], dtype=bool)
    scores = NormalScores.of(columns, p, skipped).apply(columns)
    scores -= p @ scores
    spread = np.sqrt(p @ scores**2)
    return scores / np.where(spread > 1e-6, spread, np.inf)


def _tail(spread: np.ndarray, *factors: np.ndarray) -> tuple[float, float]:
    """Return the p-value of ``‖Σᵢ rᵢ ⊗ eᵢ ⊗ …‖²``, and its ratio to the null mean.

    ``spread`` (n,) is the size of each product under the null hypothesis, relative to its own.
    """
    if np.prod([factor.shape[1] for factor in factors]) > spread.size:
        # Inner products of the products are products of inner products.
        moments = np.prod([factor @ factor.T for factor in factors], axis=0)
        statistic = float(moments.sum())
        moments *= np.outer(spread, spread)
    else:
        products = factors[0]
        for factor in factors[1:]:
            products = (products[:, :, None] * factor[:, None, :]).reshape(spread.size, -1)
        statistic = float((products.sum(axis=0) ** 2).sum())
        products = products * spread[:, None]
        moments = products.T @ products
    mean = float(np.trace(moments))
    return (quadratic_tail(moments, statistic), statistic / mean) if mean > 0.0 else (1.0, 0.0)


def quadratic_tail(M: np.ndarray, value: float) -> float:
    """Return P(zᵀMz ≥ value) for a positive semidefinite M and independent normal z.

    This is a sum of χ² variables with the eigenvalues λ of M as weights. Uses the saddlepoint
    formula of Lugannani and Rice in the form of Barndorff-Nielsen, whose relative error is a few
    per cent even for very small probabilities. Below the mean, where no decision is made, it uses a
    gamma distribution with the same mean and variance.

    >>> round(quadratic_tail(np.eye(1), 3.841), 2)
    0.05
    """
    mean, variance = float(np.trace(M)), 2.0 * float((M**2).sum())
    if value <= mean + 0.1 * np.sqrt(variance):  # the saddlepoint is close to zero
        return float(gamma.sf(value, mean**2 / variance, scale=variance / mean))
    weights = np.linalg.eigvalsh(M)
    largest = float(weights[-1])
    weights = weights[weights > _NEGLIGIBLE_WEIGHT * largest] / largest
    value = value / largest
    # The largest weight is one, so its term alone is twice the value at the end of the bracket.
    s = brentq(
        lambda s: (weights / (1.0 - 2.0 * s * weights)).sum() - value, 0.0, 0.5 - 0.25 / value
    )
    cumulant = -0.5 * np.log1p(-2.0 * s * weights).sum()
    curvature = 2.0 * ((weights / (1.0 - 2.0 * s * weights)) ** 2).sum()
    w = np.sqrt(2.0 * (s * value - cumulant))
    v = s * np.sqrt(curvature)
    return float(norm.sf(w + np.log(v / w) / w))
