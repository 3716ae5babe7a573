"""BAHSIC against a naive restatement; what is guarded around pyHSICLasso."""

import math

import numpy as np
import pytest
from draws import of_two_columns, standardised
from experiments.paper.selectors import bahsic, hsic_lasso
from sklearn.exceptions import ConvergenceWarning

from covmin.evaluation.baselines import Question, baseline
from covmin.evaluation.selectors import feature_order

every_task = pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])


def order_of(score, m, X, y):
    return feature_order(baseline(score, m).fit(X, y)).tolist()


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


@every_task
@pytest.mark.parametrize(("n", "step"), [(25, 0.1), (25, 0.4), (3, 0.1)])
def test_bahsic_matches_naive(task, n, step):
    X, y = of_two_columns(task, n=25, d=8)
    X, y = (X, y) if n == 25 else (X[[0, 1, 4]], y[[0, 1, 4]])
    if task == "multiclass" and n == 3:
        y = np.array([0, 1, 1])
    ranks = naive_bahsic_ranking(X, y, task != "regression", step)

    def stepped(Z, y, question):
        return bahsic(Z, y, question, step)

    assert order_of(stepped, 4, X, y) == np.argsort(ranks).tolist()


def test_bahsic_survives_an_outlying_sample():
    X, y = of_two_columns("regression")
    X[0] += 1e6
    assert sorted(order_of(bahsic, 2, X, y)) == list(range(12))


@every_task
def test_hsic_lasso_with_copies_and_reflections(task):
    X, y = of_two_columns(task, n=100)
    X = np.column_stack([X, X[:, 3], -2 * X[:, 7] + 1])
    assert set(order_of(hsic_lasso, 2, X, y)[:2]) == {3, 7}


def test_features_that_did_not_enter_follow():
    X, y = of_two_columns("regression", n=60)
    scores = baseline(hsic_lasso, 8).fit(X, y)[-1].scores_
    assert 0 < np.sum(scores >= 1.0) <= 8
    assert (np.sort(scores)[: np.sum(scores < 1.0)] <= 0.0).all()


def test_a_broken_path_is_said(monkeypatch):
    def broken(*args, **kwargs):
        raise IndexError("too many steps")

    monkeypatch.setattr("pyHSICLasso.api.nlars", broken)
    X, y = of_two_columns("regression", n=100)
    with pytest.warns(ConvergenceWarning, match="broke down"):
        scores = hsic_lasso(standardised(X), standardised(y), Question(False, 2, 0))
    assert set(np.argsort(-scores)[:2]) == {3, 7}
