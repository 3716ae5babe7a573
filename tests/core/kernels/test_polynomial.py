"""The polynomial kernel under other parameters than its own."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose

from covmin.core.kernels import Polynomial

SIGMA = 1.3


@pytest.mark.parametrize(("degree", "coef0"), [(1, 0.0), (2, 0.5), (4, 1.0)])
def test_degree_and_constant(degree, coef0, draw, w):
    X = draw().X
    kernel = Polynomial(degree=degree, coef0=coef0, bandwidth=SIGMA)
    P, Q = np.random.default_rng(3).standard_normal((2, X.shape[0], 3))

    def K(w):
        return naive.kernel_matrix("polynomial", X, X, w, SIGMA, degree=degree, coef0=coef0)

    matrix, pullback = kernel.matrix_and_pullback(X, w)
    assert_allclose(matrix, K(w), rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.cross(X, X, w), K(w), rtol=1e-12, atol=1e-14)
    expected = naive.differences(lambda w: np.sum(P * (K(w) @ Q)), w)
    assert_allclose(pullback(P, Q), expected, rtol=1e-6)
