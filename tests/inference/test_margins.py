"""Columns and the latent variables behind them: each value lies in its interval, and comes back."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from covmin.inference.margins import (
    CategoryColumn,
    LevelMargin,
    NumberColumns,
    NumberMargin,
    truncated_normal,
)

N = 400
P = np.full(N, 1.0 / N)


def within(margin, rng):
    """Latent variables somewhere between their bounds."""
    u = rng.random(margin.lower.shape)
    return truncated_normal(u, np.zeros_like(u), 1.0, margin.lower, margin.upper)


def test_numbers_without_ties_are_points():
    x = np.random.default_rng(0).lognormal(size=N)
    margin = NumberMargin(x, P)
    assert_array_equal(margin.lower, margin.upper)
    assert_allclose(margin.values(margin.lower), x)
    assert_allclose([margin.lower.mean(), margin.lower.std()], [0.0, 1.0], atol=1e-12)


def test_ties_are_intervals_that_fill_the_line():
    x = np.random.default_rng(1).poisson(1.5, N).astype(float)
    margin = NumberMargin(x, P)
    assert (margin.lower < margin.upper).all()
    rng = np.random.default_rng(2)
    assert_array_equal(margin.values(within(margin, rng)), x)
    drawn = margin.values(rng.standard_normal((100_000, 1)))
    assert_allclose(drawn.mean(), x.mean(), atol=0.02)
    assert set(drawn) <= set(x)


def test_many_values_are_points_and_stay_values():
    x = np.round(np.random.default_rng(3).standard_normal(N), 1)
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
    codes = np.random.default_rng(5).choice(4, N, p=[0.1, 0.5, 0.15, 0.25])
    margin = LevelMargin(codes, P)
    rng = np.random.default_rng(6)
    assert_array_equal(margin.values(within(margin, rng)), codes)
    drawn = margin.values(rng.standard_normal((100_000, 3)))
    assert_allclose(np.bincount(drawn) / 100_000, np.bincount(codes) / N, atol=0.01)


def test_a_category_is_drawn_as_one_of_its_rows():
    codes = np.random.default_rng(7).integers(0, 3, N)
    block = np.eye(3)[codes]
    column = CategoryColumn(block, P)
    drawn = column.values(np.random.default_rng(8).standard_normal((60, 2)))
    assert_array_equal(drawn.sum(axis=1), 1.0)
    assert_array_equal(column.values(within(column, np.random.default_rng(9))), block)


def test_a_missing_number_says_nothing_and_may_be_missing_in_a_copy():
    rng = np.random.default_rng(10)
    x, gap = rng.standard_normal(N), rng.random(N) < 0.3
    block = np.column_stack([np.where(gap, np.nan, x), gap])
    column = NumberColumns(block, np.array([False, True]), P)
    assert_array_equal(np.isinf(column.lower[:, 0]), gap)
    drawn = column.values(rng.standard_normal((20_000, 2)))
    assert_array_equal(np.isnan(drawn[:, 0]), drawn[:, 1] == 1.0)
    assert_allclose(drawn[:, 1].mean(), gap.mean(), atol=0.02)


def test_a_date_is_one_of_the_dates():
    angle = np.random.default_rng(11).uniform(0, 6, N)
    block = np.column_stack([angle, np.cos(angle), np.sin(angle)])
    column = NumberColumns(block, np.zeros(3, dtype=bool), P)
    drawn = column.values(np.random.default_rng(12).standard_normal((50, 3)))
    assert_allclose(np.hypot(drawn[:, 1], drawn[:, 2]), 1.0)


def test_truncated_far_out():
    lower, upper = np.array([8.0, -np.inf, 40.0, 2.0]), np.array([9.0, -8.0, np.inf, 2.0])
    for u in (0.0, 0.5, 1.0 - 1e-12):
        z = truncated_normal(np.full(4, u), np.zeros(4), 1.0, lower, upper)
        assert np.isfinite(z).all()
        assert ((lower <= z) & (z <= upper)).all()
