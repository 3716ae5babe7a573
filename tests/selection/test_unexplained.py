"""unexplained_variance against known noise, brute force and the promise that it is a share."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from covmin import conditional_covariance_trace, unexplained_variance


def product_and_line(n, seed=0, noise=0.05):
    """z₀z₁ + z₂ among twenty columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 20))
    f = X[:, 0] * X[:, 1] + X[:, 2]
    return X, f + np.sqrt(noise / (1 - noise)) * f.std() * rng.standard_normal(n)


@pytest.mark.parametrize(("n", "seed"), [(300, 0), (300, 1), (300, 2), (600, 0)])
def test_the_true_features_leave_the_noise(n, seed):
    X, y = product_and_line(n, seed)
    true, every = unexplained_variance(X[:, :3], y), unexplained_variance(X, y)
    assert 0.04 < true < 0.08
    assert true < every < 0.25
    assert 0.95 < unexplained_variance(X[:, 3:], y) <= 1.0
    # The raw estimate, at the paper's ridge, leaves more than half of what is no noise at all.
    assert conditional_covariance_trace(X[:, :3], y) / y.var() > 0.5


def test_all_features_leave_little_more_than_the_true_ones():
    X, y = product_and_line(1000)
    assert unexplained_variance(X, y) < unexplained_variance(X[:, :3], y) + 0.03


def test_what_every_feature_costs_shrinks_with_samples():
    X, y = product_and_line(2100)
    assert unexplained_variance(X, y) < 0.065  # more samples than the kernel is built around


def test_waves_and_a_determined_response():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 4))
    assert unexplained_variance(X[:, :1], np.sin(4 * X[:, 0])) < 1e-4
    assert unexplained_variance(X, np.sin(4 * X[:, 0])) < 0.1


def test_noise_is_never_more_than_all_of_it():
    rng = np.random.default_rng(0)
    shares = [
        unexplained_variance(rng.standard_normal((n, d)), rng.standard_normal(n))
        for n, d in [(2, 1), (3, 5), (10, 2), (40, 3), (40, 100), (200, 5)]
        for _ in range(5)
    ]
    assert max(shares) == 1.0
    assert min(shares[10:]) > 0.0
    assert np.median(shares[10:]) > 0.95


def test_weights_are_repeats():
    X, y = product_and_line(80)
    X, counts = X[:, :4], np.random.default_rng(0).integers(0, 4, 80)
    weighted = unexplained_variance(X, y, sample_weight=counts)
    repeated = unexplained_variance(X.repeat(counts, 0), y.repeat(counts))
    assert_allclose(weighted, repeated, rtol=1e-6)
    shuffled = np.random.default_rng(1).permutation(80)
    other = unexplained_variance(
        X[shuffled][:, ::-1], 5 - 3 * y[shuffled], sample_weight=counts[shuffled]
    )
    assert_allclose(other, weighted, rtol=1e-6)


def test_classes_outputs_and_categories():
    rng = np.random.default_rng(0)
    kind = rng.choice(list("abc"), 200)
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "x": rng.standard_normal(200)})
    steps = pd.Series(kind).map({"a": 0.0, "b": 3.0, "c": 1.0}).to_numpy()
    assert unexplained_variance(frame, steps) < 0.02
    assert unexplained_variance(frame[["kind"]], kind) < 0.02
    assert unexplained_variance(frame[["x"]], kind) > 0.9
    # Outputs count equally, whatever their units: one is known, one is noise.
    both = np.c_[1e6 * steps, rng.standard_normal(200)]
    half = unexplained_variance(frame[["kind"]], both)
    assert 0.45 < half < 0.55


def test_equal_rows_are_copies_or_samples():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.standard_normal(40)
    assert unexplained_variance(np.tile(X, (5, 1)), np.tile(y, 5)) > 0.9  # a copy is no answer
    # Cells of few values hold many samples: y has a mean in each, and noise beside it.
    cell = rng.integers(0, 12, 600)
    noisy = (rng.random(600) < np.where(cell % 2, 0.9, 0.1)).astype(int)
    bits = (cell[:, None] >> np.arange(4)) & 1
    for X in (bits, cell[:, None], np.c_[cell, bits]):
        share = unexplained_variance(X, noisy)
        assert 0.3 < share < 0.45  # 0.09 / 0.25


def test_nothing_that_varies_says_nothing():
    X, y = product_and_line(30)
    assert unexplained_variance(np.ones((30, 2)), y) == 1.0
    assert unexplained_variance(X, y) == unexplained_variance(X.astype(np.float64), y)
    assert type(unexplained_variance(X, y)) is float


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.full((30, 2), np.inf), {}, "infinity"),
        (pd.DataFrame({"k": list("ab") * 15}), {"column_types": "strict"}, "are not numeric: 'k'"),
        (np.ones((29, 2)), {}, "inconsistent"),
        (np.ones(30), {}, "1D array"),
        (np.ones((30, 2)), {"task": "guess"}, "task"),
        (np.ones((30, 2)), {"sample_weight": [1.0]}, "sample_weight"),
    ],
)
def test_bad_arguments(X, options, message):
    with pytest.raises(ValueError, match=message):
        unexplained_variance(X, np.arange(30.0), **options)
