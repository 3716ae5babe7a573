"""Tables that are no mere numbers, for selectors and machines that take numbers alone."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from covmin.data.samples import Samples

from .selectors import feature_order


@dataclass(frozen=True)
class EncodedTable:
    """A table as this library's selectors take it, and the same as columns of numbers."""

    table: Any  # as it was passed
    reading: dict[str, Any]  # parameters that say how it is read
    # (n_samples, n_columns): numbers as they are, an indicator for each level of a category, and
    # one of what is missing; nan where it is.
    matrix: np.ndarray
    source: np.ndarray  # (n_columns,): the feature that each column comes from
    n_features: int

    def rows(self, rows: np.ndarray) -> Self:
        """The same of some of the samples."""
        return replace(self, table=_safe_indexing(self.table, rows), matrix=self.matrix[rows])

    def columns_of(self, features: np.ndarray) -> np.ndarray:
        """The columns of some of the features."""
        return self.matrix[:, np.isin(self.source, features)]

    def first_columns(self) -> np.ndarray:
        """One column for each feature, which stands for it."""
        columns = np.zeros((self.matrix.shape[0], self.n_features))
        features, first = np.unique(self.source, return_index=True)
        columns[:, features] = self.matrix[:, first]
        return columns


def encoded(samples: Samples, reader: Any) -> EncodedTable | None:
    """A table as a selector has read it; None where it is numbers alone, and none is missing."""
    matrix, source = np.asarray(samples.X, dtype=np.float64), np.asarray(samples.plan.source)
    n_features = samples.plan.unit.size
    if np.array_equal(source, np.arange(n_features)) and not np.isnan(matrix).any():
        return None
    table = samples.table[0]
    if not hasattr(table, "shape"):
        table = np.asarray(table, dtype=object)
    return EncodedTable(
        _safe_indexing(table, samples.row),
        {name: getattr(reader, name) for name in ("categorical_features", "column_types")},
        matrix,
        source,
        n_features,
    )


def filled(X: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Columns with the mean of those ``by`` in place of what is missing.

    >>> filled(np.array([[np.nan], [1.0]]), np.array([[2.0], [4.0], [np.nan]])).tolist()
    [[3.0], [1.0]]
    """
    missing = np.isnan(X)
    if not missing.any():
        return X
    there = ~np.isnan(by)
    mean = np.where(there, by, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(missing, mean, X)


def order_of_features(
    selector: Any, X: np.ndarray, y: np.ndarray, table: EncodedTable | None
) -> np.ndarray:
    """Fit a selector, and say which features it puts first: an order of all (n_features,).

    A selector that knows categories (it has ``categorical_features``) is given the table itself.
    Another ranks columns of numbers, gaps filled by their means, and a feature stands where its
    best column does.
    """
    if table is None:
        return feature_order(selector.fit(X, y))
    known = selector.get_params()
    if "categorical_features" in known:
        selector.set_params(**{name: how for name, how in table.reading.items() if name in known})
        return feature_order(selector.fit(table.table, y))
    matrix = filled(table.matrix, by=table.matrix)
    order = table.source[feature_order(selector.fit(matrix, y))]
    first = order[np.sort(np.unique(order, return_index=True)[1])]
    return np.concatenate([first, np.setdiff1d(np.arange(table.n_features), first)])
