"""Leave-one-out errors of kernel ridge regression on sets of features, tuned for each set.

A hundred landmarks cannot follow a function that changes within a few of many rows, such as one of
the day, of the place or of the levels of a category. So what rows that are next to each other, in
all columns of a set or in one feature, have in common of the residuals is removed too, one after
another, if it is clearly more than by chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import attrgetter

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import KDTree

from covmin.constants import FUNCTION_RIDGES, LANDMARKS, SET_KERNELS

from .regression import CentredKernel
from .units import ALWAYS_ON

Set = frozenset[int]
Tuning = tuple[int, int]  # numbers of a kernel and a ridge

# Numbers of kernels and ridges. The last ridge leaves only the mean.
_TUNINGS = set(product(range(len(SET_KERNELS)), range(len(FUNCTION_RIDGES) - 1)))
# Those that are tried first.
START = tuple(product((1, 3, 4, 5), (2,)))
# Rows for each landmark from which neighbours are looked at, how many of them on each side in one
# column, and in at most so many; and the standard errors that what they share must exceed.
_DENSE_ROWS, _ON_A_SIDE, _NEAR_COLUMNS, _CLEARLY = 5, 3, 3, 3.0
# Fewest rows of a rough comparison, and rows for each landmark.
_ROUGH_ROWS, _ROWS_FOR_EACH = 128, 6
_AT_ONCE = 16  # sets of a rough comparison whose matrices stay in the cache


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


@dataclass(frozen=True)
class Judged:
    """A set of features with its kernel, ridge and leave-one-out residuals."""

    features: Set
    residuals: np.ndarray  # (n_rows, n_responses), times √p
    losses: np.ndarray  # (n_rows,), contribution of each row to the error
    error: float  # share of the variance of the response that is left
    tuning: Tuning

    def gain_over(self, other: Judged) -> tuple[float, float]:
        """Return how much lower its error is, and the standard error of that over the rows."""
        gain = other.losses - self.losses
        return float(gain.sum()), float(np.sqrt(((gain - gain.mean()) ** 2).sum()))

    def beats(self, other: Judged) -> bool:
        """Tell whether the error is lower by more than a standard error."""
        gain, standard_error = self.gain_over(other)
        return gain > standard_error


def _mean_of_others(nearest: np.ndarray) -> csr_array:
    """Return the matrix of means over the nearest rows (n, k + 1), without the row itself."""
    n, k = nearest.shape[0], nearest.shape[1] - 1
    is_own = nearest == np.arange(n)[:, None]
    is_own[:, -1] |= ~is_own.any(axis=1)  # among equal rows
    ends = np.arange(0, n * k + 1, k)
    return csr_array((np.full(n * k, 1.0 / k), nearest[~is_own], ends), shape=(n, n))


class _Trial:
    """A set of features and the kernels and ridges that are tried for it."""

    def __init__(self, errors: SetErrors, features: Set) -> None:
        self._errors, self._features, self._sums = errors, features, _Sums([features])
        self._distances = self._sums.of(errors.distances)
        self._kernels, self.tried = dict[int, CentredKernel](), dict[Tuning, Judged]()

    def at(self, tuning: Tuning) -> Judged:
        """Return the set with a given kernel and ridge."""
        if tuning in self.tried:
            return self.tried[tuning]
        (shape, ridge), errors = tuning, self._errors
        if shape not in self._kernels:
            K = errors.kernel(self._distances, self._sums, shape)[0]
            self._kernels[shape] = CentredKernel(K, errors.sample.p)
        residuals = self._kernels[shape].leave_one_out(errors.targets, FUNCTION_RIDGES[ridge])
        if not self.tried:  # those who share something with the first residuals
            near = errors.neighbours(self._features) if errors.is_dense else []
            self._neighbours = [one for one in near if errors.shared(residuals, [one]).any()]
        if self._neighbours:
            residuals = residuals - errors.shared(residuals, self._neighbours)
        losses = (residuals**2).sum(axis=1)
        new = Judged(self._features, residuals, losses, float(losses.sum()), tuning)
        return self.tried.setdefault(tuning, new)

    def near(self, tuning: Tuning | None) -> Judged:
        """Return the set with a given kernel and ridge, or with the best of a few."""
        if tuning is None and self._distances.any():
            return min(map(self.at, START), key=attrgetter("error"))
        return self.at(tuning or START[0])  # without features every kernel is constant

    def tuned(self, limit: float) -> Judged:
        """Return the set with its best kernel and ridge, by a search from those tried.

        It goes from kernel to kernel, and for each from ridge to ridge. It stays with a kernel if
        the error exceeds ``limit``.
        """
        while self._distances.any():
            best = min(self.tried.values(), key=attrgetter("error"))
            shape, ridge = best.tuning
            new = {(shape, ridge - 1), (shape, ridge + 1)} & _TUNINGS - self.tried.keys()
            if not new and best.error <= limit:
                # A smoother kernel needs no larger ridge.
                new = {(shape + s, ridge + r) for s in (-1, 1) for r in (0, s)}
                new = new & _TUNINGS - self.tried.keys()
            if not new:
                break
            for tuning in new:
                self.at(tuning)
        return min(self.tried.values(), key=attrgetter("error"))


class SetErrors:
    """Leave-one-out errors of kernel ridge regression on sets of some features.

    The features are numbered in the given order. The kernel of a set is a function of the squared
    distance summed over its features, so all sets and kernels share the distances in single
    features. A mixed kernel adds fast functions of single features, such as ``sin(8x)`` or stairs.
    """

    def __init__(self, sample: SetSample, features: Sequence[int]) -> None:
        self.sample, self.features = sample, list[int]()
        self.known: dict[Set, Judged] = {}
        self._tuned = set[Set]()
        root = np.sqrt(sample.p)[:, None]
        self.targets = root * sample.Y / (np.sqrt((sample.p @ sample.Y**2).sum()) or 1.0)
        # Squared distances (n_rows, n_landmarks) in each feature, and in the columns of every set.
        self.distances = dict[int, np.ndarray]()
        self._fast = dict[int, np.ndarray]()  # fast functions of single features
        self._means = dict[int, list[csr_array]]()  # over neighbours in single features
        self.is_dense = len(sample.X) >= _DENSE_ROWS * LANDMARKS[0]
        self.include(features)

    def include(self, features: Sequence[int]) -> None:
        """Add features; sets that were judged stay so."""
        X, n_landmarks = self.sample.X, LANDMARKS[0]
        self.features += map(int, features)
        numbered = dict(enumerate(self.features)) | {ALWAYS_ON: ALWAYS_ON}
        for number in numbered.keys() - self.distances.keys():
            distances = np.zeros((len(X), min(n_landmarks, len(X))))
            for column in np.flatnonzero(self.sample.of_column == numbered[number]):
                x = self.sample.scale[column] * X[:, column].astype(np.float64)
                distances += (x[:, None] - x[:n_landmarks]) ** 2
            self.distances[number] = distances

    def _in_one(self, feature: int) -> list[csr_array]:
        """Return the means over neighbours in each column of a feature, or over equal rows."""
        columns = self.sample.X[:, self.sample.of_column == self.features[feature]]
        n, k = len(columns), 2 * _ON_A_SIDE
        places = np.clip(np.arange(n) - _ON_A_SIDE, 0, n - k - 1)[:, None] + np.arange(k + 1)
        many = [x for x in columns.T if np.unique(x).size > LANDMARKS[0]]
        orders = [np.argsort(x, kind="stable") for x in many]
        found = [_mean_of_others(order[places][np.argsort(order)]) for order in orders]
        level, counts = np.unique(columns, axis=0, return_inverse=True, return_counts=True)[1:]
        if not found and counts.size > LANDMARKS[0]:  # a category; few rows are filled up by zeros
            is_other = (level.reshape(-1, 1) == level.ravel()) & ~np.eye(n, dtype=bool)
            found = [csr_array(is_other / np.maximum(counts - 1, k)[level.reshape(-1, 1)])]
        return found

    def neighbours(self, features: Set, near: bool = True) -> list[csr_array]:
        """Return the means over neighbours in each feature and, if near, in all of them."""
        for j in features - self._means.keys():
            self._means[j] = self._in_one(j)
        found = [mean for j in features for mean in self._means[j]]
        chosen = np.isin(self.sample.of_column, [ALWAYS_ON, *(self.features[j] for j in features)])
        if near and 1 < chosen.sum() <= _NEAR_COLUMNS:
            Z = self.sample.X[:, chosen] * self.sample.scale[chosen]
            found.append(_mean_of_others(KDTree(Z).query(Z, 2 * _ON_A_SIDE + 1)[1]))
        return found

    def shared(self, residuals: np.ndarray, neighbours: list[csr_array]) -> np.ndarray:
        """Return the part of residuals that rows share with their neighbours, as far as clear."""
        root, left = np.sqrt(self.sample.p)[:, None], residuals
        for _ in neighbours:
            means = np.stack([root * (mean @ (left / root)) for mean in neighbours])
            along, lengths = np.tensordot(means, left, 2), (means**2).sum(axis=(1, 2))
            gains = np.maximum(along, 0.0) ** 2 / np.maximum(lengths, 1e-300)
            best = int(np.argmax(gains))
            if gains[best] <= _CLEARLY**2 / len(left) * np.vdot(left, left):
                break
            left = left - along[best] / lengths[best] * means[best]
        return residuals - left

    def judge(self, features: Set, near: Tuning | None = None, limit: float = np.inf) -> Judged:
        """Return a set with its best kernel and ridge, by a search from those that are near."""
        return self.best_of({features: near}, limit)

    def best_of(self, sets: Mapping[Set, Tuning | None], limit: float = np.inf) -> Judged:
        """Return the best of some sets with its best kernel and ridge.

        They are compared by the kernels and ridges that they come with, or by a few. Only the best
        one is tuned, with other kernels if its error is at most ``limit``.
        """
        trials = {one: _Trial(self, one) for one in sets if one not in self._tuned}
        self.known |= {one: trial.near(sets[one]) for one, trial in trials.items()}
        best = min((self.known[one] for one in sets), key=attrgetter("error"))
        if best.features in trials:
            best = self.known[best.features] = trials[best.features].tuned(limit)
            self._tuned.add(best.features)
        return best

    def lost_without(self, features: Set) -> dict[int, float]:
        """Return, for each feature of a set, how much the error rises if it alone is left out.

        With the kernel of the set, and a ridge of its own: what is left out becomes noise.
        """
        whole, lost = self.judge(features), dict[int, float]()
        for j in features:
            trial = _Trial(self, features - {j})
            trial.near(whole.tuning)
            lost[j] = min(trial.tuned(limit=0.0).error, 1.0) - whole.error  # at most the mean's
        return lost

    def rough(
        self, base: Set, sets: Sequence[Set], tunings: Sequence[Tuning], work: float
    ) -> tuple[np.ndarray, list[Tuning]]:
        """Return errors of sets close to ``base``, with the best of some kernels and ridges.

        On the more rows and landmarks the fewer sets there are.
        """
        n = max(_ROUGH_ROWS, int((_ROWS_FOR_EACH**2 * work / len(sets)) ** (1.0 / 3.0)))
        share = self.sample.p[:n].sum()
        p, targets = self.sample.p[:n] / share, self.targets[:n] / np.sqrt(share)
        root = np.sqrt(p)[:, None]
        targets = targets - root * (root.T @ targets)
        errors, part = np.empty((len(tunings), len(sets))), (slice(n), slice(n // _ROWS_FOR_EACH))
        for start in range(0, len(sets), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            few, kernels = _Sums(sets[some], base, part), dict[int, CentredKernel]()
            D = few.of(self.distances)
            for number, (shape, ridge) in enumerate(tunings):
                if shape not in kernels:
                    kernels[shape] = CentredKernel(self.kernel(D, few, shape), p)
                residuals = kernels[shape].leave_one_out(targets, FUNCTION_RIDGES[ridge])
                errors[number, some] = np.einsum("ijk,ijk->i", residuals, residuals)
        return errors.min(axis=0), [tunings[number] for number in errors.argmin(axis=0)]

    def kernel(self, D: np.ndarray, sets: _Sums, shape: int) -> np.ndarray:
        """Return the kernel matrix of each set, given its squared distances."""
        kind, scale = SET_KERNELS[shape]
        if kind == "rational":
            K = D * (1.0 / scale**2)
            K += 1.0
            return np.divide(1.0, np.sqrt(K, out=K), out=K)
        K = D * (-0.5 / scale**2)
        np.exp(K, out=K)
        if kind == "mixed":
            for j in sets.base.union(*sets.sets, [ALWAYS_ON]) - self._fast.keys():
                self._fast[j] = 1.0 / np.sqrt(1.0 + self.distances[j] / SET_KERNELS[0][1] ** 2)
            means = sets.of(self._fast)
            means /= np.array([1 + len(one) for one in sets.sets])[:, None, None]
            K += means
            K *= 0.5
        return K


@dataclass(frozen=True)
class _Sums:
    """Sums over the features of each of several sets, from that over a set close to all of them."""

    sets: Sequence[Set]
    base: Set = frozenset()
    part: tuple[slice, slice] = (slice(None), slice(None))  # rows and landmarks

    def of(self, parts: Mapping[int, np.ndarray]) -> np.ndarray:
        """Return the sums (n_sets, n_rows, n_landmarks) of one matrix for each feature."""
        common = parts[ALWAYS_ON][self.part] + sum(parts[j][self.part] for j in self.base)
        sums = np.empty((len(self.sets), *common.shape))
        sums[...] = common
        for total, one in zip(sums, self.sets, strict=True):
            for j in one - self.base:
                total += parts[j][self.part]
            for j in self.base - one:
                total -= parts[j][self.part]
        return sums
