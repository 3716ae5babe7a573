"""Screen single columns, pairs and larger sets of columns for associations with the response."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import comb

import numpy as np

from ..arrays import Array, to_numpy
from .products import (
    ALL_FUNCTIONS,
    SEARCH,
    Search,
    beyond_columns,
    chance,
    many_carry,
    one_after_another,
    outstanding,
    prior,
    share_by_chance,
    single_effects,
    without,
)
from .ranks import N_FUNCTIONS, Ranked, orthonormal, response_codes

# Squared length below which what is left of a vector is a rounding error.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Found:
    """Sets of columns that are associated with the response, in the order found.

    The sets may have different sizes; the places of smaller ones that are not used hold -1.
    """

    columns: np.ndarray  # (n_sets, order)
    units: np.ndarray  # (n_sets, order), units of the columns; -1 for columns always included
    # (n_sets,): fraction of the variance of the product that is associated with the response,
    # after its columns, single effects and earlier sets have been removed.
    share: np.ndarray
    p_value: np.ndarray  # (n_sets,), corrected for everything searched
    n_samples: float = 0.0  # effective number: duplicates and unequal weights reduce it

    @classmethod
    def none(cls, order: int = 2, n_samples: float = 0.0) -> Found:
        """Return no sets."""
        nothing = np.empty((0, order), dtype=np.int64)
        return cls(nothing, nothing, np.empty(0), np.empty(0), n_samples)

    def with_larger(self, other: Found) -> Found:
        """Return these sets followed by sets of more columns."""
        more = ((0, 0), (0, other.columns.shape[1] - self.columns.shape[1]))
        columns, units = (np.pad(a, more, constant_values=-1) for a in (self.columns, self.units))
        return Found(
            np.concatenate([columns, other.columns]),
            np.concatenate([units, other.units]),
            np.concatenate([self.share, other.share]),
            np.concatenate([self.p_value, other.p_value]),
            self.n_samples,
        )

    @property
    def sets(self) -> list[np.ndarray]:
        """The columns of each set."""
        return [columns[columns >= 0] for columns in self.columns]

    @property
    def members(self) -> np.ndarray:
        """Units that are part of a set, in increasing order."""
        return self.members_within(self.units.size)

    def members_within(self, budget: int) -> np.ndarray:
        """Return the units of the first sets that fit in the budget."""
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

    interactions: Found = field(default_factory=Found.none)
    spread: Found = field(default_factory=lambda: Found.none(1))
    above: float = 0.0  # "many" means more features than this

    def while_many(self, members: np.ndarray, budget: int) -> np.ndarray:
        """Return the units protected at a wide stage: the members, then others if they fit."""
        others = self.spread.units.ravel()
        return np.concatenate([members, others[~np.isin(others, members)]])[: budget - 1]


@dataclass(frozen=True)
class Screening:
    """Significance tests of functions of the ranks of columns, and of their products.

    Columns and responses are replaced by ranks, and each column by a few functions of its ranks: a
    line and cosines. Without dependence, the association of a product with the response is then
    distributed almost like that of a random direction, even in the tail: functions of ranks are
    bounded, and a dependence carried by too few samples, such as rare values in rare classes, does
    not count.
    """

    X: Array  # (n, d); determines the device
    codes: np.ndarray  # (n, k), the response
    ranked: Ranked
    of_column: np.ndarray  # (d,), unit of each column; columns of the same unit do not interact
    search: Search = SEARCH

    @classmethod
    def of(
        cls,
        X: Array,
        Y: Array,
        p: Array,
        of_column: np.ndarray,
        search: Search = SEARCH,
        n_threads: int = 1,
    ) -> Screening:
        """Rank the columns of X (n, d) and the responses Y (n, k), with weights p.

        Duplicates of a sample should be merged, with a larger weight.
        """
        weights = to_numpy(p).astype(np.float64)
        codes = response_codes(Y, weights, search.response_share)
        return cls(X, codes, Ranked.of(X, weights, n_threads), of_column, search)

    @cached_property
    def n_samples(self) -> float:
        """Effective number of samples, as if all had equal weight."""
        return float(1.0 / (self.ranked.p**2).sum())

    @cached_property
    def shares(self) -> np.ndarray:
        """Association (n_functions, d) of each function of each column with the response."""
        return self.ranked.shares(self.codes)

    @cached_property
    def effects(self) -> tuple[np.ndarray, np.ndarray]:
        """Effects of single columns, which are removed before interactions are named.

        They are orthonormal vectors (n, n_effects), with the column of each.
        """
        return single_effects(self.ranked, self.codes, self.n_samples, self.search)

    def _can_tell(self, codes: np.ndarray) -> bool:
        """Tell whether there are enough samples, up to rounding of their effective number."""
        enough = self.n_samples >= self.search.fewest_samples * (1.0 - 1e-9)
        return enough and codes.size > 0

    def p_values(self, level: float = 1.0) -> np.ndarray:
        """Return the p-value of each single column, corrected for its functions only.

        It is one if too few samples carry the association, or if it exceeds ``level``.
        """
        codes, ranked = self.codes, self.ranked
        if not self._can_tell(codes):
            return np.ones(self.of_column.size)
        tails, share = np.ones(self.shares.shape), prior(N_FUNCTIONS)[:, None]
        # Tails are slow to compute, so only those that may count.
        least = share_by_chance(np.minimum(level * share, 1.0), self.n_samples, codes.shape[1])
        small = self.shares >= least
        tails[small] = chance(self.shares[small], self.n_samples, codes.shape[1])
        tails = np.where(small, tails / share, 1.0)
        # Only small p-values need to be checked.
        which, columns = np.nonzero(tails < self.search.level)
        functions = ranked.functions(columns)[which, np.arange(which.size)]
        carried = many_carry((np.sqrt(ranked.p) * functions).T, codes, self.search)
        tails[which[~carried], columns[~carried]] = 1.0
        p_values: np.ndarray = np.minimum(tails.min(axis=0), 1.0)
        return p_values

    def has_single_effects(self) -> bool:
        """Tell whether any single column is significantly associated with the response."""
        if not self._can_tell(self.codes):
            return False
        level = self.search.level * prior(N_FUNCTIONS) / self.of_column.size
        least = share_by_chance(level, self.n_samples, self.codes.shape[1])
        return bool((self.shares >= least[:, None]).any())

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
        return self._screen(squares, 1, self.search.level, N_FUNCTIONS, squares[:, :0])[0]

    def interactions(self, order: int = 2, n_functions: int = N_FUNCTIONS) -> Found:
        """Find sets of up to ``order`` columns whose product explains more than fewer of them.

        A set is named if its association is significant among all products of all sets, after the
        functions of its columns, products of fewer of them, the single effects of all columns and
        the smaller sets have been removed, and if the product explains more than its columns. The
        strongest set of a size is named first, then the strongest given the earlier ones, so that
        sets of similar features are named once. Half of the significance level is for pairs, a
        quarter for triples, and so on; the smallest share twice. ``n_functions`` of each column
        are for pairs; larger sets use the plain ranks.
        """
        found, vectors = Found.none(2, self.n_samples), np.empty((len(self.codes), 0))
        for size in range(2, order + 1):
            level = self.search.level * 0.5 ** min(size - 1, order - 2)
            n_each = n_functions if size == 2 else 1
            sets, named = self._screen(self.codes, size, level, n_each, vectors)
            found, vectors = found.with_larger(sets), np.column_stack([vectors, named])
        return found

    def _screen(
        self, codes: np.ndarray, order: int, level: float, n_functions: int, smaller: np.ndarray
    ) -> tuple[Found, np.ndarray]:
        """Return sets of some size, and their products beyond those of ``smaller`` sets."""
        n, d, search = self.n_samples, self.of_column.size, self.search
        nothing = Found.none(order, n), np.empty((len(codes), 0))
        if not self._can_tell(codes) or d < order:
            return nothing
        levels = level * prior(n_functions, order) / comb(d, order)
        least = share_by_chance(levels, n, codes.shape[1])
        if least.min() >= 1.0:
            return nothing  # no association can be significant
        alone = self.shares.sum(axis=0)
        products = outstanding(
            self.X, self.ranked, codes, self.of_column, alone, least, search.least_variance
        )
        if products.share.size == 0:
            return nothing
        effects, columns = self.effects
        if order == 1:
            # All functions of the first columns found, in that order.
            first = np.sort(np.unique(columns, return_index=True)[1])
            columns = columns[first][: search.most_effects(n) // ALL_FUNCTIONS]
            functions = self.ranked.functions(columns, ALL_FUNCTIONS).reshape(-1, len(codes))
            effects = orthonormal(np.sqrt(self.ranked.p)[:, None] * functions.T)
        elif smaller.size:
            effects = np.column_stack([effects, orthonormal(without(effects, smaller))])
        vectors, sizes = beyond_columns(self.ranked, products)
        vectors = without(effects, vectors)
        vectors *= (vectors**2).sum(axis=0) > search.least_left * sizes
        vectors *= many_carry(vectors, codes, search)
        left_of_codes = without(effects, codes)
        left, n_left = orthonormal(left_of_codes, _ROUNDING), n - effects.shape[1]
        if left.size == 0:
            return nothing  # the effects explain everything
        which = tuple(products.functions.T)
        share_left = float((left_of_codes**2).sum() / codes.shape[1])
        threshold = np.maximum(
            share_by_chance(levels, n_left, left.shape[1])[which],
            alone[products.columns].sum(axis=1) / share_left,
        )
        # Columns that are always included have no unit; they have keys of their own.
        units = self.of_column[products.columns]
        keys = np.sort(np.where(units < 0, products.columns + d, units), axis=1)
        named, share = one_after_another(vectors, left, keys, threshold, search)
        p_values = search.level * chance(share, n_left, left.shape[1]) / levels[which][named]
        columns = products.columns[named]
        return Found(columns, self.of_column[columns], share, p_values, n), vectors[:, named]
