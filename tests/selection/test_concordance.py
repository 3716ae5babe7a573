"""The concordance index against a double loop and against scikit-survival."""

import naive
import numpy as np
import pytest

from covmin import concordance_index
from covmin.data.survival import as_structured
from covmin.selection.concordance import concordance


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
    assert concordance_index(as_structured(times), risk, weight) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_that_of_scikit_survival(seed):
    metrics = pytest.importorskip("sksurv.metrics")
    event, time, risk, _ = samples(seed, 200)
    expected = metrics.concordance_index_censored(event, time, risk)[0]
    assert concordance_index(np.column_stack([event, time]), risk) == pytest.approx(expected)


def test_perfect_reversed_and_equal_risks():
    times = np.column_stack([np.ones(9), np.arange(9.0)])
    assert concordance_index(times, -times[:, 1]) == 1.0
    assert concordance_index(times, times[:, 1]) == 0.0
    assert concordance_index(times, np.zeros(9)) == 0.5
    assert concordance_index(times * [0.0, 1.0], times[:, 1]) == 0.5  # nothing to compare


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


@pytest.mark.parametrize(
    ("risk", "weight", "message"),
    [
        ([1.0, 2.0], None, "one number for each of 3 samples"),
        ([1.0, 2.0, np.nan], None, "must not be NaN"),
        ([1.0, 2.0, 3.0], [1.0], "sample_weight must have 3 numbers"),
    ],
)
def test_what_does_not_fit_is_refused(risk, weight, message):
    with pytest.raises(ValueError, match=message):
        concordance_index([(True, 1.0), (True, 2.0), (False, 3.0)], risk, weight)


def test_no_samples_are_refused():
    with pytest.raises(ValueError, match="y has no samples"):
        concordance_index(np.zeros(0, dtype=[("event", bool), ("time", float)]), [])
