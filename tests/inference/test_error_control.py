"""Bounds on false selections: formulas, and distributions at their limit."""

import numpy as np
import pytest

from covmin.inference.error_control import false_selections, smallest_threshold, tail_bound


def test_worst_case_is_the_formula():
    assert false_selections(0.9, 8, 80, 50).worst_case == pytest.approx(64 / (80 * 0.8))
    assert false_selections(0.5, 8, 80, 50) == {"worst_case": 80, "r_concave": 80}


def test_no_smaller_threshold_has_a_bound_as_small():
    found = smallest_threshold(1.0, 8, 80, 50)
    here, below = (false_selections(t, 8, 80, 50).r_concave for t in (found, found - 0.01))
    assert here <= 1.0 < below


@pytest.mark.parametrize("r", [-0.5, -0.25])
@pytest.mark.parametrize("start", [5, 9, 12])
def test_no_concave_distribution_exceeds_the_tail_bound(r, start):
    """Random r-concave masses (g^(1/r) with convex g) of a mean no larger stay below."""
    size, mean = 12, 0.1
    bound = tail_bound(mean, start, size, r)
    rng = np.random.default_rng(start)
    largest = 0.0
    for _ in range(3000):
        end = int(rng.integers(start, size + 1))
        slopes = np.sort(rng.exponential(rng.choice([0.01, 0.1, 1.0, 10.0]), end))
        convex = (
            1.0 + np.r_[0.0, np.cumsum(slopes if rng.random() < 0.5 else slopes[:1].repeat(end))]
        )
        masses = convex ** (1.0 / r)
        masses /= masses.sum()
        if masses @ np.arange(end + 1) <= mean * size:
            largest = max(largest, masses[start:].sum())
    assert 0.7 * bound < largest <= bound * (1 + 1e-6)


def test_stronger_assumptions_and_higher_thresholds_give_smaller_bounds():
    thresholds = np.arange(0.55, 1.001, 0.05)
    table = np.array(
        [
            [false_selections(t, 8, 80, 20)[name] for t in thresholds]
            for name in ("worst_case", "r_concave")
        ]
    )
    assert (np.diff(table, axis=1) < 0).all()
    assert (table[1:] <= table[:-1] + 1e-12).all()
