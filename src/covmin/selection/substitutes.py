"""Features that could replace the selected ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from covmin.data.columns import PreparedColumns
from covmin.data.samples import Samples
from covmin.plan.constants import SCORING_ROWS
from covmin.runtime.threads import one_blas_thread

from .kernel_regression import regress_on_sets


class Substitute(NamedTuple):
    """A selected feature, another in its place, and what sets leave unexplained."""

    feature: int
    substitute: int
    unexplained: float  # by the selected features
    unexplained_without: float  # without the feature
    unexplained_with: float  # with the substitute in its place


@dataclass(frozen=True)
class SetErrors:
    """What sets of features leave unexplained: leave-one-out errors of kernel ridge regression."""

    X: np.ndarray  # (n_rows, n_columns), standardised, in random order
    Y: np.ndarray  # (n_rows, n_responses), centred
    p: np.ndarray  # (n_rows,), weights that sum to one
    column_weight: np.ndarray  # (n_columns,), adds up to one over a feature
    feature: np.ndarray  # (n_columns,), the feature of each column
    given: np.ndarray  # features that belong to every set
    known: dict[tuple[int, ...], float] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Samples, columns: PreparedColumns, seed: int) -> SetErrors:
        """Return the errors on the rows of a table, a sample of them if there are many."""
        rows = columns.distinct(seed)
        first, p = rows.first[:SCORING_ROWS], rows.p[:SCORING_ROWS]
        p = p / p.sum()
        Y = table.response.Y[first]
        feature = table.plan.unit[table.plan.source[columns.index]]
        X = columns.X.sample(first).astype(np.float64)
        given = np.flatnonzero(table.plan.given)
        return cls(X, Y - p @ Y, p, columns.units.scale**2, feature, given)

    def unexplained(self, features: Sequence[int]) -> float:
        """Return the fraction of the variance of the response that some features leave."""
        members = tuple(sorted({*map(int, features), *self.given.tolist()}))
        if members not in self.known:
            its = np.flatnonzero(np.isin(self.feature, members))
            with one_blas_thread():
                found = regress_on_sets(self.X[:, its], self.Y, self.p, self.column_weight[its])
            self.known[members] = found[0].unexplained
        return self.known[members]

    def likeness(self, feature: int) -> np.ndarray:
        """Return the mean squared correlation of every feature with the columns of one."""
        Z = np.sqrt(self.p)[:, None] * (self.X - self.p @ self.X)
        Z /= np.maximum(np.sqrt((Z**2).sum(axis=0)), np.finfo(float).tiny)
        squares = ((Z.T @ Z[:, self.feature == feature]) ** 2).mean(axis=1)
        return np.bincount(self.feature, squares) / np.maximum(np.bincount(self.feature), 1)


def find_substitutes(errors: SetErrors, order: np.ndarray, m: int, n: int) -> list[Substitute]:
    """Return, for each of the first m features in an order, the n that would replace it best.

    Candidates are the unselected features most like the one that is dropped, and the next ones in
    the order; the error of the set decides among them.
    """
    chosen, others = order[:m], order[m:][np.isin(order[m:], errors.feature)]
    whole = errors.unexplained(chosen)
    found: list[Substitute] = []
    for feature in chosen:
        rest = chosen[chosen != feature]
        alike = np.argsort(-errors.likeness(feature)[others], kind="stable")[: 2 * n]
        candidates = others[np.union1d(alike, np.arange(min(n, others.size)))]
        without = errors.unexplained(rest)
        replaced = np.array([errors.unexplained([*rest, k]) for k in candidates])
        found += [
            Substitute(int(feature), int(candidates[k]), whole, without, replaced[k])
            for k in np.argsort(replaced, kind="stable")[:n]
        ]
    return found
