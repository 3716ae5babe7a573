"""Scores of single features against NumPy and scikit-learn."""

import numpy as np
from sklearn.feature_selection import f_classif, f_regression

from covmin.baselines import AnovaSelector, PearsonSelector

from .samples import make_data


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
