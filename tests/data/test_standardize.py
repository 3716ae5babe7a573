"""Columns made ready: weights, and moments in blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.data.blocks.array import ArrayBlocks
from covmin.data.standardize import prepare_columns
from covmin.data.table import usable_samples


def test_weights_whose_sum_is_infinite():
    _, _, weight, _ = usable_samples(np.eye(4), np.arange(4), np.full(4, 1e308))
    assert np.isfinite(weight.sum())
    assert_array_equal(weight, weight[0])


def test_moments_in_blocks_are_those_of_the_whole():
    """Against the plain formulas, with weights, a constant column and extreme scales."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 4)) * [1.0, 1e-150, 1e150, 0.0] + [3.0, 0.0, 0.0, 7.0]
    weight = rng.uniform(0.5, 2.0, 3000)
    columns = prepare_columns(ArrayBlocks(X), sample_weight=weight)
    p = weight / weight.sum()
    assert_array_equal(columns.constant, [3])
    how = columns.X.change
    for j, mean, scale in zip(columns.index, how.mean, how.scale, strict=True):
        size = np.abs(X[:, j]).max()
        assert_allclose(mean / size, p @ (X[:, j] / size), atol=1e-14)
        variance = p @ (X[:, j] / size - mean / size) ** 2
        assert_allclose(np.abs(scale) / size, np.sqrt(variance), rtol=1e-12)
        assert p @ ((X[:, j] - mean) / scale) ** 3 > 0.0
    whole = prepare_columns(X, sample_weight=weight)
    assert_array_equal(whole.index, columns.index)
    rows = rng.permutation(3000)
    assert_array_equal(columns.X.take(rows), whole.X.take(rows))


class TestDistinctRows:
    def rows(self, X, Y, weight=None, seed=0):
        return prepare_columns(X, Y=Y, sample_weight=weight).distinct(seed)

    def test_copies_are_one_row_of_more_weight_wherever_they_stand(self):
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((50, 3)), rng.standard_normal((50, 1))
        counts = rng.integers(1, 4, 50)
        copies = rng.permutation(np.repeat(np.arange(50), counts))
        weighted, repeated = self.rows(X, Y, counts.astype(float)), self.rows(X[copies], Y[copies])
        assert weighted.p.size == repeated.p.size == 50
        assert_array_equal(X[weighted.first], X[copies][repeated.first])
        assert_allclose(weighted.p, repeated.p)
        assert_array_equal(X[copies], X[copies][repeated.first][repeated.kind])

    @pytest.mark.parametrize("n_responses", [1, 2])
    def test_opposite_responses_are_two(self, n_responses):
        """As of two classes of equal size, which are ±1; whichever of them is which."""
        X = np.tile(np.arange(6.0) % 3, 2)[:, None]
        Y = np.repeat([-1.0, 1.0], 6)[:, None] * np.ones(n_responses)
        rows, swapped = self.rows(X, Y), self.rows(X, -Y)
        assert rows.p.size == 6
        assert_allclose(rows.p, 1 / 6)
        assert_array_equal(X[rows.first], X[swapped.first])

    def test_the_same_are_drawn_far_from_zero(self):
        """There sums are rounded by the order of the rows, next to as coarsely as rows differ."""
        rng = np.random.default_rng(0)
        X, Y = 1e8 + rng.standard_normal((3000, 3)), rng.standard_normal((3000, 1))
        other = rng.permutation(3000)
        one, two = self.rows(X, Y), self.rows(X[other], Y[other])
        assert set(one.first[:1024]) == set(other[two.first[:1024]])

    def test_rows_that_differ_only_in_the_order_of_their_values_are_two(self):
        """As in a balanced table of two levels, where no column differs from another."""
        X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        Y = (X[:, :1] != X[:, 1:]) - 0.5
        assert self.rows(X, Y).p.size == 4

    def test_rows_that_differ_only_in_their_class_are_two(self):
        X, Y = np.repeat([[0.0], [1.0]], 3, axis=0), np.tile(np.eye(3) - 1 / 3, (2, 1))
        assert self.rows(X, Y).p.size == 6

    def test_another_seed_draws_another_order_of_the_same_rows(self):
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((200, 2)), rng.standard_normal((200, 1))
        one, other = (self.rows(X, Y, seed=seed).first for seed in (0, 1))
        assert not np.array_equal(one, other)
        assert_array_equal(np.sort(one), np.sort(other))

    def test_the_order_has_nothing_to_do_with_the_values(self):
        rng = np.random.default_rng(0)
        X = np.sort(rng.standard_normal((4000, 1)), axis=0)
        first = self.rows(X, X).first[:1000]
        assert abs(X[first].mean()) < 0.15
        assert abs(np.corrcoef(first, np.arange(1000))[0, 1]) < 0.15

    def test_rows_without_a_weight_are_none(self):
        X = np.random.default_rng(0).standard_normal((20, 2))
        weight = np.repeat([1.0, 0.0], 10)
        for rows in (self.rows(X, X, weight), self.rows(X, None, weight)):
            assert_array_equal(np.sort(rows.first), np.arange(10))
            assert (rows.kind[10:] >= 10).all()
            assert_array_equal(rows.first[rows.kind[:10]], np.arange(10))
