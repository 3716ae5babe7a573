"""Knockoffs of tables with columns of any kind, by a Gaussian copula.

Each column is a function of latent, jointly Gaussian variables. A value determines them exactly for
numbers without ties, and up to an interval for ties, levels and missing values. To copy a table,
the latent variables are drawn given the values, their copies are drawn given them, and the copies
are transformed back to values. If the model is correct, swapping a unit with its copy does not
change the joint distribution.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2
from sklearn.covariance import ledoit_wolf

from covmin.core.units import ALWAYS_ON
from covmin.data import Layout
from covmin.plan.constants import BEND_LEVEL, BEND_SHARE, LATENT_ROUNDS, LATENT_SWEEPS

from .gaussian_knockoffs import GaussianKnockoffs, block_roots
from .margins import CategoryColumn, NumberColumns, truncated_normal


class TableKnockoffs:
    """Draws knockoffs of the units of a table, conditional on the given columns.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_encoded)
        Encoded columns, with NaN for missing values.
    plan : Layout
        Description of the columns.
    index : ndarray
        The encoded columns that vary, in an order that does not depend on their positions.
    p : ndarray of shape (n_samples,)
        Sample weights that sum to one.
    rng : Generator
        Generator for the latent variables while their correlation is estimated.
    """

    def __init__(
        self,
        X: np.ndarray,
        plan: Layout,
        index: np.ndarray,
        p: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        self._X = X
        inputs, first = np.unique(plan.source[index], return_index=True)
        is_gap = np.isin(np.arange(plan.source.size), plan.indicators)
        self._columns = []  # encoded columns and their latent variables
        unit: list[int] = []
        number: list[int] = []  # encoded column of each latent variable of a number, else −1
        sets: list[int] = []
        for j in inputs[np.argsort(first)]:
            members = index[plan.source[index] == j]
            column: CategoryColumn | NumberColumns
            if plan.categorical[j]:
                column = CategoryColumn(X[:, members], p)
                number += [-1] * column.lower.shape[1]
            else:
                column = NumberColumns(X[:, members], is_gap[members], p)
                number += np.where(is_gap[members], -1, members).tolist()
            self._columns.append((members, column))
            sets += column.n_independent
            is_given = plan.given[plan.unit[j]]
            unit += [ALWAYS_ON if is_given else plan.unit[j]] * column.lower.shape[1]
        self._lower = np.hstack([column.lower for _, column in self._columns])
        self._upper = np.hstack([column.upper for _, column in self._columns])
        independent = np.repeat(np.arange(len(sets)), sets)
        self._Z, correlation = _estimate(self._lower, self._upper, independent, p, rng)
        self._precision = np.linalg.inv(correlation)
        self._knockoffs = GaussianKnockoffs(correlation, np.array(unit))
        self._numbers, self._p = np.array(number), p

    def bends(self) -> np.ndarray:
        """Return pairs of columns (n_pairs, 2) where the second depends on the first one squared.

        A copy has no such dependence, so it can be distinguished from its original.
        """
        known = np.flatnonzero(self._numbers >= 0)
        pairs: np.ndarray = self._numbers[known][bent_pairs(self._Z[:, known], self._p)]
        return pairs

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a copy of the encoded columns (n_samples, n_encoded); given ones are unchanged."""
        Z = _redrawn(self._Z, self._precision, self._lower, self._upper, LATENT_SWEEPS, rng)
        drawn = self._knockoffs.draw(Z, rng)
        copies = self._X.copy()
        is_free = np.isin(np.arange(Z.shape[1]), self._knockoffs.free)
        start = 0
        for members, column in self._columns:
            stop = start + column.lower.shape[1]
            if is_free[start]:
                copies[:, members] = column.values(drawn[:, start:stop])
            start = stop
        return copies


def bent_pairs(Z: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return pairs of variables (n_pairs, 2) in which the square of one correlates with the other.

    For jointly Gaussian variables this correlation r is zero, and in large samples ``n r²``
    divided by the mean of the squared products is χ² with one degree of freedom. A pair must be
    significant among all pairs, and the square must explain a relevant share of the other.
    """
    Z = Z - p @ Z
    Z /= np.sqrt(p @ Z**2)
    squares = Z**2 - 1.0
    squares /= np.sqrt(p @ squares**2)
    r = (squares.T * p) @ Z
    np.fill_diagonal(r, 0.0)
    spread = (squares.T**2 * p) @ Z**2
    n_pairs = max(Z.shape[1] * (Z.shape[1] - 1), 1)
    least = chi2.isf(BEND_LEVEL / n_pairs, 1) * (p @ p)
    return np.argwhere((r**2 > least * spread) & (r**2 > BEND_SHARE))


def _estimate(
    lower: np.ndarray,
    upper: np.ndarray,
    independent: np.ndarray,
    p: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return latent variables within their bounds, and their correlation.

    Unknown variables are drawn given the correlation, and the correlation is estimated given them,
    in turns. The estimates of the second half of the turns are averaged.
    """
    nothing = np.eye(lower.shape[1])
    Z = _redrawn(np.zeros_like(lower), nothing, lower, upper, 1, rng)
    if (lower == upper).all():
        return Z, _correlation(Z, independent, p)
    kept = []
    for number in range(LATENT_ROUNDS):
        correlation = _correlation(Z, independent, p)
        Z = _redrawn(Z, np.linalg.inv(correlation), lower, upper, 1, rng)
        if 2 * number >= LATENT_ROUNDS:
            kept.append(correlation)
    return Z, np.mean(kept, axis=0)


def _correlation(Z: np.ndarray, independent: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the Ledoit–Wolf correlation of the variables, uncorrelated within each set."""
    Z = Z - p @ Z
    Z = np.linalg.solve(block_roots((Z.T * p) @ Z, independent), Z.T).T
    shrunk: np.ndarray = ledoit_wolf(Z * np.sqrt(p * p.size)[:, None], assume_centered=True)[0]
    return shrunk


def _redrawn(
    Z: np.ndarray,
    precision: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    n_sweeps: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Redraw each variable within its bounds given all others (Gibbs sampling)."""
    Z = np.asfortranarray(np.clip(Z, lower, upper))
    unknown = np.flatnonzero((lower < upper).any(axis=0))
    for _ in range(n_sweeps):
        for j in unknown:
            mean: np.ndarray = Z[:, j] - Z @ precision[:, j] / precision[j, j]
            deviation = float(precision[j, j] ** -0.5)
            u = rng.random((Z.shape[0],))
            Z[:, j] = truncated_normal(u, mean, deviation, lower[:, j], upper[:, j])
    return np.ascontiguousarray(Z)
