"""Regress columns on given features and return the residuals.

All vectors are scaled by √p, where p are the sample weights, so that sums of products of two
residuals are plain sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from covmin.constants import FUNCTION_RIDGES, FUNCTION_SCALES
from covmin.core.kernels import GaussianSum
from covmin.core.regression import landmarks_for, principal_components
from covmin.plan.constants import MOST_FREEDOM

# Lower bound on the share of a residual that is left after a regression.
_LEAST_LEFT = 1e-6


@dataclass(frozen=True)
class Basis:
    """Orthonormal functions of the given features, at one length scale."""

    V: np.ndarray  # (n, D), orthonormal columns, orthogonal to √p
    variances: np.ndarray  # (D,), of the components along them, decreasing
    p: np.ndarray  # (n,), weights that sum to one

    @classmethod
    def of(cls, Z: np.ndarray, weights: np.ndarray, p: np.ndarray, scale: float) -> Basis:
        """Return kernel principal components of ``exp Σⱼ ωⱼ κ((zⱼ − z̃ⱼ)/s)``, with landmarks.

        Z (n, q) are normal scores in random order; the weights ωⱼ add up to one.
        """
        n_landmarks = min(len(Z), landmarks_for(len(Z)))
        K = np.exp(GaussianSum(scale).cross(Z, Z[:n_landmarks], weights))
        components, variances = principal_components(K, p)
        order = np.argsort(-variances)
        components, variances = components[:, order], variances[order]
        V = np.sqrt(p)[:, None] * components / np.sqrt(variances)
        return cls(V, variances, p)

    @cached_property
    def squares(self) -> np.ndarray:
        """Squares of V, whose sums are leverages."""
        squares: np.ndarray = self.V**2
        return squares

    def components(self, most: int) -> np.ndarray:
        """Return the leading components, with variances that sum to at most one."""
        shares = self.variances[:most] / self.variances.sum()
        components: np.ndarray = self.V[:, :most] * np.sqrt(shares / self.p[:, None])
        return components


@dataclass(frozen=True)
class Smoother:
    """``S = √p√pᵀ + V diag(f) Vᵀ``: kernel ridge regression with an intercept."""

    basis: Basis
    f: np.ndarray  # (D,), shrinkage factor of each direction

    def residuals(self, scaled: np.ndarray) -> np.ndarray:
        """Return ``(I − S) T`` for centred targets T (n, k), times √p."""
        V = self.basis.V
        left: np.ndarray = scaled - V @ (self.f[:, None] * (V.T @ scaled))
        return left

    @property
    def left(self) -> np.ndarray:
        """``diag((I − S)²)``, the share of independent noise left in each sample."""
        rest = 1.0 - self.basis.p - self.basis.squares @ (1.0 - (1.0 - self.f) ** 2)
        return np.maximum(rest, _LEAST_LEFT)

    def left_by_both(self, other: Smoother) -> np.ndarray:
        """Return ``diag(AAᵀ)`` with ``A = (I − S)(I − S')``."""
        p, f, g = self.basis.p, self.f, other.f
        if other.basis is self.basis:
            kept = 1.0 - p - self.basis.squares @ (1.0 - ((1.0 - f) * (1.0 - g)) ** 2)
            return np.maximum(kept, _LEAST_LEFT)
        # AAᵀ = (I − S)(I − S')²(I − S); with U = (I − S)V' the second factor takes g(2 − g) off.
        U = other.basis.V - self.basis.V @ (f[:, None] * (self.basis.V.T @ other.basis.V))
        kept = self.left - U**2 @ (1.0 - (1.0 - g) ** 2)
        return np.maximum(kept, _LEAST_LEFT)


@dataclass(frozen=True)
class Given:
    """The given features, prepared for regressions on them."""

    bases: tuple[Basis, ...]  # one per length scale; empty if nothing is given
    lines: np.ndarray  # (n, q), the features themselves, of variances that sum to one
    p: np.ndarray

    @classmethod
    def of(
        cls,
        Z: np.ndarray,
        weights: np.ndarray,
        p: np.ndarray,
        scales: tuple[float, ...] = FUNCTION_SCALES,
    ) -> Given:
        """Prepare normal scores Z (n, q) in random order; weights of a feature add up to one."""
        if Z.shape[1] == 0:
            return cls((), Z, p)
        shares = weights / weights.sum()
        bases = tuple(Basis.of(Z, shares, p, scale) for scale in scales)
        return cls(bases, Z * np.sqrt(shares), p)

    def scaled(self, targets: np.ndarray) -> np.ndarray:
        """Return the centred targets (n, k) times √p."""
        return np.sqrt(self.p)[:, None] * (targets - self.p @ targets)

    def smoother(self, scaled: np.ndarray) -> tuple[Smoother, float]:
        """Return the smoother with the lowest leave-one-out error, and its relative error.

        The error is a fraction of that of the mean. The targets must have comparable scales.
        """
        if not self.bases:
            nothing = Basis(np.empty((self.p.size, 0)), np.empty(0), self.p)
            return Smoother(nothing, np.empty(0)), 1.0
        found = [(*_least(basis, scaled), basis) for basis in self.bases]
        error, f, basis = min(found, key=lambda each: each[0])
        of_mean = float(((scaled / (1.0 - self.p[:, None])) ** 2).sum())
        return Smoother(basis, f), error / max(of_mean, np.finfo(float).tiny)


def _least(basis: Basis, scaled: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the lowest leave-one-out error over the ridges, and its shrinkage factors."""
    ridges = np.array(FUNCTION_RIDGES)
    shrunk = np.where(
        np.isfinite(ridges), basis.variances[:, None] / (basis.variances[:, None] + ridges), 0.0
    )
    left_out = np.maximum(1.0 - basis.p[:, None] - basis.squares @ shrunk, _LEAST_LEFT)
    along = basis.V.T @ scaled
    least, best = np.inf, shrunk[:, -1]
    for f, h in zip(shrunk.T, left_out.T, strict=True):
        if f.sum() * float(basis.p @ basis.p) > MOST_FREEDOM:
            continue  # too little would be left to test
        error = float((((scaled - basis.V @ (f[:, None] * along)) / h[:, None]) ** 2).sum())
        least, best = min((least, best), (error, f), key=lambda each: each[0])
    return least, best
