"""Pairs of features that say together what neither says by itself.

A path begins with weights spread thin over all features, where an interaction of two among
thousands leaves no trace in the slope of the criterion. Its product does: with ranks in place
of values it is one number for each sample, and all pairs of d features take k products of a
d×n with an n×d matrix, k numbers of the response. Pairs that stand out are nominated here; the
criterion decides what becomes of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, chdtri

from .arrays import Array, array_namespace, device_of, like, to_numpy

# Products of all pairs are formed for so many columns at a time.
_BLOCK = 512
# Pairs that stand out among which those named are looked for, and pairs worked on at once.
_POOL = 2000
_CHUNK = 256


@dataclass(frozen=True)
class PairSearch:
    """When a pair counts as interacting."""

    level: float = 0.05  #: the chance that independent samples name any pair at all
    most_pairs: int = 10  #: named at most
    fewest_samples: float = 20  #: from which on pairs are looked for
    response_share: float = 0.95  #: of its variance that is looked at: the rest is spread thin
    least_variance: float = 0.5  #: of a product of ranks: about 1, unless its columns are alike
    least_left: float = 0.1  #: share of a product beyond its columns, or beyond other products
    fewest_carriers: float = 10.0  #: samples that must carry a dependence: some may fall together
    carrier_share: float = 0.1  #: the same as a share, where there are few samples


PAIR_SEARCH = PairSearch()


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns that interact, in the order in which they were named."""

    columns: np.ndarray  # (n_pairs, 2)
    units: np.ndarray  # (n_pairs, 2), those of the columns; -1 for columns that are always on
    # (n_pairs,): of the variance of the product, beyond what its columns and the pairs before it
    # say, the share that goes with the response.
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
class Hold:
    """Features that a path is to hold on to."""

    pairs: Pairs
    above: float = 0.0  # held, whatever the criterion, among more features than this

    @classmethod
    def nothing(cls) -> Hold:
        """No feature."""
        return cls(Pairs.none())


def interacting_pairs(
    X: Array, Y: Array, p: Array, of_column: np.ndarray, search: PairSearch = PAIR_SEARCH
) -> Pairs:
    """Find pairs of columns whose product adds more than both columns say by themselves.

    Columns and responses are replaced by their ranks. With no dependence the share of a product
    that goes with the response, times n, is then about χ² with as many degrees of freedom as
    the response has dimensions, also far out: products of ranks are bounded, and a dependence
    that too few samples carry, as of rare values in rare classes, does not count. A pair stands
    out where this is too much for any of the d(d−1)/2 pairs, and where the product adds more to
    a line and a parabola in each of the columns than these say. The strongest is named first,
    then the strongest of what it leaves, so that pairs of look-alikes are not.

    X is (n, d), Y (n, k), and the weights p (n,), all positive, sum to one. Copies of a sample are
    given as one, of more weight. Columns of the same unit, by ``of_column`` (d,), are no pair.
    """
    Y, p, values = to_numpy(Y), to_numpy(p).astype(np.float64), to_numpy(X)
    n = float(1.0 / (p**2).sum())  # how many equally weighted samples they are worth
    n_pairs = X.shape[1] * (X.shape[1] - 1) // 2
    # The worth is a sum of rounded shares: twenty samples may come to a little less than 20.
    if n < search.fewest_samples * (1.0 - 1e-9) or n_pairs == 0:
        return Pairs.none(n)
    codes = _whitened(_ranks(_principal(Y, p, search), p), p)
    least = float(chdtri(codes.shape[1], search.level / n_pairs)) / n if codes.size else 1.0
    if least >= 1.0:
        return Pairs.none(n)  # no dependence could be that strong
    ranks, alone = _ranks_and_effects(values, codes, p)
    # No share is more than the whole.
    eligible = np.flatnonzero(alone + alone.min() < 1.0)
    device_ranks = array_namespace(X).asarray(ranks[:, eligible], device=device_of(X))
    found = eligible[
        _outstanding(device_ranks, codes, p, alone[eligible], of_column[eligible], least, search)
    ]
    products = _beyond_columns(ranks, codes, p, found, search)
    bar = np.maximum(least, alone[found].sum(1))
    weighted = np.sqrt(p)[:, None] * codes
    named, share = _named(products, weighted, _keys(of_column, found), bar, search)
    chances = n_pairs * chdtrc(codes.shape[1], n * share)
    return Pairs(found[named], of_column[found[named]], share, chances, n)


def _principal(Y: np.ndarray, p: np.ndarray, search: PairSearch) -> np.ndarray:
    """The leading principal components of the responses."""
    centred = (Y - p @ Y).astype(np.float64)
    _, sizes, directions = np.linalg.svd(np.sqrt(p)[:, None] * centred, full_matrices=False)
    power = np.cumsum(sizes**2)
    n_kept = int(np.searchsorted(power, search.response_share * power[-1])) + 1
    return centred @ directions[:n_kept].T


def _ranks_and_effects(
    values: np.ndarray, codes: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of every column, and what it explains by itself, some columns at a time."""
    ranks, alone = np.empty(values.shape, dtype=np.float32), np.empty(values.shape[1])
    weighted = p[:, None] * codes
    for start in range(0, values.shape[1], _BLOCK):
        block = slice(start, start + _BLOCK)
        line = _ranks(values[:, block], p)
        shares = (((each.T @ weighted) ** 2).sum(axis=1) for each in (line, _parabolas(line, p)))
        ranks[:, block], alone[block] = line, sum(shares)
    return ranks, alone


def _parabolas(ranks: np.ndarray, p: np.ndarray) -> np.ndarray:
    """What the square of each column adds to the column."""
    squares = _standardized(ranks**2, p)
    return _standardized(squares - ranks * (p @ (squares * ranks)), p)


def _keys(of_column: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """A number for each pair of units; columns that are always on are no unit, but themselves."""
    unit = np.where(of_column[pairs] < 0, pairs + of_column.size, of_column[pairs])
    first, second = np.sort(unit, axis=1).T
    return first * (2 * of_column.size) + second


def _ranks(values: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Ranks in each column, with mean 0 and variance 1 under p.

    Equal values share the middle of their ranks, so that a copy of a row is as good as twice
    its weight.
    """
    order = np.argsort(values, axis=0, kind="stable")
    ordered, weight = np.take_along_axis(values, order, axis=0), p[order]
    ends = np.cumsum(weight, axis=0)
    is_new = np.ones(values.shape, dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    if is_new.all():
        middle = ends - 0.5 * weight
    else:
        group = np.cumsum(is_new.T.ravel()) - 1
        last = np.flatnonzero(np.append(np.diff(group), 1))
        middles = ends.T.ravel()[last] - 0.5 * np.bincount(group, weight.T.ravel())
        middle = middles[group].reshape(values.shape[::-1]).T
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, middle, axis=0)
    return _standardized(ranks, p)


def _standardized(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and variance 1 under p; a constant one is 0."""
    centred = columns - p @ columns
    spread = np.sqrt(p @ centred**2)
    return centred / np.where(spread > 1e-9, spread, np.inf)


def _whitened(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Orthonormal columns under p that span the given ones."""
    root = np.sqrt(p)[:, None]
    basis, sizes, _ = np.linalg.svd(root * columns, full_matrices=False)
    return basis[:, sizes > 1e-6 * sizes.max(initial=0.0)] / root


def _outstanding(
    ranks: Array,
    codes: np.ndarray,
    p: np.ndarray,
    alone: np.ndarray,
    of_column: np.ndarray,
    least: float,
    search: PairSearch,
) -> np.ndarray:
    """Pairs whose products explain at least so much, and more than both columns alone.

    The strongest come first, and no more than can be told apart afterwards.
    """
    xp = array_namespace(ranks)
    weighted_codes = like(p[:, None] * codes, ranks)
    # The variance is looked at only where a product could do: most could not. The sum of two of
    # these bars is at most three quarters of what it takes at the least variance.
    bar = like(0.5 * search.least_variance * np.maximum(alone, 0.5 * least), ranks)
    pairs, shares = np.empty((0, 2), dtype=np.int64), np.empty(0)
    host = to_numpy(ranks)
    for start in range(0, ranks.shape[1], _BLOCK):
        block, others = ranks[:, start : start + _BLOCK], ranks[:, start:]
        explained = _explained(block, others, weighted_codes)
        enough = explained >= bar[start : start + _BLOCK, None] + bar[None, start:]
        # Places in a row of numbers are found faster than those in a table.
        places = xp.nonzero(xp.reshape(enough, (-1,)))[0]
        share = to_numpy(xp.reshape(explained, (-1,))[places]).astype(np.float64)
        high = np.stack(np.divmod(to_numpy(places), others.shape[1]), axis=1) + start
        possible = (high[:, 1] > high[:, 0]) & (of_column[high[:, 0]] != of_column[high[:, 1]])
        high, share = high[possible], share[possible]
        share /= _variances(host, p, high, search.least_variance)
        counts = share >= np.maximum(least, alone[high].sum(axis=1))
        pairs = np.concatenate([pairs, high[counts]])
        shares = np.concatenate([shares, share[counts]])
        best = np.argsort(-shares, kind="stable")[:_POOL]
        pairs, shares = pairs[best], shares[best]
    return pairs


def _explained(block: Array, others: Array, weighted_codes: Array) -> Array:
    """How much of the response goes with each product, times the variance of the product."""
    xp = array_namespace(block)
    explained: Array = 0.0
    for k in range(weighted_codes.shape[1]):
        product = xp.matmul((block * weighted_codes[:, k : k + 1]).T, others)
        product *= product
        explained += product
    return explained


def _variances(ranks: np.ndarray, p: np.ndarray, pairs: np.ndarray, least: float) -> np.ndarray:
    """Variances of products; infinite where there is next to none."""
    variances = np.empty(len(pairs))
    for start in range(0, len(pairs), _CHUNK):
        first, second = pairs[start : start + _CHUNK].T
        products = ranks[:, first] * ranks[:, second]
        variances[start : start + _CHUNK] = p @ products**2 - (p @ products) ** 2
    return np.where(variances >= least, variances, np.inf)


def _beyond_columns(
    ranks: np.ndarray, codes: np.ndarray, p: np.ndarray, pairs: np.ndarray, search: PairSearch
) -> np.ndarray:
    """What products add to a line and a parabola in each of their columns, times √p.

    Zero where that is next to nothing, or where few samples carry what goes with the response.
    """
    root = np.sqrt(p)[:, None]
    weight = (root * codes**2 * root).sum(axis=1)
    added = np.empty((ranks.shape[0], len(pairs)))
    for start in range(0, len(pairs), _CHUNK):
        sides = [ranks[:, each].astype(np.float64) for each in pairs[start : start + _CHUNK].T]
        product = sides[0] * sides[1]
        product = root * (product - p @ product)
        columns = np.stack([*sides, *(_parabolas(side, p) for side in sides)]) * root
        moments = np.einsum("ans,bns->sab", columns, columns)
        slopes = np.linalg.pinv(moments, rcond=1e-8, hermitian=True)
        slopes = slopes @ np.einsum("ans,ns->sa", columns, product)[:, :, None]
        left = product - np.einsum("ans,sa->ns", columns, slopes[:, :, 0])
        carried = left**2 * weight[:, None]
        carriers = carried.sum(axis=0) ** 2 / np.maximum((carried**2).sum(axis=0), 1e-300)
        enough = (left**2).sum(axis=0) > search.least_left * (product**2).sum(axis=0)
        enough &= carriers >= min(search.fewest_carriers, search.carrier_share * ranks.shape[0])
        added[:, start : start + _CHUNK] = left * enough
    return added


def _named(
    products: np.ndarray, left: np.ndarray, keys: np.ndarray, bar: np.ndarray, search: PairSearch
) -> tuple[np.ndarray, np.ndarray]:
    """Of pairs that stand out, those that still do after the ones named before them.

    ``left`` is what they leave of the response, times √p like the products.
    """
    whole = (products**2).sum(axis=0)
    named: list[int] = []
    shares: list[float] = []
    while len(named) < search.most_pairs:
        variance = (products**2).sum(axis=0)
        is_left = variance > search.least_left * whole
        share = ((products.T @ left) ** 2).sum(axis=1) / np.where(is_left, variance, np.inf)
        share[(share < bar) | np.isin(keys, keys[named])] = 0.0
        if not share.any():
            break
        best = int(np.argmax(share))
        named.append(best)
        shares.append(float(share[best]))
        direction = products[:, best] / np.sqrt(variance[best])
        left = left - np.outer(direction, direction @ left)
        products = products - np.outer(direction, direction @ products)
    return np.array(named, dtype=np.int64), np.array(shares)
