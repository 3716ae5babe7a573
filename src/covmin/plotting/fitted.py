"""Figures of a fitted selector: errors, weights, path and selection frequencies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from covmin.selection.headline import MEASURES, cv_measure, judged_by
from covmin.text import shortened

from .shared import ACCENT, LEFT_OUT, LIMIT, NAME, Display, legend_under, names_of

_MORE_IS_BETTER = {"accuracy", "balanced_accuracy", "roc_auc", "concordance", "score"}
# With more features than this, the axis is logarithmic.
_WIDE = 25
# Tick labels of the logarithmic axis.
_SIZES = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)


class FeatureDisplay(Display):
    """A figure of the leading features, one row each."""

    names: list[str]

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        *,
        n_features: int | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Create the display from a fitted selector and draw it.

        Parameters
        ----------
        selector : estimator
            Fitted: a StabilitySelector for frequencies, otherwise a CCMSelector.
        n_features : int, optional
            Number of features to show; by default the selected ones and a few more.
        feature_names : sequence of str, optional
            Names of all features; by default the selector's, or x0, x1 and so on.
        ax : matplotlib axes, optional

        Returns
        -------
        display : Display
        """
        check_is_fitted(selector)
        if n_features is None:
            n_features = min(max(selector.n_features_ + 5, 10), 30)
        shown = np.argsort(selector.ranking_)[:n_features]
        names = names_of(selector, feature_names)
        return cls._of(selector, shown, [names[j] for j in shown]).plot(ax)

    @classmethod
    def _of(cls, selector: Any, shown: np.ndarray, names: list[str]) -> Self:
        """Create the display for some columns of a fitted selector, best first."""
        raise NotImplementedError

    def _size(self) -> tuple[float, float]:
        return 6.0, 1.0 + 0.27 * len(self.names)

    def _label_rows(self, ax: Any, places: np.ndarray) -> None:
        # A name may contain dollar signs without being a formula.
        ax.set_yticks(places, [shortened(name, NAME) for name in self.names], parse_math=False)
        ax.invert_yaxis()
        ax.tick_params(axis="y", length=0)

    def _draw_bars(self, ax: Any, shares: np.ndarray, selected: np.ndarray, label: str) -> None:
        """Draw bars from 0 to 1, pale for features that were not selected."""
        places, colours = np.arange(len(self.names)), np.where(selected, ACCENT, LEFT_OUT)
        self.bars_ = ax.barh(places, shares, height=0.66, color=colours)
        self._label_rows(ax, places)
        for text, kept in zip(ax.get_yticklabels(), selected, strict=True):
            text.set_color("black" if kept else "0.45")
        ax.set(xlim=(0, 1.02), xlabel=label)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.grid(axis="x", alpha=0.25)
        ax.set_axisbelow(True)


@dataclass(eq=False, repr=False)
class RankingDisplay(FeatureDisplay):
    """Weights of the leading features, best on top; features not selected are pale.

    Parameters
    ----------
    names : list of str
        Features, best first.
    weights : ndarray of shape (n_shown,)
        Their weights at the chosen number of features.
    selected : ndarray of bool of shape (n_shown,)
        Whether each feature is selected.

    Attributes
    ----------
    ax_, figure_, bars_ : matplotlib axes, figure and bars

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import RankingDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> selector = CCMSelector(3).fit(X, y)
    >>> RankingDisplay.from_estimator(selector, n_features=5).selected.tolist()
    [True, True, True, False, False]
    """

    names: list[str]
    weights: np.ndarray
    selected: np.ndarray

    @classmethod
    def _of(cls, selector: Any, shown: np.ndarray, names: list[str]) -> Self:
        return cls(names, selector.weights_[shown], selector.support_[shown])

    def _draw(self, ax: Any) -> None:
        self._draw_bars(ax, self.weights, self.selected, "weight at the chosen number of features")


@dataclass(eq=False, repr=False)
class StabilityDisplay(FeatureDisplay):
    """Selection frequencies of the leading features, with the threshold as a line.

    Parameters
    ----------
    names : list of str
        Features, most frequent first.
    frequencies : ndarray of shape (n_shown,)
        Fraction of the fits that selected each feature.
    selected : ndarray of bool of shape (n_shown,)
        Whether each feature is selected.
    threshold : float
        Smallest frequency of a selected feature.
    blind : float, optional
        Frequency of a feature under random selection of the same size.

    Attributes
    ----------
    ax_, figure_, bars_ : matplotlib axes, figure and bars

    Examples
    --------
    >>> from covmin import CCMSelector, StabilitySelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import StabilityDisplay
    >>> X, y = make_xor(120, random_state=0, return_X_y=True)
    >>> selector = StabilitySelector(CCMSelector(3), n_pairs=5).fit(X, y)
    >>> StabilityDisplay.from_estimator(selector, n_features=5).selected.tolist()
    [True, True, True, False, False]
    """

    names: list[str]
    frequencies: np.ndarray
    selected: np.ndarray
    threshold: float
    blind: float | None = None

    @classmethod
    def _of(cls, selector: Any, shown: np.ndarray, names: list[str]) -> Self:
        frequencies, selected = selector.frequencies_[shown], selector.support_[shown]
        blind = selector.n_selected_ / selector.ranking_.max()  # of as many to choose from
        return cls(names, frequencies, selected, selector.threshold_, blind)

    def _draw(self, ax: Any) -> None:
        label = "fraction of the fits that select the feature"
        self._draw_bars(ax, self.frequencies, self.selected, label)
        threshold = f"threshold {self.threshold:.2f}"
        ax.axvline(self.threshold, color=LIMIT, linestyle="--", linewidth=1.2, label=threshold)
        if self.blind is not None:
            ax.axvline(self.blind, color="black", ls=":", lw=1.0, label="random selection")
        legend_under(ax)


@dataclass(eq=False, repr=False)
class PathDisplay(FeatureDisplay):
    """Weight of each leading feature at each stage of the path, as a heat map.

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
    ax_, figure_, image_ : matplotlib axes, figure and heat map

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import PathDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> PathDisplay.from_estimator(CCMSelector(3).fit(X, y)).sizes
    array([6, 4, 3, 1])
    """

    names: list[str]
    sizes: np.ndarray
    weights: np.ndarray
    n_selected: int

    @classmethod
    def _of(cls, selector: Any, shown: np.ndarray, names: list[str]) -> Self:
        path = selector.path_
        return cls(names, path.n_features, path.weights[:, shown], selector.n_features_)

    def _size(self) -> tuple[float, float]:
        n_stages, n_shown = self.weights.shape
        return 2.6 + 0.5 * n_stages, 1.2 + 0.27 * n_shown

    def _draw(self, ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.patches import Rectangle

        n_stages, n_shown = self.weights.shape
        shades = LinearSegmentedColormap.from_list("weights", ["white", ACCENT])
        grid = {"vmin": 0.0, "vmax": 1.0, "edgecolors": "0.9", "linewidth": 0.8}
        self.image_ = ax.pcolormesh(self.weights.T, cmap=shades, **grid)
        ax.set_xticks(np.arange(n_stages) + 0.5, [str(size) for size in self.sizes])
        self._label_rows(ax, np.arange(n_shown) + 0.5)
        ax.set_xlabel("features kept at each stage")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        # A frame around the stage of the selected number of features.
        for stage in np.flatnonzero(self.sizes == self.n_selected)[:1]:
            corner, colour = (float(stage), 0.0), "black"
            ax.add_patch(
                Rectangle(corner, 1, n_shown, fill=False, ec=colour, lw=1.5, clip_on=False)
            )
        self.figure_.colorbar(self.image_, ax=ax, label="weight", aspect=30, fraction=0.05)


@dataclass(eq=False, repr=False)
class ErrorCurveDisplay(Display):
    """Cross-validated error against the number of features, with the one-standard-error line.

    Parameters
    ----------
    n_features : ndarray of shape (n_sizes,)
    error : ndarray of shape (n_sizes,)
        Mean error over folds as a fraction of the variance of the response, or another measure.
    standard_error : ndarray of shape (n_sizes,)
        Standard error of that mean.
    n_selected : int
        Number of features that the selector keeps.
    metric : str, default="error"
        Measure: "error", "accuracy", "balanced_accuracy", "log_loss", "roc_auc", "concordance"
        or "score".

    Attributes
    ----------
    ax_, figure_, line_ : matplotlib axes, figure and line

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import ErrorCurveDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> display = ErrorCurveDisplay.from_estimator(CCMSelector(random_state=0).fit(X, y))
    >>> bool(display.error.min() <= display.limit)
    True
    """

    n_features: np.ndarray
    error: np.ndarray
    standard_error: np.ndarray
    n_selected: int
    metric: str = "error"

    @property
    def limit(self) -> float:
        """Best error plus its standard error; minus it for measures where higher is better."""
        sign = -1.0 if self.metric in _MORE_IS_BETTER else 1.0
        best = int(np.argmin(sign * self.error))
        return float(self.error[best] + sign * self.standard_error[best])

    @classmethod
    def from_estimator(cls, selector: Any, *, metric: str | None = None, ax: Any = None) -> Self:
        """Create the display from the cross-validated errors of a selector and draw it.

        Parameters
        ----------
        selector : CCMSelector
            Fitted with ``n_features_to_select="auto"``.
        metric : str, default=None
            Measure: "error", "accuracy", "balanced_accuracy", "log_loss", "roc_auc",
            "concordance" or "score". None means the one that chose the number of features: the
            score if the selector has an ``estimator``, the concordance index for survival times,
            otherwise the error.
        ax : matplotlib axes, optional

        Returns
        -------
        display : ErrorCurveDisplay
        """
        check_is_fitted(selector)
        if metric is None:
            metric = judged_by(selector) if selector.estimator is None else "score"
        if selector.cv_results_ is None or len(selector.cv_results_.n_features) < 2:
            raise ValueError(
                "Only one number of features was evaluated, so there is no error curve. Fit "
                'several features with n_features_to_select="auto".'
            )
        return cls(*cv_measure(selector, metric), selector.n_features_, metric).plot(ax)

    def _draw(self, ax: Any) -> None:
        from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter

        sizes, kept = self.n_features, self.n_selected
        low, high = self.error - self.standard_error, self.error + self.standard_error
        ax.fill_between(sizes, low, high, color=ACCENT, alpha=0.15, linewidth=0)
        mean, limit = "mean over folds", "one standard error from the best"
        (self.line_,) = ax.plot(sizes, self.error, "o-", color=ACCENT, markersize=4, label=mean)
        ax.axhline(self.limit, color=LIMIT, linestyle="--", linewidth=1.2, label=limit)
        ax.axvline(kept, color="black", linewidth=1.0, label=f"{kept} kept")
        if sizes[-1] > _WIDE:
            ax.set_xscale("log")
            shown = [size for size in _SIZES if sizes[0] <= size <= sizes[-1]]
            ax.set_xticks(shown, [str(size) for size in shown])
            ax.xaxis.set_minor_locator(NullLocator())
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if self.metric in ("error", "accuracy", "balanced_accuracy"):
            ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set(xlabel="features kept", ylabel=MEASURES[self.metric])
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.25)
        legend_under(ax)
