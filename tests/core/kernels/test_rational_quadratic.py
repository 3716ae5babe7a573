"""The rational quadratic kernel: other powers than its own, and the scales it is a mixture of."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2, gamma, kstest

from covmin.core.arrays import to_numpy
from covmin.core.kernels import Gaussian, RationalQuadratic

SIGMA = 1.3


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0, 2.0, 7.5])
def test_power(alpha, draw, w, xp):
    X = draw().X
    kernel = RationalQuadratic(alpha, SIGMA)
    P, Q = np.random.default_rng(3).standard_normal((2, X.shape[0], 3))

    def K(w):
        return naive.kernel_matrix("rational-quadratic", X, X, w, SIGMA, alpha=alpha)

    X_, w_ = xp.asarray(X), xp.asarray(w)
    matrix, pullback = kernel.matrix_and_pullback(kernel.prepare(X_), w_)
    assert_allclose(to_numpy(matrix), K(w), rtol=1e-12)
    assert_allclose(to_numpy(kernel.cross(X_, X_, w_)), K(w), rtol=1e-12)
    expected = naive.differences(lambda w: np.sum(P * (K(w) @ Q)), w)
    assert_allclose(to_numpy(pullback(xp.asarray(P), xp.asarray(Q))), expected, rtol=1e-6)


def test_a_large_power_is_nearly_the_gaussian(draw, w):
    X = draw().X
    K = RationalQuadratic(100.0, SIGMA).cross(X, X, w)
    assert_allclose(K, Gaussian(SIGMA).cross(X, X, w), atol=0.01)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_it_is_a_mixture_of_gaussians(alpha, draw, w):
    """Of bandwidths σ/√s over quantiles of s."""
    X = draw().X
    quantiles = gamma(alpha, scale=1.0 / alpha).ppf((np.arange(4000) + 0.5) / 4000)
    mixture = np.mean([Gaussian(SIGMA / np.sqrt(s)).cross(X, X, w) for s in quantiles], axis=0)
    assert_allclose(RationalQuadratic(alpha, SIGMA).cross(X, X, w), mixture, atol=1e-3)


def test_frequencies_are_normal_times_the_root_of_a_mixture():
    """At α = ½ the mixture is that of the squares of a standard normal variable."""
    kernel = RationalQuadratic()
    assert kstest(kernel.draw_mixture(10_000, np.random.default_rng(0)), chi2(1).cdf).pvalue > 1e-3
    drawn, normal = (
        each.draw_frequencies(4, 40, np.random.default_rng(0)) for each in (kernel, Gaussian())
    )
    ratios = drawn / normal
    assert_allclose(ratios, np.broadcast_to(ratios[:1], ratios.shape), rtol=1e-10)
    assert np.unique(ratios[0].round(6)).size == 20  # one for each frequency


@pytest.mark.parametrize("alpha", [0.3, 0.5, 2.0])
def test_inner_products_of_components_tend_to_it(alpha, draw, w):
    X = draw().X
    kernel = RationalQuadratic(alpha, SIGMA)
    K = naive.kernel_matrix("rational-quadratic", X, X, w, SIGMA, alpha=alpha)
    for D in (1_000, 100_000):
        frequencies = kernel.draw_frequencies(4, D, np.random.default_rng(2))
        U = kernel.components(frequencies).moving.transform(X, w)
        # An entry is a mean of D/2 cosines, each with standard deviation below 0.75.
        assert np.abs(U @ U.T - K).max() < 5 * 0.75 / np.sqrt(D / 2)
