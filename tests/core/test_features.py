"""Feature maps against loops, and their inner products against the kernels they stand for."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, kstest, norm

from covmin.core.arrays import to_numpy
from covmin.core.features import FourierMap, LinearMap, orthogonal_frequencies
from covmin.core.kernels import KERNELS, Gaussian, Linear

SIGMA = 1.3


@pytest.fixture
def X(draw):
    return draw().X


@pytest.fixture(params=["gaussian", "laplacian"])
def draw_of(request):
    """Draw D random features of a kernel for four columns."""
    kernel = KERNELS[request.param](SIGMA)
    return lambda D, seed=0: kernel.draw_features(4, D, np.random.default_rng(seed))


def test_fourier_features_against_loops(draw_of, xp, X, w):
    draw = draw_of(7)
    expected = naive.fourier_features(X, w, draw.frequencies, SIGMA)
    X_, w_ = xp.asarray(X), xp.asarray(w)
    features = draw.like(X_)
    assert_allclose(to_numpy(features.transform(X_, w_)), expected, rtol=1e-10)
    assert_allclose(to_numpy(features.transform_and_pullback(X_, w_)[0]), expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["gaussian", "laplacian", "linear"])
def test_pullback(name, xp, X, w):
    draw = KERNELS[name](SIGMA).draw_features(4, 7, np.random.default_rng(0))
    E = np.random.default_rng(1).standard_normal(draw.transform(X, w).shape)
    X_ = xp.asarray(X)
    _, pullback = draw.like(X_).transform_and_pullback(X_, xp.asarray(w))
    expected = naive.differences(lambda w: np.sum(E * draw.transform(X, w)), w)
    assert_allclose(
        to_numpy(pullback(xp.asarray(E), xp.eye(E.shape[1], dtype=xp.float64))), expected, rtol=1e-6
    )


@pytest.mark.parametrize("name", ["gaussian", "laplacian"])
def test_inner_products_tend_to_the_kernel(name, X, w):
    K = naive.kernel_matrix(name, X, X, w, SIGMA)
    for D in (1_000, 100_000):
        U = KERNELS[name](SIGMA).draw_features(4, D, np.random.default_rng(2)).transform(X, w)
        # An entry is a mean of D/2 cosines, each with standard deviation below 0.75.
        assert np.abs(U @ U.T - K).max() < 5 * 0.75 / np.sqrt(D / 2)
        assert_allclose(np.sum(U**2, axis=1), 1.0, rtol=1e-12)


def test_normal_frequencies_are_orthogonal_in_blocks():
    d = 5
    frequencies = orthogonal_frequencies(d, 4_003, np.random.default_rng(0))
    assert frequencies.shape == (d, 4_003)
    for start in (0, d, 4_000):  # the last block is not full
        block = frequencies[:, start : start + d]
        products = block.T @ block
        assert_allclose(products, np.diag(np.diag(products)), atol=1e-12)
    assert kstest(frequencies[2], norm.cdf).pvalue > 1e-3
    assert kstest(np.sum(frequencies**2, axis=0), chi2(d).cdf).pvalue > 1e-3


def test_orthogonal_frequencies_come_closer_to_the_kernel(X, w):
    K = naive.kernel_matrix("gaussian", X, X, w, SIGMA)

    def error(draw):
        U = FourierMap(draw, SIGMA).transform(X, w)
        return np.linalg.norm(U @ U.T - K)

    rng = np.random.default_rng(0)
    orthogonal = np.mean([error(orthogonal_frequencies(4, 200, rng)) for _ in range(20)])
    independent = np.mean([error(rng.standard_normal((4, 200))) for _ in range(20)])
    assert orthogonal < 0.8 * independent


def test_the_draw_follows_the_seed(draw_of, X, w):
    first, again, other = (draw_of(5, seed).transform(X, w) for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_fewer_columns_and_another_bandwidth_keep_the_draw(draw_of, X, w):
    draw = draw_of(7)
    columns = np.array([0, 3])
    closed = np.zeros(4)
    closed[columns] = w[columns]
    few = draw.at(columns, SIGMA).transform(X[:, columns], w[columns])
    assert_allclose(few, draw.transform(X, closed), rtol=1e-12)
    wide = draw.at(np.arange(4), 2 * SIGMA).transform(X, w)
    assert_allclose(wide, draw.transform(X, w / 2), rtol=1e-12)


def test_a_feature_at_zero_is_not_absorbed(X):
    """One draw has a slope at zero, so the map must not claim otherwise."""
    draw = Gaussian().draw_features(4, 7, np.random.default_rng(0))
    U, pullback = draw.transform_and_pullback(X, np.zeros(4))
    assert (pullback(np.ones_like(U), np.eye(U.shape[1])) != 0.0).all()
    assert not draw.zero_is_absorbing


def test_linear_map_is_the_linear_kernel(X, w):
    features = Linear().draw_features(4, 99, np.random.default_rng(0))
    U = features.transform(X, w)
    assert isinstance(features, LinearMap)
    assert U.shape == X.shape
    assert_allclose(U @ U.T, naive.kernel_matrix("linear", X, X, w, 1.0), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["gaussian", "linear"])
def test_single_precision_stays_single(name, X, w):
    X_, w_ = X.astype("float32"), w.astype("float32")
    features = KERNELS[name](SIGMA).draw_features(4, 7, np.random.default_rng(0)).like(X_)
    U, pullback = features.transform_and_pullback(X_, w_)
    assert features.transform(X_, w_).dtype == U.dtype == pullback(U, U.T @ U).dtype == "float32"
