"""The parts of the conditional test, against plain linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

from covmin.core.regression import Basis
from covmin.inference.feature_tests import predicted_by_others
from covmin.inference.residual_products import (
    Given,
    Smoother,
    _tail,
    normal_scores,
    quadratic_tail,
    residual_product_test,
)


def uniform(n):
    return np.full(n, 1 / n)


@pytest.fixture(scope="module")
def basis():
    Z = np.random.default_rng(0).standard_normal((50, 2))
    return Basis.of(Z, np.array([0.5, 0.5]), uniform(50), 3.0)


def matrix(smoother):
    """I − S, in full."""
    n = smoother.basis.p.size
    V, root = smoother.basis.V, np.sqrt(smoother.basis.p)
    return np.eye(n) - np.outer(root, root) - V @ np.diag(smoother.f) @ V.T


def test_directions_are_orthonormal(basis):
    leading = basis.V[:, :10]
    assert_allclose(leading.T @ leading, np.eye(10), atol=1e-6)
    assert_allclose(leading.T @ np.sqrt(basis.p), 0.0, atol=1e-8)


def test_shares_of_noise_that_are_left(basis):
    one = Smoother(basis, basis.variances / (basis.variances + 0.01))
    two = Smoother(basis, basis.variances / (basis.variances + 0.1))
    A, B = matrix(one), matrix(two)
    assert_allclose(one.left, np.diag(A @ A), atol=1e-4)
    both = A @ B
    assert_allclose(one.left_by_both(two), (both**2).sum(axis=1), atol=1e-4)
    other = Basis.of(
        np.random.default_rng(0).standard_normal((50, 2)), np.array([0.5, 0.5]), uniform(50), 1.25
    )
    third = Smoother(other, other.variances / (other.variances + 0.1))
    assert_allclose(one.left_by_both(third), ((A @ matrix(third)) ** 2).sum(axis=1), atol=1e-3)


def test_leave_one_out_chooses_a_smooth_fit():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((120, 1))
    given = Given(Z, np.ones(1), uniform(120))
    signal = np.sin(2 * Z)
    noisy = given.scaled(signal + 0.3 * rng.standard_normal((120, 1)))
    smoother, share = given.regressions(noisy).smoother(noisy)
    fitted = noisy - smoother.residuals(noisy)
    assert share < 0.35
    assert np.corrcoef(fitted[:, 0], signal[:, 0])[0, 1] > 0.97
    assert smoother.f.sum() <= 60


def test_what_others_say_of_a_column_by_brute_force():
    rng = np.random.default_rng(2)
    X = normal_scores(rng.standard_normal((80, 3)) @ rng.standard_normal((3, 4)), uniform(80))
    found = predicted_by_others(X, np.arange(4), uniform(80))
    for j in range(4):
        others = np.delete(X, j, axis=1)
        plain = others @ np.linalg.lstsq(others, X[:, j], rcond=None)[0]
        assert np.corrcoef(found[j][:, 0], plain)[0, 1] > 0.95


@pytest.mark.parametrize("shape", [np.sign, lambda z: np.round(1.5 * z), np.square, np.negative])
def test_what_a_target_clearly_follows_is_not_shrunk(shape):
    """A jump, stairs, a bend and a line of one of ten columns leave no trace in residuals."""
    rng = np.random.default_rng(5)
    Z = rng.standard_normal((300, 10))
    signal = shape(Z[:, [0]])
    given = Given(Z, np.ones(10), uniform(300))
    noisy = given.scaled(signal / signal.std() + 0.3 * rng.standard_normal((300, 1)))
    smoother, _ = given.regressions(noisy).smoother(noisy)
    left = smoother.residuals(given.scaled(signal / signal.std()))
    assert (left**2).sum() < 0.01


def test_lines_are_capped():
    rng = np.random.default_rng(6)
    given = Given(rng.standard_normal((40, 60)), np.ones(60), uniform(40))
    target = given.scaled(rng.standard_normal((40, 1)))
    regressions = given.regressions(target)
    assert 30 <= regressions.free.shape[1] < 36  # and functions of single columns
    assert (regressions.smoother(target)[0].residuals(target) ** 2).sum() > 0.01


@pytest.mark.parametrize("n_columns", [4, 60])
def test_unrelated_columns_say_nothing(n_columns):
    """Also where there are more functions of them than samples."""
    X = np.random.default_rng(3).standard_normal((100, n_columns))
    found = predicted_by_others(normal_scores(X, uniform(100)), np.arange(n_columns), uniform(100))
    for j, scores in enumerate(found):
        for score in scores.T:
            assert abs(np.corrcoef(score, X[:, j])[0, 1]) < 0.7


def test_effects_alone_and_together():
    rng = np.random.default_rng(4)
    x, Z, e = rng.standard_normal((150, 1)), rng.standard_normal((150, 2)), rng.standard_normal(150)
    given = Given(Z, np.ones(2), uniform(150))
    for effect in (x[:, 0], x[:, 0] * Z[:, 0]):
        p_value, ratio = residual_product_test(x, np.ones(1), (effect + e)[:, None], given)
        assert p_value < 2e-4
        assert ratio > 3.0
    assert residual_product_test(x, np.ones(1), e[:, None], given)[0] > 0.01
    p_value, _ = residual_product_test(Z[:, :1], np.ones(1), (x[:, 0] + e)[:, None], given)
    assert p_value == 1.0


# --- tails of weighted sums of χ², against independent computations ---


@pytest.mark.parametrize("freedom", [1, 3, 20])
@pytest.mark.parametrize("p_value", [0.3, 0.05, 1e-3, 1e-8])
def test_equal_weights_are_a_chi_square(freedom, p_value):
    value = 2.5 * chi2.isf(p_value, freedom)
    assert quadratic_tail(2.5 * np.eye(freedom), value) == pytest.approx(p_value, rel=0.15)


def test_unequal_weights_against_draws():
    weights = np.array([1.0, 0.5, 0.2, 0.1, 0.1])
    draws = np.random.default_rng(0).chisquare(1, (200_000, 5)) @ weights
    for value in (1.0, 2.0, 5.0, 9.0):
        share = (draws >= value).mean()
        assert quadratic_tail(np.diag(weights), value) == pytest.approx(share, rel=0.1, abs=0.01)


def test_many_products_at_once_are_the_products_one_by_one():
    rng = np.random.default_rng(6)
    R, E, Z, spread = *(rng.standard_normal((40, k)) for k in (2, 3, 5)), rng.uniform(1, 2, 40)
    wide = _tail(spread, R, E, np.hstack([Z, Z]))
    narrow = _tail(spread, R, E, np.sqrt(2.0) * Z)
    assert_allclose(wide, narrow, rtol=1e-8)


def test_the_tail_falls_and_is_scale_free():
    weights = np.array([1.0, 0.3, 0.0])
    tails = [quadratic_tail(np.diag(weights), value) for value in np.linspace(0.1, 40, 60)]
    assert (np.diff(tails) < 0).all()
    expected = quadratic_tail(np.diag(weights), 5.0)
    assert quadratic_tail(1e-9 * np.diag(weights), 5e-9) == pytest.approx(expected)


def test_one_weight_is_a_chi_square_at_every_value():
    """The root lay at the end of its bracket, where rounding decides about the sign."""
    for value in np.linspace(1.5, 40, 200):
        tail = quadratic_tail(np.eye(1), value)
        assert tail == pytest.approx(chi2.sf(value, 1), rel=0.15)
