"""What a fit is given: checked, encoded, and ready to be prepared."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from covmin.runtime.memory import check_memory

from .columns import (
    ColumnPlan,
    DistinctRows,
    PreparedColumns,
    check_finite,
    prepare_columns,
    weighted_samples,
)
from .responses import EncodedResponse, class_weights, encode_response, ordered_levels
from .sources import ArraySource, is_source, rows_of
from .tables import read_table


@dataclass(frozen=True)
class Samples:
    """What a fit is given, checked and encoded; samples of weight zero are gone."""

    X: Any  # ndarray or Source, (n_samples, n_encoded)
    response: EncodedResponse
    weight: np.ndarray  # (n_samples,)
    plan: ColumnPlan
    labels: np.ndarray | None  # of each unit, where there are groups
    names: np.ndarray | None = None  # of the columns of the input, where it has any

    @property
    def n_samples(self) -> int:
        """Number of samples that count."""
        return int(self.X.shape[0])

    def columns(self, standardize: bool) -> PreparedColumns:
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

        A random sample of so many, where there are more.
        """
        first = rows.first[:most]
        labels = self.response.labels
        labels = None if labels is None else np.unique(labels[first], return_inverse=True)[1]
        response = replace(self.response, Y=self.response.Y[first], labels=labels)
        weight = rows.p[:most] * self.weight.sum()
        X = self.X if first.size < self.n_samples else self.in_memory().X
        return replace(self, X=rows_of(X, first), response=response, weight=weight)


def read_samples(selector: Any, X: Any, y: Any, sample_weight: Any) -> Samples:
    """Check and encode what a selector, left as it is, is to be fitted on, by its parameters."""
    reader = copy(selector)  # scikit-learn notes on it what the columns are called
    levels = ordered_levels(y)
    options = {
        name: getattr(selector, name) for name in ("categorical_features", "groups", "given")
    }
    X, y, plan, labels = read_table(reader, X, y, **options)
    X, y, weight = weighted_samples(X, y, sample_weight)
    encode = partial(
        encode_response, y, selector.task, levels=levels, kernel=selector.response_kernel
    )
    response = encode(sample_weight=weight)
    if selector.class_weight is not None:
        weight = class_weights(response, selector.class_weight, weight)
        response = encode(sample_weight=weight)
    names = getattr(reader, "feature_names_in_", None)
    return Samples(X, response, weight, plan, labels, names)


def check_columns(columns: PreparedColumns) -> None:
    """Refuse data in which nothing varies, and warn of columns that do not."""
    n_constant = columns.constant.size
    if columns.units.size == 0:
        raise ValueError(
            f"Every one of the {n_constant} feature(s) of X is constant: "
            "there is nothing to select."
        )
    if n_constant:
        warnings.warn(
            f"{n_constant} constant feature(s) carry no information and are ranked last.",
            UserWarning,
            stacklevel=4,
        )
