"""How well classes are predicted, beside what needs no feature."""

from __future__ import annotations

import numpy as np
import pytest

from covmin import CCMSelector
from covmin.report import build_report, render_report
from covmin.report.measures import held_out_measures, imbalance


@pytest.fixture(scope="module")
def rare():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.where(X[:, 0] > 1.3, "fraud", "fine")
    return CCMSelector().fit(X, y), X, y


def test_classes_have_every_measure_beside_that_of_no_feature(rare):
    selector, _, y = rare
    found = {each["name"]: each for each in held_out_measures(selector, y)}
    assert list(found) == ["error", "accuracy", "balanced_accuracy", "log_loss", "roc_auc"]
    share = (y == "fine").mean()
    assert found["accuracy"]["without"] == f"{share:.0%}"
    assert found["balanced_accuracy"]["without"] == "50%"
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert found["log_loss"]["without"] == f"{entropy:.3f}"
    size = list(selector.cv_results_.n_features).index(selector.n_features_)
    assert found["roc_auc"]["value"] == f"{selector.cv_results_.roc_auc[0, size]:.3f}"


def test_a_class_of_most_samples_is_named(rare):
    page = render_report(build_report(*rare))
    share = (rare[2] == "fine").mean()
    assert f"{share:.0%} of the samples belong to the class “fine”" in page
    assert imbalance(np.repeat(["a", "b"], [60, 40])) == ""
    assert imbalance(np.repeat([0.0, 1.0], [30, 70])).startswith(
        "70% of the samples belong to the class “1”"
    )


def test_nothing_is_said_where_nothing_was_held_out():
    X = np.random.default_rng(0).standard_normal((40, 3))
    assert held_out_measures(CCMSelector(1).fit(X, X[:, 0]), X[:, 0]) == []
