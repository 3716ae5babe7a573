"""The mixed and the additive kernel at the scale of a stage."""

import numpy as np
import pytest

from covmin.core.kernels import Additive, Mixed, RationalQuadratic, Scale, WaveSum


def test_the_kernel_of_a_stage():
    """Each of 990 features has a fair share of σ², and five are kept."""
    stage = Mixed(0.4).at(Scale(2.0, 990.0, 5.0, 4))
    together, summed = RationalQuadratic(bandwidth=2.0), WaveSum(2.0 / np.sqrt(990), 5.0, 4)
    assert stage.terms == ((0.6, together), (0.4, summed))


@pytest.mark.parametrize("kernel", [Additive(), Mixed(1.0)])
def test_a_share_of_one_leaves_the_sum(kernel):
    assert kernel.at(Scale(1.0, 9.0, 5.0)).terms == ((1.0, WaveSum(1.0 / 3.0, 5.0)),)


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
