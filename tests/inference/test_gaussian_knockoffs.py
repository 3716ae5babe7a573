"""Copies of features: as unlike their originals as can be, with the moments of a swap."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from covmin.inference.gaussian_knockoffs import GaussianKnockoffs, least_reconstructable

AUTOREGRESSIVE = 0.6 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_s_is_stationary_and_feasible(rho):
    covariance = rho ** np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    s = least_reconstructable(covariance)
    inverse = np.linalg.inv(2 * covariance - np.diag(s))
    assert (np.linalg.eigvalsh(2 * covariance - np.diag(s)) > 0).all()
    assert_allclose((inverse @ inverse).diagonal(), 1 / s**2, rtol=1e-3)


def test_s_beats_the_equicorrelated_choice():
    covariance = 0.6 ** np.abs(np.subtract.outer(np.arange(8), np.arange(8)))

    def trace(s):
        return np.trace(np.linalg.inv(2 * covariance - np.diag(s))) + (1 / s).sum()

    equal = min(1.0, 2 * np.linalg.eigvalsh(covariance)[0]) * np.ones(8)
    assert trace(least_reconstructable(covariance)) < min(
        trace(c * equal) for c in (0.25, 0.5, 0.75, 0.95)
    )


def test_copies_have_the_moments_of_a_swap():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((20000, 4)) @ np.linalg.cholesky(AUTOREGRESSIVE).T
    knockoffs = GaussianKnockoffs(AUTOREGRESSIVE, np.arange(4))
    both = np.cov(np.hstack([Z, knockoffs.draw(Z, rng)]).T)
    assert_allclose(both[4:, 4:], AUTOREGRESSIVE, atol=0.04)
    assert_allclose(both[:4, 4:], AUTOREGRESSIVE - knockoffs.S, atol=0.04)
    assert_allclose(knockoffs.S, np.diag(knockoffs.S.diagonal()), atol=1e-12)
