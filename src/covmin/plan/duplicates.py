"""Distinguish duplicates of a row from rows that happen to be equal."""

import numpy as np

from covmin.data.columns import DistinctRows, PreparedColumns

from .constants import CROSS_FIT_ROWS, FEW_VALUES


def without_duplicates(columns: PreparedColumns, seed: int) -> DistinctRows:
    """Return the rows in random order, with duplicates merged into one row of their total weight.

    Equal rows count as duplicates if some single feature distinguishes most rows. If all features
    have few values, each in many rows, equal rows are separate samples that happen to be equal.
    """
    rows = columns.distinct(seed)
    if rows.size == columns.p.size:
        return rows
    some = rows.first[:CROSS_FIT_ROWS]
    X = columns.X[some] if isinstance(columns.X, np.ndarray) else columns.X.sample(some)
    n_values = max((np.unique(x).size for x in X.T), default=0)
    few = n_values <= min(FEW_VALUES, columns.p.size / FEW_VALUES)
    if few or n_values <= len(X) / 2:
        return columns.distinct(seed, merged=False)
    return rows
