"""Knockoffs of tables with columns of any kind, by a Gaussian copula.

Each column is a function of latent, jointly Gaussian variables. A value determines them exactly for
numbers without ties, and up to an interval for ties, levels and missing values. To copy a table,
the latent variables are drawn given the values, their copies are drawn given them, and the copies
are transformed back to values. If the model is correct, swapping a unit with its copy does not
change the joint distribution.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial import KDTree
from scipy.special import ndtr, ndtri
from scipy.stats import chi2, norm

from covmin.constants import CURVED_SHARE, GIBBS_SWEEPS, NEGLIGIBLE_SHARE, WORK
from covmin.core.units import ALWAYS_ON
from covmin.data import Layout

# Probability of a warning about any columns if all columns are jointly Gaussian.
_CURVED_LEVEL = 0.01
_MAX_SWEEPS, _TOLERANCE = 100, 1e-6
# Half waves over the ranks of a column that are sought in other columns.
_N_WAVES = 8
# Smallest shrinkage of a correlation: less is rounding if columns are copies of each other.
_LEAST_SHRINKAGE = 1e-4


class TableKnockoffs:
    """Draws knockoffs of the units of a table, conditional on the given columns.

    X (n_samples, n_encoded) are the encoded columns, with NaN for missing values; ``index`` are
    those that vary, in an order that does not depend on their positions; p are weights that sum to
    one.
    """

    def __init__(
        self,
        X: np.ndarray,
        layout: Layout,
        index: np.ndarray,
        p: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        self._X, self._p = X, p
        inputs, first = np.unique(layout.source[index], return_index=True)
        marks_missing = np.isin(np.arange(layout.source.size), layout.indicators)
        self._columns: list[tuple[np.ndarray, LatentColumn]] = []  # with their encoded columns
        units, numbers, sizes = list[int](), list[int](), list[int]()
        for j in inputs[np.argsort(first)]:
            members = index[layout.source[index] == j]
            marks = None if layout.categorical[j] else marks_missing[members]
            column = LatentColumn(X[:, members], p, marks)
            self._columns.append((members, column))
            n_latent, unit = sum(column.sizes), layout.unit[j]
            units += [ALWAYS_ON if layout.given[unit] else unit] * n_latent
            numbers += [-1] * n_latent if marks is None else np.where(marks, -1, members).tolist()
            sizes += column.sizes
        self._numbers = np.array(numbers)  # encoded column of a latent variable, or −1
        self._lower = np.hstack([column.lower for _, column in self._columns])
        self._upper = np.hstack([column.upper for _, column in self._columns])
        independent = np.repeat(np.arange(len(sizes)), sizes)
        self._Z, correlation = _estimate(self._lower, self._upper, independent, p, rng)
        self._precision = np.linalg.inv(correlation)
        self._units = np.array(units)
        self._knockoffs = GaussianKnockoffs(correlation, self._units)

    def curved(self) -> np.ndarray:
        """Return columns (n_found, 3), in different units, of which the third follows the others.

        A copy has no such dependence, so it can be distinguished from its original.
        """
        known = np.flatnonzero(self._numbers >= 0)
        precision = np.linalg.inv(np.linalg.inv(self._precision)[np.ix_(known, known)])
        triples = curved_triples(self._Z[:, known], precision, self._p)
        units = self._units[known][triples]
        return np.asarray(self._numbers[known][triples][np.ptp(units, axis=1) > 0])

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a copy of the encoded columns (n_samples, n_encoded); given ones are unchanged."""
        Z = self._Z
        for _ in range(GIBBS_SWEEPS):
            Z = _gibbs_sweep(Z, self._precision, self._lower, self._upper, rng)
        drawn = self._knockoffs.draw(Z, rng)
        copies, stop = self._X.copy(), 0
        for members, column in self._columns:
            start, stop = stop, stop + sum(column.sizes)
            if start in self._knockoffs.free:
                copies[:, members] = column.values(drawn[:, start:stop])
        return copies


def curved_triples(Z: np.ndarray, precision: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return variables a ≤ b and c (n_found, 3), strongest first: functions of a and b show in c.

    These are the product za·zb and, for a = b, waves over the ranks of za too. What all others
    leave of a variable in a linear regression is independent of them if all are jointly Gaussian.
    Then ``n r²`` of its correlation r with a function of theirs, divided by the mean of the squared
    products, is χ² with one degree of freedom in large samples. A triple must be significant among
    all, and the function must explain a relevant share of what is left. Among many columns, only
    functions of one are looked at.
    """
    n, d = Z.shape
    Z = Z - p @ Z
    Z /= np.sqrt(p @ Z**2)
    left = Z @ precision
    left /= np.sqrt(p @ left**2)
    most = d if n * d**3 <= WORK[0] else 1  # columns b after each a, itself included
    n_triples = sum(min(most, d - a) + _N_WAVES for a in range(d)) * max(d - 1, 1)
    least = chi2.isf(_CURVED_LEVEL / n_triples, 1) * (p @ p)
    triples, shares = np.empty((0, 3), dtype=int), np.empty(0)
    for a in range(d):
        waves = np.cos(np.pi * ndtr(Z[:, [a]]) * np.arange(1, _N_WAVES + 1))
        functions = np.hstack([Z[:, a : a + most] * Z[:, [a]], waves])
        functions -= p @ functions
        functions /= np.sqrt(p @ functions**2)
        other = np.append(np.arange(a, min(a + most, d)), np.full(_N_WAVES, a))
        r = (functions.T * p) @ left
        r[:, a] = r[np.arange(len(r)), other] = 0.0
        found = (r**2 > least * ((functions.T**2 * p) @ left**2)) & (r**2 > CURVED_SHARE)
        of, c = np.nonzero(found)
        triples = np.vstack([triples, np.column_stack([np.full(c.size, a), other[of], c])])
        shares = np.append(shares, r[of, c] ** 2)
    return triples[np.argsort(-shares, kind="stable")]


# --- copies of Gaussian variables ----------------------------------------------------------------
# For variables Z with covariance Σ in units, the pair [Z Z̃] has the covariance
# ``[[Σ, Σ − S], [Σ − S, Σ]]``, where S has one block per unit. Swapping a unit with its copy then
# leaves the distribution unchanged. The larger S is, the less a copy resembles its original, and
# the more powerful is their comparison.


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


# --- the latent variables ------------------------------------------------------------------------


def _estimate(
    lower: np.ndarray,
    upper: np.ndarray,
    independent: np.ndarray,
    p: np.ndarray,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return latent variables within their bounds, and their correlation, estimated in turns."""
    Z = _gibbs_sweep(np.zeros_like(lower), np.eye(lower.shape[1]), lower, upper, rng)
    if (lower == upper).all():
        return Z, shrink(*correlation(Z, independent, p))
    correlations = []
    for _ in range(GIBBS_SWEEPS):
        S, alpha = correlation(Z, independent, p)
        correlations.append(shrink(S, alpha))
        # What is shrunk here is shrunk again in the next turn: a strong correlation of rounded
        # columns would be lost. Without any shrinkage, chance correlations grow from turn to turn.
        Z = _gibbs_sweep(Z, np.linalg.inv(shrink(S, 0.5 * alpha)), lower, upper, rng)
    return Z, np.mean(correlations[GIBBS_SWEEPS // 2 :], axis=0)


def shrink(S: np.ndarray, alpha: float) -> np.ndarray:
    """Return ``(1 − α)S + αI``."""
    return np.asarray((1.0 - alpha) * S + alpha * np.eye(len(S)))


def correlation(Z: np.ndarray, independent: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the correlation S, zero within each independent set, and the shrinkage α it needs.

    α maximises the leave-one-out likelihood of the samples, which depends on the smallest
    eigenvalues: columns that others nearly determine are hardly shrunk, independent ones are
    wholly. With r = zᵢᵀΣ⁻¹zᵢ, leaving out zᵢ turns log|Σ| + r into ``log|Σ| + log h + r/h``, where
    ``h = 1 − (1 − α)pᵢr``.
    """
    Z = Z - p @ Z
    Z = np.linalg.solve(block_roots((Z.T * p) @ Z, independent), Z.T).T
    S = (Z.T * p) @ Z
    values, vectors = np.linalg.eigh(S)
    squares = (Z @ vectors) ** 2

    def loss(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        spectrum = (1.0 - alpha) * np.maximum(values, 0.0) + alpha
        r = (squares / spectrum).sum(axis=1)
        h = 1.0 - (1.0 - alpha) * p * r
        return float(np.log(spectrum).sum() + p @ (np.log(h) + r / h))

    bounds = np.log(_LEAST_SHRINKAGE), 0.0
    return S, float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))


def _gibbs_sweep(
    Z: np.ndarray,
    precision: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw each unknown variable within its bounds given all others."""
    Z = np.asfortranarray(np.clip(Z, lower, upper))
    for j in np.flatnonzero((lower < upper).any(axis=0)):
        mean: np.ndarray = Z[:, j] - Z @ precision[:, j] / precision[j, j]
        deviation = float(precision[j, j] ** -0.5)
        u = rng.random((Z.shape[0],))
        Z[:, j] = truncated_normal(u, mean, deviation, lower[:, j], upper[:, j])
    return np.ascontiguousarray(Z)


def truncated_normal(
    u: np.ndarray, mean: np.ndarray, deviation: float, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Transform uniform variables to normal variables between bounds."""
    low, high = (lower - mean) / deviation, (upper - mean) / deviation
    # Above the mean, differences of the distribution function lose digits; use symmetry.
    flip = low > 0.0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    start = ndtr(low)
    z = ndtri(start + u * (ndtr(high) - start))
    z = np.where(np.isfinite(z), z, np.where(np.isfinite(high), high, low))
    return np.clip(mean + deviation * np.where(flip, -z, z), lower, upper)


# --- columns as functions of latent variables ----------------------------------------------------
# Columns and margins have the interval of the latent variables that each value allows (lower,
# upper), and return the values that belong to given latent variables.


class LatentColumn:
    """A category, a number or a date, encoded as a block of columns.

    ``marks_missing`` tells which columns of the block are indicators of missing values; it is None
    for a category, which is encoded by the indicators of its levels.
    """

    def __init__(self, block: np.ndarray, p: np.ndarray, marks_missing: np.ndarray | None) -> None:
        self._marks_missing = marks_missing
        self._present = block[~np.isnan(block).any(axis=1)]
        self._margins: list[LevelMargin | NumberMargin] = [LevelMargin(block, p)]
        if marks_missing is not None:
            self._margins = [
                LevelMargin(x, p) if marks else NumberMargin(x, p)
                for x, marks in zip(block.T, marks_missing, strict=True)
            ]
        self.lower = np.hstack([margin.lower for margin in self._margins])
        self.upper = np.hstack([margin.upper for margin in self._margins])
        self.sizes = [margin.lower.shape[1] for margin in self._margins]

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the block of columns that belongs to latent variables."""
        if self._marks_missing is None:
            return self._margins[0].values(z)
        drawn = [margin.values(z[:, [k]]) for k, margin in enumerate(self._margins)]
        block, numbers = np.column_stack(drawn), ~self._marks_missing
        if numbers.sum() > 1:  # a date: use the nearest date of the table
            seen = self._present[:, numbers]
            scale = seen.std(axis=0) + np.finfo(np.float64).tiny
            block[:, numbers] = seen[KDTree(seen / scale).query(block[:, numbers] / scale)[1]]
        is_missing = (block[:, self._marks_missing] > 0.0).any(axis=1)
        block[np.ix_(is_missing, numbers)] = np.nan
        return block


class NumberMargin:
    """``x = F⁻¹(Φ(z))`` with F the distribution of the values of a column.

    Without ties, the latent variable is the normal score of the rank. Ties allow the interval
    between the scores of their first and last rank. A missing value allows everything.
    """

    def __init__(self, x: np.ndarray, p: np.ndarray) -> None:
        present = ~np.isnan(x)
        values, place = np.unique(x[present], return_inverse=True)
        share = np.bincount(place, p[present])
        share = share / share.sum()
        edges = ndtri(np.concatenate([[0.0], np.minimum(np.cumsum(share)[:-1], 1.0), [1.0]]))
        scores = ndtri(np.cumsum(share) - 0.5 * share)
        scores -= share @ scores
        scores /= np.sqrt(share @ scores**2)
        self._values, self._edges, self._scores = values, edges, scores
        self._has_ties = values.size < place.size
        low, high = scores, scores
        # The variance of a standard normal variable within the intervals.
        lost = 1.0 - np.diff(norm.pdf(edges)) ** 2 @ (1.0 / share)
        if self._has_ties and lost > NEGLIGIBLE_SHARE:
            low, high = edges[:-1], edges[1:]
        self.lower = np.full((x.size, 1), -np.inf)
        self.upper = np.full((x.size, 1), np.inf)
        self.lower[present, 0], self.upper[present, 0] = low[place], high[place]

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the values (n_samples,) of latent variables (n_samples, 1)."""
        if self._has_ties:
            return self._values[np.searchsorted(self._edges[1:-1], z[:, 0])]
        return np.interp(z[:, 0], self._scores, self._values)


class LevelMargin:
    """Sequential levels, most frequent first: level l if ``zₗ > tₗ``, otherwise a later one.

    All levels but one have a latent variable. These are independent of each other, so the
    thresholds t follow from the frequencies of the levels.
    """

    def __init__(self, rows: np.ndarray, p: np.ndarray) -> None:
        self._levels, codes = np.unique(rows, axis=0, return_inverse=True)
        share = np.bincount(codes.ravel(), p)
        order = np.argsort(-share, kind="stable")
        self._levels, share = self._levels[order], share[order]
        remaining = np.cumsum(share[::-1])[::-1]
        self._thresholds = -ndtri(share[:-1] / remaining[:-1])
        level = np.argsort(order)[codes.ravel()][:, None]
        compared = np.arange(share.size - 1)
        self.lower = np.where(level == compared, self._thresholds, -np.inf)
        self.upper = np.where(level > compared, self._thresholds, np.inf)

    def values(self, z: np.ndarray) -> np.ndarray:
        """Return the levels of latent variables (n_samples, n_levels − 1)."""
        hit = z > self._thresholds
        found: np.ndarray = np.where(hit.any(axis=1), hit.argmax(axis=1), hit.shape[1])
        return np.asarray(self._levels[found])
