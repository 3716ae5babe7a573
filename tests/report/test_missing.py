"""What is said of missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.report import build_report


def test_what_missing_values_say_is_counted():
    """A column that says something by being there explains that much."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    X = np.column_stack([rng.normal(size=200), rng.normal(size=200)])
    selector = CCMSelector(1, task="regression").fit(X, y)
    holes = X.copy()
    holes[y > 0.0, 0] = np.nan
    alone = {
        plot["feature"]: plot["explained"] for plot in build_report(selector, holes, y)["plots"]
    }
    assert alone[0] > 0.5 > 0.1 > alone[1]


def test_a_column_of_one_value_and_missing_ones_is_no_constant():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 1], X[:, 2] = 1.0, np.where(rng.random(60) < 0.5, 1.0, np.nan)
    with pytest.warns(UserWarning, match="constant"):
        selector = CCMSelector(1).fit(X, X[:, 0])
    found = build_report(selector, X, X[:, 0])["warnings"]
    (warning,) = [w for w in found if w["kind"] == "constant"]
    assert warning["text"].endswith("last: 'x1'.")


def test_samples_without_a_response_are_no_part_of_the_page():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=100)
    selector = CCMSelector(1).fit(X, y)
    y[:10] = np.nan
    report = build_report(selector, X, y)
    assert report["data"]["n_samples"] == 90
    labels = np.where(X[:, 0] > 0, "a", "b").astype(object)
    named = CCMSelector().fit(X, labels)
    labels[:10] = None
    told = build_report(named, pd.DataFrame(X, columns=["u", "v"]), labels)
    assert [row["label"] for row in told["data"]["classes"]] == ["a", "b"]
