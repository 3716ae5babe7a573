"""Weights of the leading features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ._shared import ACCENT, LEFT_OUT, get_ax, leading_features, names_of

__all__ = ["RankingDisplay"]


class RankingDisplay:
    """Weights of the leading features, best on top; those left out are pale.

    Parameters
    ----------
    names : list of str
        Features, best first.
    weights : ndarray of shape (n_shown,)
        Their weights at the chosen number of features.
    selected : ndarray of bool of shape (n_shown,)
        Whether each is kept.

    Attributes
    ----------
    figure_ : matplotlib figure
    ax_ : matplotlib axes
    bars_ : matplotlib bar container

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import RankingDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> selector = CCMSelector(n_features_to_select=3).fit(X, y)
    >>> display = RankingDisplay.from_estimator(selector, n_features=5)
    >>> display.selected.tolist()
    [True, True, True, False, False]
    """

    def __init__(self, names: list[str], weights: np.ndarray, selected: np.ndarray) -> None:
        self.names = names
        self.weights = weights
        self.selected = selected

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        *,
        n_features: int | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Take the ranking of a fitted selector and draw it.

        Parameters
        ----------
        selector : CCMSelector
            Fitted.
        n_features : int, optional
            Features to show; by default the chosen ones and a few more.
        feature_names : sequence of str, optional
            Names of all features; by default the selector's.
        ax : matplotlib axes, optional

        Returns
        -------
        display : RankingDisplay
        """
        shown = leading_features(selector, n_features)
        names = names_of(selector, feature_names)
        display = cls([names[j] for j in shown], selector.weights_[shown], selector.support_[shown])
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Made where it is not given.

        Returns
        -------
        self : RankingDisplay
        """
        self.ax_ = ax = get_ax(ax, (6.0, 0.9 + 0.27 * len(self.names)))
        self.figure_ = ax.figure
        places = np.arange(len(self.names))
        colours = np.where(self.selected, ACCENT, LEFT_OUT)
        self.bars_ = ax.barh(places, self.weights, height=0.66, color=colours)
        ax.set_yticks(places, self.names)
        for label, kept in zip(ax.get_yticklabels(), self.selected, strict=True):
            label.set_color("black" if kept else "0.45")
        ax.invert_yaxis()
        ax.set(xlim=(0, 1.02), xlabel="weight at the chosen number of features")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", alpha=0.25)
        ax.set_axisbelow(True)
        return self
