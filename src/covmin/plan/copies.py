"""Rows that are copies of one another, and rows that happen to be equal."""

import numpy as np

from covmin.data.columns import DistinctRows, PreparedColumns

from .constants import CROSS_FIT_ROWS, FEW_VALUES


def without_copies(columns: PreparedColumns, seed: int) -> DistinctRows:
    """The rows in random order, copies of a row merged into one of their total weight.

    Equal rows are copies where a feature by itself tells most different rows apart; where all take
    few values, they are samples that happen to be equal.
    """
    rows = columns.distinct(seed)
    if rows.size == columns.p.size:
        return rows
    some = rows.first[:CROSS_FIT_ROWS]
    X = columns.X[some] if isinstance(columns.X, np.ndarray) else columns.X.sample(some)
    n_values = max((np.unique(x).size for x in X.T), default=0)
    if n_values <= max(FEW_VALUES, len(X) / 2):
        return columns.distinct(seed, merged=False)
    return rows
