"""Arrays and mapped files read in blocks: the same numbers, and the same fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin import CCMSelector
from covmin.data.blocks.array import ArrayBlocks

RNG = np.random.default_rng(0)
# Two whole blocks and a part of one; more rows than the exact kernel takes.
N, D = 2200, 5
X = RNG.standard_normal((N, D)) * np.arange(1.0, D + 1.0) + 5.0
Z = (X - 5.0) / np.arange(1.0, D + 1.0)
y = Z[:, 0] * Z[:, 1] + Z[:, 2] + 0.1 * RNG.standard_normal(N)
WITHOUT_A_BLOCK = np.r_[np.ones(1000, bool), np.zeros(1100, bool), np.ones(100, bool)]


def selector(**options):
    options = {
        "epsilon": 0.01,
        "interactions": False,
    } | options
    return CCMSelector(3, task="regression", **options)


def assert_same(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_allclose(one.weights_, other.weights_, atol=1e-6)
    assert_allclose(one.objective_, other.objective_, rtol=1e-6)


class TestSource:
    @pytest.mark.parametrize("columns", [None, np.array([3, 1])])
    def test_blocks_are_the_rows_in_order(self, columns):
        starts, blocks = zip(*ArrayBlocks(X).blocks(columns), strict=True)
        assert len(blocks) == 3
        assert_array_equal(starts, np.cumsum([0, *map(len, blocks[:-1])]))
        assert_array_equal(np.concatenate(blocks), X if columns is None else X[:, columns])

    def test_rows_that_are_kept_are_a_source_of_their_own(self):
        """Also where nothing is left of a block."""
        kept = ArrayBlocks(X).keep(WITHOUT_A_BLOCK)
        assert kept.shape == (1100, D)
        assert all(block.shape[0] for _, block in kept.blocks())
        assert_array_equal(np.concatenate([X for _, X in kept.blocks()]), X[WITHOUT_A_BLOCK])
        rows = np.array([999, 1000, 1099])
        assert_array_equal(kept.take(rows), X[WITHOUT_A_BLOCK][rows])
        again = kept.keep(np.arange(1100) >= 999)
        assert_array_equal(again.take(np.array([0, 1])), X[[999, 2100]])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_a_mapped_file_gives_the_fit_in_memory(dtype, mapped):
    table = (10 * X).astype(dtype)
    fitted = selector().fit(mapped(table), y)
    assert fitted.approximation_ == "fourier"
    assert_array_equal(fitted.get_support(indices=True), [0, 1, 2])
    assert_same(fitted, selector().fit(table.astype(float) if dtype == "int16" else table, y))


def test_few_rows_of_a_file_are_fitted_exactly(mapped):
    fitted = selector().fit(mapped(X[:300]), y[:300])
    assert fitted.approximation_ is None
    assert_same(fitted, selector().fit(X[:300], y[:300]))


@pytest.mark.parametrize(
    ("approximation", "class_weight"), [("auto", "balanced"), ("fourier", None)]
)
def test_rows_of_weight_zero_are_no_rows(approximation, class_weight, mapped):
    """They hold a class of their own, and a block of the file."""
    counts = (np.arange(N) < 90) | (np.arange(N) >= N - 90)
    labels = np.where(counts, Z[:, 0] * Z[:, 1] > 0, 2)
    options = {
        "approximation": approximation,
        "class_weight": class_weight,
        "interactions": False,
    }
    fitted = CCMSelector(2, **options).fit(mapped(X), labels, counts)
    assert_array_equal(fitted.classes_, [0, 1])
    assert_same(fitted, CCMSelector(2, **options).fit(X, labels, counts))


@pytest.mark.parametrize("kernel", ["mixed", "additive"])
def test_a_sum_over_features_is_read_in_blocks_too(kernel, mapped):
    expected = selector(kernel=kernel).fit(X, y)
    assert expected.kernel_ == kernel
    assert expected.plan_.approximation == "fourier"
    assert_same(selector(kernel=kernel).fit(mapped(X), y), expected)
