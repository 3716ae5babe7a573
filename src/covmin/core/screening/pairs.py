"""Find pairs of features that explain jointly what neither explains alone.

Values are replaced by ranks. The product of two features is one number per sample, and all pairs
of d features need k products of a d×n and an n×d matrix, where k is the dimension of the response.
An interaction that oscillates in one of the features does not show in this product, but it shows
in products of cosines of the ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, array_namespace, device_of, like, to_numpy
from .ranks import Codes, Ranked
from .search import N_WAVES, SEARCH, Search, chance, prior, share_by_chance
from .singles import POOL, single_effects

# Columns whose products with all others are computed together.
_BLOCK = 256
# Pairs processed together.
_CHUNK = 256
# Numbers held in memory together.
_NUMBERS = 2**24


@dataclass(frozen=True)
class Pairs:
    """Interacting pairs of columns, in the order found."""

    columns: np.ndarray  # (n_pairs, 2)
    units: np.ndarray  # (n_pairs, 2), units of the columns; -1 for columns always included
    # (n_pairs,): fraction of the variance of the product that is associated with the response,
    # after its columns, single effects and earlier pairs have been removed.
    share: np.ndarray
    p_value: np.ndarray  # (n_pairs,), corrected for the number of pairs
    n_samples: float  # effective number: duplicates and unequal weights reduce it

    @classmethod
    def none(cls, n_samples: float = 0.0) -> Pairs:
        """Return no pairs."""
        nothing = np.empty((0, 2), dtype=np.int64)
        return cls(nothing, nothing, np.empty(0), np.empty(0), n_samples)

    @property
    def members(self) -> np.ndarray:
        """Units that are part of a pair, in increasing order."""
        return self.members_within(self.units.size)

    def members_within(self, budget: int) -> np.ndarray:
        """Return the units of the first pairs that fit in the budget."""
        members = np.empty(0, dtype=np.int64)
        for pair in self.units:
            more = np.union1d(members, pair[pair >= 0])
            if more.size > budget:
                break
            members = more
        return members


@dataclass(frozen=True)
class _Products:
    """Products of a function of one column and a function of another."""

    columns: np.ndarray  # (n_products, 2)
    waves: np.ndarray  # (n_products, 2), the numbers of the functions
    share: np.ndarray  # (n_products,), association with the response

    def strongest(self, *others: _Products) -> _Products:
        """Return the strongest of these and other products."""
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
    """Find pairs of columns whose product explains more than both columns alone.

    Columns and responses are replaced by ranks, and each column by ``n_waves`` functions of its
    ranks: a line and cosines. Without dependence, the association of a product with the response
    is then distributed almost like that of a random direction, even in the tail: functions of ranks
    are bounded, and a dependence carried by too few samples, such as rare values in rare classes,
    does not count. A pair is named if its association is significant among all products of the
    d(d−1)/2 pairs, after the functions of its columns and the single effects of all columns have
    been removed, and if the product explains more than its columns. The strongest pair is named
    first, then the strongest given the earlier ones, so that pairs of similar features are named
    once.

    X (n, d) determines the device. Duplicates of a sample are merged, with a larger weight. Columns
    of the same unit, by ``of_column`` (d,), do not form a pair.
    """
    n, d = codes.n_samples, of_column.size
    n_pairs = d * (d - 1) // 2
    if not search.can_tell(n) or n_pairs == 0 or codes.size == 0:
        return Pairs.none(n)
    shares = prior(n_waves)
    level = search.level * np.outer(shares, shares) / n_pairs
    least = share_by_chance(level, n, codes.size)
    if least.min() >= 1.0:
        return Pairs.none(n)  # no association can be significant
    alone = ranked.shares(codes)[0].sum(axis=0)
    eligible = np.flatnonzero(alone + alone.min() < 1.0)  # a pair explains at most all
    found = _outstanding(X, ranked, codes, alone, of_column, least, eligible, search)
    if found.share.size == 0:
        return Pairs.none(n)
    effects = single_effects(ranked, codes, search)
    products = effects.off(_beyond_columns(ranked, codes, found, search))
    left, n_left = codes.with_left(effects.off(codes.weighted)), n - effects.size
    if left.size == 0:
        return Pairs.none(n)  # single effects explain everything
    least_of = share_by_chance(level, n_left, left.size)[tuple(found.waves.T)]
    threshold = np.maximum(least_of, alone[found.columns].sum(axis=1) / effects.share_left(codes))
    keys = _keys(of_column, found.columns)
    named, share = one_after_another(products, left.weighted, keys, threshold, search)
    columns = found.columns[named]
    chances = chance(share, n_left, left.size) / level[tuple(found.waves[named].T)]
    return Pairs(columns, of_column[columns], share, search.level * chances, n)


def _keys(of_column: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return a key for each pair of units; columns always included have keys of their own."""
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
    """Return products with a significant association that exceeds that of both columns alone.

    The strongest come first, and their number is limited.
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
            # Compute the variance only for products that can pass: most cannot.
            threshold = search.least_variance * float(least[a, b])
            pairs, share = _high(_explained(block, others, weighted_codes), threshold)
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


def _high(explained: Array, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a column of a block and a later column that reach a threshold."""
    xp = array_namespace(explained)
    # Searching a flat array is faster than searching a matrix.
    flat = xp.reshape(explained, (-1,))
    places = xp.nonzero(flat >= threshold)[0]
    share = to_numpy(flat[places]).astype(np.float64)
    pairs = np.stack(np.divmod(to_numpy(places), explained.shape[1]), axis=1)
    later = pairs[:, 1] > pairs[:, 0]
    return pairs[later], share[later]


def _explained(block: Array, others: Array, weighted_codes: Array) -> Array:
    """Return the association of each product with the response, times its variance."""
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
    """Return the variances of products; infinite if they are too small."""
    variances = np.empty(len(pairs))
    for start in range(0, len(pairs), _CHUNK):
        first, second = pairs[start : start + _CHUNK].T
        products = left[first] * right[second]
        variances[start : start + _CHUNK] = products**2 @ p - (products @ p) ** 2
    return np.where(variances >= least, variances, np.inf)


def _beyond_columns(ranked: Ranked, codes: Codes, found: _Products, search: Search) -> np.ndarray:
    """Return the products after removing the functions of their columns, times √p.

    For similar columns, the product of functions a and b is close to a function with frequency
    a + b of either column, so functions up to that frequency are removed. The result is zero if too
    little is left, or if few samples carry the association.
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
        highest = np.maximum(N_WAVES, waves.sum(axis=1) + 2)  # the line is the first function
        taken = np.arange(2 * N_WAVES)[:, None] < highest
        first, second = (side * root * taken[:, None] for side in sides)
        beyond = product - _within(first, second, product)
        enough = (beyond**2).sum(axis=0) > search.least_left * (product**2).sum(axis=0)
        added[:, chunk] = beyond * (enough & many_carry(beyond, codes, search))
    return added


def many_carry(candidates: np.ndarray, codes: Codes, search: Search) -> np.ndarray:
    """Tell whether enough samples carry the association; candidates are times √p."""
    weight = (codes.p[:, None] * codes.values**2).sum(axis=1)
    carried = candidates**2 * weight[:, None]
    carriers = carried.sum(axis=0) ** 2 / np.maximum((carried**2).sum(axis=0), 1e-300)
    enough = min(search.fewest_carriers, search.carrier_share * codes.p.size)
    is_carried: np.ndarray = carriers >= enough
    return is_carried


def _within(left: np.ndarray, right: np.ndarray, product: np.ndarray) -> np.ndarray:
    """Project each product (n, s) onto the functions of its columns, (a, n, s) each.

    The functions of one column are orthonormal, or zero.
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
    candidates: np.ndarray,
    left: np.ndarray,
    keys: np.ndarray,
    threshold: np.ndarray,
    search: Search,
) -> tuple[np.ndarray, np.ndarray]:
    """Name significant candidates one by one, each after removing the earlier ones.

    ``left`` is the residual response, times √p like the candidates (n, c). Only one candidate is
    named for each key. Returns their numbers, and their associations with the residual response.
    """
    whole = (candidates**2).sum(axis=0)
    named: list[int] = []
    shares: list[float] = []
    while len(named) < search.most:
        variance = (candidates**2).sum(axis=0)
        is_left = variance > search.least_left * whole
        share = ((candidates.T @ left) ** 2).sum(axis=1) / np.where(is_left, variance, np.inf)
        share[(share < threshold) | np.isin(keys, keys[named])] = 0.0
        if not share.any():
            break
        best = int(np.argmax(share))
        named.append(best)
        shares.append(float(share[best]))
        direction = candidates[:, best] / np.sqrt(variance[best])
        left = left - np.outer(direction, direction @ left)
        candidates = candidates - np.outer(direction, direction @ candidates)
    return np.array(named, dtype=np.int64), np.array(shares)
