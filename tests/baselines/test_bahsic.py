"""BAHSIC against a naive restatement."""

import math

import numpy as np
import pytest

from covmin.baselines import BAHSICSelector

from .samples import every_task, make_data, standardised


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
