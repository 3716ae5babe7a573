"""unexplained_variance against known noise, brute force and the promise that it is a share."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    assert unexplained_variance(X, y, held_out=False) < unexplained_variance(X[:, :3], y)


def test_what_every_feature_costs_shrinks_with_samples():
    X, y = product_and_line(3000)
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


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 60), st.sampled_from([2, 6, 40]), st.booleans())
def test_in_the_sample_it_never_grows(seed, n, d, discrete):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4, d)
    if discrete:
        X = rng.integers(0, 3, (n, d)).astype(float)
    y = rng.standard_normal(n) + X[:, 0] * (seed % 2)
    weight = rng.integers(1, 4, n)
    order = rng.permutation(d)
    sizes = sorted({1, 2, 3, d // 2, d - 1, d} - {0})
    shares = [
        unexplained_variance(X[:, order[:m]], y, held_out=False, sample_weight=weight)
        for m in sizes
    ]
    assert 0.0 <= min(shares) <= max(shares) <= 1.0
    for fewer, more in itertools.pairwise(shares):
        assert more <= fewer + 1e-9


def test_in_the_sample_what_equal_rows_disagree_on_is_left():
    X, y = product_and_line(50)
    X, y = np.repeat(X, 2, axis=0), np.concatenate([y + 1.0, y - 1.0]).reshape(2, -1).T.ravel()
    wide = np.hstack([X] * 100)  # 2000 columns: the ridge is nothing any more
    for order in (
        np.arange(100),
        *np.random.default_rng(0).permuted(np.tile(np.arange(100), (5, 1)), axis=1),
    ):
        share = unexplained_variance(wide[order], y[order], held_out=False)
        assert_allclose(share, 1.0 / y.var(), rtol=1e-6)


@pytest.mark.parametrize("held_out", [True, False])
def test_weights_are_repeats(held_out):
    X, y = product_and_line(80)
    X, counts = X[:, :4], np.random.default_rng(0).integers(0, 4, 80)
    weighted = unexplained_variance(X, y, sample_weight=counts, held_out=held_out)
    repeated = unexplained_variance(X.repeat(counts, 0), y.repeat(counts), held_out=held_out)
    assert_allclose(weighted, repeated, rtol=1e-6)
    shuffled = np.random.default_rng(1).permutation(80)
    other = unexplained_variance(
        X[shuffled][:, ::-1], 5 - 3 * y[shuffled], sample_weight=counts[shuffled], held_out=held_out
    )
    assert_allclose(other, weighted, rtol=1e-6)


@pytest.mark.parametrize("held_out", [True, False])
def test_classes_outputs_and_categories(held_out):
    rng = np.random.default_rng(0)
    kind = rng.choice(list("abc"), 200)
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "x": rng.standard_normal(200)})
    steps = pd.Series(kind).map({"a": 0.0, "b": 3.0, "c": 1.0}).to_numpy()
    assert unexplained_variance(frame, steps, held_out=held_out) < 0.02
    assert unexplained_variance(frame[["kind"]], kind, held_out=held_out) < 0.02
    assert unexplained_variance(frame[["x"]], kind, held_out=held_out) > 0.9
    # Outputs count equally, whatever their units: one is known, one is noise.
    both = np.c_[1e6 * steps, rng.standard_normal(200)]
    half = unexplained_variance(frame[["kind"]], both, held_out=held_out)
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
    assert type(unexplained_variance(X, y)) is type(unexplained_variance(X, y, held_out=False))


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.full((30, 2), np.inf), {}, "infinity"),
        (pd.DataFrame({"k": list("ab") * 15}), {"column_types": "strict"}, "are not numeric: 'k'"),
        (np.ones((29, 2)), {}, "inconsistent"),
        (np.ones(30), {}, "1D array"),
        (np.ones((30, 2)), {"held_out": "yes"}, "held_out"),
        (np.ones((30, 2)), {"task": "guess"}, "task"),
        (np.ones((30, 2)), {"sample_weight": [1.0]}, "sample_weight"),
    ],
)
def test_bad_arguments(X, options, message):
    with pytest.raises(ValueError, match=message):
        unexplained_variance(X, np.arange(30.0), **options)


def test_features_of_few_values_explain_no_more_than_the_means_of_their_rows():
    """Two classes of equal size are ±1: equal rows of both are no copies."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (300, 3)).astype(float)
    score = X[:, 0] + rng.standard_normal(300)
    y = (score > np.median(score)).astype(int)
    shares = [unexplained_variance(X[:, :d], y, held_out=False) for d in (1, 2, 3)]
    within = pd.Series(y).groupby(X[:, 0]).transform("var", ddof=0).mean() / y.var()
    assert within - 1e-9 < shares[0] < within + 0.01
    assert shares == sorted(shares, reverse=True)
