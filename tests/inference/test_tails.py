"""Tails of weighted sums of χ², and adjusted p-values, against independent computations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2, false_discovery_control

from covmin.inference.tails import adjusted_p_values, weighted_chi2_tail


@pytest.mark.parametrize("freedom", [1, 3, 20])
@pytest.mark.parametrize("p_value", [0.3, 0.05, 1e-3, 1e-8])
def test_equal_weights_are_a_chi_square(freedom, p_value):
    value = 2.5 * chi2.isf(p_value, freedom)
    assert weighted_chi2_tail(np.full(freedom, 2.5), value) == pytest.approx(p_value, rel=0.15)


def test_unequal_weights_against_draws():
    weights = np.array([1.0, 0.5, 0.2, 0.1, 0.1])
    draws = np.random.default_rng(0).chisquare(1, (200_000, 5)) @ weights
    for value in (1.0, 2.0, 5.0, 9.0):
        share = (draws >= value).mean()
        assert weighted_chi2_tail(weights, value) == pytest.approx(share, rel=0.1, abs=0.01)


def test_the_tail_falls_and_is_scale_free():
    weights = np.array([1.0, 0.3, 0.0])
    tails = [weighted_chi2_tail(weights, value) for value in np.linspace(0.1, 40, 60)]
    assert (np.diff(tails) < 0).all()
    assert weighted_chi2_tail(1e-9 * weights, 5e-9) == pytest.approx(
        weighted_chi2_tail(weights, 5.0)
    )
    assert weighted_chi2_tail(np.zeros(3), 1.0) == 1.0


@pytest.mark.parametrize("method", ["bh", "by"])
def test_adjusted_p_values(method):
    p_values = np.random.default_rng(0).random(30) ** 3
    expected = false_discovery_control(p_values, method=method)
    assert_allclose(adjusted_p_values(p_values, method), expected)
