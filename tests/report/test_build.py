"""The dict of a report."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_diabetes

from covmin import CCMSelector, Fourier
from covmin.data import TableOptions, read
from covmin.data import table as data_table
from covmin.remarks import CovminWarning
from covmin.report import build_report, render_report, summary
from covmin.report.checks import check_data
from covmin.report.view import View
from covmin.selection import summary as fit_summary


def test_report_is_plain_and_complete(wine, wine_report):
    selector = wine[0]
    assert json.loads(json.dumps(wine_report, allow_nan=False)) == wine_report
    order = wine_report["ranking"]["order"]
    assert sorted(order) == list(range(13))
    assert [selector.ranking_[j] for j in order] == list(range(1, 14))
    assert wine_report["choice"]["m"] == selector.n_features_
    assert wine_report["choice"]["error"] in wine_report["choice"]["curve"]["error"]
    assert len(wine_report["plots"]) == 12
    assert len(wine_report["substitutes"]["rows"]) == min(10, selector.n_features_)
    assert {"covmin", "numpy", "python"} <= set(wine_report["versions"])


def test_a_table_is_read_once_and_what_is_known_is_not_computed_again(wine, monkeypatch):
    selector, X, y = wine
    reads, regressions = [], []
    read_table, regress = data_table.read_matrix, fit_summary.regress_on_sets
    monkeypatch.setattr(data_table, "read_matrix", lambda *a: reads.append(1) or read_table(*a))
    monkeypatch.setattr(
        fit_summary, "regress_on_sets", lambda *a, **o: regressions.append(1) or regress(*a, **o)
    )
    table = read(X, y, TableOptions.of(selector))
    explained = fit_summary.Explained(selector, table)
    found = fit_summary.summary(selector, table, explained=explained)
    assert len(regressions) == 12  # of the leading features alone
    warnings = check_data(selector, View(selector, table), explained)
    assert len(regressions) == 13  # and of the selected ones together
    report = build_report(selector, table, found=found, warnings=warnings)
    assert len(reads) == 1
    assert report == build_report(selector, X, y)
    assert len(reads) == 2


def test_regression_report_without_a_curve(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = CCMSelector(2, task="regression", random_state=0).fit(X, y)
    report = build_report(selector, X.to_numpy(), y, feature_names=list(X))
    assert report["choice"]["curve"] is None
    assert report["plots"][0]["kind"] == "scatter"
    assert "value" in report["pair"]
    path = selector.report(tmp_path / "r.html", X, y)
    assert path.is_absolute()
    assert "The number of features was given" in path.read_text("utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]


def test_many_rows_are_sampled_over_the_response():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 3))
    y = np.zeros(3000, dtype=int)
    y[:3] = 1
    selector = CCMSelector(1, approximation=Fourier(20), random_state=0).fit(X, y)
    report = build_report(selector, X, y)
    assert report["described_rows"] == 500
    assert [row["count"] for row in report["data"]["classes"]] == [2997, 3]


def test_several_outputs_and_one_feature():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 1))
    Y = np.column_stack([X[:, 0], -(X[:, 0] ** 2)])
    selector = CCMSelector(random_state=0).fit(X, Y)
    report = build_report(selector, X, Y)
    assert report["pair"] is None
    assert "all features are selected" in render_report(report)
    assert summary(selector)["cv_results"] is None
    assert "1 feature, all that vary" in summary(selector)["why"]


def test_mistakes_are_explained(wine):
    selector, X, y = wine
    with pytest.raises(ValueError, match="fitted on 13 features"):
        build_report(selector, X.iloc[:, :5], y)
    with pytest.raises(ValueError, match="2 feature names"):
        build_report(selector, X, y, feature_names=["a", "b"])
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[178, 3\]"):
        build_report(selector, X, y[:3])


def test_every_column_has_a_line(years):
    X, y = years
    X = X.assign(same=1.0, note=[f"remark {7 * i}" for i in range(len(X))])
    with pytest.warns(UserWarning, match="constant|row identifiers"):
        selector = CCMSelector(2).fit(X, y)
    report = build_report(selector, X, y)
    lines = dict(zip(report["ranking"]["order"], report["ranking"]["about"], strict=True))
    assert set(lines) == set(range(6))
    assert lines[0] == f"number · {X['year'].nunique()} values"
    assert lines[4].endswith("constant")
    assert lines[5].startswith("identifier · 120 values · left out: ")


def test_a_large_sparse_table_is_shown_by_a_sample_of_its_rows(monkeypatch):
    monkeypatch.setattr("covmin.data.blocks.array.MEMORY_NUMBERS", 1000)
    monkeypatch.setattr("covmin.report.view.MEMORY_NUMBERS", 300 * 550)
    rng = np.random.default_rng(0)
    X = sparse.random_array((600, 300), density=0.02, rng=rng, format="csr")
    y = X[:, [7]].toarray().ravel() + 0.01 * rng.standard_normal(600)
    selector = CCMSelector(2, random_state=0).fit(X, y)
    words = [f"word {j}" for j in range(300)]
    report = build_report(selector, X, y, feature_names=words)
    assert report["names"][report["ranking"]["order"][0]] == "word 7"
    assert report["notes"] == ["Warnings and figures use 550 of 600 rows."]
    assert not [w for w in report["warnings"] if w["kind"] in ("constant", "duplicate")]


def test_weights_stand_beside_the_ranks_where_nothing_else_was_measured(wine, wine_report):
    _, X, y = wine
    assert wine_report["ranking"]["beside"] == "lost_without"
    selector = CCMSelector(3, kernel="linear", interactions=False).fit(X, y)
    report = build_report(selector, X, y)
    weights = selector.weights_[report["ranking"]["order"]]
    assert_allclose(report["ranking"]["numbers"], weights)
    page = render_report(report)
    assert "Lost without" not in page
    assert ">Weight</button>" in page


def test_a_report_from_python_says_how_columns_and_rows_were_read():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 5)
    X = pd.DataFrame({"dose": rng.standard_normal(40)[patient] + 0.01 * rng.standard_normal(200)})
    X["arm"] = rng.choice(["a", "b"], 200)
    y = X["dose"] + 0.1 * rng.standard_normal(200)
    with pytest.warns(CovminWarning, match="not independent"):
        selector = CCMSelector(1).fit(X, y)
    report = build_report(selector, X, y)
    said, *read = report["notes"]
    assert said.startswith("The rows depend on each other: no p-values; errors are too low")
    assert read == ["Read as categories: 'arm'."]
    assert "<dt>Columns</dt>" not in render_report(report)  # of a table with hundreds of them
