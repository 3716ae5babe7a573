"""Find features that affect the spread of a numeric response.

An interaction affects the spread even if it does not affect the mean: if one factor of a product is
small, the response is close to its mean, whatever the other factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .pairs import many_carry, one_after_another
from .ranks import Codes, Ranked
from .search import N_WAVES, SEARCH, Search, chance, levels, share_by_chance
from .singles import POOL, single_effects


@dataclass(frozen=True)
class Spread:
    """Features that affect the spread of the response more than its mean."""

    columns: np.ndarray  # (n_features,), strongest first
    units: np.ndarray  # (n_features,), units of the columns
    share: np.ndarray  # (n_features,), association of a function of the feature with the spread
    p_value: np.ndarray  # (n_features,), corrected for the number of features

    @classmethod
    def none(cls) -> Spread:
        """Return no features."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, np.empty(0), np.empty(0))


def spreading_features(
    ranked: Ranked, codes: Codes, of_column: np.ndarray, search: Search = SEARCH
) -> Spread:
    """Find columns that are associated with the squared codes.

    As for pairs, the test uses functions of the ranks, and needs enough samples that carry the
    association. It must exceed the association with the codes themselves, which a path finds
    without help. Columns with single effects are removed with all their functions: the rank
    transform distorts a single effect, so that it also changes the spread of the ranks.
    """
    n, squares = codes.n_samples, codes.squares
    if not search.can_tell(n) or squares.size == 0:
        return Spread.none()
    shares, of_codes = ranked.shares(squares, codes)
    level = levels(N_WAVES, of_column.size, search)
    least = share_by_chance(level, n, squares.size)
    high = shares >= np.maximum(least[:, None], of_codes.sum(axis=0))
    which, columns = np.nonzero(high & (of_column >= 0))
    strongest = np.argsort(-shares[which, columns], kind="stable")[:POOL]
    which, columns = which[strongest], columns[strongest]
    if which.size == 0:
        return Spread.none()
    effects = single_effects(ranked, codes, search).all_waves(ranked, search)
    waves = np.sqrt(ranked.p)[:, None] * ranked.waves(columns)[which, np.arange(which.size)].T
    waves = effects.off(waves)
    waves = waves * ((waves**2).sum(axis=0) > search.least_left)
    waves = waves * many_carry(waves, squares, search)
    left, n_left = squares.with_left(effects.off(squares.weighted)), n - effects.size
    if left.size == 0:
        return Spread.none()
    units, least = of_column[columns], share_by_chance(level, n_left, left.size)
    named, share = one_after_another(waves, left.weighted, units, least[which], search)
    chances = chance(share, n_left, left.size) * search.level / level[which[named]]
    return Spread(columns[named], units[named], share, chances)
