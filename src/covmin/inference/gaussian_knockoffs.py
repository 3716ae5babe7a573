"""Gaussian knockoffs: copies of variables that know nothing of the response.

For variables Z of covariance Σ in units (single ones, or groups of them), the pair [Z Z̃] is to
have the covariance ``[[Σ, Σ − S], [Σ − S, Σ]]`` with an S of one block for each unit: every unit
may then be swapped with its copy without a trace. The larger S, the less a copy resembles its
original, and the more a comparison of both can tell.
"""

import numpy as np

from covmin.core.units import ALWAYS_ON

_MAX_SWEEPS = 100
_TOLERANCE = 1e-6


class GaussianKnockoffs:
    """Draws ``Z̃ | Z ~ N(Z − (Z − M)Σ⁻¹S, 2S − SΣ⁻¹S)`` of units, given the variables in none.

    ``covariance`` is that of all variables; ``unit`` (n_variables,) has the unit of each, or −1 for
    one that is given. M, the mean of the others given these, and Σ, their covariance given these,
    are those of the conditional distribution. ``S`` is the block-diagonal matrix chosen.
    """

    def __init__(self, covariance: np.ndarray, unit: np.ndarray) -> None:
        self.free = np.flatnonzero(unit != ALWAYS_ON)
        self._given = np.flatnonzero(unit == ALWAYS_ON)
        within = covariance[np.ix_(self._given, self._given)]
        across = covariance[np.ix_(self._given, self.free)]
        self._regression = np.linalg.solve(within, across)
        self.covariance = covariance[np.ix_(self.free, self.free)] - across.T @ self._regression
        roots = block_roots(self.covariance, unit[self.free])
        white = np.linalg.solve(roots, np.linalg.solve(roots, self.covariance).T)
        s = least_reconstructable(0.5 * (white + white.T))
        self.S = (roots * s) @ roots
        self._pull = np.linalg.solve(self.covariance, self.S)
        spread = 2.0 * self.S - self.S @ self._pull
        values, vectors = np.linalg.eigh(0.5 * (spread + spread.T))
        # Positive by construction; rounding may take the smallest below zero.
        self._root = vectors * np.sqrt(np.maximum(values, 0.0))

    def draw(self, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One copy of every variable, shape (n_samples, n_variables); given ones are themselves."""
        copies = Z.copy()
        own = Z[:, self.free]
        residuals = own - Z[:, self._given] @ self._regression
        noise = rng.standard_normal(own.shape)
        copies[:, self.free] = own - residuals @ self._pull + noise @ self._root.T
        return copies


def block_roots(covariance: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The block-diagonal matrix of the symmetric roots of the blocks of units.

    In terms of variables that are uncorrelated within each unit, any diagonal S is one with blocks
    in terms of the units: the choice for single variables serves groups.
    """
    roots = np.zeros_like(covariance)
    for number in np.unique(unit):
        members = np.flatnonzero(unit == number)
        block = np.ix_(members, members)
        values, vectors = np.linalg.eigh(covariance[block])
        roots[block] = (vectors * np.sqrt(values)) @ vectors.T
    return roots


def least_reconstructable(covariance: np.ndarray) -> np.ndarray:
    """The s that minimises ``tr((2Σ − S)⁻¹) + Σ 1/sⱼ``, the trace of the pair's precision.

    Each variable of the pair is then as hard as possible to predict from all the others
    (Spector and Janson, 2022). The problem is convex; each coordinate has its minimum in
    closed form, strictly inside ``0 < S ≺ 2Σ``, and moves the inverse by a rank-one term.
    """
    # The equicorrelated solution's half is strictly feasible.
    s = np.full(covariance.shape[0], np.linalg.eigvalsh(covariance)[0])
    for _ in range(_MAX_SWEEPS):
        before = s.copy()
        # Made anew for each sweep, so that rounding does not pile up.
        inverse = np.linalg.inv(2.0 * covariance - np.diag(s))
        for j in range(s.size):
            column = inverse[:, j].copy()
            length = np.linalg.norm(column)
            step = (1.0 - length * s[j]) / (column[j] + length)
            s[j] += step
            inverse += np.outer(column, column) * (step / (1.0 - step * column[j]))
        if np.abs(s - before).max() <= _TOLERANCE * s.max():
            break
    return s
