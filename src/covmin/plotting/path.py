"""Weights along the path of shrinking budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ._shared import ACCENT, get_ax, leading_features, names_of

__all__ = ["PathDisplay"]


class PathDisplay:
    """Weight of each leading feature at each stage of the path, as a map of shades.

    Parameters
    ----------
    names : list of str
        Features, best first.
    sizes : ndarray of shape (n_stages,)
        Number of features kept at each stage, decreasing.
    weights : ndarray of shape (n_stages, n_shown)
    n_selected : int
        Number of features that the selector keeps.

    Attributes
    ----------
    figure_ : matplotlib figure
    ax_ : matplotlib axes
    image_ : matplotlib image

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import PathDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> selector = CCMSelector(n_features_to_select=3).fit(X, y)
    >>> PathDisplay.from_estimator(selector).sizes
    array([6, 4, 3, 1])
    """

    def __init__(
        self, names: list[str], sizes: np.ndarray, weights: np.ndarray, n_selected: int
    ) -> None:
        self.names = names
        self.sizes = sizes
        self.weights = weights
        self.n_selected = n_selected

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        *,
        n_features: int | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Take the path of a fitted selector and draw it.

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
        display : PathDisplay
        """
        shown = leading_features(selector, n_features)
        names = names_of(selector, feature_names)
        path = selector.path_
        display = cls(
            [names[j] for j in shown],
            path.n_features,
            path.weights[:, shown],
            selector.n_features_,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Made where it is not given.

        Returns
        -------
        self : PathDisplay
        """
        from matplotlib.colors import LinearSegmentedColormap

        n_stages, n_shown = self.weights.shape
        self.ax_ = ax = get_ax(ax, (2.6 + 0.5 * n_stages, 1.2 + 0.27 * n_shown))
        self.figure_ = ax.figure
        shades = LinearSegmentedColormap.from_list("weights", ["white", ACCENT])
        self.image_ = ax.pcolormesh(
            self.weights.T, cmap=shades, vmin=0.0, vmax=1.0, edgecolors="0.9", linewidth=0.8
        )
        ax.set_xticks(np.arange(n_stages) + 0.5, [str(size) for size in self.sizes])
        ax.set_yticks(np.arange(n_shown) + 0.5, self.names)
        ax.invert_yaxis()
        ax.set_xlabel("features kept at each stage")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        self._mark_choice(ax, n_shown)
        self.figure_.colorbar(self.image_, ax=ax, label="weight", aspect=30, fraction=0.05)
        return self

    def _mark_choice(self, ax: Any, n_shown: int) -> None:
        """Frame the stage at which the selector stopped."""
        from matplotlib.patches import Rectangle

        stages = np.flatnonzero(self.sizes == self.n_selected)
        if stages.size:
            corner = (float(stages[0]), 0.0)
            ax.add_patch(
                Rectangle(corner, 1, n_shown, fill=False, edgecolor="black", lw=1.5, clip_on=False)
            )
