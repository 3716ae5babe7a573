"""Find effects of single columns, which are removed before interactions are named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .ranks import Codes, Ranked, whitened
from .search import N_WAVES, SEARCH, Search, levels, share_by_chance

# Functions of a column that represent its effect, enough for products of its functions.
_WAVES = 2 * N_WAVES
# Largest number of significant candidates to examine.
POOL = 2000


@dataclass(frozen=True)
class Effects:
    """Functions of columns that are associated with the response, in the order found."""

    vectors: np.ndarray  # (n, n_effects), orthonormal: functions times √p, given the earlier ones
    columns: np.ndarray  # (n_effects,), columns of the functions

    def off(self, vectors: np.ndarray) -> np.ndarray:
        """Return vectors (n, c) with the effects removed."""
        left: np.ndarray = vectors - self.vectors @ (self.vectors.T @ vectors)
        return left

    @property
    def size(self) -> int:
        """Number of effects."""
        return int(self.vectors.shape[1])

    def share_left(self, codes: Codes) -> float:
        """Return the fraction of the response that the effects leave."""
        return float((self.off(codes.weighted) ** 2).sum() / codes.size)

    def all_waves(self, ranked: Ranked, search: Search = SEARCH) -> Effects:
        """Return the effects of all functions of the columns found."""
        columns = np.unique(self.columns, return_index=True)[1]
        columns = self.columns[np.sort(columns)][: search.most_effects(ranked.n_samples) // _WAVES]
        waves = ranked.waves(columns, _WAVES).reshape(-1, ranked.p.size)
        root = np.sqrt(ranked.p)[:, None]
        return Effects(root * whitened(waves.T, ranked.p), columns)


def single_effects(ranked: Ranked, codes: Codes, search: Search = SEARCH) -> Effects:
    """Find functions of single columns that are significantly associated with the response.

    Each is the strongest one given the earlier ones.
    """
    n, root = codes.n_samples, np.sqrt(codes.p)
    least = share_by_chance(levels(_WAVES, ranked.spread.size, search), n, codes.size)[:, None]
    highest = (ranked.shares(codes, n_waves=_WAVES)[0] / least).max(axis=0)
    columns = np.argsort(-highest, kind="stable")[: min(POOL, int((highest >= 1.0).sum()))]
    waves = ranked.kept(columns, _WAVES)
    found = Effects(np.empty((root.size, 0)), columns[:0])
    while columns.size and found.size < search.most_effects(n):
        left = root[:, None] * found.off(codes.weighted)
        shares = ((waves @ left.astype(np.float32)) ** 2).sum(axis=2)
        shares[shares < least] = 0.0
        wave, place = np.unravel_index(np.argmax(shares), shares.shape)
        if shares[wave, place] == 0.0:
            break
        effect = found.off(root * waves[wave, place])
        vectors = np.column_stack([found.vectors, effect / np.linalg.norm(effect)])
        found = Effects(vectors, np.append(found.columns, columns[place]))
    return found


def stands_out_alone(ranked: Ranked, codes: Codes, search: Search = SEARCH) -> bool:
    """Tell whether any single column is significantly associated with the codes."""
    if not search.can_tell(codes.n_samples) or codes.size == 0:
        return False
    level = levels(N_WAVES, ranked.spread.size, search)
    least = share_by_chance(level, codes.n_samples, codes.size)
    return bool((ranked.shares(codes)[0] >= least[:, None]).any())
