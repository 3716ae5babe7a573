"""Effects of single columns, which are no interactions and are taken off before these are named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .ranks import Codes, Ranked, whitened
from .search import N_WAVES, SEARCH, Search, levels, share_by_chance

# Waves of a column by which its effect is taken off: those of products of its waves.
_WAVES = 2 * N_WAVES
# Of all columns that stand out, so many are looked at.
POOL = 2000


@dataclass(frozen=True)
class Effects:
    """Waves of columns that go with the response, one after another."""

    vectors: np.ndarray  # (n, n_effects), orthonormal: waves times √p beyond those before them
    columns: np.ndarray  # (n_effects,), those of the waves

    def off(self, vectors: np.ndarray) -> np.ndarray:
        """What is left of vectors (n, c) beyond the effects."""
        left: np.ndarray = vectors - self.vectors @ (self.vectors.T @ vectors)
        return left

    @property
    def size(self) -> int:
        """Dimensions of them."""
        return int(self.vectors.shape[1])

    def share_left(self, codes: Codes) -> float:
        """Share of the response that they leave."""
        return float((self.off(codes.weighted) ** 2).sum() / codes.size)

    def all_waves(self, ranked: Ranked, search: Search = SEARCH) -> Effects:
        """All waves of the columns: whatever a function of one of them says, on any scale."""
        columns = np.unique(self.columns, return_index=True)[1]
        columns = self.columns[np.sort(columns)][: search.most_effects(ranked.n_samples) // _WAVES]
        waves = ranked.waves(columns, _WAVES).reshape(-1, ranked.p.size)
        root = np.sqrt(ranked.p)[:, None]
        return Effects(root * whitened(waves.T, ranked.p), columns)


def single_effects(ranked: Ranked, codes: Codes, search: Search = SEARCH) -> Effects:
    """Find waves of columns that go with the response, beyond chance for all of them.

    Each is the strongest of what those before it leave of the response.
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
    """Whether any column by itself goes with the codes, beyond chance for all of them."""
    if not search.can_tell(codes.n_samples) or codes.size == 0:
        return False
    level = levels(N_WAVES, ranked.spread.size, search)
    least = share_by_chance(level, codes.n_samples, codes.size)
    return bool((ranked.shares(codes)[0] >= least[:, None]).any())
