"""The error curve."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.neighbors import KNeighborsClassifier

from covmin import CCMSelector
from covmin.datasets import make_xor
from covmin.plotting import ErrorCurveDisplay, RankingDisplay


def test_error_curve_draws_the_errors():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    selector = CCMSelector(random_state=0).fit(X, y)
    figure, ax = plt.subplots()
    display = ErrorCurveDisplay.from_estimator(selector, ax=ax)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert display.n_selected == selector.n_features_
    np.testing.assert_allclose(display.standard_error, selector.cv_results_.standard_error[0])
    np.testing.assert_allclose(display.line_.get_ydata(), display.error)


def test_error_curve_of_wide_data_has_a_logarithmic_axis():
    sizes = np.array([1, 10, 100])
    display = ErrorCurveDisplay(sizes, np.array([0.9, 0.5, 0.4]), np.full(3, 0.05), 10).plot()
    assert display.ax_.get_xscale() == "log"


def test_error_curve_needs_a_choice(fixed):
    with pytest.raises(ValueError, match="auto"):
        ErrorCurveDisplay.from_estimator(fixed)


def test_other_metrics_are_drawn():
    X, y = make_xor(80, random_state=0, return_X_y=True)
    selector = CCMSelector(estimator=KNeighborsClassifier()).fit(X, y)
    found = selector.cv_results_
    scored = ErrorCurveDisplay.from_estimator(selector)
    assert scored.metric == "score"  # what chose the number
    assert (scored.error == found.mean_score[0]).all()
    display = ErrorCurveDisplay.from_estimator(selector, metric="log_loss")
    assert display.ax_.get_ylabel() == "log-loss"
    assert (display.error == found.log_loss[0]).all()
    with pytest.raises(ValueError, match="has no 'r2'; it has error, accuracy"):
        ErrorCurveDisplay.from_estimator(selector, metric="r2")


def _is_outside(ax):
    """Whether the legend lies below the axes and their label."""
    ax.figure.canvas.draw()
    legend, label = ax.get_legend().get_window_extent(), ax.xaxis.label.get_window_extent()
    return legend.y1 <= label.y0


@pytest.mark.parametrize("n_features", [4, 40])
def test_ticks_are_whole_numbers_and_the_legend_hides_nothing(n_features):
    sizes = np.arange(1, n_features + 1)
    display = ErrorCurveDisplay(sizes, 1.0 / sizes, 0.1 / sizes, 3).plot()
    assert _is_outside(display.ax_)
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert all(label.lstrip("−").isdigit() for label in labels)
    assert {"1", "3"} <= set(labels)


def test_long_names_leave_room_for_the_bars():
    names = ["word " * 1000, "b"]
    display = RankingDisplay(names, np.array([1.0, 0.5]), np.array([True, False])).plot()
    display.figure_.canvas.draw()
    assert display.ax_.get_window_extent().width > 150
    assert len(display.ax_.get_yticklabels()[0].get_text()) == 32
    display.limits["threshold"] = 0.7
    assert _is_outside(display.plot().ax_)
