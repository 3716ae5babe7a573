r"""Test whether x explains y beyond z, by products of the residuals of both given z.

With residuals :math:`r = y - \hat m(z)` and :math:`e = \varphi(x - \hat g(z)) - \hat h(z)` the
statistics are

.. math:: T = \Bigl\| \sum_i r_i e_i \Bigr\|^2, \qquad
   T' = \Bigl\| \sum_i r_i e_i \otimes \psi(z_i) \Bigr\|^2,

for effects of x alone and for effects that depend on z, where ψ(z) are the given features. If x
adds nothing, each product has mean zero, up to the *product* of the errors of both regressions.
Given the size of each product, their sum is approximately normal, so T is a weighted sum of χ²
variables with the eigenvalues of :math:`\sum_i r_i^2 e_i e_i^\top` as weights. Nothing is assumed
about how the spread of x or y depends on z.

A penalty would shrink even a strong line of one of many columns, in x and in y alike. So lines in z
are not penalised, nor are functions of single columns that x or y clearly follow: cosines of the
ranks, for bends, and steps, for jumps. Kernel ridge regression does the rest.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, gamma, norm

from covmin.constants import FUNCTION_RIDGES, FUNCTION_SCALES, NEGLIGIBLE_SHARE
from covmin.core.regression import Basis
from covmin.core.screening import N_FUNCTIONS, Ranked
from covmin.core.screening.ranks import orthonormal
from covmin.data.blocks.views import NormalScores

#: Samples that the lines must leave.
SAMPLES_LEFT = 10
# Smallest number of samples on either side of a step.
_SIDE = 5
# Share of a function that is not due to earlier ones, below which it is rounding or chance.
_LEAST_BEYOND = 0.05
# Lower bound on the share of independent noise that a regression leaves in a sample.
_LEAST_LEFT = 1e-6
_ROUNDING = 1e-12
# Largest number of products of two columns that are looked at.
_MOST_PRODUCTS = 1000
# Length scale of the functions φ of a residual: most of their variance is a line, some oscillates.
_FEATURE_SCALE = FUNCTION_SCALES[1]
# Share of the variance of these functions that is used; the rest does not change a p-value.
_FEATURE_SHARE = 0.999
# χ² weights below this fraction of the largest do not affect the tail.
_NEGLIGIBLE_WEIGHT = 1e-6


def residual_product_test(
    X: np.ndarray, weights: np.ndarray, Y: np.ndarray, given: "Given"
) -> tuple[float, float]:
    """Test whether columns of normal scores explain Y beyond the given features.

    The columns X (n, c), with their weights, are tested as one set. They and the responses Y (n, k)
    have the same rows as ``given``. Returns the p-value, twice the smaller one of effects that
    depend on the given features and of effects that do not, and its statistic divided by its mean
    under the null hypothesis.
    """
    if X.shape[1] == 0:
        return 1.0, 0.0
    p = given.p
    columns, responses = given.scaled(X), given.scaled(Y)
    regressions = given.regressions(columns, responses)
    smoother_of_x, share_left = regressions.smoother(columns)
    if share_left < NEGLIGIBLE_SHARE:  # the given features determine X
        return 1.0, 0.0
    smoother_of_y, _ = regressions.smoother(responses)
    R = smoother_of_y.residuals(responses)
    # Functions of the normal scores of residuals: their leading kernel components.
    scores = normal_scores(smoother_of_x.residuals(columns) / np.sqrt(p)[:, None], p)
    basis = Basis.of(scores, weights / weights.sum(), p, _FEATURE_SCALE)
    shares = np.cumsum(basis.variances) / basis.variances.sum()
    features = given.scaled(basis.components(int(np.searchsorted(shares, _FEATURE_SHARE)) + 1))
    smoother, _ = regressions.smoother(features)
    E = smoother.residuals(features)
    # Residuals on the fitted samples are too small, and so are their products; correct for this.
    left = smoother_of_y.left * smoother.left
    spread = np.sqrt(smoother_of_y.left_by_both(smoother) / left)
    alone = _tail(spread, R, E)
    if given.Z.shape[1] == 0:
        return alone
    p_value, ratio = min(alone, _tail(spread, R, E, given.lines))
    return min(1.0, 2.0 * p_value), ratio


def normal_scores(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return normal scores of each column with unit variance; constant columns become zero."""
    skipped = np.zeros(columns.shape[1], dtype=bool)
    scores = NormalScores.of(columns, p, skipped).apply(columns)
    scores -= p @ scores
    spread = np.sqrt(p @ scores**2)
    return scores / np.where(spread > 1e-6, spread, np.inf)


def _tail(spread: np.ndarray, *factors: np.ndarray) -> tuple[float, float]:
    """Return the p-value of ``‖Σᵢ rᵢ ⊗ eᵢ ⊗ …‖²``, and its ratio to the null mean.

    ``spread`` (n,) is the size of each product under the null hypothesis, relative to its own.
    """
    if np.prod([factor.shape[1] for factor in factors]) > spread.size:
        # Inner products of the products are products of inner products.
        moments = np.prod([factor @ factor.T for factor in factors], axis=0)
        statistic = float(moments.sum())
        moments *= np.outer(spread, spread)
    else:
        products = factors[0]
        for factor in factors[1:]:
            products = (products[:, :, None] * factor[:, None, :]).reshape(spread.size, -1)
        statistic = float((products.sum(axis=0) ** 2).sum())
        products = products * spread[:, None]
        moments = products.T @ products
    mean = float(np.trace(moments))
    return (quadratic_tail(moments, statistic), statistic / mean) if mean > 0.0 else (1.0, 0.0)


def quadratic_tail(M: np.ndarray, value: float) -> float:
    """Return P(zᵀMz ≥ value) for a positive semidefinite M and independent normal z.

    This is a sum of χ² variables with the eigenvalues λ of M as weights. Uses the saddlepoint
    formula of Lugannani and Rice in the form of Barndorff-Nielsen, whose relative error is a few
    per cent even for very small probabilities. Below the mean, where no decision is made, it uses a
    gamma distribution with the same mean and variance.

    >>> round(quadratic_tail(np.eye(1), 3.841), 2)
    0.05
    """
    mean, variance = float(np.trace(M)), 2.0 * float((M**2).sum())
    if value <= mean + 0.1 * np.sqrt(variance):  # the saddlepoint is close to zero
        return float(gamma.sf(value, mean**2 / variance, scale=variance / mean))
    weights = np.linalg.eigvalsh(M)
    largest = float(weights[-1])
    weights = weights[weights > _NEGLIGIBLE_WEIGHT * largest] / largest
    value = value / largest
    # The largest weight is one, so its term alone is twice the value at the end of the bracket.
    s = brentq(
        lambda s: (weights / (1.0 - 2.0 * s * weights)).sum() - value, 0.0, 0.5 - 0.25 / value
    )
    cumulant = -0.5 * np.log1p(-2.0 * s * weights).sum()
    curvature = 2.0 * ((weights / (1.0 - 2.0 * s * weights)) ** 2).sum()
    w = np.sqrt(2.0 * (s * value - cumulant))
    v = s * np.sqrt(curvature)
    return float(norm.sf(w + np.log(v / w) / w))


# --- regressions on the given features ------------------------------------------------------------


@dataclass(frozen=True)
class Smoother:
    """``S = √p√pᵀ + V diag(f) Vᵀ``: a linear regression with an intercept."""

    basis: Basis
    f: np.ndarray  # (D,), shrinkage factor of each direction

    def residuals(self, targets: np.ndarray) -> np.ndarray:
        """Return ``(I − S) T`` for centred targets T (n, k)."""
        V = self.basis.V
        left: np.ndarray = targets - V @ (self.f[:, None] * (V.T @ targets))
        return left

    @property
    def left(self) -> np.ndarray:
        """``diag((I − S)²)``, the share of independent noise left in each sample."""
        rest = 1.0 - self.basis.p - self.basis.squares @ (1.0 - (1.0 - self.f) ** 2)
        return np.maximum(rest, _LEAST_LEFT)

    def left_by_both(self, other: Self) -> np.ndarray:
        """Return ``diag(AAᵀ)`` with ``A = (I − S)(I − S')``."""
        p, f, g = self.basis.p, self.f, other.f
        if other.basis is self.basis:
            kept = 1.0 - p - self.basis.squares @ (1.0 - ((1.0 - f) * (1.0 - g)) ** 2)
            return np.maximum(kept, _LEAST_LEFT)
        # AAᵀ = (I − S)(I − S')²(I − S); with U = (I − S)V' the second factor takes g(2 − g) off.
        kept = self.left - self.residuals(other.basis.V) ** 2 @ (1.0 - (1.0 - g) ** 2)
        return np.maximum(kept, _LEAST_LEFT)


@dataclass(frozen=True)
class Given:
    """Normal scores Z (n, q) of the given features, in random order; there may be none."""

    Z: np.ndarray
    weights: np.ndarray  # (q,), of the columns; those of a feature add up to one
    p: np.ndarray  # (n,), weights that sum to one
    scales: tuple[float, ...] = FUNCTION_SCALES

    @cached_property
    def lines(self) -> np.ndarray:
        """The features themselves (n, q), of variances that sum to one."""
        scaled: np.ndarray = self.Z * np.sqrt(self.weights / self.weights.sum())
        return scaled

    def scaled(self, targets: np.ndarray) -> np.ndarray:
        """Return the centred targets (n, k) times √p."""
        return np.sqrt(self.p)[:, None] * (targets - self.p @ targets)

    def regressions(self, *targets: np.ndarray) -> "Regressions":
        """Return regressions that remove from any target what these targets clearly follow."""
        if self.Z.shape[1] == 0:
            nothing = Basis.of_kernel(np.ones((self.p.size, 1)), self.p)
            return Regressions((nothing,), nothing.V)
        n_lines = max(1, round(1.0 / (self.p @ self.p)) - SAMPLES_LEFT)
        free = orthonormal(self.scaled(self.Z))[:, :n_lines]
        functions = _Functions(self.Z, self.p)
        for target in targets:
            free = functions.followed(target, free)
        shares = self.weights / self.weights.sum()
        kernels = [Basis.of(self.Z, shares, self.p, scale) for scale in self.scales]
        return Regressions(tuple(_beyond(kernel, free) for kernel in kernels), free)


def _beyond(basis: Basis, free: np.ndarray) -> Basis:
    """Return the free directions, and those of a basis that are orthogonal to them."""
    F = basis.V * np.sqrt(basis.variances)
    F = F - free @ (free.T @ F)
    variances, rotation = np.linalg.eigh(F.T @ F)
    kept = np.flatnonzero(variances > _ROUNDING * basis.variances.sum())[::-1]
    variances = variances[kept]
    V = np.column_stack([free, F @ (rotation[:, kept] / np.sqrt(variances))])
    return Basis(V, variances, basis.p, basis.rotation, basis.mean)


@dataclass(frozen=True)
class Regressions:
    """Regressions with some directions that are not penalised, at several length scales."""

    bases: tuple[Basis, ...]
    free: np.ndarray  # (n, n_free), the first directions of each basis

    def smoother(self, targets: np.ndarray) -> tuple[Smoother, float]:
        """Return the smoother with the lowest leave-one-out error, and its relative error.

        The error is a fraction of that of the mean. The targets must have comparable scales. A
        smoother that passes through a sample has no leave-one-out error there, and does not count,
        nor does one that leaves almost no degrees of freedom.
        """
        basis, n_free = self.bases[0], self.free.shape[1]
        only_free = np.concatenate([np.ones(n_free), np.zeros(basis.V.shape[1] - n_free)])
        best, least = Smoother(basis, only_free), np.inf
        for basis in self.bases:
            penalised = basis.variances[:, None] / (basis.variances[:, None] + FUNCTION_RIDGES)
            factors = np.vstack([np.ones((n_free, len(FUNCTION_RIDGES))), penalised])
            left = 1.0 - basis.p[:, None] - basis.squares @ factors
            leaves_enough = left.sum(axis=0) >= 0.5 * SAMPLES_LEFT
            factors = factors[:, leaves_enough & (left.min(axis=0) > _LEAST_LEFT)]
            for f, left_out in zip(factors.T, basis.leave_one_out(targets, factors), strict=True):
                error = float((left_out**2).sum())
                if error < least:
                    best, least = Smoother(basis, f), error
        of_mean = float(((targets / (1.0 - basis.p[:, None])) ** 2).sum())
        return best, min(least / max(of_mean, np.finfo(float).tiny), 1.0)


class _Functions:
    """Functions of columns Z (n, q) of normal scores: cosines of ranks, products, and steps."""

    def __init__(self, Z: np.ndarray, p: np.ndarray) -> None:
        self._Z, self._root = Z, np.sqrt(p)[:, None]
        self._n = 1.0 / (p @ p)  # effective number of samples
        cosines = Ranked.of(Z, p).functions(np.arange(Z.shape[1]), 2 * N_FUNCTIONS)[1:]
        waves = cosines.reshape(-1, len(Z)).T
        waves = waves[:, p @ waves**2 > 0.5]  # not those of few values
        if Z.shape[1] * (Z.shape[1] - 1) <= 2 * _MOST_PRODUCTS:
            first, second = np.triu_indices(Z.shape[1], 1)
            products = Z[:, first] * Z[:, second]
            products -= p @ products
            products /= np.sqrt(np.maximum(p @ products**2, _ROUNDING))
            waves = np.hstack([waves, products])
        self._waves = waves * self._root
        self._order = np.argsort(Z, axis=0, kind="stable")
        self._sorted = np.take_along_axis(Z, self._order, axis=0)
        weights = p[self._order]
        # The variance of a step after each value, and what a line of its column leaves of it.
        below = np.cumsum(weights, axis=0)
        slope = np.cumsum(weights * self._sorted, axis=0)
        self._variance = below * (1.0 - below)
        self._beyond_line = self._variance - slope**2 / np.maximum(p @ Z**2, _ROUNDING)
        differs = np.zeros(Z.shape, dtype=bool)
        differs[:-1] = self._sorted[1:] > self._sorted[:-1]
        self._is_step = differs & (np.minimum(below, 1.0 - below) >= _SIDE / self._n)
        self._n_tried = max(1, self._waves.shape[1] + int(self._is_step.sum()))

    def followed(self, target: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return the free directions, and those of functions that a target clearly follows.

        Steps are sought beyond the lines, and without them: stairs are far from any line, but only
        after their first step. The better fit, by generalised cross-validation, counts.
        """
        beyond_lines = self._forward(target, free, self._beyond_line)
        steps = self._forward(target, free[:, :0], self._variance)
        steps = np.column_stack([free, orthonormal(steps - free @ (free.T @ steps), _LEAST_BEYOND)])

        def error(found: np.ndarray) -> float:
            rest = target - found @ (found.T @ target)
            return float((rest**2).sum() / max(self._n - 1.0 - found.shape[1], 1.0) ** 2)

        return min(beyond_lines, steps, key=error)

    def _forward(self, target: np.ndarray, found: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Add the strongest function, given the earlier ones, until chance would name one too."""
        codes = orthonormal(target - found @ (found.T @ target), _ROUNDING)
        is_step = self._is_step & (variance > _LEAST_BEYOND * self._variance)
        waves = self._waves if found.size else self._waves[:, :0]
        for _ in range(int(self._n / 8)):
            if codes.shape[1] == 0:
                break
            left = codes - found @ (found.T @ codes)
            sums = np.cumsum((self._root * left)[self._order], axis=0)
            steps = np.where(is_step, (sums**2).sum(axis=2) / np.maximum(variance, _ROUNDING), 0.0)
            beyond = waves - found @ (found.T @ waves)
            sizes = (beyond**2).sum(axis=0)
            sums_of_waves = ((beyond.T @ left) ** 2).sum(axis=1)
            of_waves = np.where(sizes > _LEAST_BEYOND, sums_of_waves / np.maximum(sizes, 1e-9), 0.0)
            share = max(steps.max(initial=0.0), of_waves.max(initial=0.0))
            share = min(1.0, share * codes.shape[1] / max(float((left**2).sum()), _ROUNDING))
            # The share of a random direction in what is left.
            n_left, k = self._n - 1.0 - found.shape[1], codes.shape[1]
            if self._n_tried * beta.sf(share, 0.5 * k, 0.5 * max(n_left - k, 1.0)) > 1.0:
                break
            if steps.max(initial=0.0) >= of_waves.max(initial=0.0):
                place, column = np.unravel_index(np.argmax(steps), steps.shape)
                step = self._Z[:, [column]] > self._sorted[place, column]
                vector = self._root * (step - (self._root**2).T @ step)
            else:
                vector = waves[:, [int(np.argmax(of_waves))]]
            vector = orthonormal(vector - found @ (found.T @ vector), _ROUNDING)
            found = np.column_stack([found, vector])
        return found
