"""What a report says of times to an event."""

import json

import numpy as np
import pytest

from covmin import CCMSelector
from covmin.plotting import ErrorCurveDisplay
from covmin.report import build_report, headline, render_report, summary


@pytest.fixture(scope="module")
def report(survival):
    return build_report(*survival, target_name="days")


def test_the_verdict_speaks_of_the_concordance_index(survival):
    selector, *_ = survival
    at = selector.n_features_ - 1
    index = selector.cv_results_.concordance[0, at]
    assert f"predict days (concordance {index:.2f}; 0.50 by chance)" in str(
        headline(selector, "days")
    )
    assert f"a cross-validated concordance index of {index:.4g}" in summary(selector)["why"]


def test_the_curve_is_that_of_the_concordance_index(survival):
    selector, *_ = survival
    curve = summary(selector)["cv_results"]
    assert curve["measure"] == "concordance"
    assert curve["error"] == selector.cv_results_.concordance[0].tolist()
    best = curve["n_features"].index(curve["best"])
    assert curve["error"][best] == max(curve["error"])
    display = ErrorCurveDisplay.from_estimator(selector)
    assert display.metric == "concordance"


def test_noise_is_called_noise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4))
    y = np.column_stack([rng.random(80) < 0.5, rng.exponential(size=80)])
    selector = CCMSelector(task="survival").fit(X, y)
    assert headline(selector, "days").startswith("No feature")
    assert "(best concordance index: 0." in summary(selector)["why"]


def test_features_are_drawn_as_curves_that_fall(report, survival):
    _, frame, _ = survival
    plots = {report["names"][plot["feature"]]: plot for plot in report["plots"]}
    assert {plot["kind"] for plot in plots.values()} == {"survival"}
    assert plots["stage"]["classes"] == ["early", "late"]
    late = frame["stage"] == "late"
    assert plots["stage"]["counts"] == [(~late).sum(), late.sum()]
    assert plots["x3"]["classes"][-1] == "(missing)"
    for plot in plots.values():
        for curve in plot["curves"]:
            times, shares = np.array(curve).T
            assert curve[0] == [0.0, 1.0]
            assert (np.diff(times) >= 0).all()
            assert (np.diff(shares) <= 0).all()
    early, late = ([s for t, s in curve if t < 0.3][-1] for curve in plots["stage"]["curves"])
    assert early > late + 0.2


def test_events_are_counted_and_the_page_holds_together(report, survival):
    *_, y = survival
    assert report["data"]["events"] == y["event"].sum()
    measures = {each["name"]: each for each in report["choice"]["measures"]}
    assert measures["concordance"]["without"] == "0.500"
    page = render_report(report)
    assert "concordance" in page
    assert "Kaplan–Meier" in page
    json.dumps(report, allow_nan=False)


def test_a_number_that_was_asked_for_has_no_index(survival):
    _, frame, y = survival
    report = build_report(CCMSelector(2).fit(frame, y), frame, y)
    assert report["choice"]["curve"] is None
    assert "Left unexplained</dt>" not in render_report(report)
