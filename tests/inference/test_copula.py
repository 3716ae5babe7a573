"""Copies of whole tables: a swap leaves no trace, and what is given stays."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from scipy.stats import rankdata

from covmin.data import Layout
from covmin.inference.copula import (
    LatentColumn,
    LevelMargin,
    NumberMargin,
    TableKnockoffs,
    _estimate,
    correlation,
    curved_triples,
    shrink,
    truncated_normal,
)

N = 3000


def binary_bounds(z):
    return np.where(z > 0, 0.0, -np.inf), np.where(z > 0, np.inf, 0.0)


def test_the_correlation_behind_binary_columns_is_found():
    rng = np.random.default_rng(0)
    Z = rng.multivariate_normal(np.zeros(2), [[1.0, 0.6], [0.6, 1.0]], N)
    drawn, found = _estimate(*binary_bounds(Z), np.arange(2), np.full(N, 1.0 / N), rng)
    assert_allclose(found[0, 1], 0.6, atol=0.08)
    assert_array_equal(drawn > 0, Z > 0)
    assert np.corrcoef((Z > 0).T)[0, 1] < 0.5  # what the columns themselves show


def test_shrinkage_spares_small_eigenvalues_and_removes_noise():
    rng = np.random.default_rng(1)
    n, p = 300, np.full(300, 1.0 / 300)
    A = rng.standard_normal((n, 20))
    copies = np.hstack([A, A + 0.3 * rng.standard_normal((n, 20))])
    near = np.linalg.eigvalsh(shrink(*correlation(copies, np.arange(40), p)))[:20]
    assert_allclose(near.mean(), np.linalg.eigvalsh(np.corrcoef(copies.T))[:20].mean(), rtol=0.4)
    alone = shrink(*correlation(rng.standard_normal((n, 40)), np.arange(40), p))
    assert np.abs(alone - np.eye(40)).max() < 0.02
    Z = rng.standard_normal((30, 90))
    wide = shrink(*correlation(Z, np.arange(90), np.full(30, 1 / 30)))
    assert np.linalg.eigvalsh(wide)[0] > 0.1


def test_rounded_copies_stay_as_close_as_they_are():
    rng = np.random.default_rng(2)
    n, p = 300, np.full(300, 1.0 / 300)
    A = rng.standard_normal((n, 20))
    copies = np.hstack([A, A + 0.3 * rng.standard_normal((n, 20))])
    margins = [NumberMargin(x, p) for x in np.round(copies).T]
    bounds = (np.hstack([getattr(m, side) for m in margins]) for side in ("lower", "upper"))
    _, found = _estimate(*bounds, np.arange(40), p, rng)
    assert_allclose(np.diagonal(found, 20).mean(), 1.09**-0.5, atol=0.025)


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


def test_missings_are_copied_with_their_column():
    rng = np.random.default_rng(4)
    Z = rng.multivariate_normal(np.zeros(2), [[1.0, 0.7], [0.7, 1.0]], N)
    missing = (Z[:, 1] > 0.8).astype(float)
    X = np.column_stack([np.where(missing, np.nan, Z[:, 0]), Z[:, 1], missing])
    plan = replace(Layout.plain(2), source=np.array([0, 1, 0]), indicators=np.array([2]))
    copies = copies_of(X, plan)
    assert_array_equal(np.isnan(copies[:, 0]), copies[:, 2] == 1.0)
    # Where a missing stands follows the other column, in the copy as in the original.
    for column in (missing, copies[:, 2]):
        assert X[column == 1.0, 1].mean() > X[column == 0.0, 1].mean() + 0.5


def test_curves_and_products_are_found_and_normal_columns_are_not():
    rng = np.random.default_rng(5)
    Z, p = rng.standard_normal((300, 20)), np.full(300, 1.0 / 300)
    Z[:, 1] = 0.9 * Z[:, 0] + 0.4 * Z[:, 1]

    def found():
        return curved_triples(Z, np.linalg.inv(np.corrcoef(Z.T)), p).tolist()

    assert found() == []
    for j, function in {
        3: Z[:, 2] ** 2 + 0.5 * Z[:, 3],
        6: Z[:, 4] * Z[:, 5] + 0.3 * Z[:, 6],
        8: np.sin(3.0 * Z[:, 7]) + 0.3 * Z[:, 8],
        11: np.maximum(Z[:, 9], Z[:, 10]) + 0.3 * Z[:, 11],
    }.items():
        Z[:, j] = ndtri((rankdata(function) - 0.5) / 300)
    assert {(2, 2, 3), (4, 5, 6), (7, 7, 8), (9, 10, 11)} <= set(map(tuple, found()))


# --- columns and their latent variables: each value lies in its interval, and comes back ---

M = 400
P = np.full(M, 1.0 / M)


def within(margin, rng):
    """Latent variables somewhere between their bounds."""
    u = rng.random(margin.lower.shape)
    return truncated_normal(u, np.zeros_like(u), 1.0, margin.lower, margin.upper)


def test_numbers_without_ties_are_points():
    x = np.random.default_rng(0).lognormal(size=M)
    margin = NumberMargin(x, P)
    assert_array_equal(margin.lower, margin.upper)
    assert_allclose(margin.values(margin.lower), x)
    assert_allclose([margin.lower.mean(), margin.lower.std()], [0.0, 1.0], atol=1e-12)


def test_ties_are_intervals_that_fill_the_line():
    x = np.random.default_rng(1).poisson(1.5, M).astype(float)
    margin = NumberMargin(x, P)
    assert (margin.lower < margin.upper).all()
    rng = np.random.default_rng(2)
    assert_array_equal(margin.values(within(margin, rng)), x)
    drawn = margin.values(rng.standard_normal((100_000, 1)))
    assert_allclose(drawn.mean(), x.mean(), atol=0.02)
    assert set(drawn) <= set(x)


def test_many_values_are_points_and_stay_values():
    x = np.round(np.random.default_rng(3).standard_normal(M), 1)
    margin = NumberMargin(x, P)
    assert_array_equal(margin.lower, margin.upper)
    assert set(margin.values(np.random.default_rng(4).standard_normal((50, 1)))) <= set(x)


def test_weights_count_as_repeats():
    x, w = np.array([1.0, 1.0, 2.0, 3.0, 3.0]), np.array([1, 2, 2, 1, 3])
    once, often = NumberMargin(x, w / 9.0), NumberMargin(np.repeat(x, w), np.full(9, 1.0 / 9.0))
    assert_allclose(np.repeat(once.lower, w, axis=0), often.lower)
    z = np.linspace(-2.0, 2.0, 9)[:, None]
    assert_array_equal(once.values(z), often.values(z))


def test_levels_come_back_with_their_shares():
    codes = np.random.default_rng(5).choice(4, M, p=[0.1, 0.5, 0.15, 0.25])
    margin = LevelMargin(codes, P)
    rng = np.random.default_rng(6)
    assert_array_equal(margin.values(within(margin, rng)), codes)
    drawn = margin.values(rng.standard_normal((100_000, 3)))
    assert_allclose(np.bincount(drawn) / 100_000, np.bincount(codes) / M, atol=0.01)


def test_a_category_is_drawn_as_one_of_its_rows():
    codes = np.random.default_rng(7).integers(0, 3, M)
    block = np.eye(3)[codes]
    column = LatentColumn(block, P, None)
    drawn = column.values(np.random.default_rng(8).standard_normal((60, 2)))
    assert_array_equal(drawn.sum(axis=1), 1.0)
    assert_array_equal(column.values(within(column, np.random.default_rng(9))), block)


def test_a_missing_number_says_nothing_and_may_be_missing_in_a_copy():
    rng = np.random.default_rng(10)
    x, missing = rng.standard_normal(M), rng.random(M) < 0.3
    block = np.column_stack([np.where(missing, np.nan, x), missing])
    column = LatentColumn(block, P, np.array([False, True]))
    assert_array_equal(np.isinf(column.lower[:, 0]), missing)
    drawn = column.values(rng.standard_normal((20_000, 2)))
    assert_array_equal(np.isnan(drawn[:, 0]), drawn[:, 1] == 1.0)
    assert_allclose(drawn[:, 1].mean(), missing.mean(), atol=0.02)


def test_a_date_is_one_of_the_dates():
    angle = np.random.default_rng(11).uniform(0, 6, M)
    block = np.column_stack([angle, np.cos(angle), np.sin(angle)])
    column = LatentColumn(block, P, np.zeros(3, dtype=bool))
    drawn = column.values(np.random.default_rng(12).standard_normal((50, 3)))
    assert_allclose(np.hypot(drawn[:, 1], drawn[:, 2]), 1.0)


def test_truncated_far_out():
    lower, upper = np.array([8.0, -np.inf, 40.0, 2.0]), np.array([9.0, -8.0, np.inf, 2.0])
    for u in (0.0, 0.5, 1.0 - 1e-12):
        z = truncated_normal(np.full(4, u), np.zeros(4), 1.0, lower, upper)
        assert np.isfinite(z).all()
        assert ((lower <= z) & (z <= upper)).all()
