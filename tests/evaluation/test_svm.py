"""The machine that judges features."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from covmin.evaluation.curves import machine_score


def test_machine_is_the_papers(table):
    X, y = table
    train, test = np.arange(30), np.arange(30, 40)
    columns = [1, 2]
    score = machine_score(
        X[train][:, columns], y[train], X[test][:, columns], y[test], classification=True
    )
    Z = StandardScaler().fit_transform(X[train][:, columns])
    distances = np.linalg.norm(Z[:, None] - Z[None], axis=2)[np.triu_indices(30, 1)]
    sigma = np.median(distances) / np.sqrt(2)
    machine = make_pipeline(StandardScaler(), SVC(C=1, gamma=1 / (2 * sigma**2)))
    expected = machine.fit(X[train][:, columns], y[train]).score(X[test][:, columns], y[test])
    assert score == pytest.approx(expected)


def test_machine_on_constant_features():
    y = np.array([0, 0, 1])
    score = machine_score(np.full((3, 2), 0.1), y, np.zeros((3, 2)), y, classification=True)
    assert score == pytest.approx(2 / 3)
