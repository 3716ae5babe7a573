"""What a fit is given: checked, encoded, and ready to be prepared."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from covmin.core.arrays import row_tiles
from covmin.runtime.memory import check_memory

from .checks import listed
from .columns import (
    ColumnPlan,
    DistinctRows,
    PreparedColumns,
    check_finite,
    prepare_columns,
    weighted_samples,
)
from .far_values import FAR_VALUES, orders_by_chance, rows_to_look_at, ruled_by_far_values
from .ranks import Standardize, goes_by_rank
from .responses import EncodedResponse, class_weights, encode_response, ordered_levels
from .sources import ArraySource, SparseSource, is_source, rows_of
from .tables import read_table


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

    @property
    def n_samples(self) -> int:
        """Number of samples that count."""
        return int(self.X.shape[0])

    @property
    def column_labels(self) -> np.ndarray:
        """What to call each column of X: the name or the number of the column of the input."""
        return self.plan.source if self.names is None else self.names[self.plan.source]

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
        check_finite(X.min(axis=0), X.max(axis=0), self.X.names)  # an array has no names
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


def read_samples(selector: Any, X: Any, y: Any, sample_weight: Any) -> Samples:
    """Check and encode what a selector, left as it is, is to be fitted on, by its parameters."""
    table = X, y
    reader = copy(selector)  # scikit-learn notes on it what the columns are called
    levels = ordered_levels(y)
    options = {
        name: getattr(selector, name) for name in ("categorical_features", "groups", "given")
    }
    X, y, plan, labels = read_table(reader, X, y, **options)
    n_rows = X.shape[0]
    X, y, weight = weighted_samples(X, y, sample_weight)
    row = np.arange(n_rows)
    if weight.size < n_rows:
        row = np.flatnonzero(np.asarray(sample_weight) > 0.0)
    encode = partial(
        encode_response, y, selector.task, levels=levels, kernel=selector.response_kernel
    )
    response = encode(sample_weight=weight)
    if selector.class_weight is not None:
        weight = class_weights(response, selector.class_weight, weight)
        response = encode(sample_weight=weight)
    names = getattr(reader, "feature_names_in_", None)
    return Samples(X, response, weight, plan, labels, table, row, names)


def check_columns(
    columns: PreparedColumns, X: Any, standardize: Standardize, labels: np.ndarray
) -> None:
    """Refuse data in which nothing varies; warn of columns that do not, or by far values alone.

    X is what the columns were prepared from, and the labels are what to call its columns.
    """
    n_constant = columns.constant.size
    if columns.units.size == 0:
        raise ValueError(
            f"Every one of the {n_constant} feature(s) of X is constant: "
            "there is nothing to select."
        )
    if n_constant:
        _warn(f"{n_constant} constant feature(s) carry no information and are ranked last.")
    if not standardize or goes_by_rank(standardize):
        return
    rows = rows_to_look_at(X.shape[0])
    drawn = X.take(rows) if is_source(X) else X[rows]
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


def check_enough(samples: Samples, columns: PreparedColumns) -> None:
    """Warn where there is next to nothing to learn from."""
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
