"""Gaussian knockoffs: copies of variables that are independent of the response.

For variables Z with covariance Σ in units (single variables or groups), the pair [Z Z̃] has the
covariance ``[[Σ, Σ − S], [Σ − S, Σ]]``, where S has one block per unit. Swapping a unit with its
copy then leaves the distribution unchanged. The larger S is, the less a copy resembles its
original, and the more powerful is their comparison.
"""

import numpy as np

from covmin.core.units import ALWAYS_ON

_MAX_SWEEPS = 100
_TOLERANCE = 1e-6


class GaussianKnockoffs:
    """Draws ``Z̃ | Z ~ N(Z − (Z − M)Σ⁻¹S, 2S − SΣ⁻¹S)``, conditional on the given variables.

    ``covariance`` is that of all variables; ``unit`` (n_variables,) is the unit of each, or −1 if
    it is given. M and Σ are the conditional mean and covariance of the others. ``S`` is the chosen
    block-diagonal matrix.
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
        # Positive by construction, up to rounding.
        self._root = vectors * np.sqrt(np.maximum(values, 0.0))

    def draw(self, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a copy of every variable (n_samples, n_variables); given ones are unchanged."""
        copies = Z.copy()
        own = Z[:, self.free]
        residuals = own - Z[:, self._given] @ self._regression
        noise = rng.standard_normal(own.shape)
        copies[:, self.free] = own - residuals @ self._pull + noise @ self._root.T
        return copies


def block_roots(covariance: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return the block-diagonal matrix of the symmetric roots of the blocks.

    For variables that are uncorrelated within each unit, a diagonal S corresponds to a block
    matrix of the original variables, so the solution for single variables also serves groups.
    """
    roots = np.zeros_like(covariance)
    for number in np.unique(unit):
        members = np.flatnonzero(unit == number)
        block = np.ix_(members, members)
        values, vectors = np.linalg.eigh(covariance[block])
        roots[block] = (vectors * np.sqrt(values)) @ vectors.T
    return roots


def least_reconstructable(covariance: np.ndarray) -> np.ndarray:
    """Return the s that minimises ``tr((2Σ − S)⁻¹) + Σ 1/sⱼ``, the trace of the joint precision.

    Each variable of the pair is then as hard as possible to predict from all others (Spector and
    Janson, 2022). The problem is convex. The minimum in each coordinate has a closed form, strictly
    inside ``0 < S ≺ 2Σ``, and changes the inverse by a rank-one term.
    """
    # Half of the equicorrelated solution is strictly feasible.
    s = np.full(covariance.shape[0], np.linalg.eigvalsh(covariance)[0])
    for _ in range(_MAX_SWEEPS):
        before = s.copy()
        # Recomputed in each sweep, so that rounding errors do not accumulate.
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
