"""Sample weights reach a selector wherever scikit-learn routes them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from covmin import CCMSelector, StabilitySelector

FIRST = np.arange(120) < 60


@pytest.fixture(scope="module")
def two_halves():
    """The first samples depend on feature 0, the others on feature 3."""
    X = np.random.default_rng(0).standard_normal((120, 6))
    y = (np.where(FIRST, X[:, 0], X[:, 3]) > 0.0).astype(int)
    order = np.random.default_rng(1).permutation(120)
    return X[order], y[order], FIRST[order]


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def weighted():
    return CCMSelector(1).set_fit_request(sample_weight=True)


@pytest.mark.parametrize(("first", "feature"), [(True, 0), (False, 3)])
def test_in_a_pipeline_and_a_search(two_halves, first, feature):
    X, y, is_first = two_halves
    weights = (is_first == first).astype(float)
    machine = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    model = make_pipeline(weighted(), machine)
    assert model.fit(X, y, sample_weight=weights)[0].get_support(indices=True) == [feature]
    search = GridSearchCV(model, {"svc__C": [0.1, 1.0]}, cv=2)
    search.fit(X, y, sample_weight=weights)
    assert search.best_estimator_[0].get_support(indices=True) == [feature]
    assert search.best_score_ > 0.8


@pytest.mark.parametrize(("first", "feature"), [(True, 0), (False, 3)])
def test_in_a_stability_selector(two_halves, first, feature):
    X, y, is_first = two_halves
    weights = (is_first == first).astype(float)
    selector = StabilitySelector(CCMSelector(1), n_pairs=3).set_fit_request(sample_weight=True)
    fitted = make_pipeline(selector).fit(X, y, sample_weight=weights)[0]
    assert_array_equal(fitted.frequencies_, np.eye(6)[feature])


def test_weights_that_nobody_asked_for_are_refused(two_halves):
    X, y, is_first = two_halves
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make_pipeline(StabilitySelector(CCMSelector(1))).fit(X, y, sample_weight=is_first)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make_pipeline(CCMSelector(1), SVC()).fit(X, y, sample_weight=is_first)
