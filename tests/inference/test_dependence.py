"""conditional_dependence_test: the p-value, its level, its power, bad input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin import conditional_covariance_trace, conditional_dependence_test
from covmin.data import TableOptions, read
from covmin.datasets import make_additive, make_xor
from covmin.inference.dependence import ExplainedShare
from covmin.kernels import Gaussian


def global_state():
    return np.random.get_state()[1].copy()  # noqa: NPY002


def test_statistic_is_the_criterion():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(3)
    y = np.sin(X[:, 0]) + rng.standard_normal(60)
    left = conditional_covariance_trace(
        X, y, standardize=False, kernel=Gaussian(1.0), epsilon=0.01, task="regression"
    )
    R = (y - y.mean())[:, None]
    assert ExplainedShare(X)(R) == pytest.approx(1 - left / y.var())


def test_p_value_counts_the_null():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 1)), rng.standard_normal(40)
    test = conditional_dependence_test(X, y, n_resamples=39)
    assert test.null_.shape == (39,)
    assert test.p_value == (1 + (test.null_ >= test.statistic).sum()) / 40
    assert test.scheme == "permutation"


def test_smallest_p_value_and_a_permutation_of_the_samples_by_hand():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 1))
    y = X[:, 0] ** 2
    test = conditional_dependence_test(X, y, n_resamples=19)
    assert test.p_value == 0.05
    rng = np.random.default_rng(0)
    drawn = rng.permutation(50)
    shuffled = rng.permutation(y[drawn])
    alone = conditional_dependence_test(X[drawn], shuffled, n_resamples=1)
    assert_allclose(alone.statistic, test.null_[0])


def test_interaction_given_its_partners():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    found = conditional_dependence_test(X[:, [0]], y, given=X[:, 1:3])
    useless = conditional_dependence_test(X[:, [5]], y, given=X[:, :3])
    assert found.p_value < 0.001
    assert useless.p_value > 0.05
    assert found.scheme == "residual products"
    assert found.null_ is None
    assert found.statistic > useless.statistic


def test_a_copy_of_what_is_given_adds_nothing():
    data = make_additive(80, random_state=1)
    X, y = data.data, data.target
    noisy = X[:, [0]] + 0.5 * np.random.default_rng(0).standard_normal((80, 1))
    assert conditional_dependence_test(noisy, y, n_resamples=39).p_value <= 0.05
    assert conditional_dependence_test(noisy, y, given=X[:, :4]).p_value > 0.05
    assert conditional_dependence_test(X[:, [0]], y, given=X[:, :4]).p_value == 1.0


def confounded_product(rng, n):
    Z = rng.standard_normal((n, 2))
    shared = Z[:, 0] * Z[:, 1]
    return shared + rng.normal(0, 0.5, n), shared + rng.normal(0, 0.5, n), Z


def spread_follows_given(rng, n):
    Z = rng.standard_normal((n, 1))
    spread = np.exp(0.7 * Z[:, 0])
    return spread * rng.standard_normal(n), spread * rng.standard_normal(n), Z


def discrete_throughout(rng, n):
    Z = rng.integers(0, 3, (n, 1))
    likely = np.array([0.2, 0.5, 0.8])[Z[:, 0]]
    return rng.random(n) < likely, (rng.random(n) < likely).astype(int), Z


def one_of_many_given(rng, n):
    Z = rng.standard_normal((n, n // 2))
    return Z[:, 0] + 0.5 * rng.standard_normal(n), Z[:, 0] + 0.5 * rng.standard_normal(n), Z


def many_of_many_given(rng, n):
    Z = rng.standard_normal((n, 2 * n // 3))
    shared = 2.0 * Z.mean(axis=1) * np.sqrt(Z.shape[1])
    return shared + rng.standard_normal(n), shared + rng.standard_normal(n), Z


def square_of_one_of_many(rng, n):
    Z = rng.standard_normal((n, n // 4))
    return Z[:, 0] ** 2 + 0.7 * rng.standard_normal(n), Z[:, 0] ** 2 + rng.standard_normal(n), Z


def product_of_two_of_many(rng, n):
    Z = rng.standard_normal((n, 19))
    shared = Z[:, 0] * Z[:, 1]
    return shared + rng.normal(0, 0.5, n), shared + rng.normal(0, 0.5, n), Z


def jump_in_given(rng, n):
    Z = rng.standard_normal((n, 2))
    shared = np.sign(Z[:, 0] - 0.5)
    return shared + 0.4 * rng.standard_normal(n), shared + 0.4 * rng.standard_normal(n), Z


@pytest.mark.parametrize(
    "draw",
    [
        confounded_product,
        spread_follows_given,
        discrete_throughout,
        one_of_many_given,
        many_of_many_given,
        square_of_one_of_many,
        product_of_two_of_many,
        jump_in_given,
    ],
)
def test_level_with_confounders(draw):
    """60 tests at 0.1 of features that follow what is given as y does."""
    p_values = []
    for seed in range(60):
        x, y, Z = draw(np.random.default_rng(seed), 60)
        p_values.append(conditional_dependence_test(x.astype(float), y, given=Z).p_value)
    assert np.mean(np.array(p_values) <= 0.1) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 60)
    # Twice the smaller of two p-values is often one; but it does not say yes to everything.
    assert np.quantile(p_values, 0.25) < 0.999


def test_more_given_columns_than_regressions_can_remove_are_refused():
    rng = np.random.default_rng(0)
    Z, x, y = rng.standard_normal((40, 35)), rng.standard_normal(40), rng.standard_normal(40)
    with pytest.raises(ValueError, match=r"35 columns.* 40 samples.*at most 30.*VerdictSelector"):
        conditional_dependence_test(x, y, given=Z)
    assert conditional_dependence_test(x, y, given=Z[:, :30]).p_value > 0.01


def test_repeatable_and_without_side_effects():
    X, y = make_xor(40, random_state=1, return_X_y=True)
    before = X.copy()
    state = global_state()
    one = conditional_dependence_test(X[:, :1], y, n_resamples=9)
    two = conditional_dependence_test(X[:, :1], y, n_resamples=9)
    other = conditional_dependence_test(X[:, :1], y, n_resamples=9, random_state=1)
    assert_array_equal(one.null_, two.null_)
    assert not np.array_equal(one.null_, other.null_)
    conditional_dependence_test(X[:, :1], y, given=X[:, 1:3])
    assert_array_equal(X, before)
    assert_array_equal(global_state(), state)


def test_frames_and_single_columns():
    X, y = make_xor(40, random_state=1, return_X_y=True)
    frame = pd.DataFrame(X)
    plain = conditional_dependence_test(X[:, [0]], y, given=X[:, 1:3])
    framed = conditional_dependence_test(frame[0], y, given=frame[[1, 2]])
    assert_allclose(plain.p_value, framed.p_value)
    assert "null_" not in repr(plain)


def test_categories_and_gaps():
    rng = np.random.default_rng(3)
    colour = pd.Series(rng.choice(["red", "green", "blue"], 150))
    z = rng.standard_normal(150)
    y = z + (colour == "red") + 0.5 * rng.standard_normal(150)
    given = pd.DataFrame({"z": np.where(rng.random(150) < 0.2, np.nan, z)})
    frame = pd.DataFrame({"colour": colour.astype("category")})
    noise = frame.sample(frac=1.0, random_state=0).reset_index(drop=True)
    assert conditional_dependence_test(frame, y, given=given).p_value < 0.001
    assert conditional_dependence_test(noise, y, given=given).p_value > 0.05
    assert conditional_dependence_test(given, y, given=frame).p_value < 0.001


def test_ties_of_a_permutation_count():
    """Of 924 permutations, 74 are as extreme as these samples; rounding tells them apart."""
    x, y = np.repeat([0.0, 1.0], 6), np.array([0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1])
    test = conditional_dependence_test(x, y)
    ties = np.abs(test.null_ - test.statistic) < 1e-6
    assert ties.sum() > 5
    assert test.p_value == (1 + (ties | (test.null_ > test.statistic)).sum()) / 200


def test_categories_gaps_and_times_without_given():
    rng = np.random.default_rng(3)
    letters, gone = rng.choice(["a", "b", "c"], 80), rng.random(80) < 0.4
    X = pd.DataFrame({"letter": letters, "value": np.where(gone, np.nan, rng.random(80))})
    effect = 2.0 * (letters == "b") + 2.0 * gone + 0.5 * rng.standard_normal(80)
    times = np.zeros(80, dtype=[("event", bool), ("time", float)])
    times["event"], times["time"] = rng.random(80) < 0.8, np.exp(effect)
    for y in (effect, times):
        for name in X:
            assert conditional_dependence_test(X[[name]], y, n_resamples=59).p_value <= 2 / 60
        noise = [rng.random((80, 1)) for _ in range(40)]
        tests = [conditional_dependence_test(x, y, n_resamples=59) for x in noise]
        found = np.mean([test.p_value <= 0.1 for test in tests])
        assert found <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 40)


def test_weights_count():
    """Where the effect is, the weights are; or they are not."""
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((200, 1)), rng.standard_normal((200, 1))
    y = np.where(np.arange(200) < 100, X[:, 0], 0.0) + 0.5 * rng.standard_normal(200)
    weight = np.where(np.arange(200) < 100, 1.0, 0.0)
    with_effect = conditional_dependence_test(X, y, given=Z, sample_weight=weight)
    without = conditional_dependence_test(X, y, given=Z, sample_weight=1.0 - weight)
    alone = conditional_dependence_test(X[:100], y[:100], given=Z[:100])
    assert with_effect.p_value < 1e-6 < 0.01 < without.p_value
    assert alone.p_value < 1e-6
    with pytest.raises(ValueError, match="requires given="):
        conditional_dependence_test(X, y, sample_weight=weight)


def test_constant_features():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(30)
    test = conditional_dependence_test(np.ones((30, 1)), y, n_resamples=9)
    assert test.p_value == 1.0
    Z = np.ones((30, 1))
    assert conditional_dependence_test(y, y, given=Z).p_value < 0.001
    assert conditional_dependence_test(Z, y, given=y).p_value == 1.0


def test_bad_input():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 1)), rng.standard_normal(30)
    with pytest.raises(ValueError, match="inconsistent"):
        conditional_dependence_test(X, y, given=X[:20])
    with pytest.raises(ValueError, match="minimum of 10"):
        conditional_dependence_test(X[:5], y[:5])
    with pytest.raises(ValueError, match="n_resamples"):
        conditional_dependence_test(X, y, n_resamples=0)
    with pytest.raises(ValueError, match="infinity"):
        conditional_dependence_test(np.full_like(X, np.inf), y)
    with pytest.raises(ValueError, match="minimum of 10"):
        conditional_dependence_test(X[:5], y[:5], given=X[:5])
    masked = np.ma.masked_less(X, 0.0)
    for tables in ((masked, X), (X, masked)):
        with pytest.raises(TypeError, match="mask"):
            conditional_dependence_test(tables[0], y, given=tables[1])


def test_a_table_in_place_of_columns():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    table, known = (read(columns, y, TableOptions()) for columns in (X[:, :1], X[:, 1:3]))
    for given, same in ((None, None), (X[:, 1:3], known)):
        plain = conditional_dependence_test(X[:, :1], y, given=given, n_resamples=9)
        assert (
            conditional_dependence_test(table, given=same, n_resamples=9).p_value == plain.p_value
        )


def test_names_in_place_of_columns_are_refused():
    X = np.random.default_rng(0).standard_normal((40, 2))
    with pytest.raises(TypeError, match="given contains names"):
        conditional_dependence_test(X, X[:, 0], given=["a"], n_resamples=9)
