"""Features that go with the spread of a real response.

An interaction shows there although it leaves the mean alone: where one factor of a product is
small, whatever the other, the response is near its mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .pairs import POOL, many_carry, one_after_another
from .ranks import Codes, Ranked
from .search import N_WAVES, SEARCH, Search, chance, prior, share_by_chance


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
    without help.
    """
    n, squares = codes.n_samples, codes.squares
    if not search.can_tell(n) or squares.size == 0:
        return Spread.none()
    shares, of_codes = ranked.shares(squares, codes)
    level, least = _bars(of_column.size, squares, search)
    high = shares >= np.maximum(least[:, None], of_codes.sum(axis=0))
    which, columns = np.nonzero(high & (of_column >= 0))
    strongest = np.argsort(-shares[which, columns], kind="stable")[:POOL]
    which, columns = which[strongest], columns[strongest]
    waves = np.sqrt(ranked.p)[:, None] * ranked.waves(columns)[which, np.arange(which.size)].T
    waves = waves * many_carry(waves, squares, search)
    units = of_column[columns]
    named, share = one_after_another(waves, squares.weighted, units, least[which], search)
    chances = chance(share, n, squares.size) * search.level / level[which[named]]
    return Spread(columns[named], units[named], share, chances)


def stands_out_alone(ranked: Ranked, codes: Codes, search: Search = SEARCH) -> bool:
    """Whether any column by itself goes with the codes, beyond chance for all of them."""
    if not search.can_tell(codes.n_samples) or codes.size == 0:
        return False
    _, least = _bars(ranked.spread.size, codes, search)
    return bool((ranked.shares(codes)[0] >= least[:, None]).any())


def _bars(n_columns: int, codes: Codes, search: Search) -> tuple[np.ndarray, np.ndarray]:
    """The level of each wave of each column, and the share that it takes to stand out."""
    level = search.level * prior(N_WAVES) / n_columns
    return level, share_by_chance(level, codes.n_samples, codes.size)
