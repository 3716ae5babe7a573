"""Feature maps against loops, and their inner products against the kernels they stand for."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, kstest, norm

from covmin.core.arrays import to_numpy
from covmin.core.features import FourierMap, orthogonal_frequencies
from covmin.core.kernels import KERNELS, Gaussian, Linear
from covmin.core.mixing import Additive, Sum

SIGMA = 1.3


def finite(kernel, D, seed=0):
    """Features of a kernel for four columns."""
    return kernel.features(kernel.draw_frequencies(4, D, np.random.default_rng(seed)))


def moving(kernel, D, seed=0):
    return finite(kernel, D, seed).moving


@pytest.fixture
def X(draw):
    return draw().X


@pytest.fixture(params=["gaussian", "laplacian"])
def draw_of(request):
    """Draw D random features of a kernel for four columns."""
    kernel = KERNELS[request.param](SIGMA)
    return lambda D, seed=0: moving(kernel, D, seed)


def test_fourier_features_against_loops(draw_of, xp, X, w):
    draw = draw_of(7)
    expected = naive.fourier_features(X, w, draw.frequencies, SIGMA)
    X_, w_ = xp.asarray(X), xp.asarray(w)
    features = draw.like(X_)
    assert_allclose(to_numpy(features.transform(X_, w_)), expected, rtol=1e-10)
    assert_allclose(to_numpy(features.transform_and_pullback(X_, w_)[0]), expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["gaussian", "laplacian"])
def test_pullback(name, xp, X, w):
    draw = moving(KERNELS[name](SIGMA), 7)
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
        U = moving(KERNELS[name](SIGMA), D, seed=2).transform(X, w)
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
    few = draw.narrow(columns).transform(X[:, columns], w[columns])
    assert_allclose(few, draw.transform(X, closed), rtol=1e-12)
    wide = FourierMap(draw.frequencies, 2 * SIGMA).transform(X, w)
    assert_allclose(wide, draw.transform(X, w / 2), rtol=1e-12)


def test_a_feature_at_zero_is_not_absorbed(X):
    """One draw has a slope at zero, so the map must not claim otherwise."""
    features = finite(Gaussian(), 7)
    U, pullback = features.moving.transform_and_pullback(X, np.zeros(4))
    assert (pullback(np.ones_like(U), np.eye(U.shape[1])) != 0.0).all()
    assert not features.zero_is_absorbing


FIXED = {
    "linear": (Linear(), lambda A, w: naive.kernel_matrix("linear", A, A, w, 1.0)),
    "additive": (
        Additive(0.8, 2.0, 4),
        lambda A, w: naive.additive_by_waves(A, A, w, 0.8, 2.0, 4),
    ),
}


@pytest.mark.parametrize("name", FIXED)
def test_fixed_features_are_the_kernel_by_their_powers(name, xp, X, w):
    kernel, expected = FIXED[name]
    fixed = finite(kernel, 99).fixed
    Phi = to_numpy(fixed.transform(xp.asarray(X)))
    assert_allclose((Phi * fixed.powers(w)) @ Phi.T, expected(X, w), rtol=1e-12, atol=1e-13)
    assert kernel.draw_frequencies(4, 99, np.random.default_rng(0)).shape == (4, 0)


@pytest.mark.parametrize("name", FIXED)
def test_slopes_of_the_powers(name, w):
    fixed = finite(FIXED[name][0], 9).fixed
    slopes = np.random.default_rng(0).standard_normal(fixed.powers(w).size)
    expected = naive.differences(lambda w: float(slopes @ fixed.powers(w)), w)
    assert_allclose(fixed.collect(slopes, w), expected, rtol=1e-6)


@pytest.mark.parametrize("name", FIXED)
def test_places_of_some_columns(name, X):
    fixed = finite(FIXED[name][0], 9).fixed
    columns = np.array([1, 3])
    assert_allclose(fixed.transform(X)[:, fixed.places(columns)], fixed.transform(X[:, columns]))


def test_a_mixture_has_both_kinds_side_by_side(X, w):
    kernel = Sum(((0.7, Gaussian(SIGMA)), (0.3, Additive(0.8, 2.0, 4))))
    features = finite(kernel, 7)
    U, Phi = features.moving.transform(X, w), features.fixed.transform(X)
    assert_allclose(features.features(X, w), np.hstack([U, Phi]))
    powers = features.powers(w, U.shape[1])
    assert_allclose(powers, [*[0.7] * U.shape[1], *(0.3 * features.fixed.powers(w))])
    assert not features.fixed_size
    assert not features.zero_is_absorbing


@pytest.mark.parametrize("kernel", [Gaussian(SIGMA), Linear(), Additive()], ids=repr)
def test_single_precision_stays_single(kernel, X, w):
    X_, w_ = X.astype("float32"), w.astype("float32")
    features = finite(kernel, 7).like(X_)
    assert features.features(X_, w_).dtype == "float32"
    if features.moving is not None:
        U, pullback = features.moving.transform_and_pullback(X_, w_)
        assert U.dtype == pullback(U, U.T @ U).dtype == "float32"
