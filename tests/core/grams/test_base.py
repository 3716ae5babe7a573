"""The verbs of every Gram operator against the matrices it stands for."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

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
    assert_allclose(operator.grad(P, P), operator.grad(P, P.copy()), rtol=1e-9, atol=1e-10)


def test_verbs_do_not_modify_their_arguments(case, w):
    operator = case.gram.at(w)
    before = vectors(operator)
    P, Q = vectors(operator)
    first = operator.grad(P, Q)
    operator.grad(P, P), operator.matmul(P), operator.dots(P, Q)
    operator.solve(RIDGE)
    assert_array_equal([P, Q], before)
    assert_allclose(operator.grad(P, Q), first, rtol=1e-12)


def test_the_ridge_times_the_solution_is_the_residual(case, w):
    operator, s = case.gram.at(w), case.samples
    K = case.K(w)
    residual = s.Y - naive.ridge_predict(K, K, s.Y, s.p, RIDGE)
    solution = case.values(operator.solve(RIDGE), w)
    assert_allclose(RIDGE * solution, residual, rtol=1e-7, atol=1e-9)


def test_restrict_is_the_operator_of_some_columns(case, w):
    columns = np.array([0, 3])
    closed = np.where(np.isin(np.arange(4), columns), w, 0.0)
    few, all_ = case.gram.restrict(columns).at(w[columns]), case.gram.at(closed)
    solutions = [operator.solve(RIDGE) for operator in (few, all_)]
    gradients = [o.grad(f, f) for o, f in zip((few, all_), solutions, strict=True)]
    assert_allclose(gradients[0], gradients[1][columns], rtol=1e-7, atol=1e-9)


def test_vectors_outlive_restrict_exactly_where_the_gram_says_so(case, w):
    columns = np.array([0, 3])
    shape = case.gram.at(w).Y.shape
    assert (case.gram.restrict(columns).at(w[columns]).Y.shape == shape) == case.gram.keeps_vectors


def test_no_feature_at_all(case):
    """Nothing is predicted but the mean, and nothing divides by zero."""
    operator = case.gram.at(np.zeros(4))
    s = case.samples
    assert_allclose(case.values(operator.solve(RIDGE), np.zeros(4)), s.Y / RIDGE, atol=1e-9)
