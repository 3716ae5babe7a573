"""The input of a fit, checked and encoded."""

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
    prepare_columns,
    weighted_samples,
)
from .encoding import Reading, summary
from .gaps import complete_samples
from .moments import check_finite, value_range
from .outliers import OUTLIERS, dominated_by_outliers, orders_by_chance, rows_to_look_at
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
from .survival import read_times
from .tables import read_table

# A pattern of the warning about too few samples.
TOO_FEW = r"\d+ samples are too few"
# The warning about constant features, after their number.
CONSTANT_FEATURES = "constant feature(s) carry no information and are ranked last."


@dataclass(frozen=True)
class Samples:
    """The checked and encoded input of a fit, without samples of weight zero."""

    X: Any  # ndarray or Source, (n_samples, n_encoded)
    response: EncodedResponse
    weight: np.ndarray  # (n_samples,)
    plan: ColumnPlan
    labels: np.ndarray | None  # of each unit, if there are groups
    table: tuple[Any, Any]  # X and y as passed
    row: np.ndarray  # (n_samples,), row number of each sample in that table
    names: np.ndarray | None = None  # names of the input columns, if they have any
    kinds: np.ndarray | None = None  # (n_inputs,): how each input column was read
    readings: tuple[Reading, ...] = ()  # of the columns that are not plain numbers

    @property
    def n_samples(self) -> int:
        """Number of samples with positive weight."""
        return int(self.X.shape[0])

    @property
    def column_labels(self) -> np.ndarray:
        """Label of each column of X: the name or number of the input column."""
        return self.plan.source if self.names is None else self.names[self.plan.source]

    @property
    def columns_with_gaps(self) -> list[Any]:
        """Labels of the input columns with missing values."""
        return list(self.column_labels[self.plan.gaps].tolist())

    def missing_shares(self, p: np.ndarray) -> np.ndarray:
        """Return the weighted fraction of missing values in each input column."""
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
        """Number of units to select from that have no column in X."""
        there = np.unique(self.plan.unit[self.plan.source])
        return int(np.setdiff1d(np.flatnonzero(~self.plan.given), there).size)

    def n_empty(self, columns: PreparedColumns) -> int:
        """Number of constant units with a column in X in which no value is present."""
        of_gaps = np.intersect1d(columns.constant, self.plan.unit[self.plan.source[self.plan.gaps]])
        if of_gaps.size == 0:
            return 0
        is_empty = self.missing_shares(columns.p) > 1.0 - 1e-9
        return sum(bool(is_empty[self.plan.unit == unit].all()) for unit in of_gaps)

    def columns(self, standardize: Standardize) -> PreparedColumns:
        """Prepare the columns for the criterion, to be read in blocks."""
        X = self.X if is_source(self.X) else ArraySource(self.X)
        weight, Y = self.weight, self.response.Y
        return prepare_columns(X, standardize, plan=self.plan, sample_weight=weight, Y=Y)

    def in_memory(self) -> Samples:
        """Return the same samples as arrays, if they fit in memory."""
        if not is_source(self.X):
            return self
        n, d = self.X.shape
        check_memory(
            n * d * self.X.dtype.itemsize,
            f"A copy of {n} rows and {d} columns",
            'Only random Fourier features read rows in blocks: use approximation="fourier" with '
            "any kernel except the polynomial one, without given features, on the CPU.",
        )
        X = self.X.take(np.arange(n))
        there = ~np.isnan(X) if self.plan.gaps.size else None
        check_finite(*value_range(X, there), self.X.names)  # an array has no names
        return replace(self, X=X)

    def distinct(self, rows: DistinctRows, most: int) -> Samples:
        """Return the distinct samples in memory, each with the weight of its duplicates.

        At most ``most`` samples are drawn at random. Sparse samples stay sparse.
        """
        first = rows.first[:most]
        response = self.response.of_rows(first)
        if response.labels is not None:
            response = replace(response, labels=np.unique(response.labels, return_inverse=True)[1])
        weight = rows.p[:most] * self.weight.sum()
        sparse = isinstance(self.X, SparseSource)
        X = self.X if sparse or first.size < self.n_samples else self.in_memory().X
        row = self.row[first]
        return replace(self, X=rows_of(X, first), response=response, weight=weight, row=row)


def _sums_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray]:
    return (p @ X,)


def read_samples(selector: Any, X: Any, y: Any, sample_weight: Any) -> Samples:
    """Check and encode the input of a fit by the parameters of ``selector``, left unchanged."""
    table = X, y
    reader = copy(selector)  # scikit-learn sets the feature names on it
    levels = ordered_levels(y)
    y, task = read_times(y, selector.task)
    parameters = "categorical_features", "column_types", "feature_groups", "given", "missing"
    X, y, sample_weight, row = complete_samples(X, y, sample_weight)
    y = without_objects(y)
    read = read_table(reader, X, y, **{name: getattr(selector, name) for name in parameters})
    X, y = read.matrix, read.y
    row = np.arange(X.shape[0]) if row is None else row
    X, y, weight = weighted_samples(X, y, sample_weight)
    if weight.size < row.size:
        row = row[np.asarray(sample_weight) > 0.0]
    encode = partial(encode_response, y, task, levels=levels, kernel=selector.response_kernel)
    response = encode(sample_weight=weight)
    if selector.class_weight is not None:
        weight = class_weights(response, selector.class_weight, weight)
        response = encode(sample_weight=weight)
    names = getattr(reader, "feature_names_in_", None)
    return Samples(
        X, response, weight, read.plan, read.labels, table, row, names, read.kinds, read.readings
    )


def check_columns(samples: Samples, columns: PreparedColumns, standardize: Standardize) -> None:
    """Raise an error if no column varies; warn about empty and constant columns and outliers.

    Units that were excluded when the table was read, or that have no values, do not count as
    constant.
    """
    X, n_empty = samples.X, samples.n_empty(columns)
    n_constant = columns.constant.size - samples.n_left_out
    if columns.units.size == 0:
        raise ValueError(
            f"All {n_constant} feature(s) of X are constant or empty: there is nothing to select."
        )
    if n_empty:
        _warn(f"{n_empty} feature(s) have no values and are ranked last.")
    if n_constant > n_empty:
        n_constant -= n_empty
        _warn(f"{n_constant} {CONSTANT_FEATURES}")
    if not standardize or goes_by_rank(standardize):
        return
    rows = rows_to_look_at(X.shape[0])
    drawn = X.take(rows) if is_source(X) else X[rows]
    if columns.gap_at is not None:
        drawn = _at_the_median(drawn)
    scale = np.full(drawn.shape[1], np.inf)  # a constant column counts as zero
    scale[columns.index] = columns.scale
    ruled = np.concatenate(
        [dominated_by_outliers(drawn[:, tile] / scale[tile]) for tile in row_tiles(drawn.T)]
    )
    if ruled.any():
        names = samples.column_labels[ruled].tolist()
        _warn(
            f"{OUTLIERS} make all other values nearly equal in {len(names)} column(s): "
            f'{listed(names)}. Use standardize="rank", which replaces values by their ranks, or '
            "check whether these values are errors."
        )


def _at_the_median(X: np.ndarray) -> np.ndarray:
    """Replace missing values by the median of their column, so that they are not outliers."""
    middle = np.array([np.median(x[~np.isnan(x)]) if not np.isnan(x).all() else 0.0 for x in X.T])
    return np.where(np.isnan(X), middle, X)


def warn_of_excluded(samples: Samples) -> None:
    """Warn about row identifiers and empty columns."""
    is_given = samples.plan.given[samples.plan.unit]
    labels = np.arange(is_given.size) if samples.names is None else samples.names
    given = set(labels[is_given].tolist())
    out = [each for each in samples.readings if each.kind in ("identifier", "empty")]
    if excluded := [each for each in out if each.column not in given]:
        _warn(f"{' '.join(summary(excluded))} Use column_types to override this.")
    if kept := [each.column for each in out if each.column in given]:
        _warn(
            f"Kept because given, but not used in the fit, being row identifiers or empty: "
            f"{listed(kept)}. Use column_types to override this."
        )


def check_enough(samples: Samples, columns: PreparedColumns) -> None:
    """Warn if there are too few samples to learn from, or outliers of y."""
    response = samples.response
    by_chance = orders_by_chance(
        response.Y, columns.units.size, classes=response.task == "classification"
    )
    if by_chance >= 1.0:
        _warn(
            f"{samples.n_samples} samples are too few to distinguish {columns.units.size} "
            f"features: by chance alone, about {by_chance:.0f} of them would sort the samples by "
            "y. Do not trust the ranking."
        )
    if response.has_outliers:
        _warn(
            f"{OUTLIERS} of y make all other values nearly equal. Pass its logarithm or its "
            "ranks (scipy.stats.rankdata) as y, or check whether these values are errors."
        )


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=5)
