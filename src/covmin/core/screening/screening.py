"""Screen single columns, pairs and larger sets of columns for associations with the response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import comb

import numpy as np

from ..arrays import Array
from .products import (
    SEARCH,
    Effects,
    Search,
    beyond_columns,
    chance,
    many_carry,
    one_after_another,
    outstanding,
    prior,
    share_by_chance,
)
from .ranks import N_FUNCTIONS, Codes, Ranked


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
    codes: Codes
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
        codes = Codes.of(Y, p, search.response_share)
        return cls(X, codes, Ranked.of(X, codes.p, n_threads), of_column, search)

    @cached_property
    def shares(self) -> np.ndarray:
        """Association (n_functions, d) of each function of each column with the response."""
        return self.ranked.shares(self.codes)

    @cached_property
    def effects(self) -> Effects:
        """Effects of single columns, which are removed before interactions are named."""
        return Effects.of(self.ranked, self.codes, self.search)

    def _can_tell(self, codes: Codes) -> bool:
        """Tell whether there are enough samples, up to rounding of their effective number."""
        enough = codes.n_samples >= self.search.fewest_samples * (1.0 - 1e-9)
        return enough and codes.size > 0

    def p_values(self) -> np.ndarray:
        """Return the p-value of each single column, corrected for its functions only.

        It is one if too few samples carry the association.
        """
        codes, ranked = self.codes, self.ranked
        if not self._can_tell(codes):
            return np.ones(self.of_column.size)
        tails = chance(self.shares, codes.n_samples, codes.size) / prior(N_FUNCTIONS)[:, None]
        # Only small p-values need to be checked.
        which, columns = np.nonzero(tails < self.search.level)
        functions = ranked.functions(columns)[which, np.arange(which.size)]
        carried = many_carry((np.sqrt(ranked.p) * functions).T, codes, self.search)
        tails[which[~carried], columns[~carried]] = 1.0
        p_values: np.ndarray = np.minimum(tails.min(axis=0), 1.0)
        return p_values

    def has_single_effects(self) -> bool:
        """Tell whether any single column is significantly associated with the response."""
        codes = self.codes
        if not self._can_tell(codes):
            return False
        level = self.search.level * prior(N_FUNCTIONS) / self.of_column.size
        least = share_by_chance(level, codes.n_samples, codes.size)
        return bool((self.shares >= least[:, None]).any())

    def spread(self) -> Found:
        """Find columns that affect the spread of a numeric response more than its mean.

        An interaction affects the spread even if it does not affect the mean: if one factor of a
        product is small, the response is close to its mean, whatever the other factor. Columns with
        single effects are removed with all their functions: the rank transform distorts a single
        effect, so that it also changes the spread of the ranks.
        """
        squares, level = self.codes.squares, self.search.level
        return self._screen(squares, 1, level, N_FUNCTIONS, self._effects_of_columns)[0]

    def _effects_of_columns(self) -> Effects:
        """Return all functions of the columns that have effects."""
        most = self.search.most_effects(self.codes.n_samples)
        return self.effects.all_functions(self.ranked, most)

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
        codes = self.codes
        found, vectors = Found.none(2, codes.n_samples), np.empty((codes.p.size, 0))
        for size in range(2, order + 1):
            level = self.search.level * 0.5 ** min(size - 1, order - 2)
            n_each = n_functions if size == 2 else 1
            known = partial(self._effects_and, vectors)
            sets, named = self._screen(codes, size, level, n_each, known)
            found, vectors = found.with_larger(sets), np.column_stack([vectors, named])
        return found

    def _effects_and(self, vectors: np.ndarray) -> Effects:
        """Return the effects of single columns and of the sets found before, (n, c) times √p."""
        return self.effects.also(vectors) if vectors.size else self.effects

    def _screen(
        self,
        codes: Codes,
        order: int,
        level: float,
        n_functions: int,
        effects: Callable[[], Effects],
    ) -> tuple[Found, np.ndarray]:
        """Return sets of some size, and their products beyond what is removed before."""
        n, d, search = codes.n_samples, self.of_column.size, self.search
        nothing = Found.none(order, n), np.empty((codes.p.size, 0))
        if not self._can_tell(codes) or d < order:
            return nothing
        levels = level * prior(n_functions, order) / comb(d, order)
        least = share_by_chance(levels, n, codes.size)
        if least.min() >= 1.0:
            return nothing  # no association can be significant
        alone = self.shares.sum(axis=0)
        products = outstanding(
            self.X, self.ranked, codes, self.of_column, alone, least, search.least_variance
        )
        if products.share.size == 0:
            return nothing
        known = effects()
        vectors, sizes = beyond_columns(self.ranked, products)
        vectors = known.off(vectors)
        vectors *= (vectors**2).sum(axis=0) > search.least_left * sizes
        vectors *= many_carry(vectors, codes, search)
        left_of_codes = known.off(codes.weighted)
        left, n_left = codes.with_left(left_of_codes), n - known.size
        if left.size == 0:
            return nothing  # the effects explain everything
        which = tuple(products.functions.T)
        share_left = float((left_of_codes**2).sum() / codes.size)
        threshold = np.maximum(
            share_by_chance(levels, n_left, left.size)[which],
            alone[products.columns].sum(axis=1) / share_left,
        )
        # Columns that are always included have no unit; they have keys of their own.
        units = self.of_column[products.columns]
        keys = np.sort(np.where(units < 0, products.columns + d, units), axis=1)
        named, share = one_after_another(vectors, left.weighted, keys, threshold, search)
        p_values = search.level * chance(share, n_left, left.size) / levels[which][named]
        columns = products.columns[named]
        return Found(columns, self.of_column[columns], share, p_values, n), vectors[:, named]
