"""What kernel ridge regression on all features leaves unpredicted."""

import numpy as np
import pytest

from covmin.core.kernels import Additive, Gaussian, Mixed, Polynomial
from covmin.core.problem import Problem, Sample
from covmin.core.regression import unpredicted_share

RIDGES = (1e-1, 1e-2, 1e-3)


def problem_of(n, d, kernel, p=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.standard_normal(n)
    p = np.full(n, 1 / n) if p is None else p
    return Problem.exact(Sample(X, (y - p @ y)[:, None], p), kernel=kernel, epsilon=1.0)


def by_the_operator(problem):
    """The same by the operator of the path, with the mean by a ridge that leaves nothing else."""
    features = np.arange(problem.n_features)
    operator = problem.operator(features, np.ones(features.size))
    of_the_mean = operator.leave_one_out(1e8)
    return min(of_the_mean, *map(operator.leave_one_out, RIDGES)) / of_the_mean


@pytest.mark.parametrize("kernel", [Mixed(0.3), Additive(), Gaussian(), Polynomial(degree=2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_leave_one_out_error_of_the_operator(kernel, weighted):
    p = np.random.default_rng(1).dirichlet(np.full(120, 20.0)) if weighted else None
    problem = problem_of(120, 8, kernel, p)
    share = unpredicted_share(problem, 1000, RIDGES)
    assert 0.05 < share < 0.9
    assert share == pytest.approx(by_the_operator(problem), rel=1e-4)


def test_many_features_are_carried_by_fewer_waves():
    problem = problem_of(150, 400, Mixed(0.5))
    assert unpredicted_share(problem, 1000, RIDGES) == pytest.approx(
        by_the_operator(problem), abs=0.05
    )


def test_the_first_rows_stand_for_all():
    many, few = problem_of(400, 10, Mixed(0.3)), 300
    first = Problem.exact(many.sample.first(few), kernel=many.kernel, epsilon=1.0)
    share = unpredicted_share(many, few, RIDGES)
    assert share == pytest.approx(unpredicted_share(first, few, RIDGES), rel=0.02)


def test_values_far_from_zero_lose_nothing():
    """Single precision alone would round them to a few values."""
    near = problem_of(120, 8, Mixed(0.3))
    sample = near.sample
    far = Problem.exact(Sample(sample.X + 1e9, sample.Y, sample.p), kernel=Mixed(0.3), epsilon=1.0)
    assert unpredicted_share(far, 1000, RIDGES) == pytest.approx(
        unpredicted_share(near, 1000, RIDGES), rel=1e-3
    )
