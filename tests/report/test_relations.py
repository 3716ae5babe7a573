"""How features relate to each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covmin import CCMSelector
from covmin.report import build_report, render_report


def test_interacting_pair_is_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    selector = CCMSelector(2).fit(X, y)
    report = build_report(selector, X, y)
    assert sorted(report["pair"]["features"]) == [1, 3]
    assert report["pair"]["together"] - sum(report["pair"]["alone"]) > 0.3
    assert max(report["pair"]["alone"]) < 0.1
    (pair,) = report["interactions"]
    assert (pair["features"], pair["p_value"]) == ([1, 3], "p < 0.0001")
    assert pair["share"] == pytest.approx(selector.interactions_.share[0], abs=1e-4)
    assert sorted(report["network"]) == [1, 3]
    page = render_report(report)
    assert "by tests of products of functions" in page
    without = build_report(CCMSelector(2, interactions=False).fit(X, y), X, y)
    assert without["interactions"] == []
    assert "by tests of products of functions" not in render_report(without)


def test_substitutes_know_a_near_copy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    y = X[:, 0] + 0.3 * X[:, 1]
    X[:, 5] = X[:, 0] + 0.05 * rng.standard_normal(120)
    selector = CCMSelector(1, task="regression").fit(X, y)
    (row,) = build_report(selector, X, y)["substitutes"]["rows"]
    assert {row["feature"], row["substitute"]} == {"x0", "x5"}
    assert row["with_substitute"] < row["without"]


def test_a_substitute_that_does_better_is_spoken_of():
    rng = np.random.default_rng(0)
    signal = rng.standard_normal(200)
    y = signal + 0.2 * rng.standard_normal(200)
    X = pd.DataFrame({"kept": signal + 0.5 * rng.standard_normal(200), "better": signal})
    selector = CCMSelector(1, task="regression").fit(
        X[["better", "kept"]].set_axis([*X], axis=1), y
    )
    report = build_report(selector, X, y)
    (row,) = report["substitutes"]["rows"]
    assert row["better"]
    assert 'class="better"' in render_report(report)
    plain = build_report(selector, X[["better", "kept"]], y, feature_names=["better", "kept"])
    assert not plain["substitutes"]["rows"][0]["better"]
    assert 'class="better"' not in render_report(plain)


def test_a_column_that_was_left_out_is_no_substitute():
    """Every row of a text column has a level of its own, which goes with everything."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((80, 3)), columns=list("abc"))
    X["note"] = [f"text {j} of a note" for j in range(80)]
    y = X["a"] + 0.1 * rng.standard_normal(80)
    with pytest.warns(UserWarning, match="note"):
        selector = CCMSelector(1).fit(X, y)
    (row,) = build_report(selector, X, y)["substitutes"]["rows"]
    assert row["substitute"] in ("b", "c")
