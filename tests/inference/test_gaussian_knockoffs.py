"""Copies of features: as unlike their originals as can be, with the moments of a swap."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from covmin.inference.copula import GaussianKnockoffs, least_reconstructable

AUTOREGRESSIVE = 0.6 ** np.abs(np.subtract.outer(np.arange(4), np.arange(4)))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_s_is_stationary_and_feasible(rho):
    covariance = rho ** np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    s = least_reconstructable(covariance)
    inverse = np.linalg.inv(2 * covariance - np.diag(s))
    assert (np.linalg.eigvalsh(2 * covariance - np.diag(s)) > 0).all()
    assert_allclose((inverse @ inverse).diagonal(), 1 / s**2, rtol=1e-3)


def test_copies_have_the_moments_of_a_swap():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((20000, 4)) @ np.linalg.cholesky(AUTOREGRESSIVE).T
    knockoffs = GaussianKnockoffs(AUTOREGRESSIVE, np.arange(4))
    both = np.cov(np.hstack([Z, knockoffs.draw(Z, rng)]).T)
    assert_allclose(both[4:, 4:], AUTOREGRESSIVE, atol=0.04)
    assert_allclose(both[:4, 4:], AUTOREGRESSIVE - knockoffs.S, atol=0.04)
    assert_allclose(knockoffs.S, np.diag(knockoffs.S.diagonal()), atol=1e-12)


def test_copies_of_groups_and_of_what_is_given():
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((20000, 4)) @ np.linalg.cholesky(AUTOREGRESSIVE).T
    knockoffs = GaussianKnockoffs(AUTOREGRESSIVE, np.array([0, 0, 1, -1]))
    assert_allclose(knockoffs.S[:2, 2], 0.0, atol=1e-12)
    assert abs(knockoffs.S[0, 1]) > 0.01  # a group has a block of its own
    copies = knockoffs.draw(Z, rng)
    assert_allclose(copies[:, 3], Z[:, 3])
    both = np.cov(np.hstack([Z, copies[:, :3]]).T)
    assert_allclose(both[4:, 4:], AUTOREGRESSIVE[:3, :3], atol=0.04)
    assert_allclose(both[:3, 4:], AUTOREGRESSIVE[:3, :3] - knockoffs.S, atol=0.04)
    assert_allclose(both[3, 4:], AUTOREGRESSIVE[3, :3], atol=0.04)


def test_a_group_is_copied_less_alike_than_its_columns_one_by_one():
    """Columns of a block that nothing outside predicts can be drawn anew altogether."""
    block = np.kron(np.eye(3), np.array([[1.0, 0.9], [0.9, 1.0]]))
    apart = GaussianKnockoffs(block, np.arange(6)).S.trace()
    together = GaussianKnockoffs(block, np.repeat(np.arange(3), 2)).S.trace()
    assert together > 5.9 > 2.0 * apart
