"""The concordance index against a double loop and against scikit-survival."""

import naive
import numpy as np
import pytest

from covmin.selection.measures import concordance


def samples(seed, n=40):
    """Times and risks, with many ties for odd seeds."""
    rng = np.random.default_rng(seed)
    most = 6 if seed % 2 else 10_000
    event, time = rng.random(n) < 0.6, rng.integers(0, most, n).astype(float)
    return event, time, rng.integers(0, most, n) - 0.5 * time, rng.uniform(0.5, 3.0, n)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [2, 7, 40])
def test_it_is_that_of_all_pairs(seed, n):
    event, time, risk, weight = samples(seed, n)
    times = np.column_stack([event, time])
    expected = naive.concordance(event, time, risk, weight)
    assert concordance(times, risk, weight)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_that_of_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics")
    event, time, risk, _ = samples(seed, 200)
    expected = metrics.concordance_index_censored(event, time, risk)[0]
    times = np.column_stack([event, time])
    assert concordance(times, risk, np.ones(200))[0] == pytest.approx(expected)


def test_perfect_reversed_and_equal_risks():
    times, weight = np.column_stack([np.ones(9), np.arange(9.0)]), np.ones(9)
    assert concordance(times, -times[:, 1], weight)[0] == 1.0
    assert concordance(times, times[:, 1], weight)[0] == 0.0
    assert concordance(times, np.zeros(9), weight)[0] == 0.5
    assert concordance(times * [0.0, 1.0], times[:, 1], weight)[0] == 0.5  # nothing to compare


def test_its_variance_is_that_over_draws():
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(60)
        times = np.column_stack([rng.random(60) < 0.7, rng.exponential(size=60) * np.exp(-x)])
        index, influence = concordance(times, x, np.ones(60))
        found.append((index, influence @ influence))
    indices, variances = np.array(found).T
    assert np.sqrt(variances.mean()) == pytest.approx(indices.std(), rel=0.2)
