"""The headline says what was found."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from covmin import CCMSelector
from covmin.report import build_report, error_curve, render_report


def headline(n_features, signal, **parameters):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, n_features))
    y = signal * X[:, 0] + rng.standard_normal(150)
    selector = CCMSelector(task="regression", random_state=0, **parameters).fit(X, y)
    report = build_report(selector, X, y, target_name="churn")
    sentence = " ".join(report["headline"])
    assert f"<title>{sentence} – covmin</title>" in render_report(report)
    return sentence, report


def test_headline_says_that_nothing_was_found():
    sentence, report = headline(3, 0.0)
    assert report["choice"]["why"].startswith("Nothing was found")
    assert sentence == "None of 3 features was found to explain churn"


def test_headline_says_how_much_is_explained():
    sentence, report = headline(4, 0.6)
    explained = 1.0 - report["choice"]["error"]
    assert 0.15 < explained < 0.4
    assert sentence == f"1 of 4 features explains {explained:.0%} of churn"


def test_headline_with_given_features_speaks_of_what_they_leave():
    sentence, report = headline(4, 1.0, given=[1])
    explained = f"{1.0 - report['choice']['error']:.0%}"
    assert sentence == f"1 of 3 features explains {explained} of what the 1 given leave of churn"


def test_headline_without_a_curve_says_about():
    sentence, report = headline(4, 3.0, n_features_to_select=1)
    explained = 1.0 - report["substitutes"]["unexplained"]
    assert sentence == f"1 of 4 features explains about {explained:.0%} of churn"
    assert "explains next to nothing of" in headline(4, 0.0, n_features_to_select=1)[0]


def test_weak_effects_are_told_from_noise():
    """Folds differ more than a set does from no feature: both are compared on the same samples."""

    def curve(seed, signal, **options):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 4))
        y = signal * X[:, 0] + rng.standard_normal(150)
        return error_curve(CCMSelector(**options).fit(X, y))

    weak = [curve(seed, 0.35) for seed in range(100, 106)]
    assert sum(each["found"] for each in weak) >= 3
    assert any(each["found"] and each["limit"] > 1.0 for each in weak)  # though folds differ
    assert all(curve(seed, 1.0, given=[1])["found"] for seed in range(4))
    assert sum(curve(seed, 0.0)["found"] for seed in range(5)) <= 1


def test_the_choice_of_an_estimator_is_told_by_its_score():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    options = {"estimator": LogisticRegression(), "scoring": "roc_auc"}
    selector = CCMSelector(**options).fit(X, y)
    report = build_report(selector, X, y)
    assert (
        "2 features have a roc_auc of 1 on the folds left out, the best" in report["choice"]["why"]
    )
    assert [each["name"] for each in report["choice"]["curve"]["measures"]] == [
        "error",
        "accuracy",
        "log_loss",
        "roc_auc",
        "score",
    ]
    page = render_report(report)
    assert "So is the estimator that was given" in page
    assert "In other measures" in page
