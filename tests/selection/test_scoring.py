"""The user's own estimator as the judge."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer, max_error
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from covmin import CCMSelector, LongRun
from covmin.remarks import InputError
from covmin.runtime.resume import _identity


@pytest.fixture
def lines():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6))
    return X, X[:, 0] - X[:, 3] + 0.1 * rng.standard_normal(200)


def test_the_score_chooses(lines):
    X, y = lines
    y = y + 2.0 * X[:, 1] * X[:, 2]
    assert CCMSelector().fit(X, y).n_features_ == 4
    # A line sees nothing of the product, so that its two features are not worth their place.
    selector = CCMSelector(estimator=LinearRegression()).fit(X, y)
    found = selector.cv_results_
    best = found.mean_score[0].argmax()
    assert selector.n_features_ <= found.n_features[best]
    chosen = found.mean_score[0, selector.n_features_ - 1]
    assert chosen >= found.mean_score[0, best] - found.score_standard_error[0, best]
    assert "the best, by score" in str(selector.plan_)
    assert found.mean_error[0, 3] < 0.1  # what the judge says is still there


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", make_scorer(max_error)])
def test_scorings(lines, scoring):
    X, y = lines
    selector = CCMSelector(estimator=KNeighborsRegressor(), scoring=scoring).fit(X, y)
    assert selector.cv_results_.mean_score.shape == (1, 6)


def test_several_ridges_are_chosen_by_the_score(lines):
    X, y = lines
    options = {"estimator": LinearRegression(), "epsilon": [0.001, 0.1]}
    selector = CCMSelector(2, **options).fit(X, y)
    found = selector.cv_results_
    assert selector.epsilon_ == found.epsilon[found.mean_score.max(axis=1).argmax()]


class Noted(ClassifierMixin, BaseEstimator):
    """Notes what it is given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.seen.append((X, y, sample_weight))
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_the_estimator_sees_the_table_as_it_is():
    """Frames with their categories, labels as they are, weights of the samples that count."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 3)), columns=list("abc"))
    frame["kind"] = pd.Categorical(rng.choice(["x", "y"], 60))
    labels = pd.Series(np.where(frame["a"] > 0, "yes", "no"))
    weight = np.r_[0.0, rng.uniform(1, 2, 59)]
    Noted.seen.clear()
    CCMSelector(estimator=Noted()).fit(frame, labels, weight)
    assert len(Noted.seen) == 5 * 4
    for X, y, p in Noted.seen:
        assert 0 not in X.index
        pd.testing.assert_frame_equal(X, frame.loc[X.index, X.columns])
        pd.testing.assert_series_equal(y, labels[X.index])
        np.testing.assert_allclose(p, weight[X.index])


def test_categories_given_and_groups_go_along():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.standard_normal((120, 4)), columns=list("abcd"))
    frame["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], 120))
    y = np.where((frame["kind"] == "x") | (frame["a"] > 1), 1, 0)
    encode = ColumnTransformer([("kind", OneHotEncoder(), ["kind"])], remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=0))
    options = {"given": ["kind"], "feature_groups": {"pair": ["a", "b"]}}
    selector = CCMSelector(estimator=model, scoring="roc_auc", **options).fit(frame, y)
    assert selector.support_[[0, 1, 4]].all()
    assert selector.cv_results_.mean_score.max() > 0.9


def test_parameters_are_nested_and_cloned(lines):
    selector = CCMSelector(estimator=LogisticRegression(C=2.0))
    assert clone(selector).get_params()["estimator__C"] == 2.0
    assert selector.set_params(estimator__C=5.0).estimator.C == 5.0
    fitted = CCMSelector(estimator=LinearRegression()).fit(*lines)
    assert not hasattr(fitted.estimator, "coef_")  # a clone was trained


def failing(estimator, X, y):
    raise RuntimeError("no such thing")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "ridge"}, "'estimator' parameter"),
        ({"scoring": "r2"}, "requires an estimator"),
        ({"estimator": LinearRegression(), "scoring": "quality"}, "quality"),
        ({"estimator": LinearRegression(), "scoring": failing}, "failing failed.*no such thing"),
        ({"estimator": LinearRegression(), "scoring": lambda *_: np.nan}, "is nan"),
        ({"estimator": LogisticRegression()}, "could not be trained"),
        ({"estimator": StandardScaler()}, "score"),
    ],
)
def test_mistakes_are_refused_in_words(lines, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        CCMSelector(**options).fit(*lines)


def test_an_estimator_without_use_is_noticed(lines):
    with pytest.warns(UserWarning, match="estimator is not used"):
        CCMSelector(2, estimator=LinearRegression()).fit(*lines)


def test_a_checkpoint_tells_estimators_apart():
    def of(value):
        return _identity("estimator", value)

    long = [LogisticRegression(class_weight=dict.fromkeys(range(500), w)) for w in (1.0, 2.0)]
    assert of(long[0]) != of(long[1])
    models = [make_pipeline(StandardScaler(), LogisticRegression(C=c)) for c in (1, 1, 2)]
    assert of(models[0]) == of(models[1]) != of(models[2])
    scorers = [make_scorer(function) for function in (failing, failing, max)]
    assert of(scorers[0]) == of(scorers[1]) != of(scorers[2])
    with pytest.raises(InputError, match=r"estimator=<function .* cannot") as refused:
        of(lambda: None)
    assert refused.value.parameter == "estimator"


def test_a_fit_goes_on_from_its_checkpoint(lines, tmp_path):
    X, y = lines
    selector = CCMSelector(estimator=LinearRegression())
    whole = clone(selector).fit(X, y).cv_results_

    class Stop(Exception):
        pass

    class Listener:
        def __call__(self, progress):
            raise Stop

    path = tmp_path / "fit.jsonl"
    run = LongRun(checkpoint=path, callback=Listener())
    with pytest.raises(Stop):
        clone(selector).set_params(long_run=run).fit(X, y)
    assert path.exists()
    rest = clone(selector).set_params(long_run=LongRun(checkpoint=path)).fit(X, y).cv_results_
    np.testing.assert_allclose(rest.mean_score, whole.mean_score)
    np.testing.assert_allclose(rest.mean_error, whole.mean_error)


def test_copies_of_rows_are_copies_to_any_estimator(lines):
    """Rows are merged for the selector; a pipeline, which takes no weights, is given them again."""
    X, y = lines
    labels = (y > 1.5).astype(int)
    times = 1 + 5 * labels
    X, labels = np.repeat(X, times, axis=0), np.repeat(labels, times)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    scores = [
        CCMSelector(estimator=estimator).fit(X, labels).cv_results_.mean_score
        for estimator in (LogisticRegression(), pipeline)
    ]
    np.testing.assert_allclose(*scores, atol=0.02)


def test_weights_reach_the_last_step_of_a_pipeline(lines):
    X, y = lines
    labels = (y > 0).astype(int)
    weight = np.random.default_rng(0).uniform(1, 2, 200)
    Noted.seen.clear()
    CCMSelector(estimator=make_pipeline(StandardScaler(), Noted())).fit(X, labels, weight)
    assert all(p is not None and np.ptp(p) > 0.5 for _, _, p in Noted.seen)


def test_no_weights_where_none_were_given(lines):
    X, y = lines
    Noted.seen.clear()
    CCMSelector(estimator=Noted()).fit(X, (y > 0).astype(int))
    assert all(p is None for _, _, p in Noted.seen)


def test_an_estimator_without_weights_is_named(lines):
    X, y = lines
    weight = np.random.default_rng(0).uniform(1, 2, 200)
    with pytest.warns(UserWarning, match="does not accept sample weights"):
        CCMSelector(estimator=KNeighborsRegressor()).fit(X, y, weight)
