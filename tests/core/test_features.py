"""Feature maps against loops, and their inner products against the kernels they stand for."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core.arrays import to_numpy
from covmin.core.features import LinearMap
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
    expected = naive.fourier_features(X, w, draw.frequencies, draw.phases, SIGMA)
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
    assert_allclose(to_numpy(pullback(xp.asarray(E))), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["gaussian", "laplacian"])
def test_inner_products_tend_to_the_kernel(name, X, w):
    K = naive.kernel_matrix(name, X, X, w, SIGMA)
    for D in (1_000, 100_000):
        U = KERNELS[name](SIGMA).draw_features(4, D, np.random.default_rng(2)).transform(X, w)
        # An entry is a mean of D terms in [-2, 2] with standard deviation at most 1.3.
        assert np.abs(U @ U.T - K).max() < 5 * 1.3 / np.sqrt(D)


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
    _, pullback = draw.transform_and_pullback(X, np.zeros(4))
    assert (pullback(np.ones((X.shape[0], 7))) != 0.0).all()
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
    assert features.transform(X_, w_).dtype == U.dtype == pullback(U).dtype == "float32"
