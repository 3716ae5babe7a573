"""The page as text: escaped, whole, and small."""

from __future__ import annotations

import ast
import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covmin
from covmin import CCMSelector, Formulation
from covmin.report import build_report, render_report
from covmin.report.render import _breakable

from .conftest import EVIL


def embedded(page):
    found = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


def test_embedded_data_is_the_dict(wine_report, wine_page):
    assert embedded(wine_page) == wine_report


def test_names_are_escaped(wine_page):
    assert EVIL not in wine_page
    assert "<b>ash</b>" not in wine_page
    assert "<i>cultivar</i>" not in wine_page
    assert wine_page.count("<script") == 2
    assert html.escape(EVIL) in wine_page.replace("<wbr>", "")


def test_names_wrap_at_the_ends_of_words():
    names = {
        "YearsAtCompany": "Years<wbr>At<wbr>Company",
        "per_mile": "per_<wbr>mile",
        "HTML": "HTML",
    }
    assert {name: str(_breakable(name)) for name in names} == names


def test_page_loads_nothing(wine_page):
    page = wine_page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|src\s*=|@import|url\(", page)


def test_page_is_accessible(wine_page):
    assert '<html lang="en">' in wine_page
    assert '<label for="m">' in wine_page
    for heading in re.findall(r'aria-labelledby="([^"]+)"', wine_page):
        assert f'id="{heading}"' in wine_page
    assert wine_page.count("<h1") == 1
    assert "prefers-color-scheme: dark" in wine_page
    assert "@media print" in wine_page


def test_wide_report_is_small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 10_000)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    selector = CCMSelector(20, formulation=Formulation(max_iter=20, tol=0.1)).fit(X, y)
    names = [f"gene_{j:05d}_expression_level" for j in range(10_000)]
    page = render_report(build_report(selector, X, y, feature_names=names))
    assert len(page.encode()) < 3_000_000
    assert len(embedded(page)["ranking"]["order"]) == 10_000


def test_failed_write_leaves_the_old_file(wine, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("covmin.runtime.resume.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        wine[0].report(path, *wine[1:])
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_names_that_hide_something_are_made_visible():
    turned, hidden = "price\u202e", "a\x1b[2J\u2028"
    rng = np.random.default_rng(0)
    X = pd.DataFrame({turned: rng.normal(size=40), "b": rng.normal(size=40)})
    X[hidden] = pd.Categorical(rng.choice(["x\u200b", "y\u2066"], 40))
    y = np.array(["no\u202e", "yes\x07"])[(X["b"] > 0).astype(int)]
    selector = CCMSelector(2).fit(X, y)
    told = {"target_name": "half \ud800", "source": turned, "notes": [f"{hidden}\n{turned}"]}
    page = render_report(build_report(selector, X, y, **told))
    page.encode()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200b\u2028\u202e\u2066\ud800]", page)
    names = embedded(page)["names"]
    assert names == [r"price\u202e", "b", r"a\x1b[2J\u2028"]


def test_only_the_command_line_names_its_options():
    """What the library says is shown in Python and in reports made there."""
    package = Path(covmin.__file__).parent
    said = [
        (path.name, node.value)
        for path in package.rglob("*.py")
        if "cli" not in path.relative_to(package).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert len(said) > 1000
    assert [each for each in said if re.search(r"(?<![\w-])--[a-z]", each[1])] == []


def test_the_largest_of_many_classes_are_shown_and_reasons_are_whole(wine_report):
    classes = [{"label": f"class {k:02}", "count": k + 1} for k in range(20)]
    about = ["number · 15,402 values · left out: " + 20 * "as in row numbers, "]
    ranking = wine_report["ranking"] | {"about": about * 13}
    data = wine_report["data"] | {"classes": classes}
    page = render_report(wine_report | {"data": data, "ranking": ranking})
    table = re.search(r'<table class="bars">.*?</table>', page, re.DOTALL)[0]
    assert "the 15 largest of 20 classes" in table
    assert re.findall(r"class (\d\d)", table) == [f"{k:02}" for k in range(19, 4, -1)]
    assert about[0] in page.split('<script type="application/json"')[0]
