"""Kernels against their formulas, their derivatives against differences."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist

from covmin.core.arrays import to_numpy
from covmin.core.kernels import KERNELS, Gaussian, Laplacian, Polynomial, median_bandwidth

NAMES = list(KERNELS)
SIGMA = 1.3


@pytest.fixture
def X(draw):
    return draw().X


def form(P, Q, K):
    """``tr(PᵀKQ)``, whose gradient in w the pullback of P and Q is."""
    return np.sum(P * (K @ Q))


def weighted_sum(name, X, P, Q):
    return lambda w: form(P, Q, naive.kernel_matrix(name, X, X, w, SIGMA))


def factors(n):
    return np.random.default_rng(3).standard_normal((2, n, 3))


@pytest.mark.parametrize("name", NAMES)
def test_matrix_and_cross(name, xp, X, w):
    kernel = KERNELS[name](SIGMA)
    X_, w_ = xp.asarray(X), xp.asarray(w)
    matrix, _ = kernel.matrix_and_pullback(X_, w_)
    assert_allclose(to_numpy(matrix), naive.kernel_matrix(name, X, X, w, SIGMA), rtol=1e-12)
    cross = kernel.cross(X_[:3, :], X_, w_)
    assert_allclose(to_numpy(cross), naive.kernel_matrix(name, X[:3], X, w, SIGMA), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("same", [False, True])
def test_pullback(name, same, xp, X, w):
    P, Q = factors(X.shape[0])
    P_, Q_ = xp.asarray(P), xp.asarray(Q)
    if same:
        Q, Q_ = P, P_
    _, pullback = KERNELS[name](SIGMA).matrix_and_pullback(xp.asarray(X), xp.asarray(w))
    expected = naive.differences(weighted_sum(name, X, P, Q), w)
    assert_allclose(to_numpy(pullback(P_, Q_)), expected, rtol=1e-6)


@pytest.mark.parametrize(("degree", "coef0"), [(1, 0.0), (2, 0.5), (4, 1.0)])
def test_polynomial_parameters(degree, coef0, X, w):
    kernel = Polynomial(SIGMA, degree=degree, coef0=coef0)

    def K(w):
        return naive.kernel_matrix("polynomial", X, X, w, SIGMA, degree=degree, coef0=coef0)

    matrix, pullback = kernel.matrix_and_pullback(X, w)
    P, Q = factors(X.shape[0])
    assert_allclose(matrix, K(w), rtol=1e-12)
    assert_allclose(kernel.cross(X, X, w), K(w), rtol=1e-12)
    assert_allclose(pullback(P, Q), naive.differences(lambda w: form(P, Q, K(w)), w), rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_feature_at_zero_has_no_slope_exactly_where_the_kernel_says_so(name, X, w):
    w = w.copy()
    w[1] = 0.0
    P, Q = factors(X.shape[0])
    kernel = KERNELS[name](SIGMA)
    slope = kernel.matrix_and_pullback(X, w)[1](P, Q)
    expected = naive.differences(weighted_sum(name, X, P, Q), w)
    assert_allclose(slope, expected, rtol=1e-6, atol=1e-6)
    assert (slope[1] == 0.0) == kernel.zero_is_absorbing


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_stays_single(name, X, w):
    kernel = KERNELS[name](SIGMA)
    X_, w_ = X.astype("float32"), w.astype("float32")
    matrix, pullback = kernel.matrix_and_pullback(X_, w_)
    P, Q = factors(X.shape[0])
    single = pullback(P.astype("float32"), Q.astype("float32"))
    cross = kernel.cross(X_, X_, w_)
    assert [array.dtype for array in (matrix, single, cross)] == ["float32"] * 3
    assert_allclose(matrix, naive.kernel_matrix(name, X, X, w, SIGMA), rtol=1e-4)
    assert_allclose(single, naive.differences(weighted_sum(name, X, P, Q), w), rtol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_are_not_modified(name, X, w):
    X_, w_ = X.copy(), w.copy()
    _, pullback = KERNELS[name](SIGMA).matrix_and_pullback(X_, w_)
    P, Q = factors(X.shape[0])
    copies = P.copy(), Q.copy()
    pullback(P, Q)
    assert_array_equal((P, Q), copies)
    KERNELS[name](SIGMA).cross(X_, X_, w_)
    assert_array_equal(X_, X)
    assert_array_equal(w_, w)


@pytest.mark.parametrize("kernel", [Gaussian(SIGMA), Laplacian(SIGMA)])
def test_a_shift_of_the_samples_changes_nothing(kernel, X, w):
    P, Q = factors(X.shape[0])
    results = []
    for shift in (0.0, 1e6):
        matrix, pullback = kernel.matrix_and_pullback(kernel.prepare(X + shift), w)
        results.append((matrix, kernel.cross(X + shift, X + shift, w), pullback(P, Q)))
    for here, there in zip(*results, strict=True):
        assert_allclose(there, here, atol=1e-7)


def test_polynomial_has_no_random_features():
    with pytest.raises(ValueError, match=r"approximation=None.*another kernel"):
        Polynomial().draw_frequencies(3, 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"approximation=None.*another kernel"):
        Polynomial().features(np.empty((3, 5)))


# ----------------------------------------------------------------------------- median bandwidth


@pytest.mark.parametrize(("order", "metric"), [(1, "cityblock"), (2, "euclidean")])
def test_median_bandwidth(order, metric, xp, X):
    median = np.median(pdist(X, metric))
    sigma = median_bandwidth(xp.asarray(X), order, np.random.default_rng(0))
    assert isinstance(sigma, float)
    assert sigma == pytest.approx(median if order == 1 else median / np.sqrt(2), rel=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian])
def test_kernel_of_a_pair_at_the_median_distance_is_one_over_e(kernel):
    X = np.array([[0.0, 1.0], [3.0, -1.0]])
    sigma = median_bandwidth(X, kernel.order, np.random.default_rng(0))
    assert kernel(sigma).cross(X, X, np.ones(2))[0, 1] == pytest.approx(np.exp(-1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shift", [0.0, 100.1])
@pytest.mark.parametrize(("order", "sigma"), [(1, 1.0), (2, np.sqrt(0.5))])
def test_pairs_of_equal_samples_do_not_count(order, sigma, shift, dtype):
    X = np.zeros((60, 7))
    X[:20, 3] = 1.0  # two of three pairs are equal, so the median distance is zero
    X = (X + shift).astype(dtype)
    bandwidth = median_bandwidth(X, order, np.random.default_rng(0))
    assert bandwidth == pytest.approx(sigma, rel=1e-4)


@pytest.mark.parametrize("order", [1, 2])
def test_one_far_sample_does_not_move_the_median(order, draw):
    X = draw(n=80, d=6).X
    rng = np.random.default_rng(0)
    before = median_bandwidth(X, order, rng)
    X[0] = 1e9
    assert median_bandwidth(X, order, rng) == pytest.approx(before, rel=0.1)


def test_many_samples_are_thinned_by_the_seed(draw):
    X = draw(n=3000, d=2).X

    def sigma(seed):
        return median_bandwidth(X, 2, np.random.default_rng(seed))

    assert sigma(0) == sigma(0) != sigma(1)
    assert sigma(0) == pytest.approx(np.median(pdist(X)) / np.sqrt(2), rel=0.03)


def test_up_to_1024_samples_are_all_used(draw):
    X = draw(n=1024, d=2).X
    sigma = median_bandwidth(X, 2, np.random.default_rng(0))
    assert sigma == pytest.approx(np.median(pdist(X)) / np.sqrt(2), rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("X", [np.full((5, 2), 0.1), np.ones((1, 2))], ids=["equal", "single"])
def test_equal_samples_have_no_bandwidth(X, order):
    with pytest.raises(ValueError, match="all samples are equal"):
        median_bandwidth(X, order, np.random.default_rng(0))
