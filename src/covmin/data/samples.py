"""What a fit is given: checked, encoded, and ready to be prepared."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from covmin.core.arrays import row_tiles
from covmin.core.rows import add_up
from covmin.runtime.memory import check_memory

from .checks import listed
from .columns import (
    ColumnPlan,
    DistinctRows,
    PreparedColumns,
    check_finite,
    prepare_columns,
    value_range,
    weighted_samples,
)
from .encoding import Reading, summary
from .far_values import FAR_VALUES, orders_by_chance, rows_to_look_at, ruled_by_far_values
from .gaps import answered
from .ranks import Standardize, goes_by_rank
from .responses import (
    EncodedResponse,
    class_weights,
    encode_response,
    is_missing,
    ordered_levels,
    without_objects,
)
from .sources import ArraySource, SparseSource, is_source, rows_of
from .tables import read_table

# The warning of too few samples, as a pattern.
TOO_FEW = r"\d+ samples are too few to tell"


@dataclass(frozen=True)
class Samples:
    """What a fit is given, checked and encoded; samples of weight zero are gone."""

    X: Any  # ndarray or Source, (n_samples, n_encoded)
    response: EncodedResponse
    weight: np.ndarray  # (n_samples,)
    plan: ColumnPlan
    labels: np.ndarray | None  # of each unit, where there are groups
    table: tuple[Any, Any]  # X and y as they were passed
    row: np.ndarray  # (n_samples,), number of the row of that table behind each sample
    names: np.ndarray | None = None  # of the columns of the input, where it has any
    kinds: np.ndarray | None = None  # (n_inputs,): what each of these columns was read as
    readings: tuple[Reading, ...] = ()  # of those that are no plain numbers

    @property
    def n_samples(self) -> int:
        """Number of samples that count."""
        return int(self.X.shape[0])

    @property
    def column_labels(self) -> np.ndarray:
        """What to call each column of X: the name or the number of the column of the input."""
        return self.plan.source if self.names is None else self.names[self.plan.source]

    @property
    def columns_with_gaps(self) -> list[Any]:
        """What to call each column of the input in which values are missing."""
        return list(self.column_labels[self.plan.gaps].tolist())

    def missing_shares(self, p: np.ndarray) -> np.ndarray:
        """The weight of the samples in which each column of the input has no value."""
        shares = np.zeros(self.plan.unit.size)
        if self.plan.gaps.size:
            X, gaps = self.X, self.plan.gaps
            source = X if is_source(X) else ArraySource(X)
            shares[self.plan.source[gaps]] = source.reduce(_sums_block, add_up, p, p, gaps)[0]
        table = self.table[0]
        table = table if hasattr(table, "shape") else np.asarray(table, dtype=object)
        for j in np.flatnonzero(self.plan.categorical):
            column = _safe_indexing(table, j, axis=1)
            is_gap = column.isna() if hasattr(column, "isna") else list(map(is_missing, column))
            shares[j] = p @ np.asarray(is_gap)[self.row]
        return shares

    @property
    def n_left_out(self) -> int:
        """Units to choose from that have no column of X."""
        there = np.unique(self.plan.unit[self.plan.source])
        return int(np.setdiff1d(np.flatnonzero(~self.plan.given), there).size)

    def columns(self, standardize: Standardize) -> PreparedColumns:
        """The columns made ready for the criterion, to be read in blocks."""
        X = self.X if is_source(self.X) else ArraySource(self.X)
        weight, Y = self.weight, self.response.Y
        return prepare_columns(X, standardize, plan=self.plan, sample_weight=weight, Y=Y)

    def in_memory(self) -> Samples:
        """The same samples as arrays, if there is memory for them."""
        if not is_source(self.X):
            return self
        n, d = self.X.shape
        check_memory(
            n * d * self.X.dtype.itemsize,
            f"A copy of {n} rows and {d} columns",
            'Only random components read rows in blocks: use approximation="fourier" with any '
            "kernel but the polynomial one, without given features, on the CPU.",
        )
        X = self.X.take(np.arange(n))
        there = ~np.isnan(X) if self.plan.gaps.size else None
        check_finite(*value_range(X, there), self.X.names)  # an array has no names
        return replace(self, X=X)

    def distinct(self, rows: DistinctRows, most: int) -> Samples:
        """The samples that differ, each with the weight of its copies, in memory.

        A random sample of so many, where there are more. Sparse ones stay sparse.
        """
        first = rows.first[:most]
        labels = self.response.labels
        labels = None if labels is None else np.unique(labels[first], return_inverse=True)[1]
        response = replace(self.response, Y=self.response.Y[first], labels=labels)
        weight = rows.p[:most] * self.weight.sum()
        sparse = isinstance(self.X, SparseSource)
        X = self.X if sparse or first.size < self.n_samples else self.in_memory().X
        row = self.row[first]
        return replace(self, X=rows_of(X, first), response=response, weight=weight, row=row)


def _sums_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray]:
    return (p @ X,)


def read_samples(selector: Any, X: Any, y: Any, sample_weight: Any) -> Samples:
    """Check and encode what a selector, left as it is, is to be fitted on, by its parameters."""
    table = X, y
    reader = copy(selector)  # scikit-learn notes on it what the columns are called
    levels = ordered_levels(y)
    parameters = "categorical_features", "column_types", "groups", "given", "missing"
    X, y, sample_weight, row = answered(X, y, sample_weight)
    y = without_objects(y)
    read = read_table(reader, X, y, **{name: getattr(selector, name) for name in parameters})
    X, y = read.matrix, read.y
    row = np.arange(X.shape[0]) if row is None else row
    X, y, weight = weighted_samples(X, y, sample_weight)
    if weight.size < row.size:
        row = row[np.asarray(sample_weight) > 0.0]
    encode = partial(
        encode_response, y, selector.task, levels=levels, kernel=selector.response_kernel
    )
    response = encode(sample_weight=weight)
    if selector.class_weight is not None:
        weight = class_weights(response, selector.class_weight, weight)
        response = encode(sample_weight=weight)
    names = getattr(reader, "feature_names_in_", None)
    return Samples(
        X, response, weight, read.plan, read.labels, table, row, names, read.kinds, read.readings
    )


def check_columns(
    columns: PreparedColumns,
    X: Any,
    standardize: Standardize,
    labels: np.ndarray,
    n_left_out: int = 0,
) -> None:
    """Refuse data in which nothing varies; warn of columns that do not, or by far values alone.

    X is what the columns were prepared from, and the labels are what to call its columns. Units
    that were left out before do not vary either.
    """
    n_constant = columns.constant.size - n_left_out
    if columns.units.size == 0:
        raise ValueError(
            f"Every one of the {n_constant} feature(s) of X is constant or empty: "
            "there is nothing to select."
        )
    if n_constant:
        _warn(f"{n_constant} constant feature(s) carry no information and are ranked last.")
    if not standardize or goes_by_rank(standardize):
        return
    rows = rows_to_look_at(X.shape[0])
    drawn = X.take(rows) if is_source(X) else X[rows]
    if columns.gap_at is not None:
        drawn = _at_the_median(drawn)
    scale = np.full(drawn.shape[1], np.inf)  # a constant is as good as zero
    scale[columns.index] = columns.scale
    ruled = np.concatenate(
        [ruled_by_far_values(drawn[:, tile] / scale[tile]) for tile in row_tiles(drawn.T)]
    )
    if ruled.any():
        names = labels[ruled].tolist()
        _warn(
            f"{FAR_VALUES} make all others next to equal in {len(names)} column(s): "
            f'{listed(names)}. Use standardize="rank", which goes by the ranks of values, or see '
            "whether these are errors."
        )


def _at_the_median(X: np.ndarray) -> np.ndarray:
    """Values with those that are missing at the median of the others, where none is far."""
    middle = np.array([np.median(x[~np.isnan(x)]) if not np.isnan(x).all() else 0.0 for x in X.T])
    return np.where(np.isnan(X), middle, X)


def check_enough(samples: Samples, columns: PreparedColumns) -> None:
    """Warn of columns left out, and where there is next to nothing to learn from."""
    if out := [each for each in samples.readings if each.kind in ("identifier", "empty")]:
        _warn(f"{' '.join(summary(out))} Use column_types to have a column read otherwise.")
    response = samples.response
    by_chance = orders_by_chance(
        response.Y, columns.units.size, classes=response.task == "classification"
    )
    if by_chance >= 1.0:
        _warn(
            f"{samples.n_samples} samples are too few to tell {columns.units.size} features apart: "
            f"by chance alone about {by_chance:.0f} of them would put the samples in the order of "
            "y. The ranking says little."
        )
    if response.far_values:
        _warn(
            f"{FAR_VALUES} of y make all others next to equal. Pass its logarithm or its ranks "
            "(scipy.stats.rankdata) as y, or see whether these are errors."
        )


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=5)
