"""One summary of a fit, from which everything that is shown is rendered."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.data import TableOptions, read
from covmin.selection.headline import explain_choice
from covmin.selection.summary import summary


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((150, 4)), columns=list("abcd"))
    X["id"] = [f"row {i}" for i in range(150)]
    X["kind"] = rng.choice(["u", "v"], 150)
    X.loc[::10, "d"] = np.nan
    y = np.where(X["a"] * X["b"] > 0, "up", "down")
    with pytest.warns(UserWarning, match="identifier"):
        selector = CCMSelector().fit(X, y)
    return selector, read(X, y, TableOptions.of(selector))


def test_is_plain_values(fitted):
    found = summary(*fitted, target="trend")
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_tells_what_was_found(fitted):
    selector, table = fitted
    found = summary(selector, table, target="trend")
    assert found["headline"].startswith(f"{selector.n_features_} of 6 features explain")
    assert found["headline"].endswith(f"of trend {found['headline_parts'][3]}")
    assert found["n_samples"] == 150
    assert {row["name"] for row in found["features"] if row["kept"]} >= {"a", "b"}
    assert found["interactions"][0]["columns"] == [0, 1]
    assert sum(row["count"] for row in found["classes"]) == 150
    assert [row["name"] for row in found["left_out"]] == ["id"]
    by_name = {row["name"]: row for row in found["features"]}
    assert by_name["d"]["missing"] == pytest.approx(0.1)
    assert by_name["kind"]["kind"] == "category"
    assert by_name["a"]["alone"] < 0.2
    assert "kernel" in {row["topic"] for row in found["plan"]}


def test_without_a_table_says_nothing_about_samples(fitted):
    found = summary(fitted[0])
    assert found["n_samples"] is None
    assert all(row["alone"] is None for row in found["features"])
    accuracy = next(row for row in found["measures"] if row["name"] == "accuracy")
    assert accuracy["without"] is None


def test_a_single_column_that_varies_is_all_there_is():
    X = pd.DataFrame({"a": 1.0, "b": np.random.default_rng(0).standard_normal(60)})
    with pytest.warns(UserWarning, match="constant"):
        selector = CCMSelector().fit(X, X["b"] > 0)
    assert "all that vary" in explain_choice(selector)
