"""Features that go with the spread of a real response.

An interaction shows there although it leaves the mean alone: where one factor of a product is
small, whatever the other, the response is near its mean.
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
    """Features that say more about the spread of the response than about its mean."""

    columns: np.ndarray  # (n_features,), the strongest first
    units: np.ndarray  # (n_features,), those of the columns
    share: np.ndarray  # (n_features,), of a wave of the feature that goes with the spread
    p_value: np.ndarray  # (n_features,), for standing out as much by chance, times all features

    @classmethod
    def none(cls) -> Spread:
        """No feature."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(nothing, nothing, np.empty(0), np.empty(0))


def spreading_features(
    ranked: Ranked, codes: Codes, of_column: np.ndarray, search: Search = SEARCH
) -> Spread:
    """Find columns that go with the squares of the codes, beyond what goes with the codes.

    As with pairs, by a line and waves of their ranks, not where few samples carry it, and only
    where that is more than what the column says about the codes themselves, which a path sees
    without help. Columns with single effects are taken off with all their waves: ranks bend a
    single effect, so that on their scale it changes the spread as well.
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
