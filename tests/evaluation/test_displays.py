"""Pictures of results."""

import pandas as pd
import pytest

from covmin.evaluation import compare_selectors
from covmin.plotting.curves import AccuracyCurveDisplay


@pytest.mark.parametrize("protocol", ["nested", "paper"])
def test_accuracy_curves(table, protocol):
    X, y = table
    result = compare_selectors(
        X, y, ["ccm", "pearson"], protocol=protocol, n_features=[1, 2], random_state=0
    )
    display = result.plot()
    assert f"protocol: {protocol}" in display.ax_.get_title()
    assert display.ax_.get_xlabel() == "number of selected features"
    assert display.ax_.get_ylabel() == "cross-validated accuracy"
    assert len(display.lines_) == 2
    assert len({line.get_marker() for line in display.lines_}) == 2
    display.figure_.canvas.draw()


def test_two_protocols_are_told_apart(table):
    X, y = table
    frames = [
        compare_selectors(X, y, ["ccm"], protocol=p, n_features=[1, 2], random_state=0).summary()
        for p in ("nested", "paper")
    ]
    display = AccuracyCurveDisplay(pd.concat(frames)).plot()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["ccm (nested)", "ccm (paper)"]
    assert display.lines_[0].get_linestyle() != display.lines_[1].get_linestyle()
