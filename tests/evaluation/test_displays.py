"""Pictures of results."""

import pandas as pd
import pytest

from covmin.datasets import make_shell, make_xor
from covmin.evaluation import compare_selectors, median_rank
from covmin.plotting.curves import AccuracyCurveDisplay, MedianRankDisplay


@pytest.mark.parametrize("protocol", ["nested", "paper"])
def test_accuracy_curves(table, protocol):
    X, y = table
    result = compare_selectors(
        X, y, ["ccm", "pearson"], protocol=protocol, n_features=[1, 2], random_state=0
    )
    display = result.plot(title="mine")
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
    display = AccuracyCurveDisplay.from_results(pd.concat(frames)).plot()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["CCM (path) (nested)", "CCM (path) (paper)"]
    assert display.lines_[0].get_linestyle() != display.lines_[1].get_linestyle()


def test_median_ranks():
    result = median_rank(
        {"xor": make_xor, "binary": make_shell},
        ["ccm-single", "pearson"],
        n_samples=[20, 30],
        n_repeats=2,
    )
    display = MedianRankDisplay.from_results(result, ["pearson", "ccm-single"]).plot()
    assert [ax.get_title() for ax in display.axes_] == ["xor", "binary"]
    assert "median rank" in display.figure_.get_suptitle()
    assert "Protocol" in display.figure_.get_suptitle()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert texts == ["pearson", "CCM (single)", "optimal"]
    optimal = display.axes_[0].lines[-1]
    assert optimal.get_linestyle() == ":"
    assert optimal.get_ydata()[0] == 2
    display.figure_.canvas.draw()
