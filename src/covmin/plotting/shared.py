"""What the displays have in common."""

from collections.abc import Sequence
from typing import Any, Self

from covmin.data.checks import printable

ACCENT = "#0a6c74"
LIMIT = "#b4532a"
LEFT_OUT = "#b9b4a7"
# Characters of a name that a picture has room for.
NAME = 32


def pyplot_module() -> Any:
    """Matplotlib's pyplot, or an error that says how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('Pictures need matplotlib: pip install "covmin[plot]".') from error
    return pyplot


def names_of(selector: Any, given: Sequence[str] | None = None) -> list[str]:
    """Names of all features, fit to be shown: those given, the selector's, or x0, x1 and so on."""
    names = given if given is not None else getattr(selector, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(selector.n_features_in_)]
    if len(names) != selector.n_features_in_:
        raise ValueError(
            f"{len(names)} feature names were given for {selector.n_features_in_} features."
        )
    return [printable(str(name)) for name in names]


def legend_under(ax: Any) -> None:
    """A legend under the label of the axis, where it hides nothing and leaves room for a title."""
    from matplotlib.transforms import ScaledTranslation

    under = ax.transAxes + ScaledTranslation(0.0, -0.5, ax.figure.dpi_scale_trans)  # inches
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": under}
    ax.legend(**place, ncols=3, frameon=False, fontsize="small", handlelength=1.5)


class Display:
    """A picture on one pair of axes; `_draw` makes it."""

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Made where it is not given.

        Returns
        -------
        self : Display
            With ``ax_`` and ``figure_``.
        """
        self._draw(self._take_axes(ax))
        return self

    def _take_axes(self, ax: Any) -> Any:
        if ax is None:
            ax = pyplot_module().subplots(figsize=self._size(), layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _size(self) -> tuple[float, float]:
        """Width and height of a figure made for this picture, in inches."""
        return 6.4, 3.8

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError
