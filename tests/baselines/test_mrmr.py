"""mRMR against a naive restatement."""

import math

import numpy as np
import pytest

from covmin.baselines import MRMRSelector

from .samples import every_task, make_data


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
