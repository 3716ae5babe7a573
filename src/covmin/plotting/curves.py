"""Median rank against the number of samples; score against the number of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

__all__ = ["AccuracyCurveDisplay", "MedianRankDisplay"]

# Colours that the colour-blind can tell apart (Okabe and Ito), each with a marker of its own.
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
# Variants: a hue and a dash for each family, lighter to darker as its parameter grows.
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
    """Lines of selectors: always the same for known ones, CCM in front of the others."""
    members = dict.fromkeys(_FAMILIES, 0)
    styles = {}
    for position, name in enumerate(names):
        marker = _MARKERS[position % len(_MARKERS)]
        colour, dash = _COLOURS[position % len(_COLOURS)], "-"
        family = next((prefix for prefix in _FAMILIES if name.startswith(prefix)), None)
        if name in _STYLES:
            colour, marker = _STYLES[name]
        elif family is not None:
            dash, shades = _FAMILIES[family]
            colour = shades[members[family] % len(shades)]
            members[family] += 1
        own = name in _LABELS
        styles[name] = {
            "color": colour,
            "marker": marker,
            "linestyle": dash,
            "linewidth": 2.2 if own else 1.3,
            "markersize": 5.5 if own else 4.5,
            "zorder": 3 if own else 2,
            "label": _LABELS.get(name, name),
        }
    return styles


def pyplot_module() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('Pictures need matplotlib: pip install "covmin[plot]".') from error
    return pyplot


def legend_below(figure: Any, axes: Iterable[Any], n_columns: int) -> Any:
    """One legend for all panels, below them."""
    entries: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        entries.update(zip(labels, handles, strict=True))
    return figure.legend(
        entries.values(), entries.keys(), loc="outside lower center", ncols=n_columns, frameon=False
    )


class MedianRankDisplay:
    """Median rank of the true features against the number of samples, a panel for each task.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns task, selector, n_samples, mean_rank and optimal.

    Attributes
    ----------
    figure_ : matplotlib figure
    axes_ : list of matplotlib axes
        One for each task.
    legend_ : matplotlib legend
        The one legend of all panels.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from covmin.datasets import make_xor
    >>> from covmin.evaluation import median_rank
    >>> from covmin.plotting.curves import MedianRankDisplay
    >>> result = median_rank(make_xor, ["pearson"], n_samples=[20, 40], n_repeats=2)
    >>> display = MedianRankDisplay.from_results(result).plot()
    >>> display.axes_[0].get_ylabel()
    'median rank of true features'
    """

    def __init__(self, summary: Any) -> None:
        self.summary = summary

    @classmethod
    def from_results(cls, results: Any, selectors: Iterable[str] | None = None) -> Self:
        """Take what :func:`covmin.evaluation.median_rank` returns, or its summary.

        Parameters
        ----------
        results : MedianRankResult or pandas.DataFrame
        selectors : iterable of str, optional
            Those to draw, in this order; by default all.

        Returns
        -------
        display : MedianRankDisplay
        """
        summary = results.summary() if hasattr(results, "summary") else results
        return cls(chosen_rows(summary, selectors))

    def plot(
        self, axes: Sequence[Any] | None = None, *, title: str | None = None, legend: bool = True
    ) -> Self:
        """Draw the panels.

        Parameters
        ----------
        axes : sequence of matplotlib axes, optional
            One for each task; made where they are not given.
        title : str, optional
            Title above all panels; says the protocol by default.
        legend : bool, default=True
            Whether to put a legend below the panels.

        Returns
        -------
        self : MedianRankDisplay
        """
        tasks = list(dict.fromkeys(self.summary["task"]))
        if axes is None:
            size = (3.6 * len(tasks) + 0.6, 3.9)
            _, axes = pyplot_module().subplots(
                1, len(tasks), figsize=size, squeeze=False, layout="constrained"
            )
            axes = list(axes[0])
        self.axes_ = list(axes)
        self.figure_ = self.axes_[0].figure
        for ax, task in zip(self.axes_, tasks, strict=True):
            self._panel(ax, self.summary[self.summary["task"] == task], task)
        self.axes_[0].set_ylabel("median rank of true features")
        draws = int(self.summary["n_draws"].max())
        self.figure_.suptitle(title or f"Protocol: median rank, mean of {draws} draws")
        if legend:
            self.legend_ = legend_below(self.figure_, self.axes_, 6)
        return self

    def _panel(self, ax: Any, rows: Any, task: str) -> None:
        styles = _styles(dict.fromkeys(rows["selector"]))
        for name, line in rows.groupby("selector", sort=False):
            ax.plot(line["n_samples"], line["mean_rank"], **styles[name])
        ax.axhline(
            rows["optimal"].iloc[0], color="black", linestyle=":", linewidth=1.5, label="optimal"
        )
        ax.set(title=task, xlabel="number of samples")
        ax.grid(alpha=0.25)


class AccuracyCurveDisplay:
    """Score of a kernel machine against the number of selected features.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns selector, protocol, n_features and mean_score.
    score_name : str, default="accuracy"
        Label of the vertical axis.

    Attributes
    ----------
    figure_ : matplotlib figure
    ax_ : matplotlib axes
    lines_ : list of matplotlib lines
        One for each selector and protocol.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from covmin.datasets import make_xor
    >>> from covmin.evaluation import compare_selectors
    >>> from covmin.plotting.curves import AccuracyCurveDisplay
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> result = compare_selectors(X, y, ["ccm", "pearson"], n_features=[1, 3], random_state=0)
    >>> display = AccuracyCurveDisplay.from_results(result).plot()
    >>> display.ax_.get_title()
    'protocol: nested (ranked on training folds)'
    """

    def __init__(self, summary: Any, score_name: str = "accuracy") -> None:
        self.summary = summary
        self.score_name = score_name

    @classmethod
    def from_results(
        cls, results: Any, selectors: Iterable[str] | None = None, score_name: str | None = None
    ) -> Self:
        """Take what :func:`covmin.evaluation.compare_selectors` returns, or its summary.

        Parameters
        ----------
        results : CurveResult or pandas.DataFrame
        selectors : iterable of str, optional
            Those to draw, in this order; by default all.
        score_name : str, optional
            Label of the vertical axis.

        Returns
        -------
        display : AccuracyCurveDisplay
        """
        summary = results.summary() if hasattr(results, "summary") else results
        name = score_name or str(getattr(results, "score_name", "accuracy"))
        return cls(chosen_rows(summary, selectors), name)

    def plot(self, ax: Any = None, *, title: str | None = None, legend: bool = True) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Made where it is not given.
        title : str, optional
            Put before the name of the protocol, which the title always has.
        legend : bool, default=True
            Whether to put a legend beside the axes.

        Returns
        -------
        self : AccuracyCurveDisplay
        """
        if ax is None:
            _, ax = pyplot_module().subplots(figsize=(7.2, 4.2), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_: list[Any] = []
        protocols = list(dict.fromkeys(self.summary["protocol"]))
        for protocol in protocols:
            self._draw(protocol, solid=protocol == protocols[0], several=len(protocols) > 1)
        ax.set(xlabel="number of selected features", ylabel=f"cross-validated {self.score_name}")
        shown = " and ".join(PROTOCOL_LABELS.get(p, f"protocol: {p}") for p in protocols)
        ax.set_title(f"{title}\n{shown}" if title else shown, fontsize="medium")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.25)
        if legend:
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return self

    def _draw(self, protocol: str, *, solid: bool, several: bool) -> None:
        rows = self.summary[self.summary["protocol"] == protocol]
        styles = _styles(dict.fromkeys(rows["selector"]))
        for name, line in rows.groupby("selector", sort=False):
            style = styles[name]
            if several:
                style["label"] += f" ({protocol})"
                style["linestyle"] = "-" if solid else "--"
            style["markevery"] = max(1, len(line) // 10)
            self.lines_ += self.ax_.plot(line["n_features"], line["mean_score"], **style)


def chosen_rows(summary: Any, selectors: Iterable[str] | None) -> Any:
    """Rows of some selectors, in the order asked for."""
    if selectors is None:
        return summary
    order = {name: position for position, name in enumerate(selectors)}
    rows = summary[summary["selector"].isin(order)]
    return rows.sort_values("selector", key=lambda names: names.map(order), kind="stable")
