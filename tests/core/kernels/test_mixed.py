"""The mixed and the additive kernel at the scale of a stage."""

import numpy as np
import pytest

from covmin.core.kernels import Additive, Gaussian, Laplacian, Mixed, Polynomial, RationalQuadratic
from covmin.core.kernels.additive import WaveSum
from covmin.core.kernels.base import Scale


def test_the_kernel_of_a_stage():
    """Each of 990 features has a fair share of σ², and five are kept."""
    stage = Mixed(0.4).at(Scale(2.0, 990.0, 5.0, 4))
    together = RationalQuadratic(bandwidth=2.0)
    assert stage == WaveSum(2.0 / np.sqrt(990), 5.0, 4, 0.4, together)


def test_the_sum_alone():
    assert Additive().at(Scale(1.0, 9.0, 5.0)) == WaveSum(1.0 / 3.0, 5.0)


@pytest.mark.parametrize("joint", [Gaussian(1.5), Polynomial(bandwidth=2.0), Laplacian(1.5)])
def test_matrices_and_slopes_add_up(joint, draw, w):
    X = draw(n=12, d=4).X
    kernel, summed = WaveSum(0.9, 2.0, 8, 0.4, joint), WaveSum(0.9, 2.0)
    crosses = 0.6 * joint.cross(X[:3], X, w) + 0.4 * summed.cross(X[:3], X, w)
    np.testing.assert_allclose(kernel.cross(X[:3], X, w), crosses, rtol=1e-12)
    (K, pull), *parts = (
        each.matrix_and_pullback(each.prepare(X), w) for each in (kernel, joint, summed)
    )
    (A, pull_a), (B, pull_b) = parts
    np.testing.assert_allclose(K, 0.6 * A + 0.4 * B, rtol=1e-12)
    P, Q = np.random.default_rng(0).standard_normal((2, 12, 3))
    expected = 0.6 * pull_a(P, Q) + 0.4 * pull_b(P, Q)
    np.testing.assert_allclose(pull(P, Q), expected, rtol=1e-12)
    assert not kernel.zero_is_absorbing


def test_a_share_of_nothing_leaves_the_kernel_of_all_features(draw, w):
    X = draw().X
    stage = Mixed(0.0).at(Scale(1.3, 4.0, 2.0))
    alone = RationalQuadratic(bandwidth=1.3)
    np.testing.assert_allclose(stage.cross(X, X, w), alone.cross(X, X, w), rtol=1e-12)


def test_frequencies_are_those_of_the_kernel_of_all_features_or_none():
    draws = [
        kernel.draw_frequencies(4, 10, np.random.default_rng(0))
        for kernel in (Mixed(), RationalQuadratic())
    ]
    np.testing.assert_array_equal(*draws)
    assert Additive().draw_frequencies(4, 10, np.random.default_rng(0)).shape == (4, 0)
