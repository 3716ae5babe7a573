"""The median rule."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from covmin.core.kernels import Gaussian, Laplacian
from covmin.core.kernels.distances import (
    median_bandwidth,
)


@pytest.fixture
def X(draw):
    return draw().X


@pytest.mark.parametrize(("order", "metric"), [(1, "cityblock"), (2, "euclidean")])
def test_median_bandwidth(order, metric, xp, X):
    median = np.median(pdist(X, metric))
    sigma = median_bandwidth(xp.asarray(X), order)
    assert isinstance(sigma, float)
    assert sigma == pytest.approx(median if order == 1 else median / np.sqrt(2), rel=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian])
def test_kernel_of_a_pair_at_the_median_distance_is_one_over_e(kernel):
    X = np.array([[0.0, 1.0], [3.0, -1.0]])
    sigma = median_bandwidth(X, kernel.order)
    assert kernel(sigma).cross(X, X, np.ones(2))[0, 1] == pytest.approx(np.exp(-1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shift", [0.0, 100.1])
@pytest.mark.parametrize(("order", "sigma"), [(1, 1.0), (2, np.sqrt(0.5))])
def test_pairs_of_equal_samples_do_not_count(order, sigma, shift, dtype):
    X = np.zeros((60, 7))
    X[:20, 3] = 1.0  # two of three pairs are equal, so the median distance is zero
    X = (X + shift).astype(dtype)
    assert median_bandwidth(X, order) == pytest.approx(sigma, rel=1e-4)


@pytest.mark.parametrize("order", [1, 2])
def test_one_far_sample_does_not_move_the_median(order, draw):
    X = draw(n=80, d=6).X
    before = median_bandwidth(X, order)
    X[0] = 1e9
    assert median_bandwidth(X, order) == pytest.approx(before, rel=0.1)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("counts", [[1, 2, 3, 1], [2, 2, 1, 5], [1, 1, 1, 4]])
def test_weights_count_repeated_samples(order, counts):
    X = np.array([[0.0], [1.0], [5.0], [7.0]])
    weighted = median_bandwidth(X, order, np.array(counts) / sum(counts))
    assert weighted == pytest.approx(median_bandwidth(X.repeat(counts, axis=0), order))


def test_many_samples_are_thinned_by_the_seed(draw):
    X = draw(n=3000, d=2).X

    def sigma(seed):
        return median_bandwidth(X, 2, seed=seed)

    assert sigma(0) == sigma(0) != sigma(1)
    assert sigma(0) == pytest.approx(np.median(pdist(X)) / np.sqrt(2), rel=0.03)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("X", [np.full((5, 2), 0.1), np.ones((1, 2))], ids=["equal", "single"])
def test_equal_samples_have_no_bandwidth(X, order):
    with pytest.raises(ValueError, match="all samples are equal"):
        median_bandwidth(X, order)


def test_distances_that_overflow_have_no_bandwidth():
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ValueError, match=r"overflow.*Standardise the columns"),
    ):
        median_bandwidth(np.array([[0.0], [1e200], [-1e200]]), 2)


@pytest.mark.parametrize("n", [3, 250, 251, 900])
@pytest.mark.parametrize("values", ["normal", "few", "cauchy"])
def test_the_median_of_many_pairs_is_exact(n, values):
    rng = np.random.default_rng(n)
    draw = {
        "normal": rng.standard_normal,
        "few": lambda shape: rng.integers(0, 3, shape).astype(float),
        "cauchy": rng.standard_cauchy,
    }[values]
    X = draw((n, 4))
    apart = pdist(X)
    expected = np.median(apart[apart > 0.0] ** 2)
    assert median_bandwidth(X, 2) == pytest.approx(np.sqrt(expected / 2.0), rel=1e-12)
