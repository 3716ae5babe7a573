"""Sums of kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from covmin.core.kernels import Gaussian, Laplacian, Linear, Polynomial, Sum, WaveSum

TERMS = ((0.6, Gaussian(1.5)), (0.4, WaveSum(0.9, 2.0)))


@pytest.mark.parametrize(
    "terms", [TERMS, ((2.0, Polynomial(bandwidth=2.0)), (0.5, Linear()), (1.0, Laplacian(1.5)))]
)
def test_matrices_and_slopes_add_up(terms, draw, w):
    X = draw(n=12, d=4).X
    kernel = Sum(terms)
    crosses = [c * each.cross(X[:3], X, w) for c, each in terms]
    assert_allclose(kernel.cross(X[:3], X, w), sum(crosses), rtol=1e-12)
    K, pullback = kernel.matrix_and_pullback(kernel.prepare(X), w)
    parts = [(c, *each.matrix_and_pullback(each.prepare(X), w)) for c, each in terms]
    assert_allclose(K, sum(c * matrix for c, matrix, _ in parts), rtol=1e-12)
    P, Q = np.random.default_rng(0).standard_normal((2, 12, 3))
    assert_allclose(pullback(P, Q), sum(c * pull(P, Q) for c, _, pull in parts), rtol=1e-12)


@pytest.mark.parametrize(
    ("terms", "absorbing"),
    [(TERMS, False), (((1.0, Gaussian(1.0)), (1.0, Linear())), True), (TERMS[1:], False)],
)
def test_zero_is_absorbing_if_it_is_for_every_term(terms, absorbing):
    assert Sum(terms).zero_is_absorbing is absorbing
