"""Distinguish duplicates of a row from rows that happen to be equal."""

import numpy as np

from covmin.constants import CONFLICTS, EXCESS, MANY_ROWS
from covmin.data.columns import DistinctRows, PreparedColumns
from covmin.data.rules import FEWEST_IN_LEVEL


def without_duplicates(columns: PreparedColumns, seed: int) -> DistinctRows:
    """Return the rows in random order, with duplicates merged into one row of their total weight.

    Rows that happen to be equal, because features have few values, stay separate samples.
    """
    rows = columns.distinct(seed)
    if rows.size == columns.p.size or not _equal_by_chance(columns, rows):
        return rows
    return columns.distinct(seed, merged=False)


def _equal_by_chance(columns: PreparedColumns, rows: DistinctRows) -> bool:
    """Tell whether rows that are equal, response included, may be different samples.

    Duplicates share their response. Samples that happen to have equal features often do not. If
    all do, the features determine the response, and equal rows should be about as frequent as the
    values of single features suggest.
    """
    some = rows.first[:MANY_ROWS]
    X = columns.X[some] if isinstance(columns.X, np.ndarray) else columns.X.sample(some)
    # Rows with equal features have equal projections.
    n_distinct = np.unique(X @ np.random.default_rng(0).standard_normal(X.shape[1])).size
    if len(X) - n_distinct > CONFLICTS * n_distinct:
        return True
    copies = np.bincount(rows.kind)[: len(X)]
    together = _pairs(copies) / _pairs(np.array([copies.sum()]))
    alone = 1.0
    for column in X.T:
        _, value = np.unique(column, return_inverse=True)
        counts = np.bincount(value, copies)
        if copies.sum() < FEWEST_IN_LEVEL * counts.size:
            return False
        alone *= _pairs(counts) / _pairs(np.array([copies.sum()]))
    return bool(together <= EXCESS * alone)


def _pairs(counts: np.ndarray) -> float:
    """Return the number of pairs of equal rows."""
    return float((counts * (counts - 1.0)).sum())
