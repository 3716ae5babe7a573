"""Baselines against naive restatements, and the promises they share."""

import builtins
import math
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, f_classif, f_regression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from covmin.baselines import (
    AnovaSelector,
    BAHSICSelector,
    ExtraTreesSelector,
    HSICLassoSelector,
    MRMRSelector,
    MutualInfoSelector,
    PearsonSelector,
    RFESelector,
    available_selectors,
)
from covmin.baselines.hsic_lasso import largest_block

# Few trees: what is tested here does not depend on how good the forest is.
SELECTORS = [
    PearsonSelector(),
    MutualInfoSelector(random_state=0),
    AnovaSelector(),
    RFESelector(),
    ExtraTreesSelector(n_estimators=30, random_state=0),
    MRMRSelector(),
    BAHSICSelector(),
    HSICLassoSelector(),
]
# Score and elimination do not depend on the order of the columns (but for rounding).
EQUIVARIANT = [s for s in SELECTORS if not hasattr(s, "random_state")]
every_selector = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
every_task = pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])


def make_data(task, n=40, d=12, seed=0):
    """Columns 3 and 7 carry the signal; the rest is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signal = X[:, 3] + 0.8 * X[:, 7]
    if task == "binary":
        return X, np.where(signal > 0, "yes", "no")
    if task == "multiclass":
        return X, np.digitize(X[:, 3], [0.0]) + 2 * np.digitize(X[:, 7], [0.0])
    return X, signal + 0.1 * rng.normal(size=n)


def clone_of(selector, **parameters):
    """Fresh copy, with some parameters changed."""
    return clone(selector).set_params(**parameters)


def global_random_state():
    name, keys, *position = np.random.get_state()  # noqa: NPY002
    return name, keys.tolist(), position


# --- naive restatements -----------------------------------------------------------------------


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def naive_y_kernel(y, is_classes):
    n = len(y)
    if is_classes:
        return np.array([[float(y[a] == y[b]) for b in range(n)] for a in range(n)])
    y = standardised(y)
    return np.array([[y[a] * y[b] for b in range(n)] for a in range(n)])


def naive_gaussian(X, sigma):
    n = len(X)
    K = np.empty((n, n))
    for a in range(n):
        for b in range(n):
            K[a, b] = math.exp(-sum((X[a] - X[b]) ** 2) / (2 * sigma**2))
    return K


def naive_hsic(K, L):
    """Unbiased estimator as published; the biased one below four samples."""
    n = len(K)
    if n < 4:
        H = np.eye(n) - np.ones((n, n)) / n
        return np.trace(K @ H @ L @ H) / (n - 1) ** 2
    K = K - np.diag(np.diag(K))
    L = L - np.diag(np.diag(L))
    one = np.ones(n)
    return (
        np.trace(K @ L)
        + (one @ K @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
        - 2 * (one @ K @ L @ one) / (n - 2)
    ) / (n * (n - 3))


def naive_bahsic_ranking(X, y, is_classes, fraction):
    X, L = standardised(X), naive_y_kernel(y, is_classes)
    remaining, order = list(range(X.shape[1])), []
    while len(remaining) > 1:
        Z = X[:, remaining]
        pairs = [(a, b) for a in range(len(Z)) for b in range(a)]
        sigma = np.median([np.linalg.norm(Z[a] - Z[b]) for a, b in pairs]) / math.sqrt(2)
        without = {
            j: naive_hsic(naive_gaussian(X[:, [i for i in remaining if i != j]], sigma), L)
            for j in remaining
        }
        worst_first = sorted(remaining, key=lambda j, w=without: -w[j])
        dropped = worst_first[: max(1, int(fraction * len(remaining)))]
        order += dropped
        remaining = [j for j in remaining if j not in dropped]
    order += remaining
    return [len(order) - order.index(j) for j in range(len(order))]


def naive_bins(x):
    mean, std = np.mean(x), np.std(x)
    return [0 if v < mean - std / 2 else 2 if v > mean + std / 2 else 1 for v in x]


def naive_information(u, v):
    n, total = len(u), 0.0
    for a in sorted(set(u)):
        for b in sorted(set(v)):
            p = sum(1 for i in range(n) if u[i] == a and v[i] == b) / n
            pa, pb = list(u).count(a) / n, list(v).count(b) / n
            if p > 0:
                total += p * math.log(p / (pa * pb))
    return total


def naive_mrmr_order(X, y, is_classes, n_greedy, quotient):
    bins = [naive_bins(x) for x in X.T]
    response = list(y) if is_classes else naive_bins(y)
    relevance = [naive_information(b, response) for b in bins]
    by_relevance = sorted(range(len(bins)), key=lambda j: (-round(relevance[j], 10), j))
    chosen = by_relevance[:1]
    while len(chosen) < n_greedy:
        merit = {}
        for j in range(len(bins)):
            if j not in chosen:
                redundancy = np.mean([naive_information(bins[j], bins[s]) for s in chosen])
                merit[j] = relevance[j] / redundancy if quotient else relevance[j] - redundancy
        chosen.append(min(merit, key=lambda j, m=merit: (-round(m[j], 10), j)))
    return chosen + [j for j in by_relevance if j not in chosen]


# --- against them ------------------------------------------------------------------------------


@every_task
@pytest.mark.parametrize(("n", "step"), [(25, 0.1), (25, 0.4), (3, 0.1)])
def test_bahsic_matches_naive(task, n, step):
    X, y = make_data(task, n=25, d=8)
    X, y = (X, y) if n == 25 else (X[[0, 1, 4]], y[[0, 1, 4]])
    if task == "multiclass" and n == 3:
        y = np.array([0, 1, 1])
    expected = naive_bahsic_ranking(X, y, task != "regression", step)
    assert BAHSICSelector(step=step).fit(X, y).ranking_.tolist() == expected


def test_bahsic_survives_an_outlying_sample():
    X, y = make_data("regression")
    X[0] += 1e6
    selector = BAHSICSelector(2).fit(X, y)
    assert sorted(selector.ranking_) == list(range(1, 13))


def test_bahsic_with_mostly_coinciding_samples():
    X = np.zeros((20, 3))
    X[:3, 0] = X[2:5, 2] = 1.0
    y = np.r_[np.ones(3, dtype=int), np.zeros(17, dtype=int)]
    assert BAHSICSelector(1).fit(X, y).ranking_.tolist() == [1, 3, 2]


@every_task
@pytest.mark.parametrize("criterion", ["mid", "miq"])
@pytest.mark.parametrize("max_rank", [4, 100])
def test_mrmr_matches_naive(task, criterion, max_rank):
    X, y = make_data(task, n=30, d=9)
    n_greedy = min(max_rank, 9)
    expected = naive_mrmr_order(X, y, task != "regression", n_greedy, criterion == "miq")
    selector = MRMRSelector(3, criterion=criterion, max_rank=max_rank).fit(X, y)
    assert np.argsort(selector.ranking_).tolist() == expected


def test_mrmr_passes_over_a_copy():
    X, y = make_data("regression", n=200)
    X = np.column_stack([X, X[:, 3]])
    ranking = MRMRSelector(2).fit(X, y).ranking_
    assert ranking[3] == 1
    assert ranking[7] == 2
    assert ranking[12] > 2


def test_pearson_matches_corrcoef():
    X, y = make_data("regression")
    expected = [abs(np.corrcoef(x, y)[0, 1]) for x in X.T]
    np.testing.assert_allclose(PearsonSelector().fit(X, y).scores_, expected)
    X, y = make_data("multiclass")
    expected = [max(abs(np.corrcoef(x, y == c)[0, 1]) for c in set(y)) for x in X.T]
    np.testing.assert_allclose(PearsonSelector().fit(X, y).scores_, expected)


def test_pearson_ignores_the_names_of_the_classes():
    X, y = make_data("multiclass")
    renamed = np.array(["d", "a", "c", "b"])[y]
    scores = PearsonSelector().fit(X, y).scores_
    np.testing.assert_allclose(PearsonSelector().fit(X, renamed).scores_, scores)


def test_anova_matches_scikit_learn():
    X, y = make_data("multiclass")
    np.testing.assert_allclose(AnovaSelector().fit(X, y).scores_, f_classif(X, y)[0])
    X, y = make_data("regression")
    np.testing.assert_allclose(AnovaSelector().fit(X, y).scores_, f_regression(X, y)[0])


def test_rfe_orders_a_round_by_weight():
    X, y = make_data("binary")
    weights = SVC(kernel="linear").fit(standardised(X), y).coef_[0]
    all_at_once = RFESelector(step=11).fit(X, y)
    expected = np.argsort(-(weights**2))
    assert np.argsort(all_at_once.ranking_).tolist() == expected.tolist()


@every_task
def test_rfe_matches_scikit_learn_one_at_a_time(task):
    X, y = make_data(task)
    machine = SVC(kernel="linear")
    if task == "regression":
        machine, y = SVR(kernel="linear"), standardised(y)
    expected = RFE(machine, n_features_to_select=1).fit(standardised(X), y).ranking_
    np.testing.assert_array_equal(RFESelector(step=1).fit(X, y).ranking_, expected)


@every_task
def test_hsic_lasso_with_copies_and_reflections(task):
    X, y = make_data(task, n=100)
    X = np.column_stack([X, X[:, 3], -2 * X[:, 7] + 1])
    ranking = HSICLassoSelector(2).fit(X, y).ranking_
    assert set(np.argsort(ranking)[:2]) == {3, 7}


def test_hsic_lasso_order_is_weights_then_marginal_dependence():
    X, y = make_data("regression", n=60)
    selector = HSICLassoSelector(8).fit(X, y)
    assert 0 < selector.n_entered_ <= 8
    order = np.argsort(selector.ranking_)
    assert (np.diff(selector.scores_[order]) <= 0).all()
    assert (selector.scores_[order[: selector.n_entered_]] >= 0).all()
    assert (selector.scores_[order[selector.n_entered_ :]] == 0).all()


# --- what they share -----------------------------------------------------------------------------


@every_selector
@every_task
def test_full_ranking_and_exact_support(selector, task):
    X, y = make_data(task)
    for wanted, m in [(None, 6), (1, 1), (5, 5), (12, 12), (0.3, 3), (0.01, 1), (1.0, 12)]:
        fitted = clone_of(selector, n_features_to_select=wanted).fit(X, y)
        assert sorted(fitted.ranking_) == list(range(1, 13))
        assert fitted.support_.sum() == fitted.n_features_ == m
        assert (fitted.ranking_[fitted.support_] <= m).all()
        assert fitted.transform(X).shape == (40, m)


@every_selector
@every_task
def test_finds_the_signal(selector, task):
    X, y = make_data(task, n=150)
    fitted = clone_of(selector, n_features_to_select=2).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [3, 7]
    assert fitted.task_ == ("regression" if task == "regression" else "classification")


@every_selector
@every_task
def test_same_ranking_on_every_run(selector, task):
    X, y = make_data(task)
    first = clone_of(selector).fit(X, y)
    assert (clone_of(selector).fit(X, y).ranking_ == first.ranking_).all()


@pytest.mark.parametrize("selector", EQUIVARIANT, ids=lambda s: type(s).__name__)
@every_task
def test_permuting_columns_permutes_the_ranking(selector, task):
    X, y = make_data(task, n=150)
    permutation = np.random.default_rng(1).permutation(X.shape[1])
    ranking = clone_of(selector).fit(X, y).ranking_
    permuted = clone_of(selector).fit(X[:, permutation], y).ranking_
    np.testing.assert_array_equal(permuted, ranking[permutation])


@every_selector
@every_task
def test_rescaling_columns_changes_nothing(selector, task):
    X, y = make_data(task)
    scaled = X * 2.0 ** np.arange(-6, 6) + 3.0
    ranking = clone_of(selector).fit(X, y).ranking_
    top = np.argsort(ranking)[:2]
    np.testing.assert_array_equal(clone_of(selector).fit(scaled, y).ranking_[top], ranking[top])


@every_selector
@every_task
def test_constant_columns_come_last(selector, task):
    X, y = make_data(task)
    X[:, [0, 5]] = [0.1, -7.0]
    ranking = clone_of(selector, n_features_to_select=2).fit(X, y).ranking_
    assert ranking[0] == 11
    assert ranking[5] == 12
    with pytest.raises(ValueError, match="nothing to rank"):
        clone_of(selector).fit(np.full((40, 3), 0.1), y)


@every_selector
@pytest.mark.parametrize(
    "y", [[0.5, 1.0], [0.5, 3.0, 1.0], [1.5, 3.0, 1.0, 2.0], [0, 1, 1], [1, 0, 1, 1], [0, 1, 2, 2]]
)
def test_few_samples_and_one_feature(selector, y):
    X = make_data("binary", n=len(y), d=8)[0]
    assert sorted(clone_of(selector).fit(X, y).ranking_) == list(range(1, 9))
    assert clone_of(selector).fit(X[:, :1], y).ranking_.tolist() == [1]


@every_selector
def test_ties_are_broken_by_position(selector):
    X, y = make_data("binary")
    X = np.repeat(X[:, 3:4], 3, axis=1)
    assert sorted(clone_of(selector).fit(X, y).ranking_) == [1, 2, 3]
    if selector in EQUIVARIANT:
        assert clone_of(selector).fit(X, y).ranking_.tolist() == [1, 2, 3]


@every_selector
@every_task
def test_leaves_global_random_state_data_and_stdout_alone(selector, task, capsys):
    X, y = make_data(task)
    before_X, before = X.copy(), global_random_state()
    seeded = {"random_state": None} if hasattr(selector, "random_state") else {}
    clone_of(selector, **seeded).fit(X, y)
    assert global_random_state() == before
    np.testing.assert_array_equal(X, before_X)
    assert capsys.readouterr().out == ""


@parametrize_with_checks(SELECTORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_works_in_pipeline_and_search():
    X, y = make_data("binary", n=80)
    pipeline = make_pipeline(BAHSICSelector(), SVC())
    search = GridSearchCV(pipeline, {"bahsicselector__n_features_to_select": [2, 12]}, cv=3)
    assert search.fit(X, y).best_params_ == {"bahsicselector__n_features_to_select": 2}


# --- the target, the errors, the optional dependency ----------------------------------------------


def test_whole_numbers_are_classes_unless_told_otherwise():
    X, y = make_data("regression")
    y = np.round(3 * y)
    assert PearsonSelector().fit(X, y).task_ == "classification"
    assert PearsonSelector(task="regression").fit(X, y).task_ == "regression"


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"n_features_to_select": 13}, [0, 1] * 20, "X has 12 feature"),
        ({}, [1] * 40, "one class only"),
        ({"task": "classification"}, list(range(40)), "class of its own"),
        ({"task": "regression"}, [1.5] * 40, "y is constant"),
        ({"task": "regression"}, ["a", "b"] * 20, "needs numbers"),
        ({"task": "classification"}, [0.5, 1.5] * 20, "continuous numbers"),
    ],
)
def test_errors_teach(parameters, y, message):
    X, _ = make_data("binary")
    with pytest.raises(ValueError, match=message):
        PearsonSelector(**parameters).fit(X, y)


def test_short_names():
    selectors = available_selectors()
    assert selectors["mi"] is MutualInfoSelector
    assert {type(s) for s in SELECTORS} == set(selectors.values())
    with pytest.raises(TypeError):
        selectors["mi"] = PearsonSelector


def test_hsic_lasso_says_what_to_install(monkeypatch):
    real_import = builtins.__import__

    def no_library(name, *args, **kwargs):
        if name == "pyHSICLasso":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "pyHSICLasso", raising=False)
    monkeypatch.setattr(builtins, "__import__", no_library)
    with pytest.raises(ImportError, match=r'pip install "covmin\[baselines\]"'):
        HSICLassoSelector().fit(*make_data("binary"))


@pytest.mark.parametrize("block_size", [None, 10, 7, 1000])
def test_hsic_lasso_in_blocks(block_size):
    X, y = make_data("regression", n=100)
    selector = HSICLassoSelector(2, block_size=block_size).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 7]


def test_hsic_lasso_blocks_respect_memory():
    assert largest_block(100, 100, 3, 2**30) == 100
    for n, d, limit in [(137, 10_000, 2**30), (171, 5748, 2**29), (1000, 1000, 2**28)]:
        B = largest_block(n, d, 3, limit)
        assert 5 <= B < n
        assert 12 * n * B * 3 * d <= limit
    assert largest_block(1000, 10**6, 3, 1) == 5


def test_hsic_lasso_reports_a_broken_path(monkeypatch):
    def broken(*args, **kwargs):
        raise IndexError("too many steps")

    monkeypatch.setattr("pyHSICLasso.api.nlars", broken)
    X, y = make_data("regression", n=100)
    with pytest.warns(ConvergenceWarning, match="broke down"):
        selector = HSICLassoSelector(2).fit(X, y)
    assert selector.n_entered_ == 0
    assert selector.get_support(indices=True).tolist() == [3, 7]
