"""Displays of the leading features."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from covmin import CCMSelector, StabilitySelector
from covmin.datasets import make_xor
from covmin.plotting import (
    ErrorCurveDisplay,
    InteractionDisplay,
    PathDisplay,
    RankingDisplay,
)


def test_ranking_shows_the_best_first(fixed):
    display = RankingDisplay.from_estimator(fixed, n_features=5)
    assert sorted(display.names[:3]) == ["x0", "x1", "x2"]
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == display.names
    widths = [bar.get_width() for bar in display.bars_]
    lost = fixed.lost_without_[np.argsort(fixed.ranking_)[:5]]
    np.testing.assert_allclose(widths, np.nan_to_num(lost))
    assert min(widths[:3]) > 0.1 > max(widths[3:])


def test_ranking_shows_weights_where_what_is_lost_was_not_measured():
    X, y = make_xor(60, random_state=0, return_X_y=True)
    selector = CCMSelector(3, kernel="gaussian").fit(X, y)
    display = RankingDisplay.from_estimator(selector, n_features=5)
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, selector.weights_[np.argsort(selector.ranking_)[:5]])


def test_path_marks_the_chosen_stage(fixed):
    display = PathDisplay.from_estimator(fixed, feature_names=[f"f{j}" for j in range(10)])
    assert display.names[0].startswith("f")
    assert display.weights.shape == (len(fixed.path_.n_features), 10)
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == [
        str(size) for size in fixed.path_.n_features
    ]
    (frame,) = display.ax_.patches
    assert fixed.path_.n_features[int(frame.get_x())] == 3


def test_stability_shows_frequencies_and_threshold():
    X, y = make_xor(40, random_state=0, return_X_y=True)
    stable = StabilitySelector(CCMSelector(3), n_pairs=2, threshold=0.7).fit(X, y)
    _, ax = plt.subplots()
    display = RankingDisplay.from_estimator(stable, n_features=6, ax=ax)
    assert display.ax_ is ax
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, stable.frequencies_[np.argsort(stable.ranking_)[:6]])
    lines = {line.get_label(): line.get_xdata()[0] for line in ax.get_lines()}
    assert lines == {"threshold 0.70": 0.7, "random selection": 0.3}


@pytest.mark.parametrize("display", [RankingDisplay, PathDisplay])
def test_displays_draw_on_given_axes(display, fixed):
    figure, ax = plt.subplots()
    drawn = display.from_estimator(fixed, ax=ax)
    assert (drawn.ax_, drawn.figure_) == (ax, figure)


@pytest.mark.parametrize("display", [ErrorCurveDisplay, InteractionDisplay, PathDisplay])
def test_another_selector_than_the_one_shown_is_named(display):
    X, y = make_xor(40, random_state=0, return_X_y=True)
    stable = StabilitySelector(CCMSelector(3), n_pairs=2).fit(X, y)
    with pytest.raises(TypeError, match="requires a fitted CCMSelector; got a StabilitySelector"):
        display.from_estimator(stable)


def test_wrong_number_of_names_is_an_error(fixed):
    with pytest.raises(ValueError, match="2 feature names"):
        RankingDisplay.from_estimator(fixed, feature_names=["a", "b"])


def test_names_are_drawn_as_they_are_read(fixed):
    names = [r"$\frac$ in $", "turned\u202e", *"cdefghij"]
    display = PathDisplay.from_estimator(fixed, feature_names=names)
    display.figure_.canvas.draw()
    labels = {label.get_text() for label in display.ax_.get_yticklabels()}
    assert {r"$\frac$ in $", r"turned\u202e"} < labels
