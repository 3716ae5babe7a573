"""Tables with categories or missing values, for selectors and models that need plain numbers."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from covmin.data import Table

from .selectors import feature_order


@dataclass(frozen=True)
class ComparedTable:
    """A table as CCMSelector accepts it, together with its numeric encoding."""

    table: Any  # as the user passed it
    reading: dict[str, Any]  # parameters that say how to read it
    # (n_samples, n_columns): numbers unchanged, one indicator per level of a category, and one
    # indicator of missingness; NaN where a number is missing.
    matrix: np.ndarray
    source: np.ndarray  # (n_columns,): the feature that each column comes from
    n_features: int

    def rows(self, rows: np.ndarray) -> Self:
        """Return the table restricted to some samples."""
        return replace(self, table=_safe_indexing(self.table, rows), matrix=self.matrix[rows])

    def columns_of(self, features: np.ndarray) -> np.ndarray:
        """Return the encoded columns of some features."""
        return self.matrix[:, np.isin(self.source, features)]

    def first_columns(self) -> np.ndarray:
        """Return one encoded column per feature."""
        columns = np.zeros((self.matrix.shape[0], self.n_features))
        features, first = np.unique(self.source, return_index=True)
        columns[:, features] = self.matrix[:, first]
        return columns


def encoded(samples: Table) -> ComparedTable | None:
    """Return the table as a selector reads it; None if it has only numbers and none missing."""
    matrix, source = np.asarray(samples.X, dtype=np.float64), np.asarray(samples.layout.source)
    n_features = samples.layout.unit.size
    if np.array_equal(source, np.arange(n_features)) and not np.isnan(matrix).any():
        return None
    table = samples.passed[0]
    if not hasattr(table, "shape"):
        table = np.asarray(table, dtype=object)
    return ComparedTable(
        _safe_indexing(table, samples.row),
        {name: getattr(samples.options, name) for name in ("categorical_features", "column_types")},
        matrix,
        source,
        n_features,
    )


def filled(X: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Replace missing values in X by the column means of ``by``.

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
    selector: Any, X: np.ndarray, y: np.ndarray, table: ComparedTable | None
) -> np.ndarray:
    """Fit a selector and return all features (n_features,) from best to worst.

    A selector that has a parameter ``categorical_features`` receives the table itself. Any other
    ranks the encoded columns, with missing values replaced by the column means, and a feature
    takes the rank of its best column.
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
