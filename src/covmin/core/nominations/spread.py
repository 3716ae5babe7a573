"""Features that go with the spread of a real response.

An interaction shows there although it leaves the mean alone: where one factor of a product is
small, whatever the other, the response is near its mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .pairs import POOL, one_after_another
from .ranks import Codes, Ranked
from .search import N_WAVES, SEARCH, Search, chance, prior, share_by_chance


@dataclass(frozen=True)
class Spread:
    """Features that say more about the spread of the response than about its mean."""

    units: np.ndarray  # (n_features,), the strongest first
    share: np.ndarray  # (n_features,), of a wave of the feature that goes with the spread
    p_value: np.ndarray  # (n_features,), for standing out as much by chance, times all features

    @classmethod
    def none(cls) -> Spread:
        """No feature."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))


def spreading_features(
    ranked: Ranked, codes: Codes, of_column: np.ndarray, search: Search = SEARCH
) -> Spread:
    """Find columns that go with the squares of the codes, beyond what goes with the codes.

    As with pairs, by a line and waves of their ranks; and only where that is more than what the
    column says about the codes themselves, which a path sees without help.
    """
    n, squares = codes.n_samples, codes.squares
    if not search.can_tell(n) or squares.size == 0:
        return Spread.none()
    shares = ranked.shares(squares)
    level = search.level * prior(N_WAVES) / of_column.size
    least = share_by_chance(level, n, squares.size)
    high = shares >= np.maximum(least[:, None], ranked.shares(codes).sum(axis=0))
    which, columns = np.nonzero(high & (of_column >= 0))
    strongest = np.argsort(-shares[which, columns], kind="stable")[:POOL]
    which, columns = which[strongest], columns[strongest]
    waves = np.sqrt(ranked.p)[:, None] * ranked.waves(columns)[which, :, np.arange(which.size)].T
    units = of_column[columns]
    named, share = one_after_another(waves, squares.weighted, units, least[which], search)
    chances = chance(share, n, squares.size) * search.level / level[which[named]]
    return Spread(units[named], share, chances)
