"""Pairs of features as a network."""

from __future__ import annotations

import numpy as np
import pytest

from covmin import CCMSelector
from covmin.plotting import InteractionDisplay
from covmin.plotting.fitted import network_order


@pytest.fixture(scope="module")
def linked():
    """x0 with x1 and with x2, and x4 with x5; two of the five are kept."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8))
    y = 2 * X[:, 0] * X[:, 1] + 1.5 * X[:, 0] * X[:, 2] + X[:, 4] * X[:, 5]
    return CCMSelector(2).fit(X, y + 0.2 * rng.standard_normal(400))


def test_linked_features_are_neighbours():
    pairs, ranking = np.array([[5, 1], [0, 2], [3, 4], [2, 5]]), np.array([6, 5, 4, 3, 2, 1])
    assert network_order(pairs, ranking).tolist() == [5, 2, 1, 0, 4, 3]
    assert network_order(np.empty((0, 2), dtype=int), ranking).size == 0


def test_an_arc_for_each_pair(linked):
    display = InteractionDisplay.from_estimator(linked)
    shown = {frozenset(display.names[i] for i in pair) for pair in display.pairs}
    pairs = linked.interactions_.features
    assert shown == {frozenset(f"x{j}" for j in pair) for pair in pairs}
    assert {frozenset(("x0", "x1")), frozenset(("x4", "x5"))} <= shown
    widths = [arc.get_linewidth() for arc in display.arcs_]
    assert np.argmax(widths) == np.argmax(linked.interactions_.share)
    assert display.selected.sum() == 2
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == display.names


def test_nothing_to_draw_is_said():
    X = np.random.default_rng(0).standard_normal((60, 4))
    display = InteractionDisplay.from_estimator(
        CCMSelector(1).fit(X, X[:, 0]), feature_names="abcd"
    )
    assert display.arcs_ == []
    assert "no interacting pair" in display.ax_.texts[0].get_text()
