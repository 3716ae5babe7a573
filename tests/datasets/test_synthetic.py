"""Generators against the distributions they claim."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest, chi2, kstest, norm

from covmin.datasets import make_additive, make_shell, make_survival, make_xor

GENERATORS = [make_shell, make_xor, make_additive, make_survival]
N = 20_000


def is_plausible(sample, cdf):
    return kstest(sample, cdf).pvalue > 1e-3


@pytest.fixture(scope="module")
def shell():
    return make_shell(N, random_state=1)


@pytest.fixture(scope="module")
def xor():
    return make_xor(N, random_state=2)


@pytest.fixture(scope="module")
def additive():
    return make_additive(N, random_state=3)


def test_shell_negative_class_and_noise_are_standard_normal(shell):
    negative = shell.data[shell.target == -1]
    assert all(is_plausible(column, norm.cdf) for column in negative.T)
    assert is_plausible((negative[:, :4] ** 2).sum(axis=1), chi2(4).cdf)
    noise = shell.data[:, 4:]
    assert all(is_plausible(column, norm.cdf) for column in noise[shell.target == 1].T)


def test_shell_radius_is_truncated_chi2(shell):
    squared_radius = (shell.data[shell.target == 1, :4] ** 2).sum(axis=1)
    # Inside the shell, and reaching both its edges.
    assert 9 - 1e-12 <= squared_radius.min() < 9.01
    assert 15.9 < squared_radius.max() <= 16 + 1e-12
    low, high = chi2(4).cdf([9, 16])
    assert is_plausible(squared_radius, lambda r: (chi2(4).cdf(r) - low) / (high - low))


def test_shell_direction_is_uniform_and_independent_of_radius(shell):
    positive = shell.data[shell.target == 1, :4]
    radius = np.linalg.norm(positive, axis=1)
    direction = positive / radius[:, None]
    # One squared coordinate of a uniform direction in four dimensions is Beta(1/2, 3/2).
    assert all(is_plausible(column**2, beta(0.5, 1.5).cdf) for column in direction.T)
    correlation = np.corrcoef(np.column_stack([direction, radius]), rowvar=False)
    assert np.abs(correlation - np.eye(5)).max() < 0.04


def test_classes_are_drawn_uniformly(shell, xor):
    for target, labels in [(shell.target, [-1, 1]), (xor.target, [0, 1, 2, 3])]:
        assert np.unique(target).tolist() == labels
        for label in labels:
            count = int((target == label).sum())
            assert binomtest(count, N, 1 / len(labels)).pvalue > 1e-3


def test_xor_class_follows_from_products_of_signs(xor):
    x1, x2, x3 = xor.data[:, :3].T
    for label in range(4):
        rows = xor.target == label
        # The noise is independent over features, so E[x1 x3 | class] is v1 v3 itself.
        assert np.mean((x1 * x3)[rows]) == pytest.approx(2 * (label // 2) - 1, abs=0.06)
        assert np.mean((x2 * x3)[rows]) == pytest.approx(2 * (label % 2) - 1, abs=0.06)
    from_signs = 2 * (x1 * x3 > 0) + (x2 * x3 > 0)
    right = norm.cdf(1 / np.sqrt(0.5))
    expected = right**3 + (1 - right) ** 3
    assert np.mean(from_signs == xor.target) == pytest.approx(expected, abs=0.012)


def test_xor_features_are_each_independent_of_the_class(xor):
    def mixture(x):
        return (norm.cdf(x, -1, np.sqrt(0.5)) + norm.cdf(x, 1, np.sqrt(0.5))) / 2

    for label in range(4):
        rows = xor.data[xor.target == label]
        assert all(is_plausible(column, mixture) for column in rows[:, :3].T)
        assert all(is_plausible(column, norm.cdf) for column in rows[:, 3:].T)


def test_additive_formula_has_unit_normal_residual(additive):
    x = additive.data
    mean = -2 * np.sin(2 * x[:, 0]) + np.maximum(x[:, 1], 0) + x[:, 2] + np.exp(-x[:, 3])
    residual = additive.target - mean
    assert is_plausible(residual, norm.cdf)
    assert residual.var() == pytest.approx(1, abs=0.04)
    assert np.abs(np.corrcoef(residual, x.T, rowvar=True)[0, 1:]).max() < 0.03
    assert all(is_plausible(column, norm.cdf) for column in x.T)


@pytest.mark.parametrize(
    ("make", "n_true", "task"),
    [
        (make_shell, 4, "classification"),
        (make_xor, 3, "classification"),
        (make_additive, 4, "regression"),
    ],
)
def test_result_fields(make, n_true, task):
    result = make(30, random_state=0)
    assert result.data.shape == (30, 10)
    assert result.data.dtype == np.float64
    assert result.target.dtype == (np.float64 if task == "regression" else np.int64)
    assert result.informative.tolist() == list(range(n_true))
    assert result.feature_names == [f"x{j}" for j in range(10)]
    assert result.task == task
    X, y = make(30, random_state=0, return_X_y=True)
    np.testing.assert_array_equal(X, result.data)
    np.testing.assert_array_equal(y, result.target)
    assert make(np.int64(1), 0).data.shape == (1, n_true)


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_same_data(make):
    first, again, other = (make(50, random_state=seed).data for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(first, make(50, random_state=np.random.default_rng(5)).data)
    legacy = [make(50, random_state=np.random.RandomState(5)).data for _ in range(2)]
    np.testing.assert_array_equal(*legacy)
    np.testing.assert_array_equal(make(50).data, make(50, random_state=0).data)


@pytest.mark.parametrize("make", GENERATORS)
def test_noise_features_leave_the_rest_alone(make):
    few, many = make(40, 0, random_state=9), make(40, 25, random_state=9)
    np.testing.assert_array_equal(few.data, many.data[:, many.informative])
    np.testing.assert_array_equal(few.target, many.target)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("seed", [None, 0])
def test_global_random_state_is_untouched(make, seed):
    before = np.random.get_state()  # noqa: NPY002
    make(20, random_state=seed)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2:] == after[2:]
    np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ((0,), ValueError, "n_samples must be an integer of at least 1, got 0"),
        ((10, -1), ValueError, "n_noise must be an integer of at least 0, got -1"),
        ((2.5,), ValueError, r"n_samples must be an integer.*got 2\.5"),
        ((True,), ValueError, "n_samples must be an integer"),
        ((10, "3"), ValueError, "n_noise must be an integer"),
    ],
)
def test_bad_sizes(make, sizes, error, message):
    with pytest.raises(error, match=message):
        make(*sizes)
