"""Tables and pictures of the paper's experiments, written to a folder."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from covmin.runtime.files import replace_file

from .curves import summarise
from .frames import markdown_table
from .paper_real import HONEST_SETS, METHODS, PAPER_SETS
from .paper_synthetic import METHODS as SYNTHETIC_METHODS
from .paper_synthetic import VARIANTS
from .ranks import MedianRankResult

__all__ = ["accuracy_grid", "write_real", "write_synthetic"]

_FORMATS = ("png", "svg")
# The order of legends: ours, the paper's rivals, the others.
_SHOWN = (
    "ccm",
    "ccm-single",
    "mrmr",
    "bahsic",
    "mi",
    "pearson",
    "anova",
    "rfe",
    "hsic-lasso",
    "extra-trees",
)


def write_synthetic(result: MedianRankResult, output: Path, name: str = "synthetic") -> list[Path]:
    """Write the table (CSV and Markdown) and the two figures of the synthetic experiment.

    Parameters
    ----------
    result : MedianRankResult
    output : pathlib.Path
        Folder; tables go to its folder ``results``, pictures to ``figures``.
    name : str, default="synthetic"
        How file names begin.

    Returns
    -------
    paths : list of pathlib.Path
        What was written.
    """
    from covmin.plotting.curves import MedianRankDisplay

    summary = result.summary()
    written = _write_tables(summary, _synthetic_markdown(summary), output, name, 4)
    families = {
        name: [n for n in _SHOWN if n in SYNTHETIC_METHODS],
        f"{name}-variants": ["ccm-single", *VARIANTS],
    }
    for stem, names in families.items():
        rows = summary[summary["selector"].isin(names)]
        if not rows.empty:
            figure = MedianRankDisplay.from_results(rows, names).plot().figure_
            written += _save(figure, output / "figures", stem)
    return written


def write_real(frame: Any, output: Path, name: str = "real") -> list[Path]:
    """Write the table (CSV and Markdown) and the figures of the experiment on real data.

    Parameters
    ----------
    frame : pandas.DataFrame
        What :func:`~covmin.evaluation.paper_real.run_real` returns.
    output : pathlib.Path
        Folder; tables go to its folder ``results``, pictures to ``figures``.
    name : str, default="real"
        How file names begin.

    Returns
    -------
    paths : list of pathlib.Path
        What was written.
    """
    summary = summarise(frame, ["dataset", "protocol", "selector", "n_features"])
    written = _write_tables(summary, _real_markdown(summary), output, name, 4)
    for protocol in dict.fromkeys(summary["protocol"]):
        present = set(summary["dataset"])
        figure = accuracy_grid(summary, protocol, PAPER_SETS, selectors=_SHOWN)
        written += _save(figure, output / "figures", f"{name}-{protocol}")
        honest = [dataset for dataset in HONEST_SETS if dataset in present]
        if honest:
            panels = [p for dataset in honest for p in (dataset.split("-")[0], dataset)]
            panels = [panel for panel in panels if panel in present]
            figure = accuracy_grid(summary, protocol, panels, selectors=_SHOWN)
            written += _save(figure, output / "figures", f"{name}-{protocol}-leaks")
    return written


def _write_tables(summary: Any, markdown: str, output: Path, name: str, digits: int) -> list[Path]:
    folder = output / "results"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.csv", folder / f"{name}.md"]
    table = summary.to_csv(index=False, float_format=f"%.{digits}f", lineterminator="\n")
    for path, text in zip(paths, (table, markdown), strict=True):
        replace_file(path, text.encode())
    return paths


def _save(figure: Any, folder: Path, stem: str) -> list[Path]:
    from matplotlib import pyplot, rc_context

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{stem}.{suffix}" for suffix in _FORMATS]
    # Fixed ids and no date: the same results give the same file.
    with rc_context({"svg.hashsalt": "covmin", "svg.fonttype": "none"}):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            buffer = io.BytesIO()
            figure.savefig(buffer, format=path.suffix[1:], dpi=110, metadata=metadata)
            replace_file(path, buffer.getvalue())
    pyplot.close(figure)
    return paths


def _synthetic_markdown(summary: Any) -> str:
    parts = []
    for (task, protocol), rows in summary.groupby(["task", "protocol"], sort=False):
        wide = rows.pivot(index="selector", columns="n_samples", values="mean_rank")
        wide = wide.reindex(list(dict.fromkeys(rows["selector"]))).reset_index()
        parts.append(
            f"## {task} (protocol: {protocol}, mean of {rows['n_draws'].max()} draws, "
            f"optimal {rows['optimal'].iloc[0]:g}, failed fits {rows['n_failed'].sum()})\n\n"
            + markdown_table(wide, 2)
        )
    return "\n\n".join(parts) + "\n"


def _real_markdown(summary: Any) -> str:
    """Two tables for each protocol: all the features there may be, and few of them."""
    parts = []
    for protocol in dict.fromkeys(summary["protocol"]):
        rows = summary[summary["protocol"] == protocol]
        largest = rows.groupby("dataset")["n_features"].transform("max")
        for text, chosen in (
            ("at the largest number of features", rows[rows["n_features"] == largest]),
            ("at 10 features", rows[(rows["n_features"] == 10) & (largest == 100)]),
        ):
            if not chosen.empty:
                heading = f"## Accuracy {text} (protocol: {protocol})"
                parts.append(f"{heading}\n\n{markdown_table(wide_table(chosen))}")
    return "\n\n".join(parts) + "\n"


def wide_table(rows: Any, selectors: Iterable[str] = METHODS) -> Any:
    """A row for each data set, a column for each selector, means of the score in the cells."""
    wide = rows.pivot(index="dataset", columns="selector", values="mean_score")
    wide = wide[[name for name in selectors if name in wide.columns]]
    return wide.reindex(list(dict.fromkeys(rows["dataset"]))).reset_index()


def accuracy_grid(
    summary: Any,
    protocol: str,
    datasets: Sequence[str],
    *,
    n_columns: int = 4,
    selectors: Iterable[str] | None = None,
) -> Any:
    """A panel for each data set, as in the paper: four in a row, one legend.

    Parameters
    ----------
    summary : pandas.DataFrame
        Columns dataset, selector, protocol, n_features and mean_score.
    protocol : {"nested", "paper"}
        The one to show; named in the title.
    datasets : sequence of str
        Panels in order; one without results says so.
    n_columns : int, default=4
    selectors : iterable of str, optional
        Those to draw, in this order; by default all.

    Returns
    -------
    figure : matplotlib figure
    """
    from covmin.plotting.curves import (
        PROTOCOL_LABELS,
        AccuracyCurveDisplay,
        chosen_rows,
        legend_below,
        pyplot_module,
    )

    plt = pyplot_module()
    n_rows = -(-len(datasets) // n_columns)
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(3.2 * n_columns, 2.6 * n_rows + 1.0),
        squeeze=False,
        layout="constrained",
    )
    chosen = chosen_rows(summary[summary["protocol"] == protocol], selectors)
    for ax, name in zip(axes.flat, datasets, strict=False):
        rows = chosen[chosen["dataset"] == name]
        if rows.empty:
            ax.text(0.5, 0.5, "not at hand", ha="center", va="center", transform=ax.transAxes)
            ax.set(xticks=[], yticks=[])
        else:
            AccuracyCurveDisplay(rows).plot(ax, legend=False)
        ax.set(title=name, xlabel="", ylabel="")
    for ax in axes.flat[len(datasets) :]:
        ax.set_axis_off()
    for ax in axes[-1]:
        ax.set_xlabel("number of selected features")
    figure.supylabel("cross-validated accuracy")
    figure.suptitle(f"Kernel SVM on selected features, {PROTOCOL_LABELS[protocol]}")
    legend_below(figure, axes.flat, 10)
    return figure
