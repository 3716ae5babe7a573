"""A selector of features for times to an event."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from covmin import CCMSelector, Formulation, unexplained_variance
from covmin.datasets import make_survival
from covmin.selection.measures import concordance


@pytest.fixture(scope="module")
def data():
    return make_survival(250, random_state=0, return_X_y=True)


@pytest.fixture(scope="module")
def fitted(data):
    return CCMSelector().fit(*data)


def test_the_true_features_are_found_with_their_interaction(fitted):
    assert fitted.task_ == "survival"
    assert fitted.classes_ is None
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2]
    assert fitted.interactions_.features.tolist() == [[1, 2]]
    assert "best, by concordance index" in str(fitted.plan_)


def test_the_concordance_index_chooses(fitted):
    found = fitted.cv_results_
    index, error = found.concordance[0], found.concordance_standard_error[0]
    best = index.argmax()
    assert index[best] > 0.65
    within = index >= index[best] - error[best]
    assert fitted.n_features_ == found.n_features[np.flatnonzero(within)[0]]
    frame = fitted.cv_results_frame()
    assert frame.loc[frame["chosen"], "concordance"].item() == index[fitted.n_features_ - 1]


def test_tables_of_event_and_time_are_read_alike(data, fitted):
    X, y = data
    frame = pd.DataFrame(y)[["time", "event"]]
    ranking = CCMSelector(3, task="survival").fit(X, frame).ranking_
    np.testing.assert_array_equal(ranking, CCMSelector(3).fit(X, y).ranking_)


def test_a_weight_is_a_copy(data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = CCMSelector(3).fit(X, y, weight)
    copied = CCMSelector(3).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.ranking_, copied.ranking_)


def test_groups_given_columns_categories_and_gaps(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
    frame["x0"] = pd.cut(frame["x0"], 4, labels=list("abcd"))
    frame.loc[::7, "x1"] = np.nan
    grouped = CCMSelector(2, feature_groups={"pair": ["x1", "x2"]}).fit(frame, y)
    assert set(grouped.get_feature_names_out()) == {"x0", "x1", "x2"}
    given = CCMSelector(given=["x0"]).fit(frame, y)
    assert set(np.flatnonzero(given.ranking_ <= 2)) == {0, 1, 2}
    # With the column that is given, order is predicted better than without any.
    assert given.cv_results_.concordance.max() > 0.65


def test_without_censoring(data):
    X, y = data
    every = y.copy()
    every["event"] = True
    selector = CCMSelector().fit(X[:, :4], every)
    assert selector.cv_results_.concordance.max() > 0.6


def test_samples_without_a_time_are_left_out(data):
    X, y = data
    gaps = y.copy()
    gaps["time"][:5] = np.nan
    with pytest.warns(UserWarning, match="The response of 5 of 250 samples is missing"):
        selector = CCMSelector(3).fit(X, gaps)
    np.testing.assert_array_equal(selector.ranking_, CCMSelector(3).fit(X[5:], y[5:]).ranking_)


def test_columns_that_only_end_the_watching_say_nothing():
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 6))
        event = rng.exponential(size=200) * np.exp(-X[:, 0])
        watched = rng.exponential(size=200) * np.exp(-2.0 * X[:, 1])
        y = np.column_stack([event <= watched, np.minimum(event, watched)])
        ranking = CCMSelector(1, task="survival").fit(X, y).ranking_
        assert ranking[0] == 1
        shares.append(unexplained_variance(X[:, [1]], y, task="survival"))
    assert np.mean(shares) > 0.97


class FirstColumn(BaseEstimator):
    """Takes the first column for the risk; its score needs records."""

    def fit(self, X, y):
        self.names_ = y.dtype.names
        return self

    def score(self, X, y):
        times = np.column_stack([y[name].astype(float) for name in self.names_])
        return concordance(times, X[:, 0], np.ones(len(y)))[0] - 0.01 * X.shape[1]


def test_an_estimator_gets_records_and_chooses_by_its_score(data):
    X, y = data
    X = X[:, [0, 5, 6, 7]]
    selector = CCMSelector(estimator=FirstColumn()).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0]
    table = CCMSelector(estimator=FirstColumn(), task="survival").fit(X, pd.DataFrame(y))
    np.testing.assert_allclose(table.cv_results_.mean_score, selector.cv_results_.mean_score)


def test_an_estimator_of_scikit_survival_chooses(data):
    linear_model = pytest.importorskip("sksurv.linear_model")
    X, y = data
    selector = CCMSelector(estimator=linear_model.CoxPHSurvivalAnalysis()).fit(X[:, :5], y)
    assert selector.cv_results_.mean_score.max() > 0.6
    assert selector.n_features_ < 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_weight": "balanced"}, "class_weight requires a single column"),
        (
            {"formulation": Formulation(response_kernel="gaussian")},
            "only the mean",
        ),
        ({"task": "classification"}, "Pass one column of classes or numbers"),
    ],
)
def test_what_has_no_meaning_for_times_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        CCMSelector(2, **options).fit(*data)


def test_the_paper_and_the_inverse_free_form_take_times(data):
    assert CCMSelector(3, formulation="paper").fit(*data).epsilon_ == 0.1
