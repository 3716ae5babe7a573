"""Median rank against the number of samples; score against the number of features."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Self

from .shared import Display, pyplot_module

# Okabe and Ito's colours, safe for colour-blind readers; each has its own marker.
_STYLES: Mapping[str, tuple[str, str]] = {
    "ccm": ("#D55E00", "o"),
    "ccm-single": ("#000000", "s"),
    "mrmr": ("#0072B2", "^"),
    "bahsic": ("#009E73", "D"),
    "mi": ("#E69F00", "v"),
    "pearson": ("#56B4E9", "P"),
    "anova": ("#999999", "X"),
    "rfe": ("#CC79A7", "*"),
    "hsic-lasso": ("#7A5195", "<"),
    "extra-trees": ("#8C6D1F", ">"),
}
# Variants: one hue and line style per family, darker as its parameter grows.
_FAMILIES: Mapping[str, tuple[str, Sequence[str]]] = {
    "ccm-soft-": ("-", ("#9ECAE1", "#4292C6", "#08519C")),
    "ccm-free-": ("--", ("#FDAE6B", "#E6550D", "#8C2D04")),
    "ccm-fourier-": ("-.", ("#BDA3D0", "#9469B0", "#6B3A8C", "#3C1256")),
}
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
_MARKERS = ("^", "v", "D", "P", "X", "*", "<", ">", "o", "s")
_LABELS = {"ccm": "CCM (path)", "ccm-single": "CCM (single)"}
PROTOCOL_LABELS = {
    "nested": "protocol: nested (ranked on training folds)",
    "paper": "protocol: paper (ranked on all samples)",
}


def _styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return line styles: fixed for known selectors, with CCM drawn in front."""
    shades = {prefix: (dash, cycle(colours)) for prefix, (dash, colours) in _FAMILIES.items()}
    styles = {}
    for name, colour, marker in zip(names, cycle(_COLOURS), cycle(_MARKERS), strict=False):
        dash = "-"
        family = next((prefix for prefix in _FAMILIES if name.startswith(prefix)), None)
        if name in _STYLES:
            colour, marker = _STYLES[name]
        elif family is not None:
            dash, colour = shades[family][0], next(shades[family][1])
        label, line = _LABELS.get(name, name), {"marker": marker, "linestyle": dash}
        width, size, front = (2.2, 5.5, 3) if name in _LABELS else (1.3, 4.5, 2)
        weight = {"linewidth": width, "markersize": size, "zorder": front}
        styles[name] = {"label": label, "color": colour, **line, **weight}
    return styles


def legend_below(figure: Any, axes: Iterable[Any], n_columns: int) -> Any:
    """Add one legend for all panels, below them."""
    entries = [zip(*ax.get_legend_handles_labels(), strict=True) for ax in axes]
    shown = {label: line for panel in entries for line, label in panel}
    place = {"loc": "outside lower center", "ncols": n_columns, "frameon": False}
    return figure.legend(shown.values(), shown.keys(), **place)


@dataclass(eq=False, repr=False)
class _Curves(Display):
    """Curves of several selectors, from a summary with one row per point."""

    summary: Any

    @classmethod
    def from_results(
        cls, results: Any, selectors: Iterable[str] | None = None, **fields: Any
    ) -> Self:
        """Create the display from the result of a comparison, or from its summary.

        Parameters
        ----------
        results : MedianRankResult, CurveResult or pandas.DataFrame
        selectors : iterable of str, optional
            Selectors to draw, in this order; all by default.
        **fields
            Other parameters of the display, such as ``score_name``.

        Returns
        -------
        display : Display
        """
        summary = results.summary() if hasattr(results, "summary") else results
        if hasattr(results, "score_name"):
            fields.setdefault("score_name", results.score_name)
        return cls(summary if selectors is None else chosen_rows(summary, selectors), **fields)


class MedianRankDisplay(_Curves):
    """Median rank of the true features against the number of samples, one panel per task.

    Parameters
    ----------
    summary : pandas.DataFrame
        Has the columns task, selector, n_samples, mean_rank and optimal.

    Attributes
    ----------
    figure_, axes_, legend_ : matplotlib figure, axes of each task, and their common legend

    Examples
    --------
    >>> from covmin.datasets import make_xor
    >>> from covmin.evaluation import median_rank
    >>> from covmin.plotting import MedianRankDisplay
    >>> result = median_rank(make_xor, ["pearson"], n_samples=[20, 40], n_repeats=2)
    >>> MedianRankDisplay.from_results(result).plot().axes_[0].get_ylabel()
    'median rank of true features'
    """

    def plot(
        self, axes: Sequence[Any] | None = None, *, title: str | None = None, legend: bool = True
    ) -> Self:
        """Draw the panels.

        Parameters
        ----------
        axes : sequence of matplotlib axes, optional
            One per task; created if not given.
        title : str, optional
            Title above all panels; by default it states the protocol.
        legend : bool, default=True
            Whether to add a legend below the panels.

        Returns
        -------
        self : MedianRankDisplay
        """
        if axes is None:
            n = self.summary["task"].nunique()
            figure = pyplot_module().figure(figsize=(3.6 * n + 0.6, 3.9), layout="constrained")
            axes = figure.subplots(1, n, squeeze=False)[0]
        self.axes_ = list(axes)
        self.figure_ = self.axes_[0].figure
        styles = _styles(self.summary["selector"].unique())
        panels = self.summary.groupby("task", sort=False)
        for ax, (task, rows) in zip(self.axes_, panels, strict=True):
            for name, line in rows.groupby("selector", sort=False):
                ax.plot(line["n_samples"], line["mean_rank"], **styles[name])
            best = rows["optimal"].iloc[0]
            ax.axhline(best, color="black", linestyle=":", linewidth=1.5, label="optimal")
            ax.set(title=task, xlabel="number of samples")
            for axis in (ax.xaxis, ax.yaxis):
                axis.get_major_locator().set_params(integer=True)
            ax.grid(alpha=0.25)
        self.axes_[0].set_ylabel("median rank of true features")
        draws = int(self.summary["n_draws"].max())
        self.figure_.suptitle(title or f"Protocol: median rank, mean of {draws} draws")
        if legend:
            self.legend_ = legend_below(self.figure_, self.axes_, 6)
        return self


@dataclass(eq=False, repr=False)
class AccuracyCurveDisplay(_Curves):
    """Score of a kernel SVM against the number of selected features.

    Parameters
    ----------
    summary : pandas.DataFrame
        Has the columns selector, protocol, n_features and mean_score.
    score_name : str, default="accuracy"
        Label of the vertical axis.

    Attributes
    ----------
    ax_, figure_, lines_ : matplotlib axes, figure, and one line per selector and protocol

    Examples
    --------
    >>> from covmin.datasets import make_xor
    >>> from covmin.evaluation import compare_selectors
    >>> from covmin.plotting import AccuracyCurveDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> result = compare_selectors(X, y, ["ccm", "pearson"], n_features=[1, 3], random_state=0)
    >>> AccuracyCurveDisplay.from_results(result).plot().ax_.get_title()
    'protocol: nested (ranked on training folds)'
    """

    score_name: str = "accuracy"

    def plot(self, ax: Any = None, *, title: str | None = None, legend: bool = True) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; created if not given.
        title : str, optional
            Placed before the name of the protocol, which the title always contains.
        legend : bool, default=True
            Whether to add a legend beside the axes.

        Returns
        -------
        self : AccuracyCurveDisplay
        """
        ax = self._take_axes(ax)
        self.lines_: list[Any] = []
        protocols = self.summary["protocol"].unique()
        styles = _styles(self.summary["selector"].unique())
        for (protocol, name), line in self.summary.groupby(["protocol", "selector"], sort=False):
            style = styles[name] | {"markevery": max(1, len(line) // 10)}
            if len(protocols) > 1:
                style["label"] += f" ({protocol})"
                style["linestyle"] = "-" if protocol == protocols[0] else "--"
            self.lines_ += ax.plot(line["n_features"], line["mean_score"], **style)
        ax.set(xlabel="number of selected features", ylabel=f"cross-validated {self.score_name}")
        shown = " and ".join(PROTOCOL_LABELS.get(p, f"protocol: {p}") for p in protocols)
        ax.set_title(f"{title}\n{shown}" if title else shown, fontsize="medium")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.25)
        if legend:
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return self

    def _size(self) -> tuple[float, float]:
        return 7.2, 4.2


def chosen_rows(summary: Any, selectors: Iterable[str]) -> Any:
    """Return the rows of some selectors, in the given order."""
    order = {name: position for position, name in enumerate(selectors)}
    rows = summary[summary["selector"].isin(order)]
    return rows.sort_values("selector", key=lambda names: names.map(order), kind="stable")
