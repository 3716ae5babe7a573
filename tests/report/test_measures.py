"""How well classes are predicted, beside what needs no feature."""

from __future__ import annotations

import numpy as np
import pytest

from covmin import CCMSelector
from covmin.data import TableOptions, read
from covmin.report import build_report, render_report
from covmin.selection.summary import summary


@pytest.fixture(scope="module")
def rare():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.where(X[:, 0] > 1.3, "fraud", "fine")
    return CCMSelector().fit(X, y), X, y


def test_classes_have_every_measure_beside_that_of_no_feature(rare):
    selector, X, y = rare
    measures = summary(selector, read(X, y, TableOptions.of(selector)))["measures"]
    found = {row["name"]: row for row in measures}
    assert list(found) == ["error", "accuracy", "balanced_accuracy", "log_loss", "roc_auc"]
    share = (y == "fine").mean()
    assert found["accuracy"]["without"] == pytest.approx(share)
    assert found["balanced_accuracy"]["without"] == 0.5
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert found["log_loss"]["without"] == pytest.approx(entropy)
    size = list(selector.cv_results_.n_features).index(selector.n_features_)
    assert found["roc_auc"]["value"] == selector.cv_results_.roc_auc[0, size]


def test_a_class_of_most_samples_is_named(rare):
    page = render_report(build_report(*rare))
    share = (rare[2] == "fine").mean()
    assert f"{share:.0%} of the samples belong to the class “fine”" in page


def test_nothing_is_said_where_nothing_was_held_out():
    X = np.random.default_rng(0).standard_normal((40, 3))
    found = summary(CCMSelector(1).fit(X, X[:, 0]))
    assert found["measures"] == []
    assert found["cv_results"] is None
    y = np.where(X[:, 0] > 1.3, "fraud", "fine")
    page = render_report(build_report(CCMSelector(1).fit(X, y), X, y))
    assert "balanced accuracy" not in page.partition('<script type="application/json"')[0]
