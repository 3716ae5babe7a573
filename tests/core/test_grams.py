"""The Gram operators' verbs against the matrices they stand for."""

import naive
import numpy as np
import pytest
from numpy.linalg import norm
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core.kernels import Gaussian, Laplacian, Linear

RIDGE = 0.07


def vectors(operator, count=2, seed=0):
    """Vectors of the operator, filled at random."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(operator.Y.shape) for _ in range(count)]


def inner(P, Q, p):
    return np.sum(p[:, None] * P * Q, axis=0)


def test_responses(case, w):
    assert_allclose(case.values(case.gram.at(w).Y, w), case.samples.Y, atol=1e-14)


def test_matmul(case, w):
    operator = case.gram.at(w)
    (F,) = vectors(operator, 1)
    expected = case.C(w) @ case.values(F, w)
    assert_allclose(case.values(operator.matmul(F), w), expected, rtol=1e-9, atol=1e-10)


def test_solve(case, w):
    T = case.C(w) + RIDGE * np.eye(case.samples.p.size)
    solution = case.values(case.gram.at(w).solve(RIDGE), w)
    assert_allclose(solution, np.linalg.inv(T) @ case.samples.Y, rtol=1e-7, atol=1e-9)


def test_dots(case, w):
    operator = case.gram.at(w)
    P, Q = vectors(operator)
    expected = inner(case.values(P, w), case.values(Q, w), case.samples.p)
    assert_allclose(operator.dots(P, Q), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("same", [False, True])
def test_grad(case, w, same):
    operator = case.gram.at(w)
    P, Q = vectors(operator)
    Q = P if same else Q
    P_values, Q_values = case.values(P, w), case.values(Q, w)
    expected = naive.differences(
        lambda w: inner(P_values, case.C(w) @ Q_values, case.samples.p).sum(), w
    )
    gradient = operator.grad(P, Q)
    assert gradient.dtype == np.float64
    assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_a_feature_at_zero_has_no_slope_exactly_where_the_gram_says_so(case, w):
    operator = case.gram.at(np.where(np.arange(4) == 1, 0.0, w))
    (P,) = vectors(operator, 1)
    assert (operator.grad(P, P)[1] == 0.0) == case.gram.zero_is_absorbing


def test_grad_does_not_need_the_two_vectors_to_be_one_object(case, w):
    operator = case.gram.at(w)
    (P,) = vectors(operator, 1)
    assert_allclose(operator.grad(P, P), operator.grad(P, P.copy()), rtol=1e-10, atol=1e-12)


def test_verbs_do_not_modify_their_arguments(case, w):
    operator = case.gram.at(w)
    before = vectors(operator)
    P, Q = vectors(operator)
    first = operator.grad(P, Q)
    operator.grad(P, P), operator.matmul(P), operator.dots(P, Q)
    operator.solve(RIDGE), operator.leave_one_out(RIDGE)
    assert_array_equal([P, Q], before)
    assert_allclose(operator.grad(P, Q), first, rtol=1e-12)


def test_leave_one_out(case, w):
    expected = naive.leave_one_out(case.K(w), case.samples.Y, case.samples.p, RIDGE)
    assert case.gram.at(w).leave_one_out(RIDGE) == pytest.approx(expected, rel=1e-7)


def test_predict(case, w, draw):
    s, new = case.samples, draw(n=5, seed=9).X
    K_new = case.kernel_of(new, s.X, w)
    expected = naive.ridge_predict(case.K(w), K_new, s.Y, s.p, RIDGE)
    assert_allclose(case.gram.at(w).predict(new, RIDGE), expected, rtol=1e-7, atol=1e-9)


def test_the_ridge_times_the_solution_is_the_residual(case, w):
    operator, s = case.gram.at(w), case.samples
    residual = s.Y - operator.predict(s.X, RIDGE)
    solution = case.values(operator.solve(RIDGE), w)
    assert_allclose(RIDGE * solution, residual, rtol=1e-7, atol=1e-9)


def test_restrict_is_the_operator_of_some_columns(case, w):
    columns = np.array([0, 3])
    closed = np.where(np.isin(np.arange(4), columns), w, 0.0)
    few, all_ = case.gram.restrict(columns).at(w[columns]), case.gram.at(closed)
    assert few.leave_one_out(RIDGE) == pytest.approx(all_.leave_one_out(RIDGE), rel=1e-9)
    gradients = [o.grad(f, f) for o in (few, all_) for f in [o.solve(RIDGE)]]
    assert_allclose(gradients[0], gradients[1][columns], rtol=1e-7, atol=1e-9)


# ---------------------------------------------------------------- what does not change the answer


def verbs(gram, w):
    """A number or vector from each verb, with nothing that depends on a basis."""
    operator = gram.at(w)
    f = operator.solve(RIDGE)
    R = operator.matmul(f)
    return [
        np.asarray(operator.dots(operator.Y, f)),
        np.asarray(operator.dots(R, f)),
        operator.grad(f, f),
        operator.grad(R, f),
        operator.leave_one_out(RIDGE),
        operator.predict(gram.X if hasattr(gram, "X") else gram.rows.X, RIDGE),
    ]


def assert_same(got, expected, rtol):
    for a, b in zip(got, expected, strict=True):
        assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


@pytest.mark.parametrize("block_size", [1, 4, 11, 100])
def test_block_size(block_size, samples, w):
    whole = verbs(samples.fourier(Gaussian(1.3), block_size=11), w)
    assert_same(verbs(samples.fourier(Gaussian(1.3), block_size=block_size), w), whole, 1e-10)


def test_linear_features_are_the_linear_kernel(samples, w):
    exact, finite = samples.exact(Linear()), samples.fourier(Linear())
    assert_same(verbs(finite, w), verbs(exact, w), 1e-9)


def test_linear_kernel_is_ridge_regression(draw, w):
    s = draw(n=30)
    Z = (s.X - s.p @ s.X) * w
    S = Z.T @ (s.p[:, None] * Z) + RIDGE * np.eye(4)
    residual = s.Y - Z @ (np.linalg.inv(S) @ (Z.T @ (s.p[:, None] * s.Y)))
    for gram in (s.exact(Linear()), s.fourier(Linear())):
        assert_allclose(s.Y - gram.at(w).predict(s.X, RIDGE), residual, rtol=1e-8, atol=1e-10)


def feature_errors(kernel, n_components, s, w):
    """Relative error of each verb under random features, averaged over draws."""
    exact = verbs(s.exact(kernel), w)
    draws = [verbs(s.fourier(kernel, n_components, 100, seed), w) for seed in range(5)]
    return np.mean(
        [[norm(a - b) / norm(b) for a, b in zip(got, exact, strict=True)] for got in draws], axis=0
    )


@pytest.mark.parametrize("kernel", [Gaussian(2.5), Laplacian(4.0)])
def test_random_features_tend_to_the_kernel(kernel, draw, w):
    few, many = (feature_errors(kernel, D, draw(n=60, k=1), w) for D in (20, 500))
    values = [0, 4, 5]  # criterion, leave-one-out error, prediction
    assert (many < few)[values].all()
    assert many[values].max() < 0.25


def test_gradients_of_random_features_tend_to_that_of_the_kernel(draw, w):
    """The Gaussian's alone: a Cauchy frequency, the Laplacian's, has no mean (decisions.md)."""
    few, many = (feature_errors(Gaussian(2.5), D, draw(n=60, k=1), w)[2] for D in (20, 500))
    assert many < min(few, 0.3)


@pytest.mark.parametrize("kind", ["exact", "fourier"])
def test_single_precision_is_close_to_double(kind, samples, w):
    kernel = Gaussian(1.3)
    double = verbs(getattr(samples, kind)(kernel), w)
    single = verbs(getattr(samples.to(np, "float32"), kind)(kernel), w)
    assert_same(single, double, 1e-3)


@pytest.mark.parametrize("kind", ["exact", "fourier"])
@pytest.mark.parametrize("kernel", [Gaussian(1.3), Laplacian(1.3), Linear()])
def test_array_libraries_agree(kind, kernel, xp, samples, w):
    expected = verbs(getattr(samples, kind)(kernel), w)
    assert_same(verbs(getattr(samples.to(xp), kind)(kernel), w), expected, 1e-8)


@pytest.mark.parametrize("kind", ["exact", "fourier"])
def test_weights_count_repeated_samples(kind, draw, w):
    s = draw(weighted=True)
    weighted, repeated = (getattr(x, kind)(Gaussian(1.3)) for x in (s, s.repeated()))
    f, g = weighted.at(w).solve(RIDGE), repeated.at(w).solve(RIDGE)
    assert_allclose(weighted.at(w).grad(f, f), repeated.at(w).grad(g, g), rtol=1e-9)
    assert_allclose(
        weighted.at(w).predict(s.X, RIDGE), repeated.at(w).predict(s.X, RIDGE), rtol=1e-8
    )
