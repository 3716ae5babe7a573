"""Rows of an evaluation: by the columns, the kernel and the work allowed."""

import pytest

from covmin.core.kernels import Additive, Gaussian, Linear, Mixed
from covmin.core.problem import EFFORT


def test_a_stage_takes_rows_for_each_column():
    for n_columns, n_rows in ((1, 1000), (50, 1000), (51, 1020)):
        most = EFFORT.rows(Mixed(0.5), n_columns, 0)
        for total, expected in ((5 * n_rows, n_rows), (5 * n_rows - 1, most), (10, 10)):
            assert EFFORT.rows_of_stage(Mixed(0.5), n_columns, 0, total) == expected < total + 1
    affordable = EFFORT.rows(Mixed(0.5), 5000, 512)
    assert EFFORT.rows_of_stage(Mixed(0.5), 5000, 512, 10**6) == affordable < 2000


def matrix_work(n_rows, n_columns):
    """Products of columns for every pair of rows, and a Cholesky factorisation."""
    return n_rows**2 * n_columns + n_rows**3 / 3


@pytest.mark.parametrize("n_columns", [1, 10, 100, 1000, 10_000])
@pytest.mark.parametrize("kernel", [Gaussian(), Linear()])
def test_rows_of_a_matrix_are_as_many_as_the_work_allows(kernel, n_columns):
    n_rows = EFFORT.rows(kernel, n_columns, 0)
    assert matrix_work(n_rows, n_columns) <= EFFORT.work < matrix_work(n_rows + 1, n_columns)


def test_beyond_the_rows_of_a_matrix_there_are_components():
    """As many rows as their products allow, and no fewer than those of the matrix."""
    for kernel, total in ((Gaussian(), 512), (Mixed(0.5), 512 + 8 * 20)):
        by_matrix = EFFORT.rows(kernel, 20, 0)
        assert by_matrix > EFFORT.matrix_rows
        assert EFFORT.rows(kernel, 20, 512) == int(EFFORT.work / total**2)
    assert EFFORT.rows(Gaussian(), 20, 10_000) == EFFORT.matrix_rows
    assert EFFORT.rows(Gaussian(), 10_000, 512) == EFFORT.rows(Gaussian(), 10_000, 0)


def test_fewer_frequencies_than_columns_leave_it_to_the_matrix():
    for kernel in (Gaussian(), Mixed(0.5)):
        assert EFFORT.rows(kernel, 257, 512) == EFFORT.matrix_rows < EFFORT.rows(kernel, 256, 512)
    assert EFFORT.rows(Additive(), 257, 512) > EFFORT.matrix_rows
