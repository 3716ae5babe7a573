"""Draw the interacting pairs of features as a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from .fitted import ACCENT, LEFT_OUT, Display, label_rows, names_of


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
    p_value : ndarray of shape (n_pairs,)
        p-values, corrected for the number of pairs.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    arcs_ : list of matplotlib patches

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
    p_value: np.ndarray

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
            found.p_value[of_set],
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
