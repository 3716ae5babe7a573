"""Sparse matrices as tables that are read in blocks."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csr_array

from covmin.core.rows import add_up
from covmin.data.blocks import array
from covmin.data.blocks.array import SparseBlocks, sparse_table

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
N, D = 90, 7


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.poisson(0.3, (N, D)).astype(float)


@pytest.fixture
def source(X, monkeypatch):
    monkeypatch.setattr(array, "MEMORY_NUMBERS", 10)
    monkeypatch.setattr(array, "BLOCK_NUMBERS", 20 * D)
    table = sparse_table(csr_array(X))
    assert isinstance(table, SparseBlocks)
    return table


def test_blocks_are_rows_of_the_table(source, X):
    starts, blocks = zip(*source.blocks(), strict=True)
    assert starts == (0, 20, 40, 60, 80)
    assert_array_equal(np.concatenate(blocks), X)


def test_blocks_of_few_columns_are_longer(source, X):
    columns = np.array([4, 1])
    blocks = [block for _, block in source.blocks(columns)]
    assert [len(block) for block in blocks] == [70, 20]
    assert_array_equal(np.concatenate(blocks), X[:, columns])


def test_rows_are_taken_kept_and_put_in_order(source, X):
    rows, columns, kept = np.array([3, 50, 89]), np.array([6, 0]), np.arange(N) % 3 == 0
    assert_array_equal(source.take(rows), X[rows])
    assert_array_equal(source.take(rows, columns), X[rows][:, columns])
    assert_array_equal(source.keep(kept).take(np.arange(30)), X[kept])
    assert_array_equal(source.reordered(rows[::-1]).take(np.arange(3)), X[rows[::-1]])


def test_results_are_merged_some_at_a_time(source, X, monkeypatch):
    monkeypatch.setattr(array, "_MERGED", 2)
    nothing = np.zeros((N, 0))
    total = source.reduce(lambda A, *_: (A.sum(axis=0),), add_up, nothing, np.ones(N))
    assert_array_equal(total[0], X.sum(axis=0))


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read(name, kind, X):
    table = getattr(scipy.sparse, f"{name}_{kind}")(X)
    assert_array_equal(sparse_table(table), X)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "float64"])
def test_numbers_become_floats(dtype, source, X):
    table = sparse_table(csr_array(X.astype(dtype)))
    assert table.dtype == ("float32" if dtype == "float32" else "float64")
    assert_array_equal(table.take(np.arange(N)), X.astype(dtype))


def test_entries_stored_twice_are_added_and_the_table_stays_as_it_is():
    given = csr_array(([1.0, 2.0], [1, 1], [0, 2, 2]), shape=(2, 3))
    assert_array_equal(sparse_table(given), [[0, 3, 0], [0, 0, 0]])
    assert_array_equal(given.data, [1.0, 2.0])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_refused(value):
    table = coo_array(([1.0, value], ([0, 1], [0, 2])), shape=(2, 3))
    with pytest.raises(ValueError, match="NaN or infinity in 1 column: 2"):
        sparse_table(table)


def test_complex_numbers_are_refused():
    with pytest.raises(ValueError, match="Complex data not supported"):
        sparse_table(csr_array(np.eye(2) * 1j))


def test_one_dimension_is_refused():
    with pytest.raises(ValueError, match="two dimensions"):
        sparse_table(coo_array(np.ones(3)))
