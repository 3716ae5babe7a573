"""Pairs of features that say together what neither says by itself.

With ranks in place of values the product of two features is one number for each sample, and all
pairs of d features take k products of a d×n with an n×d matrix, k numbers of the response. An
interaction that is fast in one of the features has no such product; with waves of the ranks in
place of these it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, array_namespace, device_of, like, to_numpy
from .ranks import Codes, Ranked
from .search import N_WAVES, SEARCH, Search, chance, prior, share_by_chance
from .singles import POOL, single_effects

# Columns whose products with all others are made at once.
_BLOCK = 256
# Pairs worked on at once.
_CHUNK = 256
# Numbers of waves held at once.
_NUMBERS = 2**24


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns that interact, in the order in which they were named."""

    columns: np.ndarray  # (n_pairs, 2)
    units: np.ndarray  # (n_pairs, 2), those of the columns; -1 for columns that are always on
    # (n_pairs,): of the variance of the product, beyond what its columns, single effects and the
    # pairs before it say, the share that goes with what single effects leave of the response.
    share: np.ndarray
    p_value: np.ndarray  # (n_pairs,), for standing out as much by chance, times the number of pairs
    n_samples: float  # what the samples are worth: copies and unequal weights count less

    @classmethod
    def none(cls, n_samples: float = 0.0) -> Pairs:
        """No pair."""
        nothing = np.empty((0, 2), dtype=np.int64)
        return cls(nothing, nothing, np.empty(0), np.empty(0), n_samples)

    @property
    def members(self) -> np.ndarray:
        """The units that are part of a pair, in increasing order."""
        return self.members_within(self.units.size)

    def members_within(self, budget: int) -> np.ndarray:
        """The units of the first pairs, as many of these as have no more units than that."""
        members = np.empty(0, dtype=np.int64)
        for pair in self.units:
            more = np.union1d(members, pair[pair >= 0])
            if more.size > budget:
                break
            members = more
        return members


@dataclass(frozen=True)
class _Products:
    """Products of a wave of one column and a wave of another."""

    columns: np.ndarray  # (n_products, 2)
    waves: np.ndarray  # (n_products, 2), the numbers of the waves
    share: np.ndarray  # (n_products,), of their variance that goes with the response

    def strongest(self, *others: _Products) -> _Products:
        """The strongest of these and others."""
        every = (self, *others)
        share = np.concatenate([each.share for each in every])
        best = np.argsort(-share, kind="stable")[:POOL]
        columns = np.concatenate([each.columns for each in every])
        waves = np.concatenate([each.waves for each in every])
        return _Products(columns[best], waves[best], share[best])


def interacting_pairs(
    X: Array,
    ranked: Ranked,
    codes: Codes,
    of_column: np.ndarray,
    search: Search = SEARCH,
    n_waves: int = N_WAVES,
) -> Pairs:
    """Find pairs of columns with a product that adds more than both columns say by themselves.

    Columns and responses are replaced by their ranks, and columns by so many waves of these, of
    which the first is a line. With no dependence the share of a product that goes with the
    response is then about that of a direction drawn at random, also far out: waves of ranks are
    bounded, and a dependence that too few samples carry, as of rare values in rare classes, does
    not count. A pair stands out where this is too much for any product of any of the d(d−1)/2
    pairs, beyond the waves of its columns and beyond the single effects of all columns, and where
    the product adds more than its columns say. The strongest is named first, then the strongest of
    what it leaves, so that pairs of look-alikes are not.

    X (n, d) says where to compute. Copies of a sample are given as one, of more weight. Columns of
    the same unit, by ``of_column`` (d,), are no pair.
    """
    n, d = codes.n_samples, of_column.size
    n_pairs = d * (d - 1) // 2
    if not search.can_tell(n) or n_pairs == 0 or codes.size == 0:
        return Pairs.none(n)
    shares = prior(n_waves)
    level = search.level * np.outer(shares, shares) / n_pairs
    least = share_by_chance(level, n, codes.size)
    if least.min() >= 1.0:
        return Pairs.none(n)  # no dependence could be that strong
    alone = ranked.shares(codes)[0].sum(axis=0)
    eligible = np.flatnonzero(alone + alone.min() < 1.0)  # no share is more than the whole
    found = _outstanding(X, ranked, codes, alone, of_column, least, eligible, search)
    if found.share.size == 0:
        return Pairs.none(n)
    effects = single_effects(ranked, codes, search)
    products = effects.off(_beyond_columns(ranked, codes, found, search))
    left, n_left = codes.with_left(effects.off(codes.weighted)), n - effects.size
    if left.size == 0:
        return Pairs.none(n)  # single effects say everything
    least_of = share_by_chance(level, n_left, left.size)[tuple(found.waves.T)]
    bar = np.maximum(least_of, alone[found.columns].sum(axis=1) / effects.share_left(codes))
    keys = _keys(of_column, found.columns)
    named, share = one_after_another(products, left.weighted, keys, bar, search)
    columns = found.columns[named]
    chances = chance(share, n_left, left.size) / level[tuple(found.waves[named].T)]
    return Pairs(columns, of_column[columns], share, search.level * chances, n)


def _keys(of_column: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """A number for each pair of units; columns that are always on are no unit, but themselves."""
    unit = np.where(of_column[pairs] < 0, pairs + of_column.size, of_column[pairs])
    first, second = np.sort(unit, axis=1).T
    return first * (2 * of_column.size) + second


def _outstanding(
    X: Array,
    ranked: Ranked,
    codes: Codes,
    alone: np.ndarray,
    of_column: np.ndarray,
    least: np.ndarray,
    eligible: np.ndarray,
    search: Search,
) -> _Products:
    """Products that explain at least so much, and more than both columns alone.

    The strongest come first, and no more than can be told apart afterwards.
    """
    xp = array_namespace(X)
    waves = ranked.kept(eligible, len(least))
    device_waves = [xp.asarray(wave, device=device_of(X)) for wave in waves]
    weighted_codes = like(codes.p * codes.values.T, device_waves[0])
    alone, of_column = alone[eligible], of_column[eligible]
    empty = np.empty((0, 2), dtype=np.int64)
    found = _Products(empty, empty, np.empty(0))
    for start in range(0, eligible.size, _BLOCK):
        for a, b in np.ndindex(least.shape):
            block, others = device_waves[a][start : start + _BLOCK, :], device_waves[b][start:, :]
            # The variance is looked at only where a product could do: most could not.
            bar = search.least_variance * float(least[a, b])
            pairs, share = _high(_explained(block, others, weighted_codes), bar)
            pairs += start
            both = alone[pairs].sum(axis=1)
            could = share >= search.least_variance * both
            could &= of_column[pairs[:, 0]] != of_column[pairs[:, 1]]
            pairs, share, both = pairs[could], share[could], both[could]
            share /= _variances(waves[a], waves[b], codes.p, pairs, search.least_variance)
            counts = share >= np.maximum(least[a, b], both)
            which = np.full((int(counts.sum()), 2), (a, b))
            found = found.strongest(_Products(eligible[pairs[counts]], which, share[counts]))
    return found


def _high(explained: Array, bar: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a column of a block and a later one that explain at least so much."""
    xp = array_namespace(explained)
    # Places in a row of numbers are found faster than those in a table.
    flat = xp.reshape(explained, (-1,))
    places = xp.nonzero(flat >= bar)[0]
    share = to_numpy(flat[places]).astype(np.float64)
    pairs = np.stack(np.divmod(to_numpy(places), explained.shape[1]), axis=1)
    later = pairs[:, 1] > pairs[:, 0]
    return pairs[later], share[later]


def _explained(block: Array, others: Array, weighted_codes: Array) -> Array:
    """How much of the response goes with each product, times the variance of the product."""
    xp = array_namespace(block)
    explained: Array = None
    for k in range(weighted_codes.shape[0]):
        product = xp.matmul(block * weighted_codes[k : k + 1, :], others.T)
        product *= product
        if explained is None:
            explained = product
        else:
            explained += product
    return explained


def _variances(
    left: np.ndarray, right: np.ndarray, p: np.ndarray, pairs: np.ndarray, least: float
) -> np.ndarray:
    """Variances of products; infinite where there is next to none."""
    variances = np.empty(len(pairs))
    for start in range(0, len(pairs), _CHUNK):
        first, second = pairs[start : start + _CHUNK].T
        products = left[first] * right[second]
        variances[start : start + _CHUNK] = products**2 @ p - (products @ p) ** 2
    return np.where(variances >= least, variances, np.inf)


def _beyond_columns(ranked: Ranked, codes: Codes, found: _Products, search: Search) -> np.ndarray:
    """What products add to the waves of each of their columns, times √p.

    Of columns that are alike the product of waves a and b is a wave a + b, which says no more than
    either column: waves up to that frequency are taken off. Zero where next to nothing is left, or
    where few samples carry what goes with the response.
    """
    p, root = ranked.p, np.sqrt(ranked.p)[:, None]
    added = np.empty((p.size, len(found.share)))
    size = max(1, _NUMBERS // (p.size * 4 * N_WAVES))
    for start in range(0, len(found.share), size):
        chunk = slice(start, start + size)
        waves = found.waves[chunk]
        numbers = np.arange(len(waves))
        sides = [ranked.waves(each, 2 * N_WAVES).swapaxes(1, 2) for each in found.columns[chunk].T]
        left, right = (
            side[which, :, numbers].T for side, which in zip(sides, waves.T, strict=True)
        )
        product = left * right
        product = root * (product - p @ product)
        highest = np.maximum(N_WAVES, waves.sum(axis=1) + 2)  # the line is the first wave
        taken = np.arange(2 * N_WAVES)[:, None] < highest
        bases = [side * root * taken[:, None] for side in sides]
        beyond = product - _within(bases[0], bases[1], product)
        enough = (beyond**2).sum(axis=0) > search.least_left * (product**2).sum(axis=0)
        added[:, chunk] = beyond * (enough & many_carry(beyond, codes, search))
    return added


def many_carry(candidates: np.ndarray, codes: Codes, search: Search) -> np.ndarray:
    """Whether more than a few samples carry what goes with the response; candidates times √p."""
    weight = (codes.p[:, None] * codes.values**2).sum(axis=1)
    carried = candidates**2 * weight[:, None]
    carriers = carried.sum(axis=0) ** 2 / np.maximum((carried**2).sum(axis=0), 1e-300)
    enough = min(search.fewest_carriers, search.carrier_share * codes.p.size)
    is_carried: np.ndarray = carriers >= enough
    return is_carried


def _within(left: np.ndarray, right: np.ndarray, product: np.ndarray) -> np.ndarray:
    """Projection of each product (n, s) on the waves of its columns, (a, n, s) each.

    The waves of one column are orthonormal, or zero.
    """
    a = len(left)
    sides = np.concatenate([left, right])
    moments = np.zeros((product.shape[1], 2 * a, 2 * a))
    moments[:, range(2 * a), range(2 * a)] = np.einsum("ans,ans->sa", sides, sides)
    moments[:, :a, a:] = np.einsum("ans,bns->sab", left, right, optimize=True)
    moments[:, a:, :a] = moments[:, :a, a:].swapaxes(1, 2)
    inverse = np.linalg.pinv(moments, rcond=1e-8, hermitian=True)
    slopes = inverse @ np.einsum("ans,ns->sa", sides, product)[:, :, None]
    projection: np.ndarray = np.einsum("ans,sa->ns", sides, slopes[:, :, 0])
    return projection


def one_after_another(
    candidates: np.ndarray, left: np.ndarray, keys: np.ndarray, bar: np.ndarray, search: Search
) -> tuple[np.ndarray, np.ndarray]:
    """Of candidates that stand out, those that still do after the ones named before them.

    ``left`` is what they leave of the response, times √p like the candidates (n, c). Of equal
    keys one is named. Returns their numbers, and the shares of them that go with what is left.
    """
    whole = (candidates**2).sum(axis=0)
    named: list[int] = []
    shares: list[float] = []
    while len(named) < search.most:
        variance = (candidates**2).sum(axis=0)
        is_left = variance > search.least_left * whole
        share = ((candidates.T @ left) ** 2).sum(axis=1) / np.where(is_left, variance, np.inf)
        share[(share < bar) | np.isin(keys, keys[named])] = 0.0
        if not share.any():
            break
        best = int(np.argmax(share))
        named.append(best)
        shares.append(float(share[best]))
        direction = candidates[:, best] / np.sqrt(variance[best])
        left = left - np.outer(direction, direction @ left)
        candidates = candidates - np.outer(direction, direction @ candidates)
    return np.array(named, dtype=np.int64), np.array(shares)
