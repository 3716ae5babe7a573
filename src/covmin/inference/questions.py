"""Test each feature on its own, in pairs, and given all others."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from covmin.constants import SAMPLES_FOR_EACH_FEATURE
from covmin.core.regression import Given, regress_on_sets
from covmin.core.screening import N_WAVES, SEARCH, Codes, Ranked, interacting_pairs
from covmin.core.screening.pairs import many_carry
from covmin.core.screening.search import chance, prior
from covmin.core.units import ALWAYS_ON, Units
from covmin.data.response import EncodedResponse
from covmin.data.standardize import PreparedColumns
from covmin.plan.budgets import candidate_sizes
from covmin.plan.constants import (
    TESTED_ROWS,
)
from covmin.selection.selector import CCMSelector

from .neighbours import determined_by_another, fitted_by_others
from .residual_products import Added, added_by


@dataclass(frozen=True)
class Questions:
    """A table of normal scores in random order, with the tests of its units."""

    X: np.ndarray  # (n, c)
    Y: np.ndarray  # (n, k), centred
    p: np.ndarray  # (n,), weights that sum to one
    units: Units
    labels: np.ndarray | None  # (n,), classes by number
    seed: int

    @classmethod
    def of(cls, columns: PreparedColumns, response: EncodedResponse, seed: int) -> Questions:
        """Return the rows of prepared columns, or a sample if there are very many.

        Duplicates of a row are one observation. Equal rows count as duplicates if a single feature
        distinguishes most rows. If all features have few values, equal rows are separate
        observations that happen to be equal.
        """
        rows = columns.distinct(seed)
        X = columns.X.sample(rows.first[:TESTED_ROWS])
        n_values = max(np.unique(x).size for x in X.T)
        n = columns.p.size
        if n_values <= max(len(X) / 2, n / SAMPLES_FOR_EACH_FEATURE) and rows.size < n:
            rows = columns.distinct(seed, merged=False)
            X = columns.X.sample(rows.first[:TESTED_ROWS])
        first, p = rows.first[:TESTED_ROWS], rows.p[:TESTED_ROWS]
        p = p / p.sum()
        labels = response.labels if response.task == "classification" else None
        if labels is not None:
            labels = np.unique(np.asarray(labels)[first], return_inverse=True)[1]
            labels = labels if np.bincount(labels).max() > 1 else None  # treat them as numbers
        X = X.astype(np.float64)
        Y = np.asarray(response.Y[first], dtype=np.float64)
        return cls(X, Y - p @ Y, p, columns.units, labels, seed)

    @property
    def n_samples(self) -> float:
        """Effective number of samples, as if all had equal weight."""
        return float(1.0 / (self.p @ self.p))

    @cached_property
    def _weights(self) -> np.ndarray:
        """Weight of each column; those of a unit add up to one."""
        return self.units.scale**2

    def _columns(self, unit: int) -> np.ndarray:
        return np.flatnonzero(self.units.of_column == unit)

    @cached_property
    def _looks(self) -> tuple[Codes, Ranked]:
        codes = Codes.of(self.Y, self.p, SEARCH)
        return codes, Ranked.of(self.X, codes.p)

    @cached_property
    def alone(self) -> np.ndarray:
        """p-value of each unit for an effect on its own.

        Based on functions of the ranks of its columns; enough samples must carry the association.
        """
        codes, ranked = self._looks
        p_values = np.ones(self.units.size)
        if not SEARCH.can_tell(codes.n_samples) or codes.size == 0:
            return p_values
        shares = ranked.shares(codes)[0]
        tails = chance(shares, codes.n_samples, codes.size) / prior(N_WAVES)[:, None]
        # Only small p-values need to be checked.
        for wave, column in np.argwhere(tails < SEARCH.level):
            values = ranked.waves(np.array([column]))[wave, 0]
            if not many_carry((np.sqrt(self.p) * values)[:, None], codes, SEARCH)[0]:
                tails[wave, column] = 1.0
        best, of_column = tails.min(axis=0), self.units.of_column
        for unit in range(self.units.size):
            mine = best[of_column == unit]
            p_values[unit] = min(1.0, mine.size * mine.min())
        return p_values

    @cached_property
    def _choice(self) -> tuple[np.ndarray, float]:
        """Units that predict the response best together, and the scale of functions of them.

        They are the first of a ranking, at most one per ten samples. Too many do no harm.
        """
        n_units = self.units.size
        most = int(max(1, min(n_units, self.n_samples / SAMPLES_FOR_EACH_FEATURE)))
        order = self._ranked(np.arange(n_units))
        sizes = [size for size in candidate_sizes(n_units) if size <= most]
        sets = [self.units.columns(order[:size]) for size in sizes]
        found = regress_on_sets(self.X, self.Y, self.p, self._weights, sets)
        best = int(np.argmin([each.unexplained for each in found]))
        return order[: sizes[best]], found[best].scale

    @property
    def chosen(self) -> np.ndarray:
        """Units that together predict the response best, best first."""
        return self._choice[0]

    def _ranked(self, among: np.ndarray) -> np.ndarray:
        """Rank some units with :class:`CCMSelector`."""
        if among.size == 1:
            return among
        columns = self.units.columns(among)
        of_column = self.units.of_column[columns]
        is_given = of_column == ALWAYS_ON
        selector = CCMSelector(
            1,
            feature_groups=of_column,  # the columns always included form one unit
            given=is_given if is_given.any() else None,
            task="regression" if self.labels is None else "classification",
            standardize=False,
            random_state=self.seed,
            verbose=0,
        )
        y: Any = self.Y if self.labels is None else self.labels
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # already issued when the table was read
            selector.fit(self.X[:, columns], y[:, 0] if y.shape[1:] == (1,) else y, self.p)
        order = np.argsort(selector.ranking_, kind="stable")
        order = of_column[order[~is_given[order]]]
        _, first = np.unique(order, return_index=True)
        return order[np.sort(first)]

    @cached_property
    def _fitted(self) -> list[np.ndarray]:
        return fitted_by_others(self.X, self.units.of_column, self.p)

    @cached_property
    def _is_copy(self) -> np.ndarray:
        return determined_by_another(self.X, self.units.of_column, self.p)

    def prepare(self) -> None:
        """Compute what all tests share."""
        _ = self._choice, self._fitted, self._is_copy

    def added_to_all(self, unit: int, level: float) -> float:
        """Return the p-value of a unit given all others.

        The test conditions on the chosen units and on what all others predict of the unit. A chosen
        unit may have been preferred to its substitutes. So if it seems to add something, a second
        choice is made without it, and added to the conditions. A copy of another adds nothing.
        """
        if self._is_copy[unit]:
            return 1.0
        chosen = self.chosen
        others = chosen[chosen != unit]
        p_value = self._added(unit, others, self._fitted[unit]).p_value
        if unit not in chosen or p_value > level or self.units.size == 1:
            return p_value
        anew = self._ranked(np.setdiff1d(np.arange(self.units.size), unit))[: chosen.size]
        joined = self._added(unit, np.union1d(others, anew), self._fitted[unit])
        return max(p_value, joined.p_value)

    def added_to(self, unit: int, others: np.ndarray) -> Added:
        """Test what a unit adds to some others."""
        nothing = np.empty((len(self.X), 0))
        return self._added(unit, others, nothing)

    def _added(self, unit: int, others: np.ndarray, fitted: np.ndarray) -> Added:
        columns = self.units.columns(others)
        weights = np.full(fitted.shape[1], 1.0 / max(fitted.shape[1], 1))
        given = Given.of(
            np.hstack([self.X[:, columns], fitted]),
            np.concatenate([self._weights[columns], weights]),
            self.p,
            self._choice[1:],
        )
        mine = self._columns(unit)
        return added_by(self.X[:, mine], self._weights[mine], self.Y, given)

    @cached_property
    def partners(self) -> list[tuple[int, int]]:
        """Candidate interacting pairs of units."""
        codes, ranked = self._looks
        search = replace(SEARCH, level=1.0)
        pairs = interacting_pairs(self.X, ranked, codes, self.units.of_column, search)
        return [(int(a), int(b)) for a, b in pairs.units if a >= 0 and b >= 0]

    def in_pairs(self) -> np.ndarray:
        """Return the p-value of each unit given one partner, corrected for all partners."""
        p_values = np.ones(self.units.size)
        for pair in self.partners:
            for unit, other in (pair, pair[::-1]):
                p_value = self.added_to(unit, np.array([other])).p_value
                p_values[unit] = min(p_values[unit], (self.units.size - 1) * p_value)
        return p_values

    def stand_ins(self, unit: int, among: np.ndarray, level: float, most: int) -> np.ndarray:
        """Return the fewest substitutes, closest first, given which a unit adds nothing."""
        closeness = self._closeness(unit, among)
        closest = among[np.argsort(-closeness, kind="stable")][:most]
        for size in range(1, closest.size + 1):
            if self.added_to(unit, closest[:size]).p_value > level:
                return closest[:size]
        return closest

    def _closeness(self, unit: int, among: np.ndarray) -> np.ndarray:
        """Return the largest squared correlation between the columns of a unit and of others."""
        mine = self.X[:, self._columns(unit)]
        squares = ((self.p[:, None] * mine).T @ self.X) ** 2
        return np.array([squares[:, self._columns(other)].max() for other in among])
