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

from .arrays import Array, array_namespace, device_of, like, take, to_numpy

__all__ = ["Pairs", "interacting_pairs"]

# The chance that independent samples name any pair at all.
_LEVEL = 0.05
# Pairs named at most, and pairs that stand out among which these are looked for.
_MOST_PAIRS = 10
_POOL = 2000
# Products of all pairs are formed for so many features at a time, and for no more numbers in
# all: a few seconds on two cores. Of fewer samples than these nothing is asked.
_BLOCK = 512
_MOST_WORK = 4e11
_MOST_SAMPLES = 2000
_FEWEST_SAMPLES = 20
# What is left of the variance of a product must not be next to nothing.
_LEAST_VARIANCE = 0.01
_LEAST_LEFT = 0.1


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns that interact, the most telling first.

    Attributes
    ----------
    columns : ndarray of int of shape (n_pairs, 2)
    units : ndarray of int of shape (n_pairs, 2)
        Units of the columns; -1 is that of columns which are always on.
    share : ndarray of shape (n_pairs,)
        Share of the variance of the product that goes with the response, beyond the pairs
        before it.
    p_value : ndarray of shape (n_pairs,)
        For the pair to stand out as much by chance, times the number of pairs.
    n_samples : int
        Rows looked at that differ: copies are no evidence.
    """

    columns: np.ndarray
    units: np.ndarray
    share: np.ndarray
    p_value: np.ndarray
    n_samples: int

    @classmethod
    def none(cls, n_samples: int = 0) -> Pairs:
        """No pair."""
        nothing = np.empty((0, 2), dtype=np.int64)
        return cls(nothing, nothing, np.empty(0), np.empty(0), n_samples)

    @property
    def members(self) -> np.ndarray:
        """The units that are part of a pair, in increasing order."""
        members = np.unique(self.units)
        return members[members >= 0]


def interacting_pairs(X: Array, Y: Array, p: Array, of_column: np.ndarray, seed: int = 0) -> Pairs:
    """Find pairs of columns whose product explains more than both columns by themselves.

    Columns and responses are replaced by their ranks. With no dependence the share of a product
    that goes with the response, times n, is then about χ² with as many degrees of freedom as
    the response has dimensions, also far out and for rare classes: products of ranks are
    bounded. A pair stands out where this is too much for any of the d(d−1)/2 pairs, at a level
    of 0.05, and more than for a line and a parabola in each of the columns. The strongest
    is named first, then the strongest of what it leaves, so that pairs of look-alikes are not.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    Y : array of shape (n_rows, n_responses)
    p : array of shape (n_rows,)
        Weights that sum to one.
    of_column : ndarray of int of shape (n_columns,)
        Unit of each column. Columns of the same unit are no pair.
    seed : int
        Of the sample of rows that is taken where there are too many.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 50))
    >>> Y = X[:, [3]] * X[:, [7]] + rng.standard_normal((100, 1))
    >>> interacting_pairs(X, Y, np.full(100, 0.01), np.arange(50)).columns
    array([[3, 7]])
    """
    rows = _rows(p, Y.shape[1] * X.shape[1] ** 2, seed)
    X, Y, p = take(X, rows, axis=0), to_numpy(Y)[rows], to_numpy(p)[rows].astype(np.float64)
    p = p / p.sum() if rows.size else p
    values = to_numpy(X)
    n = len({row.tobytes() for row in np.hstack([values, Y])})
    n_pairs = X.shape[1] * (X.shape[1] - 1) // 2
    if n < _FEWEST_SAMPLES or n_pairs == 0:
        return Pairs.none(n)
    codes = _whitened(_ranks(Y, p), p)
    least = float(chdtri(codes.shape[1], _LEVEL / n_pairs)) / n if codes.size else 1.0
    if least >= 1.0:
        return Pairs.none(n)  # no dependence could be that strong
    ranks, alone = _ranks_and_effects(values, codes, p)
    # No share is more than the whole.
    eligible = np.flatnonzero(alone + alone.min() < 1.0)
    device_ranks = array_namespace(X).asarray(ranks[:, eligible], device=device_of(X))
    outstanding = _outstanding(device_ranks, codes, p, alone[eligible], of_column[eligible], least)
    named, share = _named(ranks, codes, p, eligible[outstanding], least)
    chances = n_pairs * chdtrc(codes.shape[1], n * share)
    return Pairs(named, of_column[named], share, chances, n)


def _rows(p: Array, work: int, seed: int) -> np.ndarray:
    """Rows that have a say, no more than there is time for at so much work for each."""
    rows = np.flatnonzero(to_numpy(p) > 0.0)
    most = min(_MOST_SAMPLES, int(_MOST_WORK / work))
    if rows.size <= most:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def _ranks_and_effects(
    values: np.ndarray, codes: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of every column, and what it explains by itself, some columns at a time."""
    ranks, alone = np.empty(values.shape, dtype=np.float32), np.empty(values.shape[1])
    for start in range(0, values.shape[1], _BLOCK):
        block = slice(start, start + _BLOCK)
        of_block = _ranks(values[:, block], p)
        ranks[:, block], alone[block] = of_block, _explained_alone(of_block, codes, p)
    return ranks, alone


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


def _explained_alone(ranks: np.ndarray, codes: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Shares of a line and of a parabola in each column that go with the response."""
    squares = _standardized(ranks**2, p)
    squares = _standardized(squares - ranks * (p @ (squares * ranks)), p)
    weighted = p[:, None] * codes
    return sum(((each.T @ weighted) ** 2).sum(axis=1) for each in (ranks, squares))


def _outstanding(
    ranks: Array,
    codes: np.ndarray,
    p: np.ndarray,
    alone: np.ndarray,
    of_column: np.ndarray,
    least: float,
) -> np.ndarray:
    """Pairs whose products explain at least so much, and more than both columns alone.

    The strongest come first, and no more than can be told apart afterwards.
    """
    xp = array_namespace(ranks)
    squares = ranks * ranks
    weights = like(p[:, None], ranks)
    weighted_codes = like(p[:, None] * codes, ranks)
    pairs, shares = np.empty((0, 2), dtype=np.int64), np.empty(0)
    for start in range(0, ranks.shape[1], _BLOCK):
        block, others = ranks[:, start : start + _BLOCK], ranks[:, start:]
        variance = xp.matmul((squares[:, start : start + _BLOCK] * weights).T, squares[:, start:])
        variance -= xp.matmul((block * weights).T, others) ** 2
        explained = xp.zeros_like(variance)
        for k in range(codes.shape[1]):
            product = xp.matmul((block * weighted_codes[:, k : k + 1]).T, others)
            product *= product
            explained += product
        explained /= xp.where(variance > _LEAST_VARIANCE, variance, xp.inf)
        high = xp.nonzero(explained >= least)
        share = to_numpy(explained[high]).astype(np.float64)
        high = np.stack([to_numpy(each) for each in high], axis=1) + start
        first, second = high.T
        counts = (second > first) & (of_column[first] != of_column[second])
        counts &= share > alone[first] + alone[second]
        pairs = np.concatenate([pairs, high[counts]])
        shares = np.concatenate([shares, share[counts]])
        best = np.argsort(-shares, kind="stable")[:_POOL]
        pairs, shares = pairs[best], shares[best]
    return pairs


def _named(
    ranks: np.ndarray, codes: np.ndarray, p: np.ndarray, pairs: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Of pairs that stand out, those that still do after the ones named before them."""
    products = ranks[:, pairs[:, 0]].astype(np.float64) * ranks[:, pairs[:, 1]]
    products = np.sqrt(p)[:, None] * (products - p @ products)
    left = np.sqrt(p)[:, None] * codes
    whole = (products**2).sum(axis=0)
    named: list[int] = []
    shares: list[float] = []
    while pairs.size and len(named) < _MOST_PAIRS:
        variance = (products**2).sum(axis=0)
        explained = ((products.T @ left) ** 2).sum(axis=1)
        explained /= np.where(variance > _LEAST_LEFT * whole, variance, np.inf)
        best = int(np.argmax(explained))
        if explained[best] < least:
            break
        named.append(best)
        shares.append(float(explained[best]))
        direction = products[:, best] / np.sqrt(variance[best])
        left = left - np.outer(direction, direction @ left)
        products = products - np.outer(direction, direction @ products)
    return pairs[named], np.array(shares)
