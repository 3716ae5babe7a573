"""Screen single columns, pairs and larger sets of columns for associations with the response."""

from dataclasses import dataclass, field
from functools import cached_property, partial
from math import comb
from typing import Self

import numpy as np
from scipy.special import betaincc, betainccinv

from covmin.constants import TESTED_ROWS

from ..arrays import Array, to_numpy
from .products import (
    SEARCH,
    Search,
    beyond_columns,
    by_chance,
    many_carry,
    one_after_another,
    outstanding,
    prior,
    without,
)
from .ranks import ALL_FUNCTIONS, N_FUNCTIONS, Ranked, orthonormal, standard_ranks

# Squared length below which what is left of a vector is a rounding error.
_ROUNDING = 1e-6
# Largest number of columns whose single effects are compared.
_MOST_COLUMNS = 2000
# No sets of two columns, and of one.
_NO_PAIRS, _NO_COLUMNS = (partial(np.empty, (0, order), np.int64) for order in (2, 1))


@dataclass(frozen=True)
class Found:
    """Sets of columns that are associated with the response, in the order found.

    The sets may have different sizes; the places of smaller ones that are not used hold -1.
    """

    columns: np.ndarray = field(default_factory=_NO_PAIRS)  # (n_sets, order)
    # (n_sets, order), units of the columns; -1 for columns always included
    units: np.ndarray = field(default_factory=_NO_PAIRS)
    # (n_sets,): fraction of the variance of the product that is associated with the response,
    # after its columns, single effects and earlier sets have been removed.
    share: np.ndarray = field(default_factory=lambda: np.empty(0))
    # (n_sets,), corrected for everything searched
    p_value: np.ndarray = field(default_factory=lambda: np.empty(0))
    n_samples: float = 0.0  # effective number: duplicates and unequal weights reduce it

    def members_within(self, budget: float = np.inf) -> np.ndarray:
        """Return the units of the first sets that fit in the budget, in increasing order."""
        members = np.empty(0, dtype=np.int64)
        for units in self.units:
            more = np.union1d(members, units[units >= 0])
            if more.size > budget:
                break
            members = more
        return members


@dataclass(frozen=True)
class Protected:
    """Features that a path protects, whatever the criterion, while many features remain.

    With few features left, the criterion decides about members of interactions, and features that
    affect the spread are no longer protected.
    """

    interactions: Found = field(default_factory=Found)
    spread: Found = field(default_factory=lambda: Found(_NO_COLUMNS(), _NO_COLUMNS()))
    # Units with significant single effects, each given the earlier ones. A path that sees all rows
    # need not protect them, but it may drop them among many others.
    alone: np.ndarray = field(default_factory=partial(np.empty, 0, np.int64))
    above: float = 0.0  # "many" means more features than this


@dataclass(frozen=True)
class Screening:
    """Significance tests of functions of the ranks of columns, and of their products.

    Columns and responses are replaced by ranks, and each column by a few functions of its ranks: a
    line and cosines. Without dependence, the association of a product with the response is then
    distributed almost like that of a random direction, even in the tail: functions of ranks are
    bounded, and a dependence that few samples carry, such as rare values, does not count.
    """

    ranked: Ranked
    of_column: np.ndarray  # (d,), unit of each column; columns of the same unit do not interact
    search: Search
    # (n, k), the response as orthonormal vectors, centred and times √p like all vectors here; none
    # if there are too few samples
    codes: np.ndarray
    shares: np.ndarray  # (n_functions, d), association of each function with the response

    @classmethod
    def of(
        cls,
        X: Array,
        Y: Array,
        p: Array,
        of_column: np.ndarray,
        search: Search = SEARCH,
        n_threads: int = 1,
        ranked: Ranked | None = None,
    ) -> Self:
        """Rank the columns of X (n, d) and the responses Y (n, k), with weights p.

        Duplicates of a sample should be merged, with a larger weight. A response is represented by
        its principal components. Another response can use the same ``ranked`` columns.
        """
        ranked = Ranked.of(X, p, n_threads) if ranked is None else ranked
        responses, root = to_numpy(Y), np.sqrt(ranked.p)[:, None]
        centred = (responses - ranked.p @ responses).astype(np.float64)
        _, sizes, directions = np.linalg.svd(root * centred, full_matrices=False)
        power = np.cumsum(sizes**2)
        n_kept = int(np.searchsorted(power, search.response_share * power[-1])) + 1
        ranks, _ = standard_ranks(centred @ directions[:n_kept].T, ranked.p)
        codes = orthonormal(root * ranks.T)
        # Up to rounding of the effective number of samples.
        if ranked.n_samples < search.fewest_samples * (1.0 - 1e-9):
            codes = codes[:, :0]
        return cls(ranked, of_column, search, codes, ranked.shares(codes))

    def first(self, n_rows: int) -> Self:
        """Return the same for the first rows; ranks of ranks are ranks."""
        ranked, codes = self.ranked, self.codes[:n_rows]
        p, Y = ranked.p[:n_rows], codes / np.sqrt(ranked.p[:n_rows, None])
        X, threads = ranked.line[:, :n_rows].T, ranked.n_threads
        return self.of(X, Y, p / p.sum(), self.of_column, self.search, threads)

    @cached_property
    def effects(self) -> tuple[np.ndarray, np.ndarray]:
        """Functions of single columns that are significantly associated with the response.

        Each is the strongest one given the earlier ones. They are orthonormal vectors (n,
        n_effects), each given the earlier ones, with the column of each, and are removed before
        interactions are named. Enough samples must remain.
        """
        ranked, codes, search = self.ranked, self.codes, self.search
        root = np.sqrt(ranked.p)
        level = search.level * prior(ALL_FUNCTIONS) / ranked.spread.size
        least = betainccinv(*by_chance(ranked.n_samples, codes.shape[1]), level)[:, None]
        highest = (ranked.shares(codes, ALL_FUNCTIONS) / least).max(axis=0)
        n_strong = min(_MOST_COLUMNS, int((highest >= 1.0).sum()))
        columns = np.argsort(-highest, kind="stable")[:n_strong]
        functions = to_numpy(ranked.kept(columns, ALL_FUNCTIONS))
        effects, places = np.empty((root.size, 0)), list[int]()
        most = min(ALL_FUNCTIONS * search.most, ranked.n_samples // 4)
        while columns.size and len(places) < most:
            left = root[:, None] * without(effects, codes)
            shares = ((functions @ left.astype(np.float32)) ** 2).sum(axis=2)
            shares[shares < least] = 0.0
            which, place = np.unravel_index(np.argmax(shares), shares.shape)
            if shares[which, place] == 0.0:
                break
            vector = (root * functions[which, place])[:, None]
            effects = np.column_stack([effects, orthonormal(without(effects, vector))])
            places.append(int(place))
        return effects, columns[places]

    @property
    def singles(self) -> np.ndarray:
        """Units with significant single effects, each given the earlier ones."""
        if self.codes.size == 0:
            return np.empty(0, dtype=np.int64)
        units = self.of_column[self.effects[1]]
        first = np.sort(np.unique(units, return_index=True)[1])
        return units[first][units[first] >= 0]

    def p_values(self, level: float = 1.0) -> np.ndarray:
        """Return the p-value of each single column, corrected for its functions only.

        It is one if too few samples carry the association, or if it exceeds ``level``.
        """
        ranked, k = self.ranked, self.codes.shape[1]
        if k == 0:
            return np.ones(self.of_column.size)
        null, share = by_chance(ranked.n_samples, k), prior(N_FUNCTIONS)[:, None]
        # Tails are slow to compute, so only those that may count.
        small = self.shares >= betainccinv(*null, np.minimum(level * share, 1.0))
        tails = np.ones(self.shares.shape)
        tails[small] = betaincc(*null, self.shares[small])
        tails = np.where(small, tails / share, 1.0)
        # Only small p-values need to be checked.
        which, columns = np.nonzero(tails < self.search.level)
        functions = to_numpy(ranked.functions(columns))[which, np.arange(which.size)]
        carried = many_carry((np.sqrt(ranked.p) * functions).T, self.codes, self.search)
        tails[which[~carried], columns[~carried]] = 1.0
        return np.minimum(tails.min(axis=0), 1.0)

    def p_value_of(self, unit: int) -> float:
        """Return the p-value of the columns of a unit, all together or by the best one of them."""
        its, (n, k) = self.of_column == unit, self.codes.shape
        lines = orthonormal((np.sqrt(self.ranked.p) * to_numpy(self.ranked.line[its])).T)
        share, K = ((lines.T @ self.codes) ** 2).sum() / max(k, 1), lines.shape[1]
        together = betaincc(0.5 * k * K, 0.5 * k * max(n - 1 - K, 1), share) if k * K else 1.0
        return min(1.0, 2.0 * min(together, its.sum() * self.p_values()[its].min()))

    def spread(self) -> Found:
        """Find columns that affect the spread of a numeric response more than its mean.

        An interaction affects the spread even if it does not affect the mean: if one factor of a
        product is small, the response is close to its mean, whatever the other factor. Columns with
        single effects are removed with all their functions: the rank transform distorts a single
        effect, so that it also changes the spread of the ranks.
        """
        root = np.sqrt(self.ranked.p)[:, None]
        # For two classes only rounding errors remain.
        squares = without(np.column_stack([root, self.codes]), self.codes**2 / root)
        squares = orthonormal(squares, _ROUNDING)
        found = self._screen(squares, self.search.level, N_FUNCTIONS, 1, squares[:, :0])
        columns, share, p_values, _ = found
        return Found(columns, self.of_column[columns], share, p_values, self.ranked.n_samples)

    def interactions(self, order: int = 2, n_functions: int = N_FUNCTIONS) -> Found:
        """Find sets of up to ``order`` columns whose product explains more than fewer of them.

        A set is named if its association is significant among all products of all sets, after the
        functions of its columns, products of fewer of them, the single effects of all columns and
        the smaller sets have been removed, and if the product explains more than any of its
        columns. The strongest set of a size is named first, then the strongest given the earlier
        ones, so that sets of similar features are named once. Half of the significance level is for
        pairs, a quarter for triples, and so on; the smallest share twice. ``n_functions`` of each
        column are for pairs; larger sets use the plain ranks, of up to 5000 rows.
        """
        of_sizes, vectors, seen = [], np.empty((len(self.codes), 0)), self
        for size in range(2, order + 1):
            level = self.search.level * 0.5 ** min(size - 1, order - 2)
            n_each = n_functions if size == 2 else 1
            if size == 3 and self.codes[TESTED_ROWS:].size:
                seen = self.first(TESTED_ROWS)
                vectors = vectors[: len(seen.codes)]
            columns, share, p_values, named = seen._screen(seen.codes, level, n_each, size, vectors)
            columns = np.pad(columns, ((0, 0), (0, order - size)), constant_values=-1)
            of_sizes.append((columns, share, p_values))
            vectors = np.column_stack([vectors, named])
        columns, share, p_values = map(np.concatenate, zip(*of_sizes, strict=True))
        units = np.where(columns < 0, -1, self.of_column[columns])
        return Found(columns, units, share, p_values, self.ranked.n_samples)

    def _screen(
        self, codes: np.ndarray, level: float, n_functions: int, order: int, smaller: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return sets (n_sets, order), their shares and p-values, and their products as vectors.

        The products are beyond those of ``smaller`` sets.
        """
        n, d, search = self.ranked.n_samples, self.of_column.size, self.search
        nothing = np.empty((0, order), dtype=np.int64), np.empty(0), np.empty(0), codes[:, :0]
        if codes.size == 0 or d < order:
            return nothing
        levels = level * prior(n_functions, order) / comb(d, order)
        least = betainccinv(*by_chance(n, codes.shape[1]), levels)
        if least.min() >= 1.0:
            return nothing  # no association can be significant
        alone = self.shares.sum(axis=0)
        sets, functions, strength = outstanding(
            self.ranked, codes, self.of_column, alone, least, search.least_variance
        )
        if strength.size == 0:
            return nothing

        effects, columns = self.effects
        if order == 1:
            # All functions of the first columns found, in that order.
            first = np.sort(np.unique(columns, return_index=True)[1])
            columns = columns[first][: int(min(search.most, n / 4 / ALL_FUNCTIONS))]
            every = to_numpy(self.ranked.functions(columns, ALL_FUNCTIONS)).reshape(-1, len(codes))
            effects = orthonormal(np.sqrt(self.ranked.p)[:, None] * every.T)
        elif smaller.size:
            effects = np.column_stack([effects, orthonormal(without(effects, smaller))])
        left_of_codes = without(effects, codes)
        left = orthonormal(left_of_codes, _ROUNDING)
        if left.size == 0:
            return nothing  # the effects explain everything
        vectors, sizes = beyond_columns(self.ranked, sets, functions)
        vectors = without(effects, vectors)
        vectors *= (vectors**2).sum(axis=0) > search.least_left * sizes
        vectors *= many_carry(vectors, codes, search)

        null, which = by_chance(n - effects.shape[1], left.shape[1]), tuple(functions.T)
        share_left = float((left_of_codes**2).sum() / codes.shape[1])
        threshold = np.maximum(
            betainccinv(*null, levels[which]), alone[sets].max(axis=1) / share_left
        )
        # Columns that are always included have no unit; they have keys of their own.
        units = self.of_column[sets]
        keys = np.sort(np.where(units < 0, sets + d, units), axis=1)
        named, share = one_after_another(vectors, left, keys, threshold, search)
        p_values = search.level * betaincc(*null, share) / levels[which][named]
        return sets[named], share, p_values, vectors[:, named]
