"""The regression on feature sets against brute force, known noise and samples left out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from covmin.constants import FUNCTION_RIDGES
from covmin.core import regression
from covmin.core.kernels.additive import WaveSum
from covmin.core.regression import regress_on_sets


def test_leave_one_out_by_brute_force():
    """The closed form is a refit without each sample, weighted, with a free intercept."""
    rng = np.random.default_rng(0)
    n = 12
    X, Y, p = rng.standard_normal((n, 2)), rng.standard_normal((n, 2)), rng.uniform(1, 3, n)
    p /= p.sum()
    Y -= p @ Y
    K = np.exp(WaveSum(1.25, 2.0).cross(X, X, np.ones(2)))
    errors = np.zeros(len(FUNCTION_RIDGES))
    for number, ridge in enumerate(FUNCTION_RIDGES[:4]):
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            system = np.zeros((n, n))  # stationarity in the coefficients, and in the intercept
            system[:-1, :-1] = K[np.ix_(rest, rest)] + np.diag(ridge / p[rest])
            system[:-1, -1] = system[-1, :-1] = 1.0
            solved = np.linalg.solve(system, np.vstack([Y[rest], np.zeros(2)]))
            predicted = K[i, rest] @ solved[:-1] + solved[-1]
            errors[number] += p[i] * ((Y[i] - predicted) ** 2).sum()
    anywhere = np.array([[-np.inf] * 2, [np.inf] * 2])
    basis = regression.Basis.of_kernel(K, p)
    found = regression._bounded_errors(basis, Y, basis.shrinkage(FUNCTION_RIDGES), anywhere)
    assert_allclose(found[:4], errors[:4], rtol=1e-8)
    assert_allclose(found[-1], p @ ((Y / (1 - p)[:, None]) ** 2).sum(axis=1))


def _equal(n):
    return np.full(n, 1 / n)


@pytest.mark.parametrize("n", [300, 1500])
def test_what_is_left_at_new_samples_is_the_noise(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n + 1000, 4))
    f = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    y = (f / f.std() + np.sqrt(0.03) * rng.standard_normal(n + 1000))[:, None]
    [found] = regress_on_sets(X[:n], y[:n], _equal(n), np.ones(4))
    new = np.mean((y[n:] - found.predict(X[n:])) ** 2) / y.var()
    assert 0.025 < new < 0.045
    assert found.unexplained == pytest.approx(new, abs=0.012)


def test_sets_are_judged_as_if_alone():
    """Sums of nested sets are carried on; those of others are made anew."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((80, 5)), rng.standard_normal((80, 2))
    Y[:, 0] += 2.0 * X[:, 1]
    sets = [np.array(each, dtype=int) for each in ([], [1], [1, 3], [0, 1, 3, 4], [2, 3])]
    weights = np.array([1.0, 1.0, 1.0, 0.5, 0.5])
    together = regress_on_sets(X, Y, _equal(80), weights, sets)
    for columns, one in zip(sets, together, strict=True):
        [alone] = regress_on_sets(X, Y, _equal(80), weights, [columns])
        assert one.unexplained == pytest.approx(alone.unexplained, rel=1e-6)
        assert_allclose(one.predict(X), alone.predict(X), atol=1e-5)
    assert together[0].unexplained == 1.0
    assert_allclose(together[0].predict(X), np.tile(Y.mean(axis=0), (80, 1)))


def test_weights_are_copies():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 2))
    Y, more = X[:, :1] ** 2, np.eye(2)[(X[:, 1] > 0).astype(int)]
    counts = rng.integers(1, 4, 60)
    [found] = regress_on_sets(X, Y, counts / counts.sum(), np.ones(2), also=more)
    [other] = regress_on_sets(X, 5.0 * Y - 1.0, counts / counts.sum(), np.ones(2), also=more)
    assert found.unexplained == pytest.approx(other.unexplained, rel=1e-6)
    predicted = found.predict(X)
    assert predicted.shape == (60, 3)
    assert_allclose(predicted[:, 1:].sum(axis=1), 1.0, atol=1e-6)  # what is regressed adds up


def test_no_prediction_goes_anywhere():
    """Wide functions are next to polynomials: far out, they would leave every class behind."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    far = 10.0 * rng.standard_normal((50, 3))
    for y, beyond in ((np.sign(X.prod(axis=1)), 0.0), (X[:, 0] ** 3, 0.5)):
        [found] = regress_on_sets(X, y[:, None], _equal(80), np.ones(3))
        predicted, most = found.predict(far), beyond * np.ptp(y)
        assert predicted.min() >= y.min() - most
        assert predicted.max() <= y.max() + most


@pytest.mark.parametrize("seed", range(3))
def test_going_from_scale_to_scale_finds_the_scale_of_trying_all(seed):
    """Each set by itself tries all; after the set before it, its neighbours alone."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 8))
    f = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    Y = (f / f.std() + np.sqrt(0.03) * rng.standard_normal(300))[:, None]
    order = np.array([1, 2, 0, 3, 4, 5, 6, 7])
    sets = [order[:size] for size in (1, 2, 4, 8)]
    together = regress_on_sets(X, Y - Y.mean(), _equal(300), np.ones(8), sets)
    for columns, found in zip(sets, together, strict=True):
        [alone] = regress_on_sets(X, Y - Y.mean(), _equal(300), np.ones(8), [columns])
        assert found.scale == alone.scale
        assert found.unexplained == pytest.approx(alone.unexplained, rel=1e-6)


def test_a_pair_is_not_judged_at_the_scale_of_its_first_feature():
    """One member of a product says nothing, at any scale; both say all."""
    X = np.random.default_rng(0).standard_normal((300, 2))
    Y = X[:, :1] * X[:, 1:]
    sets = [np.array([0]), np.array([0, 1])]
    pair = regress_on_sets(X, Y - Y.mean(), _equal(300), np.ones(2), sets)[1]
    [alone] = regress_on_sets(X, Y - Y.mean(), _equal(300), np.ones(2), sets[1:])
    assert pair.scale == alone.scale
    assert pair.unexplained == pytest.approx(alone.unexplained, rel=1e-6)


def test_beyond_the_samples_functions_stay_what_they_are_at_the_end():
    """Of a sum of lognormal columns, 21 % were left unexplained on new rows, by a few far ones."""
    rng = np.random.default_rng(0)
    X = np.exp(1.2 * rng.standard_normal((6000, 6)))
    y = X[:, :3].sum(axis=1) + 0.3 * rng.standard_normal(6000)
    X, y = X / X[:2000].std(axis=0), ((y - y[:2000].mean()) / y.std())[:, None]
    [found] = regress_on_sets(X[:2000], y[:2000], np.full(2000, 1 / 2000), np.ones(6))
    assert np.mean((y - found.predict(X))[2000:] ** 2) < 0.05 * y[2000:].var()
    far = X[:2000].max(axis=0)
    assert_allclose(found.predict(far[None] + 5.0), found.predict(far[None]))
