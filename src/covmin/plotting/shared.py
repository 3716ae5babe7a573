"""Code that the displays share."""

from collections.abc import Sequence
from typing import Any, Self

from covmin.text import printable

ACCENT = "#0a6c74"
LIMIT = "#b4532a"
LEFT_OUT = "#b9b4a7"
# Characters of a name that a picture has room for.
NAME = 32


def pyplot_module() -> Any:
    """Return matplotlib's pyplot, or raise an error that says how to install it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('Figures require matplotlib: pip install "covmin[plot]".') from error
    return pyplot


def names_of(selector: Any, given: Sequence[str] | None = None) -> list[str]:
    """Return printable feature names: those given, the selector's, or x0, x1 and so on."""
    names = given if given is not None else getattr(selector, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(selector.n_features_in_)]
    if len(names) != selector.n_features_in_:
        raise ValueError(
            f"{len(names)} feature names were given for {selector.n_features_in_} features."
        )
    return [printable(str(name)) for name in names]


def legend_under(ax: Any) -> None:
    """Place the legend under the axis label, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    under = ax.transAxes + ScaledTranslation(0.0, -0.5, ax.figure.dpi_scale_trans)  # inches
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": under}
    ax.legend(**place, ncols=3, frameon=False, fontsize="small", handlelength=1.5)


class Display:
    """A figure on one pair of axes; ``_draw`` draws it."""

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; created if not given.

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
        """Width and height of a new figure, in inches."""
        return 6.4, 3.8

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError
