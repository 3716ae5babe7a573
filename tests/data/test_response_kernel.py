"""The low-rank factor of a kernel matrix of the responses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from covmin.core.kernels import Gaussian, Laplacian
from covmin.data.response import kernel_factor


@pytest.fixture(params=[1, 2])
def Y(request):
    return np.random.default_rng(0).standard_normal((60, request.param))


P = np.full(60, 1 / 60)


@pytest.mark.parametrize(("kernel", "most"), [(Gaussian(2.0), 30), (Laplacian(2.0), 60)])
def test_its_factor(kernel, most, Y):
    L = kernel_factor(kernel, Y, P, max_rank=60)
    K = kernel.cross(Y, Y, np.ones(Y.shape[1]))
    left = np.linalg.eigvalsh(K - L @ L.T)
    assert L.shape[1] <= most
    assert np.trace(K - L @ L.T) / 60 <= 1e-4
    assert left.min() > -1e-10  # what is left is a kernel matrix, too


def test_tolerance_and_rank(Y):
    ranks = [kernel_factor(Gaussian(2.0), Y, P, tol=tol).shape[1] for tol in (1e-1, 1e-3, 1e-6)]
    assert ranks[0] < ranks[1] < ranks[2]
    assert kernel_factor(Gaussian(2.0), Y, P, max_rank=2).shape[1] == 2


def test_neither_the_order_of_rows_nor_their_repetition_matters(Y):
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 4, 60)
    weighted = kernel_factor(Gaussian(2.0), Y, counts / counts.sum())
    rows = rng.permutation(np.repeat(np.arange(60), counts))
    repeated = kernel_factor(Gaussian(2.0), Y[rows], np.full(rows.size, 1 / rows.size))
    assert_allclose(repeated, weighted[rows], atol=1e-9)


def test_equal_responses_need_one_column():
    L = kernel_factor(Gaussian(1.0), np.ones((60, 1)), P)
    assert_allclose(L, 1.0)
