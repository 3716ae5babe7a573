"""The headline says what was found."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch

from covmin import CCMSelector
from covmin.report import build_report, headline, render_report, summary
from covmin.text import percent, verb


def sentence_of(n_features, signal, **parameters):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, n_features))
    y = signal * X[:, 0] + rng.standard_normal(150)
    selector = CCMSelector(task="regression", random_state=0, **parameters).fit(X, y)
    report = build_report(selector, X, y, target_name="churn")
    sentence = " ".join(part for part in report["headline"] if part)
    assert sentence == headline(selector, "churn")
    assert f"<title>{sentence} – covmin</title>" in render_report(report)
    return sentence, report


def test_headline_says_that_nothing_was_found():
    sentence, report = sentence_of(3, 0.0)
    assert report["choice"]["why"].startswith("No set of features is clearly better")
    assert sentence == "No feature predicts churn better than chance"


@pytest.mark.parametrize(
    ("signal", "says"),
    [(0.45, "a little of churn ({})"), (0.8, "part of churn ({})"), (3.0, "most of churn ({})")],
)  # fmt: skip
def test_headline_says_explain_where_a_good_part_is_explained(signal, says):
    sentence, report = sentence_of(4, signal)
    m = report["choice"]["m"]
    does = f"{m} of 4 features {verb(m, 'explain')}"
    assert sentence == f"{does} {says.format(percent(1.0 - report['choice']['error']))}"


def test_headline_with_given_features_speaks_of_what_they_leave():
    sentence, report = sentence_of(4, 1.0, given=[1])
    explained = f"{1.0 - report['choice']['error']:.0%}"
    left = "what the 1 given feature leaves unexplained"
    m = report["choice"]["m"]
    does = f"{m} of 3 features {verb(m, 'explain')}"
    assert sentence == f"{does} part of {left} of churn ({explained})"


@pytest.mark.parametrize("signal", [0.0, 3.0])
def test_headline_says_no_share_where_nothing_was_held_out(signal):
    """Features that saw all samples explain something of them in any table."""
    sentence, _ = sentence_of(4, signal, n_features_to_select=1)
    assert sentence == "The one of 4 features most relevant to churn"
    everything, _ = sentence_of(4, signal, n_features_to_select=4)
    assert everything == "The features ranked by relevance to churn"


def test_headline_does_not_deny_a_pair_that_was_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    selector = CCMSelector(task="regression").fit(X, rng.standard_normal(150))
    assert not summary(selector)["cv_results"]["found"]
    selector.interactions_ = Bunch(features=np.array([[0, 1]]), share=[0.1], p_value=[0.01])
    assert headline(selector, "y") == (
        "No feature predicts y in cross-validation, although some are associated with it"
    )


def test_weak_effects_are_told_from_noise():
    """Folds differ more than a set does from no feature: both are compared on the same samples."""

    def curve(seed, signal, **options):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 4))
        y = signal * X[:, 0] + rng.standard_normal(150)
        return summary(CCMSelector(**options).fit(X, y))["cv_results"]

    weak = [curve(seed, 0.45) for seed in range(100, 104)]
    assert sum(each["found"] for each in weak) >= 2
    assert all(curve(seed, 1.0, given=[1])["found"] for seed in range(2))
    assert sum(curve(seed, 0.0)["found"] for seed in range(5)) <= 1


def test_the_choice_of_an_estimator_is_told_by_its_score():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    options = {"estimator": LogisticRegression(), "scoring": "roc_auc"}
    selector = CCMSelector(**options).fit(X, y)
    report = build_report(selector, X, y)
    assert "2 features have a cross-validated roc_auc of 1, the best" in report["choice"]["why"]
    assert [each["name"] for each in report["choice"]["curve"]["measures"]] == [
        "error",
        "accuracy",
        "balanced_accuracy",
        "log_loss",
        "roc_auc",
        "score",
    ]
    page = render_report(report)
    assert "as does the given estimator" in page
    assert "Other numbers of features" in page
    assert "unknown" in page  # what the score is without features


def test_the_smallest_size_is_not_compared_with_smaller_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    X[:, 0] = X[:, 0] > 0
    found = summary(CCMSelector().fit(X, X[:, 0].astype(int)), target="churn")
    assert found["headline"] == "1 of 3 features explains nearly all of churn"  # not "most (100%)"
    assert found["why"].startswith("1 feature has a cross-validated error")
    assert found["why"].endswith("the best of all.")


def test_the_largest_size_may_not_be_the_best():
    X = np.random.default_rng(0).standard_normal((150, 4))
    y = X.sum(axis=1)
    why = summary(CCMSelector((1, 3)).fit(X, y))["why"]
    assert why.startswith("3 features have")
    assert why.endswith("and no larger one was tried.")
    assert "no larger" not in summary(CCMSelector((1, 4)).fit(X, y))["why"]
    # There is no larger one: the row numbers cannot be used.
    table = pd.DataFrame(X, columns=list("abcd")).assign(row=range(150))
    with pytest.warns(UserWarning, match="row identifiers: 'row'"):
        why = summary(CCMSelector().fit(table, y))["why"]
    assert why.startswith("4 features have")
    assert "no larger" not in why
