"""Selection frequencies of the leading features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ._shared import ACCENT, LEFT_OUT, LIMIT, get_ax, leading_features, names_of

__all__ = ["StabilityDisplay"]


class StabilityDisplay:
    """Selection frequencies of the leading features, with the threshold as a line.

    Parameters
    ----------
    names : list of str
        Features, most frequent first.
    frequencies : ndarray of shape (n_shown,)
        Share of the fits that chose each.
    selected : ndarray of bool of shape (n_shown,)
        Whether each is kept.
    threshold : float
        Frequency from which features are kept.
    blind : float, optional
        Frequency of a feature in a blindfold choice of the same size.

    Attributes
    ----------
    figure_ : matplotlib figure
    ax_ : matplotlib axes
    bars_ : matplotlib bar container

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from covmin import CCMSelector, StabilitySelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import StabilityDisplay
    >>> X, y = make_xor(120, random_state=0, return_X_y=True)
    >>> selector = StabilitySelector(CCMSelector(3), n_pairs=5).fit(X, y)
    >>> display = StabilityDisplay.from_estimator(selector, n_features=5)
    >>> display.selected.tolist()
    [True, True, True, False, False]
    """

    def __init__(
        self,
        names: list[str],
        frequencies: np.ndarray,
        selected: np.ndarray,
        threshold: float,
        blind: float | None = None,
    ) -> None:
        self.names = names
        self.frequencies = frequencies
        self.selected = selected
        self.threshold = threshold
        self.blind = blind

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        *,
        n_features: int | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Take the frequencies of a fitted selector and draw them.

        Parameters
        ----------
        selector : StabilitySelector
            Fitted.
        n_features : int, optional
            Features to show; by default the chosen ones and a few more.
        feature_names : sequence of str, optional
            Names of all features; by default the selector's.
        ax : matplotlib axes, optional

        Returns
        -------
        display : StabilityDisplay
        """
        shown = leading_features(selector, n_features)
        names = names_of(selector, feature_names)
        display = cls(
            [names[j] for j in shown],
            selector.frequencies_[shown],
            selector.support_[shown],
            selector.threshold_,
            selector.n_selected_ / selector.n_features_in_,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Made where it is not given.

        Returns
        -------
        self : StabilityDisplay
        """
        self.ax_ = ax = get_ax(ax, (6.0, 1.2 + 0.27 * len(self.names)))
        self.figure_ = ax.figure
        places = np.arange(len(self.names))
        colours = np.where(self.selected, ACCENT, LEFT_OUT)
        self.bars_ = ax.barh(places, self.frequencies, height=0.66, color=colours)
        ax.axvline(
            self.threshold,
            color=LIMIT,
            linestyle="--",
            linewidth=1.2,
            label=f"threshold {self.threshold:.2f}",
        )
        if self.blind is not None:
            ax.axvline(
                self.blind, color="black", linestyle=":", linewidth=1.0, label="blindfold choice"
            )
        ax.set_yticks(places, self.names)
        for label, kept in zip(ax.get_yticklabels(), self.selected, strict=True):
            label.set_color("black" if kept else "0.45")
        ax.invert_yaxis()
        ax.set(xlim=(0, 1.02), xlabel="share of the fits that choose the feature")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", alpha=0.25)
        ax.set_axisbelow(True)
        ax.legend(framealpha=1.0, edgecolor="none", loc="lower right")
        return self
