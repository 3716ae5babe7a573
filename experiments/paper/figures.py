"""The figures of the paper's experiments, drawn of their results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle, product
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt

from .studies import BASELINES, PAPER_SETS

# Panels per row of a figure.
_PANELS = 4
# In legends, our selectors and the paper's competitors come first, then the other baselines.
_FIRST = ("ccm", "ccm-single", "mrmr", "bahsic", "mi")
_SHOWN = (*_FIRST, *(name for name in BASELINES if name not in _FIRST))
# Okabe and Ito's colours, safe for colour-blind readers.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#999999", "#8C6D1F")
_MARKERS = ("^", "v", "D", "P", "X", "*", "<", ">")
_PROTOCOLS = {
    "nested": "protocol: nested (ranked on training folds)",
    "paper": "protocol: paper (ranked on all samples)",
}


def styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Line styles, with CCM drawn in front."""
    found: dict[str, dict[str, Any]] = {}
    lines = cycle(product(("-", "--", ":"), _COLOURS))  # where colours repeat, lines differ
    for name, (line, colour), marker in zip(names, lines, cycle(_MARKERS), strict=False):
        found[name] = {"label": name, "linestyle": line, "color": colour, "marker": marker}
        found[name] |= {"linewidth": 1.3, "markersize": 4.5, "zorder": 2}
        if name == "ccm":
            found[name] |= {"color": "#D55E00", "marker": "o", "linewidth": 2.2, "zorder": 3}
    return found


def legend_below(figure: Any, axes: Iterable[Any], n_columns: int) -> Any:
    """Add one legend for all panels, below them."""
    entries = [zip(*ax.get_legend_handles_labels(), strict=True) for ax in axes]
    shown = {label: line for panel in entries for line, label in panel}
    place = {"loc": "outside lower center", "ncols": n_columns, "frameon": False}
    return figure.legend(shown.values(), shown.keys(), **place)


def draw_synthetic(summary: Any, path: Path) -> None:
    """Draw the selectors."""
    _save(rank_figure(chosen_rows(summary, _SHOWN)), path)


def chosen_rows(summary: Any, names: Iterable[str]) -> Any:
    """The rows of some selectors, in the given order."""
    order = {name: position for position, name in enumerate(names)}
    rows = summary[summary["selector"].isin(order)]
    return rows.sort_values("selector", key=lambda names: names.map(order), kind="stable")


def rank_figure(summary: Any) -> Any:
    """Median rank of the true features against the number of samples, one panel per task."""
    panels = list(summary.groupby("task", sort=False))
    size = (3.6 * len(panels) + 0.6, 3.9)
    figure = plt.figure(figsize=size, layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    looks = styles(summary["selector"].unique())
    for ax, (task, rows) in zip(axes, panels, strict=True):
        for name, line in rows.groupby("selector", sort=False):
            ax.plot(line["n_samples"], line["mean_rank"], **looks[name])
        best = rows["optimal"].iloc[0]
        ax.axhline(best, color="black", linestyle=":", linewidth=1.5, label="optimal")
        ax.set(title=task, xlabel="number of samples")
        for axis in (ax.xaxis, ax.yaxis):
            axis.get_major_locator().set_params(integer=True)
        ax.grid(alpha=0.25)
    axes[0].set_ylabel("median rank of true features")
    draws = int(summary["n_draws"].max())
    figure.suptitle(f"Protocol: median rank, mean of {draws} draws")
    legend_below(figure, axes, 6)
    return figure


def draw_real(summary: Any, path: Path) -> None:
    """Draw the sets of the protocol in the name ``NAME-PROTOCOL.png``."""
    _save(_accuracy_grid(summary, path.stem.rpartition("-")[2], PAPER_SETS), path)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _accuracy_grid(summary: Any, protocol: str, datasets: Sequence[str]) -> Any:
    """Draw one panel per data set, as in the paper; a set without results gets an empty panel."""
    n_rows = -(-len(datasets) // _PANELS)
    size = (3.2 * _PANELS, 2.6 * n_rows + 1.0)
    figure = plt.figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, _PANELS, squeeze=False)
    chosen = chosen_rows(summary[summary["protocol"] == protocol], _SHOWN)
    for ax, name in zip(axes.flat, datasets, strict=False):
        rows = chosen[chosen["dataset"] == name]
        if rows.empty:
            ax.text(0.5, 0.5, "not available", ha="center", va="center", transform=ax.transAxes)
            ax.set(xticks=[], yticks=[])
        else:
            looks = styles(rows["selector"].unique())
            for selector, line in rows.groupby("selector", sort=False):
                style = looks[selector] | {"markevery": max(1, len(line) // 10)}
                ax.plot(line["n_features"], line["mean_score"], **style)
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.grid(alpha=0.25)
        ax.set(title=name, xlabel="", ylabel="")
    for ax in axes.flat[len(datasets) :]:
        ax.set_axis_off()
    for ax in axes[-1]:
        ax.set_xlabel("number of selected features")
    figure.supylabel("cross-validated accuracy")
    figure.suptitle(f"Kernel SVM on selected features, {_PROTOCOLS[protocol]}")
    legend_below(figure, axes.flat, 10)
    return figure
