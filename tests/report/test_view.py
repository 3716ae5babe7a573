"""What features leave unexplained."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.report import build_report
from covmin.report.view import View
from covmin.selection.summary import Explained, read_as_fitted


def test_a_category_that_says_nothing_explains_nothing_by_itself():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    frame["city"] = pd.Categorical([f"city {k}" for k in rng.integers(0, 40, 200)])
    y = frame["a"] + 0.5 * rng.standard_normal(200)
    selector = CCMSelector(2).fit(frame, y)
    explained = Explained(selector, read_as_fitted(selector, frame, y))
    assert explained([3]) < 0.03
    assert explained([0]) > 0.65


@pytest.mark.parametrize("cell", [lambda k: [k, 1], lambda k: {"k": k}, lambda k: np.array([k, 1])])
def test_lists_dicts_and_arrays_in_cells(cell):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.standard_normal(60)})
    X["cells"] = [cell(i % 3) for i in range(60)]
    selector = CCMSelector(1).fit(X, X["a"])
    view = View(selector, read_as_fitted(selector, X, X["a"]))
    assert len(view.column(1).levels) == 3


def test_a_large_table_in_blocks_is_shown_by_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr("covmin.report.view.MANY_ROWS", 100)
    X = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=(300, 3))
    X[:] = np.random.default_rng(0).standard_normal((300, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    report = build_report(CCMSelector(1).fit(X, y), X, y)
    assert report["notes"] == ["Warnings and figures use 100 of 300 rows."]
    assert report["data"]["n_samples"] == 300
    assert sum(row["count"] for row in report["data"]["classes"]) == 300
    assert report["described_rows"] == 100
