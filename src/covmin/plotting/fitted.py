"""Figures of a fitted selector: leading features and interactions; what all figures share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from covmin.remarks import required
from covmin.selection.summary import feature_names
from covmin.text import printable, shortened

ACCENT = "#0a6c74"
LIMIT = "#b4532a"
LEFT_OUT = "#b9b4a7"
_NAME = 32  # characters of a name that a picture has room for


def names_of(selector: Any, given: Sequence[str] | None = None) -> list[str]:
    """Return printable feature names: those given, the selector's, or x0, x1 and so on."""
    names = feature_names(selector) if given is None else given
    if len(names) != selector.n_features_in_:
        text = f"{len(names)} feature names were given for {selector.n_features_in_} features."
        raise ValueError(text)
    return [printable(str(name)) for name in names]


def new_axes(width: float, height: float) -> Any:
    """Return the axes of a new figure, whose size is in inches."""
    pyplot = required("matplotlib.pyplot", "A figure", "plot")
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def label_rows(ax: Any, places: np.ndarray, names: Sequence[str], pad: float = 3.5) -> None:
    """Put names beside the rows of a figure, the first on top."""
    # A name may contain dollar signs without being a formula.
    ax.set_yticks(places, [shortened(name, _NAME) for name in names], parse_math=False)
    ax.tick_params(axis="y", length=0, pad=pad)
    ax.invert_yaxis()


def legend_under(ax: Any) -> None:
    """Place the legend under the axis label, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    under = ax.transAxes + ScaledTranslation(0.0, -0.5, ax.figure.dpi_scale_trans)  # inches
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": under}
    ax.legend(**place, ncols=3, frameon=False, fontsize="small", handlelength=1.5)


class Display:
    """A figure on one pair of axes; ``_draw`` draws it."""

    # The selectors, and the attributes by which they are recognised.
    _shows: ClassVar[tuple[str, tuple[str, ...]]] = "CCMSelector", ("path_",)

    @classmethod
    def _check(cls, selector: Any) -> None:
        """Raise an error unless a selector is fitted and of the kind that this figure shows."""
        check_is_fitted(selector)
        kind, attributes = cls._shows
        if not any(hasattr(selector, attribute) for attribute in attributes):
            given = type(selector).__name__
            raise TypeError(f"{cls.__name__} requires a fitted {kind}; got a {given}.")

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; created if not given.

        Returns
        -------
        self : Display
            With ``ax_``, ``figure_`` and ``bars_``, ``image_``, ``line_`` or ``arcs_``.
        """
        self.ax_ = new_axes(*self._size()) if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return 6.4, 3.8

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


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
            Fitted: a CCMSelector or, for a ranking, a StabilitySelector.
        n_features : int, optional
            Number of features to show; by default the selected ones and a few more.
        feature_names : sequence of str, optional
            Names of all features; by default the selector's, or x0, x1 and so on.
        ax : matplotlib axes, optional

        Returns
        -------
        display : Display
        """
        cls._check(selector)
        usual = min(max(selector.n_features_ + 5, 10), 30)
        shown = np.argsort(selector.ranking_)[: usual if n_features is None else n_features]
        names = names_of(selector, feature_names)
        return cls._of(selector, shown, [names[j] for j in shown]).plot(ax)

    @classmethod
    def _of(cls, selector: Any, shown: np.ndarray, names: list[str]) -> Self:
        """Create the display for some columns of a fitted selector, best first."""
        raise NotImplementedError

    def _size(self) -> tuple[float, float]:
        return 6.0, 1.0 + 0.27 * len(self.names)


@dataclass(eq=False, repr=False)
class RankingDisplay(FeatureDisplay):
    """Bars of the leading features, best on top; features not selected are pale.

    A :class:`~covmin.CCMSelector` gives what is lost without each selected feature, or the weights
    where that was not measured; a :class:`~covmin.StabilitySelector` the frequencies of selection
    and its threshold.

    Parameters
    ----------
    names : list of str
        Features, best first.
    values : ndarray of shape (n_shown,)
        What is lost without them, their weights, or frequencies.
    selected : ndarray of bool of shape (n_shown,)
        Whether each feature is selected.
    label : str, default="weight at the chosen number of features"
        Meaning of the values.
    limits : dict of str to float, default={}
        Values to mark by a line, with their names.

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
    values: np.ndarray
    selected: np.ndarray
    label: str = "weight at the chosen number of features"
    limits: dict[str, float] = field(default_factory=dict)
    _shows = "CCMSelector or StabilitySelector", ("path_", "frequencies_")

    @classmethod
    def _of(cls, selector: Any, shown: np.ndarray, names: list[str]) -> Self:
        selected = selector.support_[shown]
        if hasattr(selector, "path_"):
            lost = selector.lost_without_[shown]
            if np.isnan(lost).all():
                return cls(names, selector.weights_[shown], selected)
            label = "share of the variance of y that is lost without the feature"
            return cls(names, np.nan_to_num(lost), selected, label)
        label, threshold = "fraction of the fits that select the feature", selector.threshold_
        blind = selector.n_selected_ / selector.ranking_.max()  # of as many to choose from
        limits = {f"threshold {threshold:.2f}": threshold, "random selection": blind}
        return cls(names, selector.frequencies_[shown], selected, label, limits)

    def _draw(self, ax: Any) -> None:
        places, colours = np.arange(len(self.names)), np.where(self.selected, ACCENT, LEFT_OUT)
        self.bars_ = ax.barh(places, self.values, height=0.66, color=colours)
        label_rows(ax, places, self.names)
        for text, kept in zip(ax.get_yticklabels(), self.selected, strict=True):
            text.set_color("black" if kept else "0.45")
        ax.set_xlabel(self.label)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.grid(axis="x", alpha=0.25)
        ax.set_axisbelow(True)
        for (name, value), style in zip(self.limits.items(), ("--", ":"), strict=False):
            ax.axvline(value, color=LIMIT, linestyle=style, linewidth=1.2, label=name)
        if self.limits:
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

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import PathDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> PathDisplay.from_estimator(CCMSelector(3).fit(X, y)).sizes
    array([6, 4, 3, 2, 1])
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
        label_rows(ax, np.arange(n_shown) + 0.5, self.names)
        ax.set_xlabel("features kept at each stage")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        # A frame around the stage of the selected number of features.
        for stage in np.flatnonzero(self.sizes == self.n_selected)[:1]:
            line: dict[str, Any] = {"fill": False, "ec": "black", "lw": 1.5, "clip_on": False}
            ax.add_patch(Rectangle((float(stage), 0.0), 1, n_shown, **line))
        self.figure_.colorbar(self.image_, ax=ax, label="weight", aspect=30, fraction=0.05)


def network_order(pairs: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Order the features of sets (n_sets, size) so that linked features are neighbours.

    Connected sets of features come in the order of their first pair, and the features of a set by
    rank.

    >>> network_order(np.array([[4, 2], [0, 1], [2, 3]]), np.array([1, 2, 3, 4, 5]))
    array([2, 3, 4, 0, 1])
    """
    groups: list[set[int]] = []
    for pair in ({j for j in row if j >= 0} for row in np.asarray(pairs).tolist()):
        linked = [group for group in groups if group & pair]
        merged = pair.union(*linked)
        place = groups.index(linked[0]) if linked else len(groups)
        groups[place : place + 1] = [merged]
        groups = [group for group in groups if group is merged or not group & merged]
    order = [j for group in groups for j in sorted(group, key=lambda j: (ranking[j], j))]
    return np.array(order, dtype=np.int64)


@dataclass(eq=False, repr=False)
class InteractionDisplay(Display):
    """Interacting pairs of features, as arcs between their names.

    Parameters
    ----------
    names : list of str
        Features that are part of a pair, with linked ones next to each other.
    ranks : ndarray of shape (n_shown,)
        Their ranks, each drawn in a circle.
    selected : ndarray of bool of shape (n_shown,)
        Whether each feature is selected.
    pairs : ndarray of shape (n_pairs, 2)
        Positions in `names`.
    share : ndarray of shape (n_pairs,)
        Association of the product with the response, drawn as the width of an arc.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.plotting import InteractionDisplay
    >>> X, y = make_xor(200, random_state=0, return_X_y=True)
    >>> display = InteractionDisplay.from_estimator(CCMSelector(3).fit(X, y))
    >>> sorted(display.names), display.pairs.shape
    (['x0', 'x1', 'x2'], (3, 2))
    """

    names: list[str]
    ranks: np.ndarray
    selected: np.ndarray
    pairs: np.ndarray
    share: np.ndarray

    @classmethod
    def from_estimator(
        cls, selector: Any, *, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Create the display from the pairs of a fitted selector and draw it.

        Parameters
        ----------
        selector : CCMSelector
            Fitted.
        feature_names : sequence of str, optional
            Names of all features; by default the selector's, or x0, x1 and so on.
        ax : matplotlib axes, optional

        Returns
        -------
        display : InteractionDisplay
            A line of text if there are no interacting pairs.
        """
        cls._check(selector)
        found, names = selector.interactions_, names_of(selector, feature_names)
        order = network_order(found.features, selector.ranking_)
        place = {int(j): i for i, j in enumerate(order)}
        # A larger set is drawn as arcs between all of its features.
        sets = [[place[int(j)] for j in columns if j >= 0] for columns in found.features]
        pairs = [(pair, k) for k, one in enumerate(sets) for pair in combinations(one, 2)]
        of_set = [k for _, k in pairs]
        return cls(
            [names[j] for j in order],
            selector.ranking_[order],
            selector.support_[order],
            np.array([pair for pair, _ in pairs], dtype=np.int64).reshape(-1, 2),
            found.share[of_set],
        ).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 5.2, 0.9 + 0.34 * max(len(self.names), 2)

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        ax.spines[:].set_visible(False)
        ax.set_xticks([])
        self.arcs_: list[Any] = []
        if not self.names:
            ax.set_yticks([])
            ax.text(0.5, 0.5, "no interacting pairs", ha="center", transform=ax.transAxes)
            return
        furthest = int(np.abs(np.diff(self.pairs, axis=1)).max())
        for (a, b), share in zip(self.pairs.tolist(), self.share, strict=True):
            reach = 0.25 + 0.75 * abs(a - b) / furthest
            curve = Path([(0, a), (reach, a), (reach, b), (0, b)], [1, 4, 4, 4])
            style = {"fc": "none", "ec": ACCENT, "alpha": 0.55, "capstyle": "round"}
            self.arcs_.append(ax.add_patch(PathPatch(curve, lw=1.0 + 10.0 * share, **style)))
        places = np.arange(len(self.names))
        colours = np.where(self.selected, ACCENT, LEFT_OUT)
        ax.scatter(np.zeros(places.size), places, s=230, c=colours, zorder=3, clip_on=False)
        for place, rank in zip(places, self.ranks, strict=True):
            mark = {"ha": "center", "va": "center_baseline", "size": 8, "zorder": 4}
            ax.text(0, place, f"{rank}", color="white", **mark)
        ax.set(xlim=(-0.08, 1.0), ylim=(-0.5, len(self.names) - 0.5))
        label_rows(ax, places, self.names, pad=8)
        ax.set_xlabel("circles: rank\narc width: share of the pair")
