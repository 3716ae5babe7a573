"""Columns made ready: weights, and moments in blocks."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from covmin.data.columns import prepare_columns, weighted_samples
from covmin.data.sources import ArraySource


def test_weights_whose_sum_is_infinite():
    X, y = np.eye(4), np.arange(4)
    _, _, weight = weighted_samples(X, y, np.full(4, 1e308))
    assert np.isfinite(weight.sum())
    assert_array_equal(weight, weight[0])


def test_moments_in_blocks_are_those_of_the_whole():
    """Against the plain formulas, with weights, a constant column and extreme scales."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 4)) * [1.0, 1e-150, 1e150, 0.0] + [3.0, 0.0, 0.0, 7.0]
    weight = rng.uniform(0.5, 2.0, 3000)
    columns = prepare_columns(ArraySource(X), sample_weight=weight)
    p = weight / weight.sum()
    assert_array_equal(columns.constant, [3])
    for j, mean, scale in zip(columns.index, columns.mean, columns.scale, strict=True):
        size = np.abs(X[:, j]).max()
        assert_allclose(mean / size, p @ (X[:, j] / size), atol=1e-14)
        assert_allclose(scale / size, np.sqrt(p @ (X[:, j] / size - mean / size) ** 2), rtol=1e-12)
    whole = prepare_columns(X, sample_weight=weight)
    assert_array_equal(whole.index, columns.index)
    assert_array_equal(columns.X.sample(np.arange(3000)), whole.X)
