"""Reasons to doubt the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.report import build_report


@pytest.mark.filterwarnings("ignore:1 constant feature")
def test_warnings_find_leaks_constants_and_copies():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [40, 40, 3])
    X = pd.DataFrame(rng.standard_normal((83, 3)), columns=["a", "b", "c"])
    X["flat"] = 1.0
    X["copy"] = X["b"]
    X["answer"] = 2.0 * y + 1e-3 * rng.standard_normal(83)
    selector = CCMSelector(3, column_types="strict", random_state=0)
    report = build_report(selector.fit(X, y), X, y)
    found = {w["kind"]: f"{w['title']} {w['text']}" for w in report["warnings"]}
    assert "'answer' alone" in found["leak"]
    assert found["constant"] == "1 column is constant. Without information, so ranked last: 'flat'."
    assert found["duplicate"].startswith("1 column is duplicated. ")
    assert "in an earlier column: 'copy'." in found["duplicate"]
    assert "'2'" in found["small"]


def test_clean_data_has_no_warnings(wine_report):
    assert wine_report["warnings"] == []


@pytest.mark.parametrize("text", [False, True])
def test_a_copy_of_the_response_is_a_leak_beside_categories_too(text):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    frame["city"] = pd.Categorical([f"city {k}" for k in rng.integers(0, 20, 200)])
    y = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
    copy = (y == "yes").astype(int)
    frame["copy"] = pd.Categorical(copy.astype(str)) if text else copy
    selector = CCMSelector(2).fit(frame, y)
    [leak] = [w for w in build_report(selector, frame, y)["warnings"] if w["kind"] == "leak"]
    assert leak["text"].startswith("'copy' alone")
