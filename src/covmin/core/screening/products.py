"""Products of functions of ranks, of any order, and their association with a response.

Values are replaced by ranks. A product of functions of q columns is one number per sample. All
pairs of d columns need k products of a d×n and an n×d matrix, where k is the dimension of the
response; all triples need d times as many, and so on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product
from math import comb
from operator import mul
from typing import Any

import numpy as np

from ..arrays import (
    Array,
    array_namespace,
    default_block_size,
    device_of,
    for_products,
    like,
    take,
    to_numpy,
)
from .ranks import N_FUNCTIONS, OF_SQUARES, Ranked

# Largest number of significant products to examine.
_POOL = 2000
# Products in half precision are this accurate.
_ROUNDED = 0.95
# Numbers held in memory together.
_NUMBERS = 2**24


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


SEARCH = Search()


def prior(n_functions: int, order: int = 1) -> np.ndarray:
    """Return the share of the significance level of each product, with an axis per factor.

    The squared coefficients of a function with steps fall with the square of the frequency, so
    faster cosines need stronger evidence.
    """
    powers = np.arange(1.0, n_functions + 1.0) ** -2
    return reduce(np.multiply.outer, [powers / powers.sum()] * order)


def by_chance(n: float, k: int) -> tuple[float, float]:
    """Return the parameters of a beta distribution: that of a share of association by chance.

    The share is that of a random direction in n samples with a k-dimensional response.
    """
    return 0.5 * k, 0.5 * max(n - 1.0 - k, 1e-9)


def without(effects: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, c) after removing orthonormal effects (n, n_effects)."""
    return vectors - effects @ (effects.T @ vectors)


def outstanding(
    ranked: Ranked,
    codes: np.ndarray,
    of_column: np.ndarray,
    alone: np.ndarray,
    least: np.ndarray,
    least_variance: float,
) -> tuple[np.ndarray, ...]:
    """Return products with a significant association that exceeds that of each column alone.

    They are columns (n_products, order), the numbers of their functions, and their associations,
    the strongest first, at most 2000. ``least`` is the significant share for each choice of
    functions, with an axis per factor; the number of its axes is the order.
    """
    order = least.ndim
    if order == 1:
        shares = ranked.shares(codes, len(least))
        high = (shares >= np.maximum(least[:, None], alone)) & (of_column >= 0)
        functions, columns = np.nonzero(high)
        best = np.argsort(-shares[high], kind="stable")[:_POOL]
        return columns[best, None], functions[best, None], shares[high][best]
    # A product explains at most all.
    eligible = np.flatnonzero(alone < 1.0)
    alone, of_column = alone[eligible], of_column[eligible]
    kept = ranked.kept(eligible, len(least))
    xp = array_namespace(kept)
    p = like(ranked.p, kept)
    responses = xp.sqrt(p) * like(codes.T, kept)
    quick, quick_responses = for_products(kept), for_products(responses)
    found = [np.empty((0, order), dtype=np.int64)] * 2 + [np.empty(0)]
    for which in np.ndindex(least.shape):
        factors = [quick[a, ...] for a in which]
        floors = like(least_variance * np.maximum(least[which], alone), quick_responses)
        columns = np.concatenate([found[0][:0], *_promising(factors, quick_responses, floors)])
        units = np.sort(of_column[columns], axis=1)
        columns = columns[(np.diff(units) != 0).all(axis=1)]

        share, highest = np.empty(len(columns)), alone[columns].max(axis=1, initial=0.0)
        for start in range(0, len(columns), _NUMBERS // p.shape[0] + 1):
            some = slice(start, start + _NUMBERS // p.shape[0] + 1)
            chosen = zip(which, columns[some].T, strict=True)
            values = reduce(mul, (take(kept[a, ...], j, axis=0) for a, j in chosen))
            variances = to_numpy(values**2 @ p - (values @ p) ** 2)
            explained = to_numpy(xp.sum((values @ responses.T) ** 2, axis=1))
            share[some] = explained / np.where(variances >= least_variance, variances, np.inf)
        counts = share >= np.maximum(least[which], highest)
        functions = np.full((int(counts.sum()), order), which)
        more = eligible[columns[counts]], functions, share[counts]
        found = [np.concatenate(parts) for parts in zip(found, more, strict=True)]
        best = np.argsort(-found[-1], kind="stable")[:_POOL]
        found = [part[best] for part in found]
    return tuple(found)


def _promising(factors: list[Array], responses: Array, floors: Array) -> Iterator[np.ndarray]:
    """Yield sets of columns (n_sets, order) whose products may explain enough of the responses.

    This is the largest of the ``floors`` of their columns.
    ``factors`` are functions (d, n) of the columns, one for each place in a set. A block of sets of
    all columns but the last is multiplied by all later columns. These sets are numbered by their
    largest column, then by the next largest, and so on, so that later blocks need fewer columns.
    """
    xp, (d, n), order = array_namespace(responses), factors[0].shape, len(factors)
    n_fronts = comb(max(d - 1, 0), order - 1)  # those that a later column can complete
    n_below = [np.arange(d)]
    for _ in range(order - 2):
        n_below.append(np.cumsum(n_below[-1]) - n_below[-1])  # sets of one more, of lower columns
    tables = [xp.asarray(below, device=device_of(responses)) for below in n_below]
    # A block has 256 sets on a CPU and as many as fill an accelerator.
    block = default_block_size(responses)
    size = max(256, block**2 // 2**5 // max(d, n))
    pieces = [slice(k, k + block) for k in range(0, n, block)]  # of products, kept in the cache
    waiting: Any = None
    for start in (*range(0, n_fronts, size), None):
        # An accelerator multiplies the next block while this one is looked at.
        ready, waiting = waiting, None
        if start is not None:
            left = xp.arange(start, min(start + size, n_fronts), device=device_of(responses))
            fronts: list[Array] = []
            for table in reversed(tables):
                fronts.insert(0, xp.searchsorted(table, left, side="right") - 1)
                left = left - take(table, fronts[0], axis=0)
            # All columns after the largest of the first set, and up to seven more: an accelerator
            # is several times as fast if their number is a multiple of eight.
            first = int(np.searchsorted(n_below[-1], start, side="right"))
            first = max(first - (first - d) % 8, 0)
            moments: list[Array] = []
            for part in pieces:
                chosen = zip(factors, fronts, strict=False)
                values = reduce(mul, (take(f[:, part], j, axis=0) for f, j in chosen))
                others = factors[-1][first:, part].T
                of_part = [(values * responses[k, part]) @ others for k in range(len(responses))]
                both = zip(moments, of_part, strict=True)
                moments = [a + b for a, b in both] if moments else of_part
            peaks = sum(xp.linalg.vector_norm(part, ord=np.inf, axis=1) ** 2 for part in moments)
            enough = _ROUNDED * reduce(
                xp.maximum, (take(floors, front, axis=0) for front in fronts)
            )
            waiting = fronts, first, moments, enough, peaks >= enough
        if ready is None:
            continue
        fronts, first, moments, enough, is_high = ready
        rows = xp.nonzero(is_high)[0]
        if rows.shape[0] == 0:
            continue
        explained = sum(take(part, rows, axis=0) ** 2 for part in moments)
        enough = xp.maximum(take(enough, rows, axis=0)[:, None], _ROUNDED * floors[first:])
        places, ends = xp.nonzero(explained >= enough)
        rows = take(rows, places, axis=0)
        columns = [to_numpy(take(front, rows, axis=0)) for front in fronts]
        sets = np.column_stack([*columns, to_numpy(ends) + first])
        yield sets[sets[:, -1] > sets[:, -2]]


def beyond_columns(
    ranked: Ranked, columns: np.ndarray, functions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return products (n, c) after removing what fewer of their columns explain, and their sizes.

    If a column is nearly another one, the product of their functions a and b is nearly a function
    of frequency a + b of it; if it is nearly a square of the other, up to twice that. So functions
    up to that frequency are removed, and for more than two columns also products of fewer of them.
    Sizes are squared lengths before the removal.
    """
    (n_products, order), p, root = columns.shape, ranked.p, np.sqrt(ranked.p)
    beyond, sizes = np.empty((p.size, n_products)), np.empty(n_products)
    step = max(1, _NUMBERS // (p.size * 2 * order * OF_SQUARES))
    for start in range(0, n_products, step):
        chunk = slice(start, start + step)
        which = functions[chunk]
        numbers = np.arange(len(which))
        sides = [to_numpy(ranked.functions(column, OF_SQUARES)) for column in columns[chunk].T]
        factors = [side[a, numbers] for side, a in zip(sides, which.T, strict=True)]
        # The first two functions of some, but not all, of the columns.
        lower = [
            np.prod([side[a] for side, a in zip(some, first, strict=True)], axis=0)
            for size in range(2, order)
            for some in combinations(sides, size)
            for first in product(range(2), repeat=size)
        ]
        products = np.stack([np.prod(factors, axis=0), *lower])
        products = root * (products - (products @ p)[:, :, None])
        values = products[0]
        sizes[chunk] = (values**2).sum(axis=1)
        if order > 1:
            highest = np.maximum(N_FUNCTIONS, 2 * (which.sum(axis=1) + order))  # 0 is the line
            taken = np.arange(OF_SQUARES)[:, None] < highest
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
    enough = min(search.fewest_carriers, search.carrier_share * len(codes))
    return np.asarray(carriers >= enough)


def one_after_another(
    vectors: np.ndarray, left: np.ndarray, keys: np.ndarray, threshold: np.ndarray, search: Search
) -> tuple[np.ndarray, np.ndarray]:
    """Name significant vectors one by one, each after removing the earlier ones.

    ``left`` is the residual response, vectors are (n, c). Only one vector is named for each row of
    ``keys``. Returns their numbers, and their associations with what was left.
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
