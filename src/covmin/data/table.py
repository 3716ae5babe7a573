"""Read what the user passes as X and y, once, as one :class:`Table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from covmin.core.arrays import row_tiles
from covmin.core.rows import add_up
from covmin.remarks import InputError, Remark, recorded, warn
from covmin.runtime.memory import check_memory
from covmin.text import listed

from .checks import missing_responses
from .columns import (
    DistinctRows,
    Layout,
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


@dataclass(frozen=True)
class TableOptions:
    """How to read a table: the parameters of :class:`covmin.CCMSelector` of the same names."""

    column_types: Any = "auto"  # or "strict", or a dict from columns to kinds
    feature_groups: Any = None
    given: Any = None
    task: str = "auto"
    class_weight: Any = None
    response_kernel: str = "linear"

    @classmethod
    def of(cls, estimator: Any, **changed: Any) -> TableOptions:
        """Return the parameters of an estimator that say how to read a table."""
        names = [option.name for option in fields(cls) if hasattr(estimator, option.name)]
        found = {name: getattr(estimator, name) for name in names}
        formulation = getattr(estimator, "formulation", None)
        found["response_kernel"] = getattr(formulation, "response_kernel", "linear")
        return cls(**found | changed)


@dataclass(frozen=True)
class Table:
    """The checked and encoded input of a fit, without samples of weight zero."""

    X: Any  # ndarray or Source, (n_samples, n_encoded)
    response: EncodedResponse
    weight: np.ndarray  # (n_samples,)
    layout: Layout
    labels: np.ndarray | None  # of each feature, if there are groups of columns
    passed: tuple[Any, Any]  # X and y as passed
    row: np.ndarray  # (n_samples,), row number of each sample in what was passed
    names: np.ndarray | None = None  # names of the input columns, if they have any
    kinds: np.ndarray | None = None  # (n_inputs,): how each input column was read
    readings: tuple[Reading, ...] = ()  # of the columns that are not plain numbers
    remarks: tuple[Remark, ...] = ()  # what was said while reading
    groups: np.ndarray | None = None  # (n_samples,), group of each row
    options: TableOptions = TableOptions()

    @property
    def n_samples(self) -> int:
        """Number of samples with positive weight."""
        return int(self.X.shape[0])

    @property
    def column_labels(self) -> np.ndarray:
        """Label of each column of X: the name or number of the input column."""
        return self.layout.source if self.names is None else self.names[self.layout.source]

    @property
    def columns_with_gaps(self) -> list[Any]:
        """Labels of the input columns with missing values."""
        return list(self.column_labels[self.layout.gaps].tolist())

    def missing_shares(self, p: np.ndarray) -> np.ndarray:
        """Return the weighted fraction of missing values in each input column."""
        shares = np.zeros(self.layout.unit.size)
        if self.layout.gaps.size:
            X, gaps = self.X, self.layout.gaps
            source = X if is_source(X) else ArraySource(X)
            shares[self.layout.source[gaps]] = source.reduce(_sums_block, add_up, p, p, gaps)[0]
        table = self.passed[0]
        table = table if hasattr(table, "shape") else np.asarray(table, dtype=object)
        for j in np.flatnonzero(self.layout.categorical):
            column = _safe_indexing(table, j, axis=1)
            is_gap = column.isna() if hasattr(column, "isna") else list(map(is_missing, column))
            shares[j] = p @ np.asarray(is_gap)[self.row]
        return shares

    @property
    def n_left_out(self) -> int:
        """Number of units to select from that have no column in X."""
        there = np.unique(self.layout.unit[self.layout.source])
        return int(np.setdiff1d(np.flatnonzero(~self.layout.given), there).size)

    def n_empty(self, columns: PreparedColumns) -> int:
        """Number of constant units with a column in X in which no value is present."""
        of_gaps = np.intersect1d(
            columns.constant, self.layout.unit[self.layout.source[self.layout.gaps]]
        )
        if of_gaps.size == 0:
            return 0
        is_empty = self.missing_shares(columns.p) > 1.0 - 1e-9
        return sum(bool(is_empty[self.layout.unit == unit].all()) for unit in of_gaps)

    def columns(self, standardize: Standardize) -> PreparedColumns:
        """Prepare the columns for the criterion, to be read in blocks."""
        X = self.X if is_source(self.X) else ArraySource(self.X)
        weight, Y = self.weight, self.response.Y
        return prepare_columns(X, standardize, layout=self.layout, sample_weight=weight, Y=Y)

    def in_memory(self) -> Table:
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
        there = ~np.isnan(X) if self.layout.gaps.size else None
        check_finite(*value_range(X, there), self.X.names)  # an array has no names
        return replace(self, X=X)

    def distinct(self, rows: DistinctRows, most: int) -> Table:
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


def read(
    X: Any, y: Any, options: TableOptions, sample_weight: Any = None, groups: Any = None
) -> Table:
    """Check and encode X and y.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_columns), or Table
        A table is returned unchanged.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    options : TableOptions
    sample_weight : array-like of shape (n_samples,), default=None
    groups : array-like of shape (n_samples,), default=None
        Group of each row.

    Returns
    -------
    table : Table
    """
    if isinstance(X, Table):
        return X
    passed = X, y
    with recorded() as remarks:
        levels = ordered_levels(y)
        y, task = read_times(y, options.task)
        groups = None if groups is None else _row_groups(groups, y)
        X, y, sample_weight, row = complete_samples(X, y, sample_weight)
        matrix = read_table(X, without_objects(y), options)
        row = np.arange(matrix.X.shape[0]) if row is None else row
        X, y, weight = weighted_samples(matrix.X, matrix.y, sample_weight)
        if weight.size < row.size:
            row = row[np.asarray(sample_weight) > 0.0]
        encode = partial(encode_response, y, task, levels=levels, kernel=options.response_kernel)
        response = encode(sample_weight=weight)
        if options.class_weight is not None:
            weight = class_weights(response, options.class_weight, weight)
            response = encode(sample_weight=weight)
    return Table(
        X,
        response,
        weight,
        matrix.layout,
        matrix.labels,
        passed,
        row,
        _text_names(matrix.names),
        matrix.kinds,
        matrix.readings,
        tuple(remarks),
        None if groups is None else groups[row],
        options,
    )


def _text_names(names: Sequence[Any] | None) -> np.ndarray | None:
    """Return the names of columns if they are text; scikit-learn knows no others."""
    are_text = {isinstance(name, str) for name in names or ()}
    if are_text == {True, False}:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but the "
            "columns of X are named by text and by other values; convert them to text with "
            "X.columns = X.columns.astype(str)."
        )
    return np.array(names, dtype=object) if are_text == {True} else None


def _row_groups(groups: Any, y: Any) -> np.ndarray:
    """Return one label for each row."""
    labels = np.asarray(groups)
    n = len(missing_responses(y))
    if labels.shape != (n,):
        raise InputError(
            f"groups must have one label for each of the {n} rows; its shape is {labels.shape}.",
            "groups-length",
            "groups",
        )
    if missing_responses(groups).any():
        raise InputError(
            "groups contains a missing label; give every row a label.", "groups-missing", "groups"
        )
    return labels


def check_columns(samples: Table, columns: PreparedColumns, standardize: Standardize) -> None:
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
        warn("empty-columns", f"{n_empty} feature(s) have no values and are ranked last.")
    if n_constant > n_empty:
        n_constant -= n_empty
        warn(
            "constant-columns",
            f"{n_constant} constant feature(s) carry no information and are ranked last.",
        )
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
        warn(
            "outliers",
            f"{OUTLIERS} make all other values nearly equal in {len(names)} column(s): "
            f'{listed(names)}. Use standardize="rank", which replaces values by their ranks, or '
            "check whether these values are errors.",
            names,
        )


def _at_the_median(X: np.ndarray) -> np.ndarray:
    """Replace missing values by the median of their column, so that they are not outliers."""
    middle = np.array([np.median(x[~np.isnan(x)]) if not np.isnan(x).all() else 0.0 for x in X.T])
    return np.where(np.isnan(X), middle, X)


def warn_of_excluded(samples: Table) -> None:
    """Warn about row identifiers and empty columns."""
    is_given = samples.layout.given[samples.layout.unit]
    labels = np.arange(is_given.size) if samples.names is None else samples.names
    given = set(labels[is_given].tolist())
    out = [each for each in samples.readings if each.kind in ("identifier", "empty")]
    if excluded := [each for each in out if each.column not in given]:
        warn(
            "excluded-columns",
            f"{' '.join(summary(excluded))} Use column_types to override this.",
            [each.column for each in excluded],
        )
    if kept := [each.column for each in out if each.column in given]:
        warn(
            "given-not-used",
            f"Kept because given, but not used in the fit, being row identifiers or empty: "
            f"{listed(kept)}. Use column_types to override this.",
            kept,
        )


def check_enough(samples: Table, columns: PreparedColumns) -> None:
    """Warn if there are too few samples to learn from, or outliers of y."""
    response = samples.response
    by_chance = orders_by_chance(
        response.Y, columns.units.size, classes=response.task == "classification"
    )
    if by_chance >= 1.0:
        warn(
            "too-few-samples",
            f"{samples.n_samples} samples are too few to distinguish {columns.units.size} "
            f"features: by chance alone, about {by_chance:.0f} of them would sort the samples by "
            "y. Do not trust the ranking.",
        )
    if response.has_outliers:
        warn(
            "outliers",
            f"{OUTLIERS} of y make all other values nearly equal. Pass its logarithm or its "
            "ranks (scipy.stats.rankdata) as y, or check whether these values are errors.",
        )
