"""Invariances and agreement with a plain-NumPy restatement, on random small problems."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from covmin import CCMSelector, Formulation, Fourier, conditional_covariance_trace
from covmin.constants import PENALTY

OPTIONS = [
    {},
    {"kernel": "gaussian"},
    {"kernel": "laplacian"},
    {"strategy": "single"},
    {"constraint": "soft"},
    {"approximation": Fourier(40)},
]


@st.composite
def problems(draw, classes=None):
    """Samples with an effect of the first two features, and options of a selector."""
    seed = draw(st.integers(0, 10**6))
    n, d = draw(st.integers(12, 40)), draw(st.integers(3, 9))
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(n)
    if classes if classes is not None else draw(st.booleans()):
        y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    return X, y, draw(st.sampled_from(OPTIONS)), rng


SWITCHES = {"strategy", "constraint", "response_kernel"}


def fitted(X, y, options, m=2, tol=1e-2, epsilon="auto", sample_weight=None, **steps):
    """A fit; switches of the paper and the steps go to the formulation."""
    switches = {name: value for name, value in options.items() if name in SWITCHES}
    others = {name: value for name, value in options.items() if name not in SWITCHES}
    formulation = Formulation(tol=tol, **switches, **steps)
    selector = CCMSelector(m, epsilon=epsilon, formulation=formulation, **others)
    return selector.fit(X, y, sample_weight)


def close(one, other, columns=slice(None), scale=1.0):
    """The same features, weights and criterion, but for rounding that a path magnifies."""
    assert_array_equal(one.support_[columns], other.support_)
    assert_allclose(one.weights_[columns], other.weights_, atol=1e-5)
    assert one.objective_ * scale == pytest.approx(other.objective_, rel=1e-5)


@settings(max_examples=40)
@given(problems())
def test_permuted_columns(problem):
    X, y, options, rng = problem
    order = rng.permutation(X.shape[1])
    one, other = fitted(X, y, options), fitted(X[:, order], y, options)
    assert_array_equal(one.ranking_[order], other.ranking_)
    assert_array_equal(one.weights_[order], other.weights_)


@settings(max_examples=40)
@given(problems())
def test_permuted_rows(problem):
    X, y, options, rng = problem
    order = rng.permutation(X.shape[0])
    close(fitted(X, y, options), fitted(X[order], y[order], options))


@settings(max_examples=40)
@given(problems())
def test_rescaled_columns(problem):
    X, y, options, rng = problem
    scale = 10.0 ** rng.uniform(-3, 3, X.shape[1])
    shift = rng.uniform(-5, 5, X.shape[1])
    close(fitted(X, y, options), fitted(X * scale + shift, y, options))


@settings(max_examples=3)
@given(problems(classes=True))
def test_renamed_classes(problem):
    X, y, options, rng = problem
    names = np.array(["x", "a", "m"])[rng.permutation(3)]
    for m in (2, "auto"):
        close(fitted(X, y, options, m), fitted(X, names[y], options, m))


@settings(max_examples=40)
@given(problems(classes=False))
def test_shifted_and_scaled_response(problem):
    X, y, options, rng = problem
    factor = 10.0 ** rng.uniform(-3, 3)
    close(fitted(X, y, options), fitted(X, factor * y + 100.0, options), scale=factor**2)


@settings(max_examples=40)
@given(problems())
def test_rows_twice(problem):
    X, y, options, _ = problem
    close(fitted(X, y, options), fitted(np.tile(X, (2, 1)), np.tile(y, 2), options))


FEW = {"approximation": Fourier(96)}


@pytest.fixture(scope="module", params=["numbers", "four classes"])
def many_rows(request):
    """More samples than the exact kernel takes, and what a fit makes of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2100, 12))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * np.sin(2 * X[:, 3]) + 0.5 * rng.standard_normal(2100)
    if request.param != "numbers":
        y = (y > 0) + 2 * (X[:, 4] > 0)
    return X, y, fitted(X, y, FEW, m=4)


def reordered(X, y, rng):
    order = rng.permutation(len(X))
    return X[order], y[order]


def in_other_units(X, y, rng):
    return X * 10.0 ** rng.uniform(-6, 6, X.shape[1]), y


def mirrored(X, y, rng):
    return X * rng.choice([-1.0, 1.0], X.shape[1]), y


def doubled(X, y, rng):
    return np.tile(X, (2, 1)), np.tile(y, 2)


@pytest.mark.parametrize("change", [reordered, in_other_units, mirrored, doubled])
def test_what_does_not_change_the_problem_of_many_rows(many_rows, change):
    X, y, expected = many_rows
    changed = fitted(*change(X, y, np.random.default_rng(1)), FEW, m=4)
    assert_array_equal(changed.support_, expected.support_)
    assert_allclose(changed.weights_, expected.weights_, atol=1e-4)


def test_weights_and_copies_of_many_rows(many_rows):
    X, y, _ = many_rows
    counts = np.random.default_rng(2).integers(1, 4, len(X))
    one = fitted(X, y, FEW, m=4, sample_weight=counts)
    close(one, fitted(np.repeat(X, counts, axis=0), np.repeat(y, counts), FEW, m=4))


def test_copies_do_not_make_many_rows_of_few():
    """The same kernel matrix, however often samples are repeated."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(300)
    once, often = CCMSelector(2).fit(X, y), CCMSelector(2).fit(np.tile(X, (8, 1)), np.tile(y, 8))
    assert once.approximation_ is often.approximation_ is None
    assert "2100 of 2400 samples merged" in str(often.plan_)
    close(once, often)


@pytest.mark.parametrize("seed", range(3))
def test_equal_rows_of_two_classes_of_equal_size(seed):
    """One more row, which makes the classes unequal, changes next to nothing."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (400, 6)).astype(float)
    y = (X[:, 0] != X[:, 1]) ^ (rng.random(400) < 0.3)
    X = np.concatenate([X[y][:150], X[~y][:150]])
    y = np.repeat(["yes", "no"], 150)
    even, odd = CCMSelector(2).fit(X, y), CCMSelector(2).fit(X[1:], y[1:])
    kinds = np.unique(np.c_[X, y == "yes"], axis=0)
    assert even.plan_.n_samples == len(kinds)
    assert_array_equal(even.get_support(indices=True), [0, 1])
    assert_array_equal(even.support_, odd.support_)
    close(even, CCMSelector(2).fit(X, np.where(y == "yes", "a", "z")))


@pytest.mark.parametrize("n", [800, 1500])
def test_a_kernel_on_the_response_of_many_rows(n):
    """Its bandwidth is measured on some of them, whatever their order and number."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    y = X[:, 1] + X[:, 0] * rng.standard_normal(n)
    options = {"response_kernel": "gaussian", "kernel": "gaussian"}
    one = fitted(X, y, options)
    for change in (reordered, doubled):
        close(one, fitted(*change(X, y, rng), options))


@settings(max_examples=40)
@given(problems())
def test_single_precision_tracks_double(problem):
    X, y, options, _ = problem
    X = X.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few steps: longer ways part
        single = fitted(X, y, options, tol=1e-3, max_iter=1)
        double = fitted(X.astype(np.float64), y, options, tol=1e-3, max_iter=1)
    assert_allclose(single.path_.weights[0], double.path_.weights[0], atol=2e-3)


@settings(max_examples=40)
@given(problems(), st.floats(1e-4, 1.0))
def test_the_criterion_against_a_restatement(problem, epsilon):
    """ε·tr(Yᵀ(HKH + nεI)⁻¹Y), by explicit inversion."""
    X, y, _, rng = problem
    n, d = X.shape
    w = rng.uniform(0, 1, d)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    distances = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)[np.triu_indices(n, 1)]
    sigma2 = np.median(distances) / 2
    K = np.exp(-(((Z * w)[:, None] - (Z * w)[None]) ** 2).sum(axis=2) / (2 * sigma2))
    H = np.eye(n) - 1 / n
    Y = np.eye(3)[y] if y.dtype.kind == "i" else y[:, None]
    Y = Y - Y.mean(axis=0)
    expected = epsilon * np.trace(Y.T @ np.linalg.inv(H @ K @ H + n * epsilon * np.eye(n)) @ Y)
    value = conditional_covariance_trace(X, y, weights=w, epsilon=epsilon)
    assert value == pytest.approx(expected, rel=1e-6)


def restated(X, y, w, sigma, epsilon, weight, power=1):
    """Q of the paper, tr(YᵀM⁻¹Y), each sample counting as often as its weight says."""
    p = weight / weight.sum()
    Z = X - p @ X
    Z = w * Z / np.sqrt(p @ Z**2)
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2) / (2 * sigma**2))
    if y.ndim == 2:
        Y = (y - p @ y) / np.sqrt(p @ (y - p @ y) ** 2 * y.shape[1])
    elif y.dtype.kind == "f":
        Y = y[:, None]
    else:
        names = np.unique(y)
        Y = 2.0 * (y == names[1])[:, None] if names.size == 2 else np.eye(names.size)[y]
    Y = Y - p @ Y
    H = np.eye(p.size) - p
    M = H @ K @ H.T + epsilon * np.diag(1.0 / p)
    return np.sum(Y * np.linalg.solve(np.linalg.matrix_power(M, power), Y))


RESPONSES = {
    "numbers": lambda f, g: f,
    "two classes": lambda f, g: np.where(f > 0, "u", "v"),
    "four classes": lambda f, g: (f > 0) + 2 * (g > 0),
    "two outputs": lambda f, g: np.c_[f, 100 * g],
}


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("formulation", ["paper", "path"])
@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_the_objective_against_a_restatement(response, formulation, weighted, seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(20, 50), rng.integers(2, 7)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, d)
    y = RESPONSES[response](X[:, 0] / X[:, 0].std() + rng.standard_normal(n), X[:, 1])
    weight = rng.uniform(0.1, 2.0, n) if weighted else np.ones(n)
    m = int(rng.integers(1, d + 1))
    selector = CCMSelector(m, kernel="gaussian", formulation=formulation)
    selector.fit(X, y, weight if weighted else None)
    at = selector.weights_, selector.bandwidth_, selector.epsilon_
    assert selector.objective_ == pytest.approx(restated(X, y, *at, weight), rel=1e-6)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_the_inverse_free_objective_against_a_restatement(seed):
    """One in ten was off by more: where all weights are one, the first α is the last."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(20, 120), rng.integers(3, 7)
    X = rng.standard_normal((n, d))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n)
    free = Formulation(inverse="free")
    found = CCMSelector(int(d), kernel="gaussian", epsilon=0.003, formulation=free).fit(X, y)
    at = found.weights_, found.bandwidth_, found.epsilon_, np.ones(n)
    penalised = restated(X, y, *at, power=2) / (4.0 * PENALTY / (n * found.epsilon_))
    assert found.objective_ == pytest.approx(restated(X, y, *at) - penalised, rel=2e-3)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_a_clear_effect_against_trying_all_pairs(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 5))
    y = X[:, 1] * X[:, 3] + 0.5 * X[:, 3]
    trace = {
        pair: conditional_covariance_trace(X[:, list(pair)], y, epsilon=0.01)
        for pair in combinations(range(5), 2)
    }
    best = min(trace, key=trace.get)
    assert best == (1, 3)
    assert tuple(CCMSelector(2).fit(X, y).get_support(indices=True)) == best


@pytest.mark.parametrize("options", OPTIONS)
def test_one_and_two_threads(options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, 12))  # so many that threads are used
    y = X[:, 0] * X[:, 1]
    rows = slice(None) if "approximation" in options else slice(0, 300)
    results = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            results.append(fitted(X[rows], y[rows], options))
    close(*results)


@pytest.mark.parametrize("columns", ["equal", "nearly equal", "rank one"])
def test_nearly_singular_matrices_raise_nothing(columns):
    rng = np.random.default_rng(0)
    base = rng.standard_normal((30, 1))
    noise = {"equal": 0.0, "nearly equal": 1e-12, "rank one": 0.0}[columns]
    X = base @ (np.ones((1, 4)) if columns != "rank one" else rng.standard_normal((1, 4)))
    X = X + noise * rng.standard_normal(X.shape)
    for epsilon in (1e-15, 1e-8, 1e-3):
        for options in OPTIONS:
            selector = fitted(X, base[:, 0], options, tol=1e-3, epsilon=epsilon)
            assert selector.support_.sum() == 2
