"""Samples seen through ranks: responses as codes, columns as a line and waves of their ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, to_numpy
from .search import N_WAVES, Search

# Columns that are worked on at once.
BLOCK = 512


@dataclass(frozen=True)
class Codes:
    """A response as orthonormal numbers of mean 0, by the ranks of its principal components."""

    values: np.ndarray  # (n, k)
    p: np.ndarray  # (n,), weights that sum to one

    @classmethod
    def of(cls, Y: Array, p: Array, search: Search) -> Codes:
        responses, weights = to_numpy(Y), to_numpy(p).astype(np.float64)
        leading = _principal(responses, weights, search.response_share)
        return cls(whitened(ranks(leading, weights), weights), weights)

    @property
    def n_samples(self) -> float:
        """How many equally weighted samples they are worth."""
        return float(1.0 / (self.p**2).sum())

    @property
    def size(self) -> int:
        """Dimensions of the response."""
        return int(self.values.shape[1])

    @property
    def weighted(self) -> np.ndarray:
        """The codes times √p: orthonormal vectors."""
        weighted: np.ndarray = np.sqrt(self.p)[:, None] * self.values
        return weighted

    @property
    def squares(self) -> Codes:
        """What the squares of the codes say beyond the codes: the spread of the response."""
        squares = standardized(self.values**2, self.p)
        beyond = squares - self.values @ (self.values.T @ (self.p[:, None] * squares))
        # What is left of two classes is rounding errors.
        beyond = beyond * ((self.p @ beyond**2) > 1e-6)
        return Codes(whitened(beyond, self.p), self.p)


@dataclass(frozen=True)
class Ranked:
    """Columns by their ranks, from which waves of them are made."""

    line: np.ndarray  # (n, d), ranks with mean 0 and variance 1
    spread: np.ndarray  # (d,), their deviation as shares of the samples
    p: np.ndarray  # (n,), weights that sum to one

    @classmethod
    def of(cls, X: Array, p: np.ndarray) -> Ranked:
        values = to_numpy(X)
        line, spread = np.empty(values.shape, dtype=np.float32), np.empty(values.shape[1])
        for start in range(0, values.shape[1], BLOCK):
            block = slice(start, start + BLOCK)
            middles = _middles(values[:, block], p)
            spread[block] = np.sqrt(p @ (middles - 0.5) ** 2)
            line[:, block] = standardized(middles, p)
        return cls(line, spread, p)

    def waves(self, columns: np.ndarray | slice, n_waves: int = N_WAVES) -> np.ndarray:
        """A line in the ranks, and half waves of them of growing frequency, (n_waves, n, columns).

        Each is orthogonal to those before it, of mean 0 and variance 1; or zero, where a column
        takes too few values to tell it from these. All are bounded, and so are their products.
        """
        line = self.line[:, columns].astype(np.float64)
        share = np.pi * (0.5 + line * self.spread[columns])
        waves = np.empty((n_waves, *line.shape))
        waves[0] = line
        for k in range(1, n_waves):
            wave = standardized(np.cos((k + 1) * share), self.p)
            for earlier in waves[:k]:
                wave -= earlier * (self.p @ (wave * earlier))
            waves[k] = standardized(wave, self.p)
        return waves

    def kept(self, columns: np.ndarray, n_waves: int) -> np.ndarray:
        """The same in single precision, made some columns at a time."""
        kept = np.empty((n_waves, self.p.size, columns.size), dtype=np.float32)
        for start in range(0, columns.size, BLOCK):
            block = slice(start, start + BLOCK)
            kept[:, :, block] = self.waves(columns[block], n_waves)
        return kept

    def shares(self, codes: Codes) -> np.ndarray:
        """How much of the variance of each wave of each column goes with a response."""
        shares = np.empty((N_WAVES, self.spread.size))
        weighted = self.p[:, None] * codes.values
        for start in range(0, self.spread.size, BLOCK):
            block = slice(start, start + BLOCK)
            moments = np.einsum("wnd,nk->wdk", self.waves(block), weighted, optimize=True)
            shares[:, block] = (moments**2).sum(axis=2)
        return shares


def _principal(Y: np.ndarray, p: np.ndarray, share: float) -> np.ndarray:
    """The leading principal components of the responses."""
    centred = (Y - p @ Y).astype(np.float64)
    _, sizes, directions = np.linalg.svd(np.sqrt(p)[:, None] * centred, full_matrices=False)
    power = np.cumsum(sizes**2)
    n_kept = int(np.searchsorted(power, share * power[-1])) + 1
    return centred @ directions[:n_kept].T


def ranks(values: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Ranks in each column, with mean 0 and variance 1 under p."""
    return standardized(_middles(values, p), p)


def _middles(values: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Ranks in each column as shares of the samples, ½ on average.

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
    result = np.empty(values.shape)
    np.put_along_axis(result, order, middle, axis=0)
    return result


def standardized(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and variance 1 under p; a constant one is 0."""
    centred = columns - p @ columns
    spread = np.sqrt(p @ centred**2)
    return centred / np.where(spread > 1e-6, spread, np.inf)


def whitened(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Orthonormal columns under p that span the given ones."""
    root = np.sqrt(p)[:, None]
    basis, sizes, _ = np.linalg.svd(root * columns, full_matrices=False)
    return basis[:, sizes > 1e-6 * sizes.max(initial=0.0)] / root
