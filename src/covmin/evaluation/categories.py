"""Features that hold categories, for selectors and machines that take numbers alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covmin.data.tables import categorical_mask, encode_categories, is_frame

from .selectors import feature_order

__all__ = ["Categories", "order_of_features", "read_categories"]


@dataclass(frozen=True)
class Categories:
    """A table some of whose features are categories, as columns of numbers.

    Parameters
    ----------
    is_category : ndarray of bool of shape (n_features,)
    matrix : ndarray of shape (n_samples, n_columns)
        Numbers as they are, and an indicator for each level of a category.
    source : ndarray of int of shape (n_columns,)
        The feature that each column comes from.
    """

    is_category: np.ndarray
    matrix: np.ndarray
    source: np.ndarray

    def rows(self, rows: np.ndarray) -> Categories:
        """The same of some of the samples."""
        return replace(self, matrix=self.matrix[rows])

    def columns_of(self, features: np.ndarray) -> np.ndarray:
        """The columns of some of the features."""
        return self.matrix[:, np.isin(self.source, features)]

    def codes(self) -> np.ndarray:
        """One column for each feature: its numbers, or the numbers of its levels."""
        codes = np.empty((self.matrix.shape[0], self.is_category.size))
        for feature, is_category in enumerate(self.is_category):
            columns = self.matrix[:, self.source == feature]
            codes[:, feature] = columns.argmax(axis=1) if is_category else columns[:, 0]
        return codes


def read_categories(X: Any, categorical_features: Any) -> Categories | None:
    """The categories of a table; None where it has none.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    categorical_features : "from_dtype", array-like or None
        As for :class:`~covmin.CCMSelector`.

    Returns
    -------
    Categories or None

    Examples
    --------
    >>> from covmin.evaluation.categories import read_categories
    >>> categories = read_categories([[0.5, "b"], [1.5, "a"]], [1])
    >>> categories.codes().tolist()
    [[0.5, 1.0], [1.5, 0.0]]
    """
    mask = categorical_mask(X, list(X.columns) if is_frame(X) else None, categorical_features)
    if mask is None or not mask.any():
        return None
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object)
    return Categories(mask, *encode_categories(X, mask))


def order_of_features(
    selector: Any, X: np.ndarray, y: np.ndarray, categories: Categories | None
) -> np.ndarray:
    """Fit a selector, and say which features it puts first.

    A selector that knows categories (it has ``categorical_features``) is given them as such.
    Another ranks indicators of levels, and a category stands where its best level does.

    Parameters
    ----------
    selector : estimator
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    categories : Categories or None

    Returns
    -------
    order : ndarray of int of shape (n_features,)
    """
    if categories is None:
        return feature_order(selector.fit(X, y))
    if "categorical_features" in selector.get_params():
        selector.set_params(categorical_features=categories.is_category)
        return feature_order(selector.fit(X, y))
    order = categories.source[feature_order(selector.fit(categories.matrix, y))]
    _, first = np.unique(order, return_index=True)
    return order[np.sort(first)]
