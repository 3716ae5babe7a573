"""The machine that judges features."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from covmin.evaluation.curves import prefix_scores


def test_machine_is_the_papers(table):
    X, y = table
    train, test = np.arange(30), np.arange(30, 40)
    columns = [1, 2]
    [score] = prefix_scores(np.array(columns), [2], X, y, (train, test), classification=True)
    Z = StandardScaler().fit_transform(X[train][:, columns])
    distances = np.linalg.norm(Z[:, None] - Z[None], axis=2)[np.triu_indices(30, 1)]
    sigma = np.median(distances) / np.sqrt(2)
    machine = make_pipeline(StandardScaler(), SVC(C=1, gamma=1 / (2 * sigma**2)))
    expected = machine.fit(X[train][:, columns], y[train]).score(X[test][:, columns], y[test])
    assert score == pytest.approx(expected, abs=1e-6)


def test_machine_on_constant_features():
    X, y = np.repeat([[0.1, 0.1], [0.0, 0.0]], 3, axis=0), np.array([0, 0, 1, 0, 0, 1])
    split = np.arange(3), np.arange(3, 6)
    [score] = prefix_scores(np.arange(2), [2], X, y, split, classification=True)
    assert score == pytest.approx(2 / 3, abs=1e-6)
