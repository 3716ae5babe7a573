"""The section on which features matter at all."""

import numpy as np

from covmin import CCMSelector, VerdictSelector
from covmin.report import build_report
from covmin.report.render import render_report


def test_verdicts_are_told_with_names_escaped():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    y = 2.0 * X[:, 0] + 0.5 * rng.standard_normal(100)
    selector, verdicts = CCMSelector(1).fit(X, y), VerdictSelector(fdr=0.01).fit(X, y)
    names = ["<b>first</b>", "b", "c", "d"]
    report = build_report(selector, X, y, feature_names=names, verdicts=verdicts)
    told = report["verdicts"]
    assert told["counts"]["needed"] == 1
    first = told["rows"][0]
    assert (first["name"], first["verdict"]) == ("<b>first</b>", "needed")
    assert first["needed_p"] < 1e-4
    page = render_report(report)
    assert "1 is needed, 0 are relevant, and 3 are not shown to matter." in page
    assert "&lt; 0.0001" in page
    assert 'id="verdicts-title"' in page
    assert "<b>first</b>" not in page
    assert 'id="verdicts-title"' not in render_report(build_report(selector, X, y))
