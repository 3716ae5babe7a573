"""Components against loops, and their inner products against the kernels they stand for."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, kstest, norm

from covmin.core.arrays import to_numpy
from covmin.core.kernels import KERNELS, Gaussian, Linear
from covmin.core.kernels.additive import WaveSum
from covmin.core.kernels.base import Components, FourierMap, ShiftInvariant

SIGMA = 1.3
SHIFT_INVARIANT = {
    name: kernel(bandwidth=SIGMA)
    for name, kernel in KERNELS.items()
    if issubclass(kernel, ShiftInvariant)
}


@pytest.fixture
def X(draw):
    return draw().X


@pytest.fixture(params=list(SHIFT_INVARIANT))
def name(request):
    return request.param


def moving(name, D, seed=0):
    """D random components of a kernel for four columns."""
    kernel = SHIFT_INVARIANT[name]
    return kernel.components(kernel.draw_frequencies(4, D, np.random.default_rng(seed))).moving


def test_fourier_components_against_loops(name, xp, X, w):
    drawn = moving(name, 7)
    expected = naive.fourier_components(X, w, drawn.frequencies, SIGMA)
    X_, w_ = xp.asarray(X), xp.asarray(w)
    assert_allclose(to_numpy(drawn.transform(X_, w_)), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_pullback(name, n_columns, xp, X, w):
    """Of few columns and of many, which take different ways."""
    drawn, rng = moving(name, 7), np.random.default_rng(1)
    F, W = rng.standard_normal((X.shape[0], n_columns)), rng.standard_normal((8, n_columns))
    X_, F_, W_ = (xp.asarray(array) for array in (X, F, W))
    U = drawn.transform(X_, xp.asarray(w))
    expected = naive.differences(lambda w: np.sum((F @ W.T) * drawn.transform(X, w)), w)
    assert_allclose(to_numpy(drawn.pullback(X_, U, F_, W_)), expected, rtol=1e-6)


def test_inner_products_tend_to_the_kernel(name, X, w):
    K = naive.kernel_matrix(name, X, X, w, SIGMA)
    for D in (1_000, 100_000):
        U = moving(name, D, seed=2).transform(X, w)
        # An entry is a mean of D/2 cosines, each with standard deviation below 0.75.
        assert np.abs(U @ U.T - K).max() < 5 * 0.75 / np.sqrt(D / 2)
        assert_allclose(np.sum(U**2, axis=1), 1.0, rtol=1e-12)


def test_normal_frequencies_are_orthogonal_in_blocks():
    d = 5
    frequencies = Gaussian().draw_frequencies(d, 8_006, np.random.default_rng(0))
    assert frequencies.shape == (d, 4_003)
    for start in (0, d, 4_000):  # the last block is not full
        block = frequencies[:, start : start + d]
        products = block.T @ block
        assert_allclose(products, np.diag(np.diag(products)), atol=1e-12)
    assert kstest(frequencies[2], norm.cdf).pvalue > 1e-3
    assert kstest(np.sum(frequencies**2, axis=0), chi2(d).cdf).pvalue > 1e-3


def test_the_draw_follows_the_seed(name, X, w):
    first, again, other = (moving(name, 5, seed).transform(X, w) for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_fewer_columns_and_another_bandwidth_keep_the_draw(name, X, w):
    drawn = moving(name, 7)
    columns = np.array([0, 3])
    closed = np.where(np.isin(np.arange(4), columns), w, 0.0)
    few = naive.features(Components(drawn).restrict(columns), X[:, columns], w[columns])
    assert_allclose(few, drawn.transform(X, closed), rtol=1e-12, atol=1e-14)
    wide = FourierMap(drawn.frequencies, 2 * SIGMA).transform(X, w)
    assert_allclose(wide, drawn.transform(X, w / 2), rtol=1e-12, atol=1e-14)


def test_a_feature_at_zero_is_not_absorbed(X):
    """One draw has a slope at zero, so the components must not claim otherwise."""
    drawn = moving("gaussian", 7)
    U = drawn.transform(X, np.zeros(4))
    assert (drawn.pullback(X, U, np.ones_like(U), np.eye(U.shape[1])) != 0.0).all()
    assert not Components(moving=drawn).zero_is_absorbing


FIXED = {
    "linear": (Linear(), lambda A, w: naive.kernel_matrix("linear", A, A, w, 1.0)),
    "additive": (
        WaveSum(0.8, 2.0, 4),
        lambda A, w: naive.additive_by_waves(A, A, w, 0.8, 2.0, 4),
    ),
}
NOTHING_DRAWN = np.empty((4, 0))


@pytest.mark.parametrize("fixed_name", FIXED)
def test_fixed_components_are_the_kernel_by_their_powers(fixed_name, xp, X, w):
    kernel, expected = FIXED[fixed_name]
    fixed = kernel.components(NOTHING_DRAWN).fixed
    Phi = to_numpy(fixed.transform(xp.asarray(X)))
    assert_allclose((Phi * fixed.powers(w)) @ Phi.T, expected(X, w), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("fixed_name", FIXED)
def test_slopes_of_the_powers(fixed_name, w):
    fixed = FIXED[fixed_name][0].components(NOTHING_DRAWN).fixed
    slopes = np.random.default_rng(0).standard_normal(fixed.powers(w).size)
    expected = naive.differences(lambda w: float(slopes @ fixed.powers(w)), w)
    assert_allclose(fixed.collect(slopes, w), expected, rtol=1e-6)


@pytest.mark.parametrize("fixed_name", FIXED)
def test_places_of_some_columns(fixed_name, X):
    fixed = FIXED[fixed_name][0].components(NOTHING_DRAWN).fixed
    columns = np.array([1, 3])
    assert_allclose(fixed.transform(X)[:, fixed.places(columns)], fixed.transform(X[:, columns]))


def test_a_mixture_has_both_kinds_side_by_side(X, w):
    frequencies = Gaussian().draw_frequencies(4, 7, np.random.default_rng(0))
    mixed = WaveSum(0.8, 2.0, 4, 0.3, Gaussian(SIGMA)).components(frequencies)
    U = mixed.moving.transform(X, w)
    powers = mixed.powers(w, U.shape[1])
    assert_allclose(powers, [*[0.7] * U.shape[1], *(0.3 * mixed.fixed.powers(w))])
    assert not mixed.zero_is_absorbing


@pytest.mark.parametrize("kernel", [Gaussian(SIGMA), Linear(), WaveSum()], ids=repr)
def test_single_precision_stays_single(kernel, X, w):
    X_, w_ = X.astype("float32"), w.astype("float32")
    frequencies = Gaussian().draw_frequencies(4, 7, np.random.default_rng(0))
    components = kernel.components(frequencies)
    assert naive.features(components, X_, w_).dtype == "float32"
    if components.moving is not None:
        U = components.moving.transform(X_, w_)
        assert U.dtype == components.moving.pullback(X_, U, U, U.T @ U).dtype == "float32"
