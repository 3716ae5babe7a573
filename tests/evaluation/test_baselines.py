"""What all baselines promise, and each against NumPy, scikit-learn or a naive restatement."""

import math

import numpy as np
import pytest
from draws import of_two_columns, standardised
from sklearn.feature_selection import RFE, f_classif, f_regression
from sklearn.svm import SVC, SVR

from covmin.evaluation import baselines
from covmin.evaluation.baselines import BASELINES, Question, baseline
from covmin.evaluation.selectors import feature_order

every_baseline = pytest.mark.parametrize("name", BASELINES)
every_task = pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """What is tested here does not depend on how good the forest is."""
    monkeypatch.setattr(baselines, "_N_TREES", 50)


def order_of(name, X, y, m=2, **options):
    return feature_order(baseline(BASELINES[name], m, **options).fit(X, y)).tolist()


def scores_of(name, X, y):
    return baseline(BASELINES[name], 2).fit(X, y)[-1].scores_


@every_baseline
@every_task
def test_every_feature_is_ranked_and_the_signal_found(name, task):
    X, y = of_two_columns(task, n=150)
    order = order_of(name, X, y)
    assert sorted(order) == list(range(12))
    assert set(order[:2]) == {3, 7}
    assert baseline(BASELINES[name], 2).fit_transform(X, y).shape == (150, 2)


@every_baseline
def test_no_seed_is_the_seed_zero(name):
    X, y = of_two_columns("regression")
    assert order_of(name, X, y) == order_of(name, X, y, random_state=0)


@every_baseline
@every_task
def test_rescaling_columns_changes_nothing(name, task):
    X, y = of_two_columns(task)
    scaled = X * 2.0 ** np.arange(-6, 6) + 3.0
    assert order_of(name, scaled, y)[:2] == order_of(name, X, y)[:2]


@every_baseline
@every_task
def test_constant_columns_come_last(name, task):
    X, y = of_two_columns(task)
    X[:, [0, 5]] = [0.1, -7.0]
    assert order_of(name, X, y)[-2:] == [0, 5]
    with pytest.raises(ValueError, match="nothing to rank"):
        order_of(name, np.full((40, 3), 0.1), y)


@every_baseline
@pytest.mark.parametrize("y", [[1.5, 3.0, 1.0, 2.0], [1, 0, 1, 1], [0, 1, 2, 2]])
def test_few_samples_and_one_feature(name, y):
    X = of_two_columns("binary", n=len(y), d=8)[0]
    assert sorted(order_of(name, X, y)) == list(range(8))
    assert order_of(name, X[:, :1], y, m=1) == [0]


@pytest.mark.parametrize("name", ["pearson", "anova", "mrmr", "rfe"])
def test_ties_are_broken_by_position(name):
    X, y = of_two_columns("binary")
    assert order_of(name, np.repeat(X[:, 3:4], 3, axis=1), y)[0] == 0


def test_the_task_can_be_given():
    X, y = of_two_columns("regression")
    whole = np.round(3 * y)
    by_number = scores_of("pearson", X, y)
    given = baseline(BASELINES["pearson"], 2, task="regression").fit(X, whole)[-1].scores_
    assert np.abs(given - by_number).max() < 0.1
    assert np.abs(scores_of("pearson", X, whole) - by_number).max() > 0.1


def test_pearson_matches_corrcoef():
    X, y = of_two_columns("regression")
    expected = [abs(np.corrcoef(x, y)[0, 1]) for x in X.T]
    np.testing.assert_allclose(scores_of("pearson", X, y), expected)
    X, y = of_two_columns("multiclass")
    expected = [max(abs(np.corrcoef(x, y == c)[0, 1]) for c in set(y)) for x in X.T]
    np.testing.assert_allclose(scores_of("pearson", X, y), expected)
    renamed = np.array(["d", "a", "c", "b"])[y]
    np.testing.assert_allclose(scores_of("pearson", X, renamed), expected)


def test_anova_matches_scikit_learn():
    X, y = of_two_columns("multiclass")
    np.testing.assert_allclose(scores_of("anova", X, y), f_classif(X, y)[0])
    X, y = of_two_columns("regression")
    np.testing.assert_allclose(scores_of("anova", X, y), f_regression(X, y)[0])


@every_task
def test_rfe_matches_scikit_learn_one_at_a_time(task):
    X, y = of_two_columns(task)
    machine = SVC(kernel="linear")
    if task == "regression":
        machine, y = SVR(kernel="linear"), standardised(y)
    expected = RFE(machine, n_features_to_select=1).fit(standardised(X), y).ranking_
    assert order_of("rfe", X, y) == np.argsort(expected).tolist()


def test_elimination_orders_a_round_by_importance():
    importance = np.array([3.0, 1.0, 4.0, 2.0])
    scores = baselines.backward_elimination(lambda left: importance[left], 4, step=0.75)
    assert np.argsort(-scores).tolist() == [2, 0, 3, 1]


def test_the_lasso_ranks_columns_that_never_enter():
    X, y = of_two_columns("regression", n=150)
    order = order_of("lasso", np.column_stack([X, X[:, 3]]), y)
    assert sorted(order) == list(range(13))
    assert order[0] in (3, 12)


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


def naive_mrmr_order(X, y, is_classes, n_greedy):
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
                merit[j] = relevance[j] - redundancy
        chosen.append(min(merit, key=lambda j, m=merit: (-round(m[j], 10), j)))
    return chosen + [j for j in by_relevance if j not in chosen]


@every_task
@pytest.mark.parametrize("greedy", [4, 100])
def test_mrmr_matches_naive(task, greedy, monkeypatch):
    monkeypatch.setattr(baselines, "_MRMR_GREEDY", greedy)
    X, y = of_two_columns(task, n=30, d=9)
    expected = naive_mrmr_order(X, y, task != "regression", min(greedy, 9))
    assert order_of("mrmr", X, y, m=3) == expected


def test_mrmr_passes_over_a_copy():
    X, y = of_two_columns("regression", n=200)
    order = order_of("mrmr", np.column_stack([X, X[:, 3]]), y)
    assert order[:2] == [3, 7]


def test_a_baseline_is_a_function():
    def last_first(Z, y, question):
        assert question == Question(classes=True, n_features=1, seed=0)
        return np.arange(Z.shape[1])

    selector = baseline(last_first, 1).fit([[0, 3, 1], [1, 3, 0], [1, 3, 1]], [0, 0, 1])
    assert feature_order(selector).tolist() == [2, 0, 1]
