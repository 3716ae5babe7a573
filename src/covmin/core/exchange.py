"""Order a few dozen features by the tuned leave-one-out error of kernel ridge regression.

A path proposes features. Here sets of them are compared by the quantity that the method minimises,
the conditional variance, estimated with a kernel and a ridge of its own for each set. The search
goes forward from nothing and from sets that act only together, backward, and exchanges features
until no exchange lowers the error.

The same rows choose a set and measure its error, so the lowest of many errors is too low. The path
therefore has the benefit of the doubt. By the differences over the rows, a set is credited with

    error + standard error of (error − error of the path's set of that size).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from covmin.constants import (
    CANDIDATES,
    FUNCTION_RIDGES,
    LANDMARKS,
    SAMPLES_FOR_EACH_FEATURE,
    SET_KERNELS,
)

from .regression import Basis
from .units import ALWAYS_ON

Set = frozenset[int]

# The search ends if the error did not fall for so many sizes.
_PATIENCE = 3
# Moves that are compared after a rough look, for the last set too, and features that may leave.
_TRIED, _CERTIFIED, _LEAVING = 3, 15, 4
# A set is not tuned further if its first error exceeds that of the best set of its size so much.
_HOPELESS = 1.02
# Kernels that are tried first.
_START = 1, 3, 4, 5
# Rows and landmarks of a rough comparison.
_ROUGH_ROWS, _ROUGH_LANDMARKS = 192, 32


@dataclass(frozen=True)
class SetSample:
    """Standardised samples in random order, with responses and weights."""

    X: np.ndarray  # (n_rows, n_columns)
    of_column: np.ndarray  # (n_columns,), feature of each column; -1 if it belongs to every set
    scale: np.ndarray  # (n_columns,), weight of a column; squares of a feature sum to one
    Y: np.ndarray  # (n_rows, n_responses), centred
    p: np.ndarray  # (n_rows,), sums to one

    def part(self, rows: slice) -> SetSample:
        """Return some of the rows."""
        p = self.p[rows] / self.p[rows].sum()
        Y = self.Y[rows]
        return SetSample(self.X[rows], self.of_column, self.scale, Y - p @ Y, p)

    def of(self, features: Sequence[int]) -> SetSample:
        """Return the columns of some features, numbered in the given order."""
        number = {ALWAYS_ON: ALWAYS_ON} | {int(j): i for i, j in enumerate(features)}
        columns = np.flatnonzero(np.isin(self.of_column, list(number)))
        of_column = np.array([number[j] for j in self.of_column[columns].tolist()], dtype=int)
        X = self.X[:, columns].astype(np.float64)
        return SetSample(X, of_column, self.scale[columns], self.Y, self.p)


@dataclass(frozen=True)
class Judged:
    """A set of features with its kernel, ridge and leave-one-out residuals."""

    features: Set
    residuals: np.ndarray  # (n_rows, n_responses), times √p
    shape: int  # number of its kernel
    ridge: float

    @cached_property
    def losses(self) -> np.ndarray:
        """Contribution of each row to the error."""
        losses: np.ndarray = (self.residuals**2).sum(axis=1)
        return losses

    @cached_property
    def error(self) -> float:
        """Share of the variance of the response that is left."""
        return float(self.losses.sum())

    def gain_over(self, other: Judged) -> tuple[float, float]:
        """Return how much lower its error is, and the standard error of that over the rows."""
        gain = other.losses - self.losses
        return float(gain.sum()), float(np.sqrt(((gain - gain.mean()) ** 2).sum()))

    def beats(self, other: Judged) -> bool:
        """Tell whether the error is lower by more than a standard error."""
        gain, standard_error = self.gain_over(other)
        return gain > standard_error


class SetErrors:
    """Leave-one-out errors of kernel ridge regression on sets of features.

    The kernel of a set is a function of the squared distance summed over its features, so all sets
    and kernels share the distances in single features. A mixed kernel adds fast functions of single
    features, such as ``sin(8x)`` or stairs.
    """

    def __init__(self, sample: SetSample) -> None:
        n = len(sample.X)
        n_landmarks = min(LANDMARKS[0], n)
        # (n_features + 1, n_rows, n_landmarks); the last entry is for columns of every set.
        distances = np.zeros((sample.of_column.max(initial=-1) + 2, n, n_landmarks))
        for x, j, s in zip(sample.X.T, sample.of_column, sample.scale, strict=True):
            distances[j] += (s * (x[:, None] - x[:n_landmarks])) ** 2
        # Distances, and fast kernels of single features.
        self._D = np.stack([distances, _rational(distances, SET_KERNELS[0][1])])
        power = float((sample.p @ sample.Y**2).sum()) or 1.0
        self._targets = np.sqrt(sample.p)[:, None] * sample.Y / np.sqrt(power)
        self._p = sample.p
        self.known: dict[Set, Judged] = {}

    def judge(self, features: Set, near: int | None = None, limit: float = np.inf) -> Judged:
        """Return a set with its best kernel and ridge.

        The search over kernels begins at ``near``, and ends there if the error exceeds ``limit``.
        """
        if features in self.known:
            return self.known[features]
        total = self._D[:, [-1, *sorted(features)]].sum(axis=1)
        total[1] /= len(features) + 1
        tried = {k: self._solve(features, total, k) for k in (_START if near is None else [near])}
        while True:
            best = min(tried, key=lambda k: tried[k].error)
            new = {best - 1, best + 1} - tried.keys()
            new = {k for k in new if 0 <= k < len(SET_KERNELS)}
            if not new or not features or tried[best].error > limit:
                break
            tried |= {k: self._solve(features, total, k) for k in new}
        self.known[features] = tried[best]
        return tried[best]

    def _solve(self, features: Set, total: np.ndarray, shape: int) -> Judged:
        basis = Basis.of_kernel(_kernel(total, shape), self._p)
        ridges = FUNCTION_RIDGES[:-1]
        left_out = basis.leave_one_out(self._targets, basis.shrinkage(ridges))
        best = int(np.argmin([(residuals**2).sum() for residuals in left_out]))
        return Judged(features, left_out[best], shape, ridges[best])

    def rough(
        self, base: Set, added: Sequence[int], removed: Sequence[int], like: Judged
    ) -> np.ndarray:
        """Return errors of ``base`` with one feature added, then of those with one removed.

        Few rows and landmarks are used, with the kernel and ridge of another set, all sets at once.
        """
        n, m = min(_ROUGH_ROWS, self._D.shape[2]), min(_ROUGH_LANDMARKS, self._D.shape[3])
        p = self._p[:n] / self._p[:n].sum()
        root = np.sqrt(p)[:, None]
        Y = self._targets[:n] / np.sqrt(self._p[:n, None])
        Y = root * (Y - p @ Y)
        D, k = self._D[:, :, :n, :m], len(base)
        total = D[:, [-1, *sorted(base)]].sum(axis=1)[:, None]
        more, less = total + D[:, list(added)], total - D[:, list(removed)]
        more[1] /= k + 2
        less[1] /= max(k, 1)
        K = _kernel(np.concatenate([more, less], axis=1), like.shape)
        C = root * (K - (p @ K)[:, None])
        A = C.swapaxes(1, 2) @ C + like.ridge * (K[:, :m] + 1e-8 * m * np.eye(m))
        W = C @ np.linalg.inv(np.linalg.cholesky(A)).swapaxes(1, 2)
        left_out = np.maximum(1.0 - p - (W**2).sum(axis=2), 1e-9)
        residuals = Y - W @ (W.swapaxes(1, 2) @ Y)
        return np.asarray(((residuals / left_out[:, :, None]) ** 2).sum(axis=(1, 2)))


def _rational(distances: np.ndarray, scale: float) -> np.ndarray:
    return np.asarray((1.0 + distances / scale**2) ** -0.5)


def _kernel(total: np.ndarray, shape: int) -> np.ndarray:
    (distances, fast), (kind, scale) = total, SET_KERNELS[shape]
    if kind == "rational":
        return _rational(distances, scale)
    slow = np.exp(distances * (-0.5 / scale**2))
    return slow if kind == "gaussian" else 0.5 * (slow + fast)


@dataclass(frozen=True)
class Exchanged:
    """A nested ranking of candidates."""

    order: np.ndarray  # candidates, best first
    enough: int  # the smallest size with an error within one standard error of the least
    n_exchanges: int  # exchanges of one of the first m features, none of which lowers the error


@dataclass
class _Search:
    """The best set of each size, by additions, removals and exchanges."""

    errors: SetErrors
    candidates: list[int]  # features are numbered in the order of the path
    best: dict[int, Judged] = field(default_factory=dict)
    proposed: dict[int, Judged] = field(default_factory=dict)  # by the path
    settled: set[tuple[Set, int]] = field(default_factory=set)  # no exchange helps

    def credited(self, one: Judged) -> float:
        """Return the error of a set that the rows can vouch for."""
        return one.error + one.gain_over(self.proposed[len(one.features)])[1]

    def offer(self, features: Set, near: int | None) -> bool:
        """Judge a set, and keep it if it is better than the best of its size."""
        best = self.best[len(features)]
        new = self.errors.judge(features, near, _HOPELESS * best.error)
        if self.credited(new) >= self.credited(best) - 1e-9:
            return False
        self.best[len(features)] = new
        return True

    def add(self, bases: Sequence[Set], like: Judged, n_tried: int = _TRIED) -> bool:
        """Offer each of some sets with one more feature, the most promising ones only."""
        sets, errors = list[Set](), []
        for base in bases:
            others = [j for j in self.candidates if j not in base]
            sets += [base | {j} for j in others]
            errors.append(self.errors.rough(base, others, [], like))
        chosen = np.argsort(np.concatenate(errors), kind="stable")[:n_tried]
        offered = [self.offer(sets[i], like.shape) for i in chosen]  # all of them, not one
        return any(offered)

    def without_one(self, old: Judged) -> list[Set]:
        """Return the set with one feature less, the most promising first."""
        members = sorted(old.features)
        errors = self.errors.rough(old.features, [], members, old)
        return [old.features - {members[i]} for i in np.argsort(errors, kind="stable")]

    def exchange(self, k: int, n_leaving: int = _LEAVING, n_tried: int = _TRIED) -> None:
        """Replace one feature of the best set, until that does not help."""
        while (self.best[k].features, n_tried) not in self.settled:
            old = self.best[k]
            if not self.add(self.without_one(old)[:n_leaving], old, n_tried):
                self.settled.add((old.features, n_tried))

    def forward(self, named: list[Set], top: int) -> int:
        """Grow the sets until the error no longer falls; return the largest size."""
        for k in range(1, top + 1):
            self.add([self.best[k - 1].features], self.best[max(k - 1, 1)])
            for one in named:  # at once, because its members may be useless one by one
                for small in list(self.best.values()):
                    if len(small.features | one) == k > len(small.features) + 1:
                        self.offer(small.features | one, None)
            self.exchange(k)
            best = [self.best[q] for q in range(k + 1)]
            last = max(_last_fall(list(self.proposed.values())), _last_fall(best))
            if k >= max([last, *map(len, named)]) + _PATIENCE:
                return k
        return top

    def nested(self, top: int, m: int | None) -> list[int]:
        """Return the features of the chain of nested sets with the least sum of log errors.

        Sizes that a chain leaves out count with the error of the next smaller set, so that features
        which act only together enter at once. With m the chain leads through the best set of m.
        """
        log = {
            one.features: np.log(max(self.credited(one), 1e-12))
            for one in sorted(self.errors.known.values(), key=lambda one: len(one.features))
            if len(one.features) <= top and (len(one.features) != m or one is self.best[m])
        }
        cost: dict[Set, float] = {frozenset(): 0.0}
        before: dict[Set, Set] = {}
        for one in log:
            for small, so_far in list(cost.items()):
                if small < one and not (m is not None and len(small) < m < len(one)):
                    total = so_far + (len(one) - len(small) - 1) * log[small] + log[one]
                    if total < cost.get(one, np.inf):
                        cost[one], before[one] = total, small
        ends = [one for one in cost if len(one) >= (m or 0)]
        now = min(ends, key=lambda one: cost[one] + (top - len(one)) * log[one])
        order: list[int] = []
        while now:
            order = sorted(now - before[now]) + order  # in the order of the path
            now = before[now]
        return order


def _last_fall(sets: list[Judged]) -> int:
    """Return the last size whose error is clearly lower than that of the last such size."""
    last = 0
    for k, one in enumerate(sets):
        last = k if one.beats(sets[last]) else last
    return last


def exchange(
    sample: SetSample, path: Sequence[int], named: Sequence[Sequence[int]], m: int | None
) -> Exchanged:
    """Order the first features of a path anew.

    Parameters
    ----------
    sample : SetSample
        Samples with the columns of the features of the path, at least.
    path : sequence of int
        Features, best first: a few dozen.
    named : sequence of sequences of int
        Sets of features of the path that act together.
    m : int or None
        Size at which the ranking has to be best; None counts all sizes alike.
    """
    n, place = len(sample.X), {int(j): i for i, j in enumerate(path)}
    together = [frozenset(place[int(j)] for j in one) for one in named]
    errors = SetErrors(sample.of(path))
    top = min(CANDIDATES[0], len(path), max(1, n // SAMPLES_FOR_EACH_FEATURE))
    top = min(top, (m or top) + _PATIENCE)
    n_candidates = min(len(path), max(top, n // CANDIDATES[2]))
    search = _Search(errors, sorted({*range(n_candidates)}.union(*together)))
    for k in range(top + 1):  # what the path proposes
        near = search.best[k - 1].shape if k > 2 else None
        search.best[k] = search.proposed[k] = errors.judge(frozenset(range(k)), near)
    top = search.forward(together, top)
    for k in range(top - 1, 0, -1):
        larger = search.best[k + 1]
        for one in search.without_one(larger)[:_TRIED]:
            search.offer(one, larger.shape)
        search.exchange(k)
    m = min(m, top) if m else None
    if m:
        search.exchange(m, n_leaving=m, n_tried=_CERTIFIED)  # any may leave: the certificate
    order = search.nested(top, m)
    order += [j for j in range(len(path)) if j not in order]
    chain = [errors.judge(frozenset(order[:k])) for k in range(top + 1)]
    least = min(chain, key=lambda one: one.error)
    enough = next(k for k, one in enumerate(chain) if not least.beats(one))
    n_exchanges = m * (len(search.candidates) - m) if m else 0
    return Exchanged(np.asarray(path)[order], enough, n_exchanges)
