"""Test each feature, a unit of columns, on its own, in pairs, and given all others."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covmin.constants import (
    NEGLIGIBLE_SHARE,
    NEIGHBOUR_RIDGES,
    SAMPLES_FOR_EACH_FEATURE,
    TESTED_ROWS,
)
from covmin.core.kernels.additive import Mixed
from covmin.core.regression import regress_on_sets
from covmin.core.screening import SEARCH, Found, Ranked, Screening
from covmin.core.units import ALWAYS_ON, Units
from covmin.data import Table
from covmin.data.independence import one_of_each_group
from covmin.data.standardize import PreparedColumns
from covmin.plan.rules import candidate_sizes, search_order
from covmin.selection.selector import CCMSelector

from .residual_products import Given, normal_scores, residual_product_test


@dataclass(frozen=True)
class RankedSample:
    """The samples to test: normal scores in random order, and the response."""

    X: np.ndarray  # (n, c)
    Y: np.ndarray  # (n, k), centred
    p: np.ndarray  # (n,), weights that sum to one
    units: Units
    labels: np.ndarray | None  # (n,), classes by number
    seed: int

    @property
    def n_samples(self) -> float:
        """Effective number of samples, as if all had equal weight."""
        return float(1.0 / (self.p @ self.p))

    @property
    def weights(self) -> np.ndarray:
        """Weight of each column; those of a unit add up to one."""
        return np.square(self.units.scale)

    def columns_of(self, unit: int) -> np.ndarray:
        """Return the columns of a unit."""
        return np.flatnonzero(self.units.of_column == unit)


@dataclass(frozen=True)
class Conditions:
    """What the test of a unit given all others conditions on."""

    best: np.ndarray  # units that together predict the response best, best first
    scale: float  # length scale of functions of them
    known: list[np.ndarray]  # of each unit: what all others predict of it, products of partners
    is_copy: np.ndarray  # units that another one determines


def draw_sample(columns: PreparedColumns, table: Table, seed: int) -> RankedSample:
    """Return a random sample of the prepared rows; duplicates, and groups, are one observation."""
    rows, response = columns.independent(seed), table.response
    chosen = one_of_each_group(table.groups, rows.first)[:TESTED_ROWS]
    first, p = rows.first[chosen], rows.p[chosen]
    p = p / p.sum()
    labels = response.labels if response.task == "classification" else None
    if labels is not None:
        labels = np.unique(np.asarray(labels)[first], return_inverse=True)[1]
        labels = labels if np.bincount(labels).max() > 1 else None  # treat them as numbers
    X = columns.X.take(first).astype(np.float64)
    Y = np.asarray(response.Y[first], dtype=np.float64)
    return RankedSample(X, Y - p @ Y, p, columns.units, labels, seed)


# --- alone -----------------------------------------------------------------------------------


def p_values_alone(sample: RankedSample) -> np.ndarray:
    """Return the p-value of each unit for an effect on its own, by functions of its ranks."""
    screening = Screening.of(sample.X, sample.Y, sample.p, sample.units.of_column)
    of_columns = screening.p_values()
    own = [of_columns[sample.columns_of(unit)] for unit in range(sample.units.size)]
    return np.array([min(1.0, p_values.size * p_values.min()) for p_values in own])


# --- together --------------------------------------------------------------------------------


def find_sets(sample: RankedSample) -> Found:
    """Search all products of two columns, and of more if that is affordable, for effects on y."""
    shape = *sample.X.shape, sample.Y.shape[1]
    task = "regression" if sample.labels is None else "classification"
    order, _ = search_order("auto", Mixed(), task, shape)
    search = replace(SEARCH, level=1.0)  # decided later, with all other p-values
    screening = Screening.of(sample.X, sample.Y, sample.p, sample.units.of_column, search)
    return screening.interactions(max(order, 2))


def p_values_together(sample: RankedSample, sets: Found, scale: float) -> np.ndarray:
    """Return the p-value of each unit together with others, corrected for all sets."""
    n_units = sample.units.size
    p_values = np.ones(n_units)
    for columns, units, of_search in zip(sets.columns, sets.units, sets.p_value, strict=True):
        units = units[columns >= 0]
        if (units == ALWAYS_ON).any():
            continue
        for unit in units.tolist():
            p_value = float(of_search)
            if units.size == 2:  # the test would not see a product of more
                partner = units[units != unit]
                p_value = (n_units - 1) * p_value_given(sample, unit, partner, scale)
            p_values[unit] = min(p_values[unit], p_value)
    return p_values


# --- given others ----------------------------------------------------------------------------


def find_conditions(sample: RankedSample, found: Found) -> Conditions:
    """Return what the tests of all units share; too many best units do no harm."""
    n_units, of_column = sample.units.size, sample.units.of_column
    most = int(max(1, min(n_units, sample.n_samples / SAMPLES_FOR_EACH_FEATURE)))
    order = _ranked(sample, np.arange(n_units))
    sizes = [size for size in candidate_sizes(n_units) if size <= most]
    sets = [sample.units.columns(order[:size]) for size in sizes]
    regressions = regress_on_sets(sample.X, sample.Y, sample.p, sample.weights, sets)
    best = int(np.argmin([regression.unexplained for regression in regressions]))
    known = predicted_by_others(sample.X, of_column, sample.p)
    for columns in found.columns[(found.columns >= 0).sum(axis=1) > 2]:
        for column in columns[columns >= 0]:
            # A product of three depends on one of them by a slope, the product of the two others.
            others = columns[(columns >= 0) & (columns != column)]
            product = normal_scores(sample.X[:, others].prod(axis=1, keepdims=True), sample.p)
            unit = of_column[column]
            known[unit] = np.hstack([known[unit], product])
    return Conditions(
        best=order[: sizes[best]],
        scale=regressions[best].scale,
        known=known,
        # Regressions on many columns do not find a copy among them to the last per cent.
        is_copy=find_copies(sample.X, of_column, sample.p),
    )


def p_value_given_all(
    sample: RankedSample, conditions: Conditions, level: float, unit: int
) -> float:
    """Return the p-value of a unit given the best units and what all others predict of it.

    A unit among the best may have been preferred to its substitutes. So if it seems to add
    something, the best units are found again without it, and added to the conditions.
    """
    if conditions.is_copy[unit]:  # it adds nothing
        return 1.0
    best, scale, known = conditions.best, conditions.scale, conditions.known[unit]
    others = best[best != unit]
    p_value = p_value_given(sample, unit, others, scale, known)
    if unit not in best or p_value > level or sample.units.size == 1:
        return p_value
    without = _ranked(sample, np.setdiff1d(np.arange(sample.units.size), unit))[: best.size]
    more = np.union1d(others, without)
    return max(p_value, p_value_given(sample, unit, more, scale, known))


def p_value_given(
    sample: RankedSample,
    unit: int,
    others: np.ndarray,
    scale: float,
    known: np.ndarray | None = None,
) -> float:
    """Return the p-value of a unit given other units, and given more columns of normal scores."""
    columns = sample.units.columns(others)
    Z, weights = sample.X[:, columns], sample.weights[columns]
    if known is not None and known.shape[1]:
        Z = np.hstack([Z, known])
        weights = np.concatenate([weights, np.full(known.shape[1], 1.0 / known.shape[1])])
    own = sample.columns_of(unit)
    given = Given(Z, weights, sample.p, (scale,))
    return residual_product_test(sample.X[:, own], sample.weights[own], sample.Y, given)[0]


def separating_set(
    sample: RankedSample, unit: int, among: np.ndarray, scale: float, level: float
) -> np.ndarray:
    """Return the fewest units, most correlated first, given which a unit adds nothing, or all."""
    own = sample.X[:, sample.columns_of(unit)]
    squares = ((sample.p[:, None] * own).T @ sample.X) ** 2
    likeness = [squares[:, sample.columns_of(other)].max() for other in among]
    closest = among[np.argsort(-np.array(likeness), kind="stable")][:3]
    for size in range(1, closest.size):
        if p_value_given(sample, unit, closest[:size], scale) > level:
            return closest[:size]
    return closest


def _ranked(sample: RankedSample, among: np.ndarray) -> np.ndarray:
    """Rank units with :class:`CCMSelector`, best first."""
    if among.size == 1:
        return among
    columns = sample.units.columns(among)
    of_column = sample.units.of_column[columns]
    is_given = of_column == ALWAYS_ON
    selector = CCMSelector(
        1,
        kernel="mixed",  # the path alone: tests decide, not exchanges
        feature_groups=of_column,  # the columns always included form one unit
        given=is_given if is_given.any() else None,
        task="regression" if sample.labels is None else "classification",
        standardize=False,
        random_state=sample.seed,
        verbose=0,
    )
    y: Any = sample.Y if sample.labels is None else sample.labels
    with warnings.catch_warnings(action="ignore"):  # already issued when the table was read
        selector.fit(sample.X[:, columns], y[:, 0] if y.shape[1:] == (1,) else y, sample.p)
    order = np.argsort(selector.ranking_, kind="stable")
    order = of_column[order[~is_given[order]]]
    _, first = np.unique(order, return_index=True)
    return order[np.sort(first)]


# --- what all other units predict of a unit --------------------------------------------------
# Belloni, Chernozhukov and Hansen condition on what matters to y *and* on what matters to x. Here
# the prediction of x is a single column, the fitted mean, like a propensity score. X (n, c) are
# normal scores, centred and of unit variance; ``of_column`` is the unit of each column, or −1 for
# columns that are always among the others; p are weights that sum to one.


def find_copies(X: np.ndarray, of_column: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return which units are copies: each of their columns is a line in a column of another."""
    copies = np.empty(int(of_column.max(initial=-1)) + 1, dtype=bool)
    for unit in range(copies.size):
        own = of_column == unit
        correlations = (p[:, None] * X[:, own]).T @ X[:, ~own]
        closest = (correlations**2).max(axis=1, initial=0.0)
        copies[unit] = closest.min() > 1.0 - NEGLIGIBLE_SHARE
    return copies


def predicted_by_others(X: np.ndarray, of_column: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
    """Return the columns of each unit as predicted by an additive model of all other columns.

    With Θ = (BᵀB + λI)⁻¹ for a basis B of all columns, the ridge regression of the columns U of a
    unit on the others has residuals ``BΘ_U Θ_UU⁻¹`` and leverages ``hᵢ = (BΘBᵀ)ᵢᵢ − bᵢᵀΘ_UU⁻¹bᵢ``,
    where b are the rows of BΘ_U. The ridge minimises the leave-one-out error. Returns normal scores
    (n_samples, n_predicted) for each unit.
    """
    cosines = Ranked.of(X, p).functions(np.arange(X.shape[1]))[1:]
    functions = cosines.reshape(-1, len(X)).T
    varies = (p @ functions**2) > 0.5  # those of a column of few values are zero
    B = np.hstack([X - p @ X, functions[:, varies]]) * np.sqrt(p)[:, None]
    unit = np.concatenate([of_column, np.tile(of_column, len(cosines))[varies]])
    n_columns = X.shape[1]
    members = [np.flatnonzero(unit == u) for u in range(int(of_column.max(initial=-1)) + 1)]
    # The columns themselves come first in the basis; functions of them follow.
    targets = [columns[columns < n_columns] for columns in members]
    least = np.sum((B[:, :n_columns] / (1.0 - p[:, None])) ** 2, axis=0)  # error of the mean
    predicted = np.full((len(X), n_columns), np.nan)
    left, values, right = np.linalg.svd(B, full_matrices=False)
    for ridge in NEIGHBOUR_RIDGES:
        M = (left * (values / (values**2 + ridge))) @ right  # BΘ
        leverage = (M * B).sum(axis=1)
        for columns, own in zip(members, targets, strict=True):
            U = M[:, columns]
            # λΘ = I − BᵀBΘ
            block = (np.eye(columns.size) - B[:, columns].T @ U) / ridge
            residuals = np.linalg.solve(block, U.T).T
            h = leverage - (residuals * U).sum(axis=1)
            # Predict each sample without itself: otherwise many columns would fit a feature that
            # they cannot predict.
            left_out = residuals[:, : own.size] / np.maximum(1.0 - h - p, 1e-3)[:, None]
            errors = (left_out**2).sum(axis=0)
            better = errors < least[own]
            least[own[better]] = errors[better]
            predicted[:, own[better]] = (B[:, own] - left_out)[:, better]
    predicted /= np.sqrt(p)[:, None]
    has_prediction = ~np.isnan(predicted[0])
    return [normal_scores(predicted[:, own[has_prediction[own]]], p) for own in targets]
