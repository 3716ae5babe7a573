"""The table as a reader sees it: values and levels of its columns, classes, and rows to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from covmin.constants import MANY_ROWS, MEMORY_NUMBERS
from covmin.data import Table
from covmin.data.blocks.array import Blocks, SparseBlocks
from covmin.data.columns import Levels, read_as
from covmin.data.survival import martingale_residuals
from covmin.plotting.fitted import names_of
from covmin.selection.summary import level_text
from covmin.text import number, printable, shortened

MISSING = "(missing)"
# Rows to describe a feature.
_ROWS = 500
# Numbers are shown up to this size: sums of their squares do not overflow.
_LARGEST = 1e150


@dataclass(frozen=True)
class Column:
    """A column to show: numbers, or the codes of its levels."""

    values: np.ndarray  # (n_samples,); milliseconds since 1970 for dates, NaN for missing numbers
    missing: np.ndarray  # (n_samples,) bool
    levels: list[str] | None = None  # of a category; missing values are the last one
    is_date: bool = False

    @property
    def is_category(self) -> bool:
        """Whether the values are codes of levels."""
        return self.levels is not None

    def text(self, value: float) -> str:
        """Return a value as it is shown."""
        if self.levels is not None:
            return shortened(self.levels[int(value)], 24)
        return str(np.datetime64(int(value), "ms"))[:10] if self.is_date else number(value)


class View:
    """What the page shows of a table."""

    def __init__(self, selector: Any, table: Table, names: Sequence[str] | None = None) -> None:
        n, d = table.n_samples, table.layout.unit.size
        if d != selector.n_features_in_:
            text = f"X has {d} features, but the selector was fitted on {selector.n_features_in_}"
            raise ValueError(f"{text} features; pass the X it was fitted on.")
        self.table, self.n_samples = _sampled(table).in_memory(), n
        self.names = [name.strip() or name for name in names_of(selector, names)]
        self.task: str = selector.task_
        self.column = cache(self._column)
        # The first encoded column of each column that has any; for numbers, the only one.
        owners, first = np.unique(self.table.layout.source, return_index=True)
        self._first = dict(zip(owners.tolist(), first.tolist(), strict=True))

    def _column(self, number: int) -> Column:
        """Return a column with its values as passed."""
        X, kind = self.table.passed[0], str(self.table.kinds[number])
        dtype = list(X.dtypes)[number] if hasattr(X, "dtypes") else getattr(X, "dtype", "")
        if kind == "number" and not str(dtype).lower().startswith("bool"):
            values = _bounded(self.table.X[:, self._first[number]])
            return Column(values, np.isnan(values))
        column = self.table.input_column(number)
        if kind == "date":
            points = read_as("date", column, number).points
            if points is not None:
                missing = np.isnat(points)
                values = points.astype("M8[ms]").astype(np.int64).astype(np.float64)
                return Column(np.where(missing, np.nan, values), missing, is_date=True)
        return of_levels(Levels.of(column))

    @property
    def responses(self) -> np.ndarray:
        """The response as passed; events and times for survival times."""
        if self.table.response.times is not None:
            return self.table.response.times
        return np.asarray(self.table.passed[1])[self.table.row]

    @cached_property
    def y(self) -> np.ndarray:
        """Labels or numbers; the first output if there are several.

        For survival times, the martingale residuals: events minus expected events.
        """
        if self.task == "survival":
            event, time = self.responses.T
            return martingale_residuals(event, time, np.ones(time.size))
        y = self.responses if self.responses.ndim == 1 else self.responses[:, 0]
        return y if self.task == "classification" else _bounded(y)

    @cached_property
    def classes(self) -> tuple[list[str], np.ndarray]:
        """Labels, and the label number of each sample."""
        response = self.table.response
        if response.labels is None:  # several outputs
            shown = of_levels(Levels.of(self.y))
            return shown.levels or [], shown.values.astype(np.intp)
        labels = np.asarray(response.classes).tolist()
        return [printable(level_text(label)) for label in labels], response.labels

    @cached_property
    def rows(self) -> np.ndarray:
        """All rows, or a few hundred spread evenly over the values of the response."""
        n = self.table.n_samples
        if n <= _ROWS:
            return np.arange(n)
        shuffled = np.random.default_rng(0).permutation(n)
        codes = np.unique(self.y, return_inverse=True)[1]
        by_value = shuffled[np.argsort(codes[shuffled], kind="stable")]
        return np.sort(by_value[np.linspace(0, n - 1, _ROWS).astype(np.intp)])


def _sampled(table: Table) -> Table:
    """Return a sample of the rows of a large table that is sparse or was passed in blocks."""
    (n, d), X, most = table.X.shape, table.passed[0], MANY_ROWS
    if isinstance(table.X, SparseBlocks):
        most = min(most, max(_ROWS, MEMORY_NUMBERS // d))
    elif not (isinstance(X, Blocks | np.memmap) or hasattr(X, "__dask_graph__")):
        return table
    if n <= most:
        return table
    rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    return table.of_rows(rows)


def _bounded(values: np.ndarray) -> np.ndarray:
    return np.clip(values.astype(np.float64), -_LARGEST, _LARGEST)


def of_levels(levels: Levels) -> Column:
    """Return the codes of sorted levels; missing is the last one."""
    values = levels.values
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:  # mixed types
        order = sorted(range(len(values)), key=lambda k: str(values[k]))
    place = np.append(np.argsort(order), len(order)).astype(float)  # missing values have code -1
    missing = levels.codes < 0
    texts = [printable(level_text(values[k])) for k in order]
    return Column(place[levels.codes], missing, [*texts, *([MISSING] if missing.any() else [])])
