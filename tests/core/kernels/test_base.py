"""Every kernel of the registry: its formula, its derivative, what it declares, its parameters."""

import pickle

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from covmin.core.arrays import to_numpy
from covmin.core.kernels import (
    KERNELS,
    Additive,
    Gaussian,
    Laplacian,
    Linear,
    Mixed,
    Polynomial,
    RationalQuadratic,
)
from covmin.core.kernels.base import Scale


@pytest.fixture
def X(draw):
    return draw().X


def factors(n):
    return np.random.default_rng(3).standard_normal((2, n, 3))


def form(known, X, P, Q):
    """``tr(PᵀKQ)``, whose gradient in w the pullback of P and Q is."""
    return lambda w: np.sum(P * (known.matrix(X, X, w) @ Q))


def matrix_and_pullback(kernel, X, w):
    return kernel.matrix_and_pullback(kernel.prepare(X), w)


# ------------------------------------------------------------------------- values and derivatives


def test_matrix_and_cross(registered, xp, X, w):
    kernel, X_, w_ = registered.scaled, xp.asarray(X), xp.asarray(w)
    matrix, _ = matrix_and_pullback(kernel, X_, w_)
    assert_allclose(to_numpy(matrix), registered.matrix(X, X, w), rtol=1e-12, atol=1e-13)
    cross = kernel.cross(X_[:3, :], X_, w_)
    assert_allclose(to_numpy(cross), registered.matrix(X[:3], X, w), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("same", [False, True])
def test_pullback(registered, same, xp, X, w):
    P, Q = factors(X.shape[0])
    P_, Q_ = xp.asarray(P), xp.asarray(Q)
    if same:
        Q, Q_ = P, P_
    _, pullback = matrix_and_pullback(registered.scaled, xp.asarray(X), xp.asarray(w))
    expected = naive.differences(form(registered, X, P, Q), w)
    assert_allclose(to_numpy(pullback(P_, Q_)), expected, rtol=1e-6)


def test_a_feature_at_zero_has_no_slope_exactly_where_the_kernel_says_so(registered, X, w):
    w = np.where(np.arange(4) == 1, 0.0, w)
    P, Q = factors(X.shape[0])
    slope = matrix_and_pullback(registered.scaled, X, w)[1](P, Q)
    expected = naive.differences(form(registered, X, P, Q), w)
    assert_allclose(slope, expected, rtol=1e-6, atol=1e-6)
    assert (slope[1] == 0.0) == registered.scaled.zero_is_absorbing


def test_restrict_prepares_some_of_the_columns(registered, X, w):
    kernel, columns = registered.scaled, np.array([0, 3])
    P, Q = factors(X.shape[0])
    prepared = kernel.restrict(kernel.prepare(X), columns)
    some, pullback = kernel.matrix_and_pullback(prepared, w[columns])
    fresh, fresh_pullback = matrix_and_pullback(kernel, X[:, columns], w[columns])
    assert_allclose(some, fresh, rtol=1e-12)
    assert_allclose(pullback(P, Q), fresh_pullback(P, Q), rtol=1e-10)


def test_single_precision_stays_single(registered, X, w):
    X_, w_ = X.astype("float32"), w.astype("float32")
    matrix, pullback = matrix_and_pullback(registered.scaled, X_, w_)
    P, Q = factors(X.shape[0])
    single = pullback(P.astype("float32"), Q.astype("float32"))
    cross = registered.scaled.cross(X_, X_, w_)
    assert [array.dtype for array in (matrix, single, cross)] == ["float32"] * 3
    assert_allclose(matrix, registered.matrix(X, X, w), rtol=1e-4, atol=1e-5)
    expected = naive.differences(form(registered, X, P, Q), w)
    assert_allclose(single, expected, rtol=1e-3, atol=1e-4)


def test_arguments_are_not_modified(registered, X, w):
    X_, w_ = X.copy(), w.copy()
    _, pullback = matrix_and_pullback(registered.scaled, X_, w_)
    P, Q = factors(X.shape[0])
    copies = P.copy(), Q.copy()
    first = pullback(P, Q)
    assert_array_equal((P, Q), copies)
    assert_allclose(pullback(P, Q), first, rtol=1e-12)
    registered.scaled.cross(X_, X_, w_)
    assert_array_equal(X_, X)
    assert_array_equal(w_, w)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.3),
        RationalQuadratic(bandwidth=1.3),
        Laplacian(1.3),
        Mixed(0.4).at(Scale(1.3)),
        Additive().at(Scale(1.3)),
    ],
)
def test_a_shift_of_the_samples_changes_nothing(kernel, X, w):
    P, Q = factors(X.shape[0])
    results = []
    for shift in (0.0, 1e6):
        matrix, pullback = matrix_and_pullback(kernel, X + shift, w)
        results.append((matrix, kernel.cross(X + shift, X + shift, w), pullback(P, Q)))
    for here, there in zip(*results, strict=True):
        assert_allclose(there, here, atol=1e-7)


# ------------------------------------------------------------------------------- what it declares


def test_it_is_registered_under_its_name(registered):
    assert type(registered.kernel) is KERNELS[registered.kernel.name]


def test_it_sees_interactions_exactly_if_it_is_no_sum_over_single_columns(registered, X, w):
    p = np.full(X.shape[0], 1 / X.shape[0])
    kernel = registered.scaled
    together = naive.centred(kernel.cross(X, X, w), p)
    single = [naive.centred(kernel.cross(X, X, w * each), p) for each in np.eye(4)]
    is_sum = np.allclose(together, np.sum(single, axis=0), atol=1e-10)
    assert is_sum is not registered.kernel.sees_interactions


def test_it_sums_features_exactly_if_the_budget_counts(registered, X, w):
    one, two = (
        registered.kernel.at(Scale(1.3, 3.0, budget)).cross(X, X, w) for budget in (1.0, 2.0)
    )
    assert np.allclose(one, two) is not registered.kernel.sums_features


def test_it_has_components_or_says_so(registered, X, w):
    kernel, rng = registered.kernel, np.random.default_rng(0)
    if not kernel.has_components:
        with pytest.raises(ValueError, match=r"approximation=\"exact\".*another kernel"):
            kernel.draw_frequencies(4, 10, rng)
        return
    frequencies = kernel.draw_frequencies(4, 20_000, rng)
    assert frequencies.shape[0] == 4
    components = registered.scaled.components(frequencies)
    U = naive.features(components, X, w)
    K = (U * components.powers(w, 2 * frequencies.shape[1])) @ U.T
    exact = registered.matrix(X, X, w)
    # An entry is a mean of 10,000 cosines, unless they are those of a fixed rule.
    assert_allclose(K, exact, atol=0.03 if frequencies.shape[1] else 1e-12)
    assert kernel.components_are_exact == (U.shape[1] == 4 and np.allclose(K, exact))


@pytest.mark.parametrize(
    ("kernel", "sees"),
    [
        (Mixed(0.9), True),
        (Mixed(0.0), True),
        (Polynomial(degree=1), False),
        (Polynomial(degree=2), True),
    ],
)
def test_what_it_declares_may_hang_on_its_parameters(kernel, sees):
    assert kernel.sees_interactions is sees


# ------------------------------------------------------------------------------------- parameters

OBJECTS = [
    (Gaussian(1.5), {"bandwidth": 1.5}),
    (RationalQuadratic(2.0), {"alpha": 2.0, "bandwidth": "median"}),
    (Laplacian(), {"bandwidth": "median"}),
    (Linear(), {}),
    (
        Polynomial(degree=2, coef0=0.5),
        {"degree": 2, "coef0": 0.5, "bandwidth": "median"},
    ),
    (Mixed(0.3, bandwidth=2.0), {"mixing": 0.3, "bandwidth": 2.0}),
    (Additive(2.0), {"bandwidth": 2.0}),
]


@pytest.mark.parametrize(("kernel", "params"), OBJECTS)
def test_parameters_are_got_and_made_from(kernel, params):
    assert kernel.get_params() == kernel.get_params(deep=False) == params
    assert type(kernel)(**params) == kernel
    assert clone(kernel) == kernel
    assert clone(kernel) is not kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_a_kernel_is_shown_by_what_differs_from_the_default():
    assert repr(Gaussian()) == "Gaussian()"
    assert repr(Polynomial(degree=2)) == "Polynomial(degree=2)"


@pytest.mark.parametrize(("kernel", "params"), OBJECTS)
def test_parameters_are_set_in_place(kernel, params):
    other = clone(kernel)
    assert other.set_params() is other
    for name in params:
        assert other.set_params(**{name: 7}) is other
        assert other.get_params()[name] == getattr(other, name) == 7
        assert other != kernel
    assert kernel.get_params() == params  # a copy has its own
    with pytest.raises(ValueError, match=f"{type(kernel).__name__} has no parameter 'sigma'"):
        other.set_params(sigma=1.0)


def test_a_scale_is_not_a_parameter_that_sticks(registered):
    before = registered.kernel.get_params()
    registered.kernel.at(Scale(0.123, 5.0, 2.0))
    assert registered.kernel.get_params() == before


WITH_BANDWIDTH = [Gaussian, RationalQuadratic, Laplacian, Polynomial, Mixed, Additive]


@pytest.mark.parametrize("kernel", WITH_BANDWIDTH)
def test_a_bandwidth_is_checked(kernel):
    for bandwidth in (1, 0.5, np.float32(2.0), 1e-100, 1e100, "median"):
        kernel(bandwidth=bandwidth).check()
    for bandwidth in (0.0, -1.0, np.nan, np.inf, "mean", None, True):
        with pytest.raises(ValueError, match=f'"median" or a positive number; got {bandwidth!r}'):
            kernel(bandwidth=bandwidth).check()
    for bandwidth in (1e-200, 1e200):
        with pytest.raises(ValueError, match=r"is too extreme.*bandwidth=\"median\""):
            kernel(bandwidth=bandwidth).check()


@pytest.mark.parametrize(
    ("kernel", "name", "allowed", "wrong", "message"),
    [
        (Mixed, "mixing", [0, 1, 0.5, np.float64(0.2), "auto"], [-0.1, 1.1, np.nan, "half", None],
         r'mixing must be "auto" or a number in \[0, 1\]; got'),
        (Polynomial, "degree", [1, 3], [0, -1, 1.5, "3", None], "must be an integer ≥ 1; got"),
        (Polynomial, "coef0", [0, 2.5], [-0.1, np.nan, np.inf, "1", None], "a number ≥ 0; got"),
        (RationalQuadratic, "alpha", [0.01, 1, np.float32(2.0), 100],
         [0.0, -1.0, 0.009, 101, np.nan, np.inf, True, "1", None], r"from 0\.01 to 100.*got"),
    ],
)  # fmt: skip
def test_other_parameters_are_checked(kernel, name, allowed, wrong, message):
    for value in allowed:
        kernel(**{name: value}).check()
    for value in wrong:
        with pytest.raises(ValueError, match=message):
            kernel(**{name: value}).check()
