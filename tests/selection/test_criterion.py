"""The paper's criterion against closed forms and known models."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from covmin import Fourier, conditional_covariance_trace
from covmin.kernels import Gaussian


@pytest.mark.parametrize("approximation", ["exact", "auto", "fourier"])
def test_linear_kernel_is_the_residual_of_ridge_regression(approximation):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    X -= X.mean(axis=0)
    y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(50)
    epsilon, n = 0.05, 50
    centred = y - y.mean()
    beta = np.linalg.solve(X.T @ X + n * epsilon * np.eye(3), X.T @ centred)
    penalised = ((centred - X @ beta) ** 2).mean() + epsilon * beta @ beta
    actual = conditional_covariance_trace(
        X, y, kernel="linear", standardize=False, epsilon=epsilon, approximation=approximation
    )
    assert_allclose(actual, penalised, rtol=1e-10)


def test_falls_to_the_noise_variance_as_samples_grow():
    noise, gaps = 0.3, []
    for n in (50, 200, 800, 2400):
        rng = np.random.default_rng(0)
        X = rng.uniform(-2, 2, (n, 1))
        y = np.sin(2 * X[:, 0]) + noise * rng.standard_normal(n)
        trace = conditional_covariance_trace(X, y, epsilon=0.05 * n**-0.75, approximation="exact")
        gaps.append(abs(trace - noise**2))
    assert gaps[-1] < 0.01
    assert gaps[-1] < gaps[0]


def test_no_information_leaves_the_variance():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1500, 2)), rng.standard_normal(1500)
    assert_allclose(conditional_covariance_trace(X, y, epsilon=0.1), y.var(), rtol=0.05)
    assert_allclose(conditional_covariance_trace(X, y, weights=[0, 0]), y.var(), rtol=1e-12)
    assert_allclose(conditional_covariance_trace(np.ones((9, 1)), y[:9]), y[:9].var(), rtol=1e-12)


def test_at_a_fixed_bandwidth_features_hardly_raise_it():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.standard_normal(400)
    traces = [
        conditional_covariance_trace(X[:, :j], y, epsilon=1e-3, kernel=Gaussian(bandwidth=2.0))
        for j in range(1, 6)
    ]
    for fewer, more in itertools.pairwise(traces):
        assert more <= fewer + 0.02 * y.var()  # up to estimation error
    assert traces[2] < 0.2 * traces[1]


def test_classes_and_units():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1))
    labels = np.where(X[:, 0] > 0, "a", "b")
    assert conditional_covariance_trace(X, labels) < 0.25
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    one_hot = np.eye(3)[three]
    assert_allclose(
        conditional_covariance_trace(X, three, epsilon=0.01),
        sum(
            conditional_covariance_trace(X, column, epsilon=0.01, task="regression")
            for column in one_hot.T
        ),
        rtol=1e-10,
    )
    y = X[:, 0] ** 2
    assert_allclose(
        conditional_covariance_trace(X, 10 * y), 100 * conditional_covariance_trace(X, y), rtol=1e-9
    )


@pytest.mark.parametrize("approximation", ["auto", Fourier(4000)])
def test_fourier_agrees(approximation):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2))
    y = X[:, 0] * X[:, 1]
    exact = conditional_covariance_trace(X, y, approximation="exact")
    other = conditional_covariance_trace(X, y, approximation=approximation)
    assert_allclose(other, exact, rtol=0.05)


def test_every_call_gives_the_same_float():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    options = {"approximation": Fourier(20)}
    first = conditional_covariance_trace(X, y, random_state=None, **options)
    assert conditional_covariance_trace(X, y, random_state=None, **options) == first
    assert conditional_covariance_trace(X, y, **options) == first
    again = conditional_covariance_trace(X, y, random_state=np.random.RandomState(1), **options)
    assert again != first
    assert type(first) is type(conditional_covariance_trace(X, y, weights=np.zeros(5))) is float


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": [1.0, -1.0]}, "weights"),
        ({"weights": [1.0]}, "weights"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -0.1}, "epsilon"),
        ({"kernel": Gaussian(bandwidth=-1.0)}, "bandwidth"),
        ({"kernel": "cubic"}, "kernel"),
    ],
)
def test_bad_arguments(changes, message):
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match=message):
        conditional_covariance_trace(X, X[:, 0], **changes)
