"""The frequencies of the Laplacian kernel."""

import numpy as np
from scipy.stats import cauchy, kstest

from covmin.core.kernels import Laplacian


def test_frequencies_are_cauchy_up_to_a_cut():
    frequencies = Laplacian().draw_frequencies(4, 20_000, np.random.default_rng(0))
    assert frequencies.shape == (4, 10_000)
    assert np.abs(frequencies).max() <= 200.0
    # The cut leaves 0.3 % of the frequencies out, so that much the distributions may differ.
    assert kstest(frequencies.ravel(), cauchy.cdf).statistic < 0.0032 / 2 + 0.01
