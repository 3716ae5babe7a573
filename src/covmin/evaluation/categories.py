"""Features that are no numbers, for selectors and machines that take numbers alone."""

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from covmin.data.encoding import summary
from covmin.data.kinds import LEFT_OUT
from covmin.data.tables import read_encoded

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
        """One column for each feature: its numbers, its time, or the numbers of its levels."""
        codes = np.empty((self.matrix.shape[0], self.is_category.size))
        for feature, is_category in enumerate(self.is_category):
            columns = self.matrix[:, self.source == feature]
            if is_category:
                codes[:, feature] = columns.argmax(axis=1)
            else:  # of a date, the time; nothing of a column that was left out
                codes[:, feature] = columns[:, 0] if columns.shape[1] else 0.0
        return codes


def read_categories(
    X: Any, categorical_features: Any, column_types: Any = "auto"
) -> Categories | None:
    """A table as :class:`~covmin.CCMSelector` reads it; None where it holds numbers alone.

    >>> read_categories([[0.5, "b"], [1.5, "a"]], [1]).codes().tolist()
    [[0.5, 1.0], [1.5, 0.0]]
    """
    encoded = read_encoded(X, categorical_features, column_types)
    if encoded is None:
        return None
    if encoded.readings:
        out = [each for each in encoded.readings if each.kind in LEFT_OUT]
        for said in summary(out):
            warnings.warn(said, UserWarning, stacklevel=4)
    return Categories(encoded.kinds == "category", encoded.matrix, encoded.source)


def order_of_features(
    selector: Any, X: np.ndarray, y: np.ndarray, categories: Categories | None
) -> np.ndarray:
    """Fit a selector, and say which features it puts first: an order of all (n_features,).

    A selector that knows categories (it has ``categorical_features``) is given them as such.
    Another ranks indicators of levels, and a category stands where its best level does.
    """
    if categories is not None and "categorical_features" not in selector.get_params():
        order = categories.source[feature_order(selector.fit(categories.matrix, y))]
        order = order[np.sort(np.unique(order, return_index=True)[1])]
        left_out = np.setdiff1d(np.arange(categories.is_category.size), order)
        return np.concatenate([order, left_out])
    if categories is not None:
        selector.set_params(categorical_features=categories.is_category)
    return feature_order(selector.fit(X, y))
