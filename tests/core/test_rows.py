"""Sums over blocks of rows."""

import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin.core.arrays import to_numpy
from covmin.core.rows import Sample, add_up, map_blocks


def moments(X, Y, p):
    return p @ X, (X * p[:, None]).T @ Y


@pytest.mark.parametrize("block_size", [1, 4, 11, 1000])
def test_the_block_size_does_not_change_the_sum(block_size, xp, samples):
    sums = Sample(*(xp.asarray(a) for a in (samples.X, samples.Y, samples.p)), block_size).sum(
        moments
    )
    for got, expected in zip(sums, moments(samples.X, samples.Y, samples.p), strict=True):
        assert_allclose(to_numpy(got), expected, rtol=1e-12, atol=1e-15)


def test_every_row_is_visited_once_and_in_order(samples):
    visited = []
    rows = Sample(samples.X, samples.Y, samples.p, block_size=4)
    rows.sum(lambda X, Y, p: visited.append((X, Y, p)) or (p,) * 0)
    assert [X.shape[0] for X, _, _ in visited] == [4, 4, 3]
    for part, whole in zip(
        zip(*visited, strict=True), (samples.X, samples.Y, samples.p), strict=True
    ):
        assert_array_equal(np.concatenate(part), whole)


def test_single_precision_blocks_are_added_in_double(xp):
    n = 1000
    X = xp.full((n, 1), 0.1, dtype=xp.float32)
    rows = Sample(X, X, xp.ones(n, dtype=xp.float32), block_size=1)
    (total,) = rows.sum(lambda X, Y, p: (p @ X,))
    assert total.dtype == xp.float64
    assert float(total[0]) == pytest.approx(n * float(np.float32(0.1)), rel=1e-12)


def test_the_sum_does_not_alias_what_the_function_returned(samples):
    kept = np.zeros(1)
    rows = Sample(samples.X, samples.Y, samples.p, block_size=4)
    (total,) = rows.sum(lambda X, Y, p: (kept,))
    total += 1.0
    assert_array_equal(kept, 0.0)


def test_restrict_keeps_the_rows_and_the_block_size(samples):
    rows = Sample(samples.X, samples.Y, samples.p, block_size=4).restrict(np.array([2, 0]))
    (means,) = rows.sum(lambda X, Y, p: (p @ X,))
    assert_allclose(means, samples.p @ samples.X[:, [2, 0]])
    (mean,) = rows.restrict(np.array([1])).sum(lambda X, Y, p: (p @ X,))
    assert_allclose(mean, samples.p @ samples.X[:, [0]])
    assert rows.shape == (samples.X.shape[0], 2)
    assert rows.Y is samples.Y
    assert rows.block_size == 4
    assert rows.X is samples.X  # columns are taken out block by block


def test_threads_change_nothing(samples):
    one = Sample(samples.X, samples.Y, samples.p, block_size=2).sum(moments)
    several = Sample(samples.X, samples.Y, samples.p, block_size=2, n_threads=3).sum(moments)
    for here, there in zip(one, several, strict=True):
        assert_array_equal(here, there)


def test_few_blocks_are_held_at_once(samples):
    """Blocks may come from a file larger than memory."""
    made, done = [], []

    def blocks():
        for i in range(20):
            made.append(i)
            assert len(made) - len(done) <= 4
            yield samples.X, samples.Y, samples.p

    def count(X, Y, p):
        done.append(1)
        return (p,)

    add_up(map_blocks(count, blocks(), n_threads=2))
    assert len(done) == 20


@pytest.mark.parametrize("n_threads", [1, 2])
def test_blocks_are_let_go_of(n_threads):
    alive = []

    def blocks():
        for number in range(8):
            X = np.full(3, number)
            alive.append(weakref.ref(X))
            yield X, None, None

    results = map_blocks(lambda X, Y, p: float(X[0]), blocks(), n_threads)
    for number, result in enumerate(results):
        assert result == number
        assert sum(reference() is not None for reference in alive) <= n_threads + 2, number


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_block_is_an_error_of_the_sum(samples, n_threads):
    def fails(X, Y, p):
        raise FloatingPointError("in a block")

    rows = Sample(samples.X, samples.Y, samples.p, block_size=2, n_threads=n_threads)
    with pytest.raises(FloatingPointError, match="in a block"):
        rows.sum(fails)
