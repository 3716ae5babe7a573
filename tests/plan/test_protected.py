"""Which rows the look at pairs is taken on."""

import numpy as np
import pytest
from single import problem_on

from covmin.core.kernels import Gaussian
from covmin.core.rows import Sample
from covmin.plan import look
from covmin.plan.look import FirstLook


def problem_of(X, Y, p=None):
    p = np.full(len(X), 1 / len(X)) if p is None else p
    sample = Sample(X, Y - p @ Y, p)
    return problem_on(sample, kernel=Gaussian(), epsilon=0.01)


def protected_for(problem):
    return FirstLook(problem, "classification").protected


def product(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, [2]] * X[:, [7]] + 0.5 * rng.standard_normal((n, 1))


def test_all_rows_where_there_are_few():
    protected = protected_for(problem_of(*product(200, 20)))
    assert [set(pair) for pair in protected.interactions.columns.tolist()] == [{2, 7}]
    assert protected.interactions.n_samples == pytest.approx(200)
    assert protected.above == pytest.approx(20)  # ten samples for each feature


def test_the_first_of_many_rows(monkeypatch):
    monkeypatch.setattr(look, "pair_search", lambda shape: (150, 4))
    X, Y = product(1000, 20)
    pairs, first = (
        protected_for(problem_of(X, Y)).interactions,
        protected_for(problem_of(X[:150], Y[:150])).interactions,
    )
    assert [set(pair) for pair in pairs.columns.tolist()] == [{2, 7}]
    assert pairs.n_samples == pytest.approx(150)
    np.testing.assert_allclose(pairs.share, first.share, rtol=1e-6)


def test_more_columns_than_there_is_time_for():
    """Of sixty thousand columns, all pairs are affordable on eleven rows: too few to tell."""
    protected = protected_for(problem_of(*product(30, 60_000)))
    assert protected.interactions.n_samples <= 11.0 + 1e-9
    assert protected.interactions.share.size == 0
