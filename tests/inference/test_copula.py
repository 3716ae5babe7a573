"""Copies of whole tables: a swap leaves no trace, and what is given stays."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from scipy.stats import rankdata

from covmin.data import Layout
from covmin.inference.copula import TableKnockoffs, _estimate, bent_pairs

N = 3000


def binary_bounds(z):
    return np.where(z > 0, 0.0, -np.inf), np.where(z > 0, np.inf, 0.0)


def test_the_correlation_behind_binary_columns_is_found():
    rng = np.random.default_rng(0)
    Z = rng.multivariate_normal(np.zeros(2), [[1.0, 0.6], [0.6, 1.0]], N)
    drawn, correlation = _estimate(*binary_bounds(Z), np.arange(2), np.full(N, 1.0 / N), rng)
    assert_allclose(correlation[0, 1], 0.6, atol=0.08)
    assert_array_equal(drawn > 0, Z > 0)
    assert np.corrcoef((Z > 0).T)[0, 1] < 0.5  # what the columns themselves show


def table(rng):
    """A skewed number, a binary column, a count and a number, each following the last."""
    Z = rng.standard_normal((N, 4))
    for j in range(1, 4):
        Z[:, j] = 0.7 * Z[:, j - 1] + np.sqrt(0.51) * Z[:, j]
    return np.column_stack(
        [np.exp(Z[:, 0]), Z[:, 1] > 0.3, np.floor(np.exp(0.5 * Z[:, 2])), Z[:, 3]]
    ).astype(float)


def copies_of(X, plan, seed=1):
    rng = np.random.default_rng(seed)
    p = np.full(len(X), 1.0 / len(X))
    return TableKnockoffs(X, plan, np.arange(X.shape[1]), p, rng).draw(rng)


def test_a_swap_leaves_no_trace_in_mixed_columns():
    X = table(np.random.default_rng(2))
    copies = copies_of(X, Layout.plain(4))
    both = np.corrcoef(rankdata(np.hstack([X, copies]), axis=0).T)
    off = ~np.eye(4, dtype=bool)
    assert_allclose(both[4:, 4:][off], both[:4, :4][off], atol=0.08)
    assert_allclose(both[:4, 4:][off], both[:4, :4][off], atol=0.08)
    assert (both[:4, 4:].diagonal() < 0.8).all()
    for j in range(4):
        assert set(copies[:, j]) <= set(X[:, j]) or j in (0, 3)


def test_given_columns_stay_and_the_others_follow_them():
    X = table(np.random.default_rng(3))
    plan = replace(Layout.plain(4), given=np.array([False, True, False, False]))
    copies = copies_of(X, plan)
    assert_array_equal(copies[:, 1], X[:, 1])
    expected = np.corrcoef(X[:, 1], np.log(X[:, 0]))[0, 1]
    assert_allclose(np.corrcoef(X[:, 1], np.log(copies[:, 0]))[0, 1], expected, atol=0.06)


def test_gaps_are_copied_with_their_column():
    rng = np.random.default_rng(4)
    Z = rng.multivariate_normal(np.zeros(2), [[1.0, 0.7], [0.7, 1.0]], N)
    gap = (Z[:, 1] > 0.8).astype(float)
    X = np.column_stack([np.where(gap, np.nan, Z[:, 0]), Z[:, 1], gap])
    plan = replace(Layout.plain(2), source=np.array([0, 1, 0]), indicators=np.array([2]))
    copies = copies_of(X, plan)
    assert_array_equal(np.isnan(copies[:, 0]), copies[:, 2] == 1.0)
    # Where a gap stands follows the other column, in the copy as in the original.
    for column in (gap, copies[:, 2]):
        assert X[column == 1.0, 1].mean() > X[column == 0.0, 1].mean() + 0.5


def test_squares_are_found_and_normal_columns_are_not():
    rng = np.random.default_rng(5)
    Z, p = rng.standard_normal((300, 20)), np.full(300, 1.0 / 300)
    Z[:, 1] = 0.9 * Z[:, 0] + 0.4 * Z[:, 1]
    assert len(bent_pairs(Z, p)) == 0
    Z[:, 3] = ndtri((rankdata(Z[:, 2] ** 2 + 0.5 * Z[:, 3]) - 0.5) / 300)
    assert [2, 3] in bent_pairs(Z, p).tolist()
