"""Products of functions of ranks, of any order, and their association with a response.

Values are replaced by ranks. A product of functions of q columns is one number per sample. All
pairs of d columns need k products of a d×n and an n×d matrix, where k is the dimension of the
response; all triples need d times as many, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import numpy as np
from scipy.special import betaincc, betainccinv

from ..arrays import Array, array_namespace, default_block_size, device_of, like, to_numpy
from .ranks import N_FUNCTIONS, Ranked, orthonormal

# Largest number of significant products to examine.
_POOL = 2000
# Products processed together.
_CHUNK = 256
# Numbers held in memory together.
_NUMBERS = 2**24
# Functions of a column that represent its effect, enough for products of its functions.
ALL_FUNCTIONS = 2 * N_FUNCTIONS


@dataclass(frozen=True)
class Search:
    """Parameters of the search for interactions and for features that affect the spread."""

    level: float = 0.05  #: probability of naming any set of features without dependence
    most: int = 10  #: largest number of sets of each size to name
    fewest_samples: float = 20  #: smallest number of samples for a search
    response_share: float = 0.95  #: fraction of the variance of the response that is used
    least_variance: float = 0.5  #: of a product; about 1 unless the columns are similar
    least_left: float = 0.1  #: fraction of a product not due to its columns or others
    fewest_carriers: float = 10.0  #: effective number of samples that must carry a dependence
    carrier_share: float = 0.1  #: the same as a fraction, for few samples

    def most_effects(self, n_samples: float) -> int:
        """Return the largest number of single effects to remove; enough samples must remain."""
        return int(min(ALL_FUNCTIONS * self.most, n_samples / 4))


SEARCH = Search()


def prior(n_functions: int, order: int = 1) -> np.ndarray:
    """Return the share of the significance level of each product, with an axis per factor.

    The squared coefficients of a smooth function with two derivatives fall with the fourth power of
    the frequency, so faster cosines need stronger evidence.
    """
    powers = np.arange(1.0, n_functions + 1.0) ** -4
    return reduce(np.multiply.outer, [powers / powers.sum()] * order)


def chance(share: np.ndarray, n: float, k: int) -> np.ndarray:
    """Return the p-value of a share of association with a k-dimensional response, in n samples."""
    tail: np.ndarray = betaincc(0.5 * k, 0.5 * max(n - 1.0 - k, 1e-9), share)
    return tail


def share_by_chance(probability: np.ndarray, n: float, k: int) -> np.ndarray:
    """Return the share that is exceeded with a given probability; inverse of :func:`chance`."""
    share: np.ndarray = betainccinv(0.5 * k, 0.5 * max(n - 1.0 - k, 1e-9), probability)
    return share


@dataclass(frozen=True)
class Products:
    """Products of functions of several columns, the strongest first."""

    columns: np.ndarray  # (n_products, order)
    functions: np.ndarray  # (n_products, order), the numbers of the functions
    share: np.ndarray  # (n_products,), association with the response

    @classmethod
    def strongest(cls, *parts: Products) -> Products:
        """Return the strongest of several lists of products."""
        share = np.concatenate([part.share for part in parts])
        best = np.argsort(-share, kind="stable")[:_POOL]
        columns = np.concatenate([part.columns for part in parts])
        functions = np.concatenate([part.functions for part in parts])
        return cls(columns[best], functions[best], share[best])


def outstanding(
    X: Array,
    ranked: Ranked,
    codes: np.ndarray,
    of_column: np.ndarray,
    alone: np.ndarray,
    least: np.ndarray,
    least_variance: float,
) -> Products:
    """Return products with a significant association that exceeds that of the columns alone.

    ``least`` is the significant share for each choice of functions, with an axis per factor; the
    number of its axes is the order. Their number is limited. X determines the device.
    """
    order = least.ndim
    if order == 1:
        shares = ranked.shares(codes, len(least))
        high = (shares >= np.maximum(least[:, None], alone)) & (of_column >= 0)
        functions, columns = np.nonzero(high)
        found = Products(columns[:, None], functions[:, None], shares[functions, columns])
        return Products.strongest(found)
    # A product explains at most all.
    eligible = np.flatnonzero(alone + (order - 1) * alone.min() < 1.0)
    alone, of_column = alone[eligible], of_column[eligible]
    xp = array_namespace(X)
    # Columns whose products with all others are computed together: 256, more on an accelerator.
    block = min(default_block_size(X) // 4, max(256, _NUMBERS // max(eligible.size, 1)))
    kept = ranked.kept(eligible, len(least))
    functions_of = [xp.asarray(functions, device=device_of(X)) for functions in kept]
    weighted = like(np.sqrt(ranked.p) * codes.T, functions_of[0])
    nothing = np.empty((0, order), dtype=np.int64)
    found = Products(nothing, nothing, np.empty(0))
    # The first columns multiply the response; a matrix product covers all choices of the last two.
    for first in combinations(range(eligible.size), order - 2):
        starts = range(first[-1] + 1 if first else 0, eligible.size, block)
        for chosen in np.ndindex(least.shape[:-2]):
            responses = weighted
            for j, a in zip(first, chosen, strict=True):
                responses = responses * functions_of[a][j, :]
            for start, (a, b) in product(starts, np.ndindex(least.shape[-2:])):
                which = (*chosen, a, b)
                sides = functions_of[a][start : start + block, :], functions_of[b][start:, :]
                # Compute the variance only for products that can pass: most cannot.
                pairs, share = _high(*sides, responses, least_variance * float(least[which]))
                if share.size == 0:
                    continue
                columns = np.empty((len(pairs), order), dtype=np.int64)
                columns[:, :-2], columns[:, -2:] = first, pairs + start
                together = alone[columns].sum(axis=1)
                units = np.sort(of_column[columns], axis=1)
                could = (share >= least_variance * together) & (np.diff(units) != 0).all(axis=1)
                columns, share, together = columns[could], share[could], together[could]
                share /= _variances(kept, columns, which, ranked.p, least_variance)
                counts = share >= np.maximum(least[which], together)
                functions = np.full((int(counts.sum()), order), which)
                more = Products(eligible[columns[counts]], functions, share[counts])
                found = Products.strongest(found, more)
    return found


def _high(
    block: Array, others: Array, responses: Array, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs with a later column that reach a threshold, and association times variance."""
    xp = array_namespace(block)
    explained: Array = None
    for k in range(responses.shape[0]):
        moments = xp.matmul(block * responses[k : k + 1, :], others.T)
        moments *= moments
        if explained is None:
            explained = moments
        else:
            explained += moments
    # Searching a flat array is faster than searching a matrix.
    flat = xp.reshape(explained, (-1,))
    places = xp.nonzero(flat >= threshold)[0]
    share = to_numpy(flat[places]).astype(np.float64)
    pairs = np.stack(np.divmod(to_numpy(places), others.shape[0]), axis=1)
    later = pairs[:, 1] > pairs[:, 0]
    return pairs[later], share[later]


def _variances(
    kept: np.ndarray, columns: np.ndarray, functions: tuple[int, ...], p: np.ndarray, least: float
) -> np.ndarray:
    """Return the variances of products; infinite if they are too small."""
    variances = np.empty(len(columns))
    for start in range(0, len(columns), _CHUNK):
        chunk = columns[start : start + _CHUNK].T
        values = np.prod([kept[a][j] for a, j in zip(functions, chunk, strict=True)], axis=0)
        variances[start : start + _CHUNK] = values**2 @ p - (values @ p) ** 2
    return np.where(variances >= least, variances, np.inf)


def without(effects: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, c) after removing orthonormal effects (n, n_effects)."""
    left: np.ndarray = vectors - effects @ (effects.T @ vectors)
    return left


def single_effects(
    ranked: Ranked, codes: np.ndarray, n_samples: float, search: Search
) -> tuple[np.ndarray, np.ndarray]:
    """Find functions of single columns that are significantly associated with the response.

    Each is the strongest one given the earlier ones. Returns them as orthonormal vectors, each
    given the earlier ones, and their columns.
    """
    root = np.sqrt(ranked.p)
    level = search.level * prior(ALL_FUNCTIONS) / ranked.spread.size
    least = share_by_chance(level, n_samples, codes.shape[1])[:, None]
    highest = (ranked.shares(codes, ALL_FUNCTIONS) / least).max(axis=0)
    columns = np.argsort(-highest, kind="stable")[: min(_POOL, int((highest >= 1.0).sum()))]
    functions = ranked.kept(columns, ALL_FUNCTIONS)
    effects, places = np.empty((root.size, 0)), list[int]()
    while columns.size and len(places) < search.most_effects(n_samples):
        left = root[:, None] * without(effects, codes)
        shares = ((functions @ left.astype(np.float32)) ** 2).sum(axis=2)
        shares[shares < least] = 0.0
        which, place = np.unravel_index(np.argmax(shares), shares.shape)
        if shares[which, place] == 0.0:
            break
        vector = (root * functions[which, place])[:, None]
        effects = np.column_stack([effects, orthonormal(without(effects, vector))])
        places.append(int(place))
    return effects, columns[places]


def beyond_columns(ranked: Ranked, found: Products) -> tuple[np.ndarray, np.ndarray]:
    """Return products (n, c) after removing what fewer of their columns explain, and their sizes.

    For similar columns, the product of functions a and b is close to a function with frequency
    a + b of either column, so functions up to that frequency are removed, and for more than two
    columns also products of fewer of them. Sizes are squared lengths
    before the removal.
    """
    p, order = ranked.p, found.columns.shape[1]
    root = np.sqrt(p)
    beyond, sizes = np.empty((p.size, len(found.share))), np.empty(len(found.share))
    step = max(1, _NUMBERS // (p.size * 2 * order * ALL_FUNCTIONS))
    for start in range(0, len(found.share), step):
        chunk = slice(start, start + step)
        which = found.functions[chunk]
        numbers = np.arange(len(which))
        sides = [ranked.functions(columns, ALL_FUNCTIONS) for columns in found.columns[chunk].T]
        factors = [side[a, numbers] for side, a in zip(sides, which.T, strict=True)]
        # The first two functions of some, but not all, of the columns.
        lower = [
            np.prod([side[a] for side, a in zip(some, functions, strict=True)], axis=0)
            for size in range(2, order)
            for some in combinations(sides, size)
            for functions in product(range(2), repeat=size)
        ]
        products = np.stack([np.prod(factors, axis=0), *lower])
        products = root * (products - (products @ p)[:, :, None])
        values = products[0]
        sizes[chunk] = (values**2).sum(axis=1)
        if order > 1:
            highest = np.maximum(N_FUNCTIONS, which.sum(axis=1) + order)  # the line is the first
            taken = np.arange(ALL_FUNCTIONS)[:, None] < highest
            parts = [side * root * taken[:, :, None] for side in sides]
            # Project each product onto its own regressors, (c, m, n).
            regressors = np.concatenate([*parts, products[1:]]).swapaxes(0, 1)
            moments = regressors @ regressors.swapaxes(1, 2)
            inverse = np.linalg.pinv(moments, rcond=1e-8, hermitian=True)
            slopes = inverse @ (regressors @ values[:, :, None])
            values = values - (slopes.swapaxes(1, 2) @ regressors)[:, 0]
        beyond[:, chunk] = values.T
    return beyond, sizes


def many_carry(vectors: np.ndarray, codes: np.ndarray, search: Search) -> np.ndarray:
    """Tell whether enough samples carry the association of vectors (n, c)."""
    carried = vectors**2 * (codes**2).sum(axis=1)[:, None]
    carriers = carried.sum(axis=0) ** 2 / np.maximum((carried**2).sum(axis=0), 1e-300)
    is_carried: np.ndarray = carriers >= min(
        search.fewest_carriers, search.carrier_share * len(codes)
    )
    return is_carried


def one_after_another(
    vectors: np.ndarray,
    left: np.ndarray,
    keys: np.ndarray,
    threshold: np.ndarray,
    search: Search,
) -> tuple[np.ndarray, np.ndarray]:
    """Name significant vectors one by one, each after removing the earlier ones.

    ``left`` is the residual response, vectors are (n, c). Only one vector is named
    for each row of ``keys``. Returns their numbers, and their associations with what was left.
    """
    whole = (vectors**2).sum(axis=0)
    named: list[int] = []
    shares: list[float] = []
    is_open = np.ones(len(keys), dtype=bool)
    while len(named) < search.most:
        variance = (vectors**2).sum(axis=0)
        is_left = variance > search.least_left * whole
        share = ((vectors.T @ left) ** 2).sum(axis=1) / np.where(is_left, variance, np.inf)
        share[(share < threshold) | ~is_open] = 0.0
        if not share.any():
            break
        best = int(np.argmax(share))
        named.append(best)
        shares.append(float(share[best]))
        is_open &= (keys != keys[best]).any(axis=1)
        direction = vectors[:, best] / np.sqrt(variance[best])
        left = left - np.outer(direction, direction @ left)
        vectors = vectors - np.outer(direction, direction @ vectors)
    return np.array(named, dtype=np.int64), np.array(shares)
