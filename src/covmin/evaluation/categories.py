"""Features that hold categories, for selectors and machines that take numbers alone."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from covmin.data.tables import categorical_mask, encode_categories, is_frame

from .selectors import feature_order


@dataclass(frozen=True)
class Categories:
    """A table some of whose features are categories, as columns of numbers."""

    is_category: np.ndarray  # (n_features,)
    # (n_samples, n_columns): numbers as they are, and an indicator for each level of a category.
    matrix: np.ndarray
    source: np.ndarray  # (n_columns,): the feature that each column comes from

    def rows(self, rows: np.ndarray) -> Self:
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
    """The categories of a table, named as for :class:`~covmin.CCMSelector`; None without any.

    >>> read_categories([[0.5, "b"], [1.5, "a"]], [1]).codes().tolist()
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
    """Fit a selector, and say which features it puts first: an order of all (n_features,).

    A selector that knows categories (it has ``categorical_features``) is given them as such.
    Another ranks indicators of levels, and a category stands where its best level does.
    """
    if categories is not None and "categorical_features" not in selector.get_params():
        order = categories.source[feature_order(selector.fit(categories.matrix, y))]
        return order[np.sort(np.unique(order, return_index=True)[1])]
    if categories is not None:
        selector.set_params(categorical_features=categories.is_category)
    return feature_order(selector.fit(X, y))
