"""Displays of a fitted selector."""

from __future__ import annotations

import numpy as np
import pytest

from covmin import CCMSelector, StabilitySelector
from covmin.datasets import make_xor

pytest.importorskip("matplotlib")

from matplotlib import pyplot as plt

from covmin import plotting
from covmin.plotting import ErrorCurveDisplay, PathDisplay, RankingDisplay, StabilityDisplay

plt.switch_backend("Agg")


@pytest.fixture(scope="module")
def selector():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    return CCMSelector(random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def fixed():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    return CCMSelector(3, random_state=0).fit(X, y)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_ranking_shows_the_best_first(fixed):
    display = RankingDisplay.from_estimator(fixed, n_features=5)
    assert sorted(display.names[:3]) == ["x0", "x1", "x2"]
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == display.names
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, fixed.weights_[np.argsort(fixed.ranking_)[:5]])


def test_path_marks_the_chosen_stage(fixed):
    display = PathDisplay.from_estimator(fixed, feature_names=[f"f{j}" for j in range(10)])
    assert display.names[0].startswith("f")
    assert display.weights.shape == (len(fixed.path_.n_features), 10)
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == [
        str(size) for size in fixed.path_.n_features
    ]
    (frame,) = display.ax_.patches
    assert fixed.path_.n_features[int(frame.get_x())] == 3


def test_error_curve_draws_the_limit(selector):
    display = ErrorCurveDisplay.from_estimator(selector)
    best = np.argmin(display.error)
    assert display.limit == display.error[best] + display.standard_error[best]
    smallest = display.n_features[display.error <= display.limit][0]
    assert smallest == selector.n_features_ == display.n_selected
    np.testing.assert_allclose(display.line_.get_ydata(), display.error)


def test_error_curve_of_wide_data_has_a_logarithmic_axis():
    sizes = np.array([1, 10, 100])
    display = ErrorCurveDisplay(sizes, np.array([0.9, 0.5, 0.4]), np.full(3, 0.05), 10).plot()
    assert display.ax_.get_xscale() == "log"


def test_error_curve_needs_a_choice(fixed):
    with pytest.raises(ValueError, match="auto"):
        ErrorCurveDisplay.from_estimator(fixed)


def test_stability_shows_frequencies_and_threshold():
    X, y = make_xor(40, random_state=0, return_X_y=True)
    stable = StabilitySelector(CCMSelector(3), n_pairs=2, threshold=0.7).fit(X, y)
    _, ax = plt.subplots()
    display = StabilityDisplay.from_estimator(stable, n_features=6, ax=ax)
    assert display.ax_ is ax
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, stable.frequencies_[np.argsort(stable.ranking_)[:6]])
    lines = {line.get_label(): line.get_xdata()[0] for line in ax.get_lines()}
    assert lines == {"threshold 0.70": 0.7, "blindfold choice": 0.3}


@pytest.mark.parametrize("display", [RankingDisplay, PathDisplay, ErrorCurveDisplay])
def test_displays_draw_on_given_axes(display, selector):
    figure, ax = plt.subplots()
    drawn = display.from_estimator(selector, ax=ax)
    assert drawn.ax_ is ax
    assert drawn.figure_ is figure


@pytest.mark.parametrize("display", [RankingDisplay, PathDisplay])
def test_wrong_number_of_names_is_an_error(display, fixed):
    with pytest.raises(ValueError, match="2 feature names"):
        display.from_estimator(fixed, feature_names=["a", "b"])


def test_names_are_exported():
    for name in plotting.__all__:
        assert hasattr(plotting, name)
