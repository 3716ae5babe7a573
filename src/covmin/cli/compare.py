"""``covmin compare``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from covmin.remarks import remark_of

from .columns import ColumnOptions, make_dataset
from .display import BARE, say, show_json, show_remarks
from .errors import UsageError, errors_explained, told, warnings_collected
from .files import FileOptions, read_file

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = 6


def run_compare(
    file: FileOptions,
    columns: ColumnOptions,
    *,
    methods: list[str] | None = None,
    sizes: Any = None,
    as_json: bool = False,
    quiet: bool = False,
    **how: Any,
) -> None:
    """Read the table, compare the methods, and print and write the results.

    ``how`` has further arguments of :func:`~covmin.evaluation.compare_selectors`.
    """
    from sklearn.model_selection import TimeSeriesSplit

    from covmin.evaluation import compare_selectors

    sizes = [sizes] if isinstance(sizes, int) else sizes
    if isinstance(sizes, str | float):
        raise UsageError(f"-m {sizes} is not a list of numbers.", "For example -m 1,2,5.")
    names = [name.strip() for text in methods or () for name in text.split(",") if name.strip()]
    dataset = make_dataset(read_file(file), columns)
    if dataset.time is not None:
        how["cv"] = TimeSeriesSplit(how["cv"])
    with errors_explained(), warnings_collected() as caught:
        result = compare_selectors(
            dataset.X,
            dataset.y,
            names or None,
            n_features=sizes,
            groups=dataset.groups,
            column_types=dataset.parameters.get("column_types", "auto"),
            progress=not quiet and sys.stderr.isatty(),
            **how,
        )
    said = dict.fromkeys(told(remark_of(each.message)) for each in caught)
    remarks = [*dataset.notes, *said]
    if as_json:
        show_json(
            {
                "data": file.data,
                "target": dataset.target,
                **dict(zip(("n_samples", "n_features"), dataset.X.shape, strict=True)),
                "protocol": "nested",
                "score": result.score_name,
                "scores": json.loads(result.summary().to_json(orient="records")),
                "unfinished": list(result.unfinished),
                "seed": how["random_state"],
                "notes": remarks,
            }
        )
        return
    say(f"{result.score_name} by number of features, ranked on the training folds", "bold")
    Console().print(_table(result.summary()))
    show_remarks("Note", remarks, "yellow")


def _table(summary: pd.DataFrame) -> Table:
    """Return the methods by mean score, with a few of the numbers of features."""
    wide = summary.pivot(index="selector", columns="n_features", values="mean_score")
    wide = wide.loc[wide.mean(axis=1).sort_values(ascending=False, kind="stable").index]
    seconds = summary.groupby("selector")["fit_seconds"].mean()
    sizes = [str(size) for size in wide.columns]
    picks = np.unique(np.linspace(0, len(sizes) - 1, _COLUMNS).round().astype(int))
    table = Table(**BARE)
    table.add_column("method")
    for title in ("mean", *(sizes[k] for k in picks), "seconds"):
        table.add_column(title, justify="right")
    for name, row in wide.iterrows():
        scores = row.to_numpy(dtype=float)
        shown = (row.mean(), *scores[picks])
        cells = ("failed" if np.isnan(score) else f"{score:.3f}" for score in shown)
        table.add_row(str(name), *cells, f"{seconds[name]:.2f}")
    return table
