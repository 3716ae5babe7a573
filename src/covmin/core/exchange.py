"""Order a few dozen features by the tuned leave-one-out error of kernel ridge regression.

A path proposes features. Here sets of them are compared by the quantity that the method minimises,
the conditional variance, estimated with a kernel and a ridge of its own for each set. The search
goes forward from nothing and from sets that act only together, backward, and exchanges features
until no exchange lowers the error. It ends where the error no longer falls: what comes then cannot
be told from noise, and the order of the path holds.

The same rows choose a set and measure its error, so the lowest of many errors is too low. The path
and what was named therefore have the benefit of the doubt. By the differences over the rows, a
set is credited with

    error + standard error of (error − error of the proposed set of that size).

Then it looks back for columns that act with the features that were found: these sharpen the eye.
With r the leave-one-out residuals of kernel ridge regression on the features found, f̂ its
predictions and x the found columns themselves, the columns

    r,  r²,  r ∘ f̂,  r ∘ x

depend on any further column that acts alone (r), by an interaction of which no part was found (r²),
or together with what was found (r ∘ f̂, r ∘ x). Each is tested, by its ranks, against functions of
the ranks of every column, and for the likeness of rows that are neighbours in a column, which shows
functions of any speed. A column is nominated if its p-value holds over all tests.

Nominees of one half of the rows are judged on the other half, and the reverse: they are accepted
only if the leave-one-out error there falls by more than its standard error, with one more of them
or with all, since factors of a product may be useless one by one.

If none is accepted, all pairs are searched again with r as the response, where nothing hides them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from scipy.special import ndtr

from covmin.constants import CANDIDATES, SAMPLE_ROWS, SAMPLES_FOR_EACH_FEATURE

from .arrays import row_tiles
from .screening import N_FUNCTIONS, SEARCH, Ranked, Screening
from .set_errors import START, Judged, Set, SetErrors, SetSample, Tuning
from .units import ALWAYS_ON

# The search ends if the error did not fall for so many sizes.
_PATIENCE = 3
# Sets of so few features tell nothing of the kernels of others.
_SMALL = 2
# No other kernel is tried if the error exceeds that of the best set of the size by this factor.
_HOPELESS = 1.1
# Moves that are compared after a rough look, for the last set too, and features that may leave.
_TRIED, _CERTIFIED, _LEAVING = 3, 6, 4
# Multiplications of a rough comparison; more for the last.
_ROUGH_WORK, _LAST_WORK = 5e6, 2e7
# Nominees of a half, found columns in products, rows of a half, and rounds.
_MOST, _MOST_FACTORS, _FEWEST_ROWS, _ROUNDS = 8, 8, 40, 3
# Store the functions of all columns, for several responses, up to this many values.
_STORED_NUMBERS = 2**24
# A second search for pairs has half of the level.
_PAIRS = replace(SEARCH, level=0.5 * SEARCH.level)


@dataclass(frozen=True)
class Exchanged:
    """A nested ranking of candidates."""

    order: np.ndarray  # candidates, best first
    enough: int  # the smallest size with an error within one standard error of the least
    errors: np.ndarray  # of the first one, two, … of them, as shares of the variance
    n_exchanges: int  # exchanges of one of the first m features, none of which lowers the error
    # Of each of the first m features, how much the error rises without it.
    lost_without: dict[int, float] = field(default_factory=dict)


@dataclass
class _Search:
    """The best set of each size, by additions, removals and exchanges."""

    errors: SetErrors
    candidates: list[int]  # features are numbered in the order of the path
    best: dict[int, Judged] = field(default_factory=dict)
    proposed: dict[int, Judged] = field(default_factory=dict)  # by the path
    settled: set[tuple[Set, bool]] = field(default_factory=set)  # no exchange helps

    def credited(self, one: Judged) -> float:
        """Return the error of a set that the rows can vouch for."""
        return one.error + one.gain_over(self.proposed[len(one.features)])[1]

    def offer(self, k: int, sets: Mapping[Set, Tuning | None]) -> bool:
        """Judge some sets of a size, and keep the best if it is better than the best so far."""
        best, new = self.best[k], self.errors.best_of(sets, self.limit(k))
        if self.credited(new) >= self.credited(best) - 1e-9:
            return False
        self.best[k] = new
        return True

    def limit(self, k: int) -> float:
        """Return the error above which no other kernel is tried for a set of k features.

        A set that leaves more than a smaller one has a feature that is not needed, and one that
        leaves far more than another of its size would not come near it.
        """
        smaller = self.best[k - 1].error if k > _SMALL else np.inf
        return min(smaller, _HOPELESS * self.best[k].error if k in self.best else np.inf)

    def promising(
        self, old: Judged, sets: list[Set], n_tried: int = _TRIED, work: float = _ROUGH_WORK
    ) -> dict[Set, Tuning | None]:
        """Return the sets with the lowest rough errors, and the kernels and ridges of these.

        Sets of more than a few features have those of a set that is close to them.
        """
        tunings = [old.tuning] if len(sets[0]) > _SMALL else START
        rough, best = self.errors.rough(old.features, sets, tunings, work)
        for j in frozenset().union(*sets) - old.features if self.errors.is_dense else ():
            of_one = self.errors.neighbours(frozenset([j]), near=False)
            part = self.errors.shared(old.residuals, of_one)  # which no rough error shows
            rough -= np.vdot(part, part) * np.array([j in one for one in sets])
        return {sets[i]: best[i] for i in np.argsort(rough, kind="stable")[:n_tried]}

    def exchange(self, k: int, certify: bool = False) -> None:
        """Replace one feature of the best set, until that does not help.

        Any feature may leave, and more sets are tried, to ``certify`` that nothing helps.
        """
        n_tried, work = (_CERTIFIED, _LAST_WORK) if certify else (_TRIED, _ROUGH_WORK)
        while (self.best[k].features, certify) not in self.settled:
            old = self.best[k]
            less = [old.features - {j} for j in sorted(old.features)]
            if k > _LEAVING and not certify:
                less = list(self.promising(old, less, _LEAVING))
            others = [j for j in self.candidates if j not in old.features]
            sets = [old.features, *(one | {j} for one in less for j in others)]
            found = self.promising(old, sets, n_tried + 1, work)
            n_better = list(found).index(old.features) if old.features in found else n_tried
            if n_better == 0 or not self.offer(k, dict(islice(found.items(), n_better))):
                self.settled.add((old.features, certify))

    def propose(self, named: list[Set], k: int) -> None:
        """Judge the first set of a size: that of the path, or with what was named before the path.

        What was named holds with a small probability of error, so it stays unless the path is
        clearly better: with few samples a regression cannot judge it.
        """
        first = frozenset[int]()
        for one in named:
            first = first | one if len(first | one) <= k else first
        rest = [j for j in range(k) if j not in first]
        of_path, with_named = frozenset(range(k)), first.union(rest[: k - len(first)])
        judged = []
        for one in (of_path, with_named):
            # The kernel is searched anew if more than one feature is new, or a set is complete.
            last = self.proposed[k - 1] if k > _SMALL else None
            if last and (first - last.features or not last.features < one):
                last = None
            judged.append(self.errors.judge(one, last.tuning if last else None, self.limit(k)))
        self.proposed[k] = judged[0] if judged[0].beats(judged[1]) else judged[1]
        self.best[k] = self.proposed[k]

    def forward(self, named: list[Set], top: int) -> tuple[int, int]:
        """Grow the sets until the error no longer falls; return where it fell last, and the top."""
        last, of_path, least = 0, 0, max(map(len, named), default=0)
        self.propose(named, 0)
        for k in range(1, top + 1):
            self.propose(named, k)
            of_path = k if self.proposed[k].beats(self.proposed[of_path]) else of_path
            like, base = self.best[k - 1], self.best[k - 1].features
            sets = [base | {j} for j in self.candidates if j not in base]
            self.offer(k, self.promising(like, sets))
            for one in named:  # at once, because its members may be useless one by one
                for small in list(self.best.values()):
                    if len(small.features | one) == k > len(small.features) + 1:
                        self.offer(k, {small.features | one: None})
            if self.best[k].beats(self.best[last]):
                last = k
                self.exchange(k)
            if k >= max(last, of_path, least) + _PATIENCE:
                return last, k
        return last, top

    def nested(self, last: int, top: int, m: int | None) -> list[int]:
        """Return the features of the chain of nested sets with the least sum of log errors.

        Sizes that a chain leaves out count with the error of the next smaller set, so that features
        which act only together enter at once. With m the chain has a set of that size, which counts
        as much as all smaller ones together: it may be hardly worse than the best one, and its
        parts far better. If the error never fell, the proposed sets hold.
        """
        judged = self.errors.known.values() if last else self.proposed.values()
        log = {
            one.features: np.log(max(self.credited(one), 1e-12))
            for one in sorted(judged, key=lambda one: len(one.features))
            if len(one.features) <= top
        }
        counts = np.cumsum([k if k == m else 1 for k in range(top + 1)])  # of the sizes up to k
        cost: dict[Set, float] = {frozenset(): 0.0}
        before: dict[Set, Set] = {}
        for one in log:
            k = len(one)
            for small, so_far in list(cost.items()):
                if small < one and not (m is not None and len(small) < m < k):
                    total = so_far + (counts[k - 1] - counts[len(small)]) * log[small]
                    total += (counts[k] - counts[k - 1]) * log[one]
                    if total < cost.get(one, np.inf):
                        cost[one], before[one] = total, small
        ends = [one for one in cost if len(one) >= (m or 0)]
        now = min(ends, key=lambda one: cost[one] + (counts[-1] - counts[len(one)]) * log[one])
        order: list[int] = []
        while now:
            base, tuning = before[now], self.errors.known[now].tuning
            # Those that enter at once: by what each explains alone, then in the order of the path.
            errors = dict.fromkeys(now - base, self.errors.known[base].error)
            for j in errors if len(errors) > 1 else ():
                more = self.errors.judge(base | {j}, tuning)
                errors[j] = more.error if more.beats(self.errors.known[base]) else errors[j]
            order = sorted(sorted(errors), key=errors.__getitem__) + order
            now = base
        return order


def exchange(errors: SetErrors, named: Sequence[Sequence[int]], m: int | None) -> Exchanged:
    """Order the first features of a path anew, given errors of their sets.

    ``named`` are sets of features that act together. At size m the ranking has to be best; None
    counts all sizes alike.
    """
    n, path = len(errors.sample.X), errors.features
    together = [frozenset(path.index(int(j)) for j in one) for one in named]
    top = min(CANDIDATES[0], len(path), max(1, n // SAMPLES_FOR_EACH_FEATURE))
    top = min(top, (m or top) + _PATIENCE)
    n_candidates = min(len(path), max(top, n // CANDIDATES[2]))
    search = _Search(errors, sorted({*range(n_candidates)}.union(*together)))
    last, top = search.forward(together, top)
    for k in range(min(last, top - 1), 0, -1):
        larger = search.best[k + 1]
        sets = [larger.features - {j} for j in larger.features]
        search.offer(k, search.promising(larger, sets))
        search.exchange(k)
    m = min(m, top) if m else None
    if m:
        search.exchange(m, certify=True)
    order = search.nested(last, top, m)
    order += [j for j in range(len(path)) if j not in order]
    chain = [errors.judge(frozenset(order[:k]), search.best[k].tuning) for k in range(top + 1)]
    least = min(chain, key=lambda one: one.error)
    enough = next(k for k, one in enumerate(chain) if not least.beats(one))
    errors_of_chain = np.array([one.error for one in chain[1:]])
    certain = chain[m or 0].features == search.best[m or 0].features
    n_exchanges = m * (len(search.candidates) - m) if m and certain else 0
    return Exchanged(np.asarray(path)[order], enough, errors_of_chain, n_exchanges)


def refine(
    sample: SetSample,
    path: Sequence[int],
    named: Sequence[Sequence[int]],
    m: int | None,
    searched: tuple[int, int],  # rows, none or more, and functions of each column, for pairs
) -> Exchanged:
    """Exchange features of a path and look back in turn, until nothing comes back."""
    errors = SetErrors(sample.part(slice(SAMPLE_ROWS)), path)
    named, seen, (n_rows, n_functions) = list(named), set[Set](), searched
    for _ in range(_ROUNDS):
        result = exchange(errors, named, m)
        found = result.order[: result.enough].tolist()
        if frozenset(found) in seen:
            break
        seen.add(frozenset(found))
        accepted = look_back(sample, found)
        if n_rows and not any(accepted):
            part = sample.part(slice(n_rows))
            judged = SetErrors(part, found).judge(frozenset(range(len(found))))
            r = judged.residuals / np.sqrt(part.p)[:, None]
            screening = Screening.of(part.X, r, part.p, part.of_column, _PAIRS)
            pairs = screening.interactions(2, n_functions).units.tolist()
            accepted = [frozenset(pair) - {-1, *found} and frozenset(pair) - {-1} for pair in pairs]
        new = sorted(frozenset().union(*accepted))
        if not new:
            break
        errors.include([j for j in new if j not in errors.features])
        named += [*(sorted(one) for one in accepted if len(one) > 1), [*found, *new]]
    else:
        result = exchange(errors, named, m)
    if not m or m > len(errors.features):
        return result
    first = frozenset(errors.features.index(j) for j in result.order[:m])
    lost = {errors.features[j]: rise for j, rise in errors.lost_without(first).items()}
    return replace(result, lost_without=lost)


def look_back(sample: SetSample, found: Sequence[int]) -> list[Set]:
    """Nominate features among all columns, and return those that lower the error on other rows.

    They are added one by one or all together.
    """
    half, accepted = min(len(sample.X), SAMPLE_ROWS) // 2, list[Set]()
    if half < _FEWEST_ROWS:
        return accepted
    halves = sample.part(slice(half)), sample.part(slice(half, 2 * half))
    for here, there in (halves, halves[::-1]):
        features = [*found, *nominate(here, found, 0.5 * SEARCH.level)]
        if len(features) == len(found):
            continue
        errors, old = SetErrors(there, features), frozenset(range(len(found)))
        start = now = errors.judge(old)
        rest = set(range(len(found), len(features)))
        together = errors.judge(old | rest)
        while len(together.features) > len(old) + 1:  # remove as long as the error does not rise
            fewer = (together.features - {j} for j in sorted(together.features - old))
            less = errors.best_of(dict.fromkeys(fewer, together.tuning))
            if less.error > together.error:
                break
            together = less
        while rest:
            more = (now.features | {j} for j in sorted(rest))
            new = errors.best_of(dict.fromkeys(more, now.tuning))
            if not new.beats(now):
                break
            now, rest = new, rest - new.features
        if together.beats(now) and together.beats(start):
            now = together
        accepted.append(frozenset(int(features[i]) for i in now.features - old))
    return accepted


def nominate(sample: SetSample, found: Sequence[int], level: float) -> list[int]:
    """Return features whose dependence on the residuals stands out, the clearest first."""
    root = np.sqrt(sample.p)[:, None]
    r = SetErrors(sample, found).judge(frozenset(range(len(found)))).residuals / root
    responses = [r, r**2]
    known = sample.X[:, np.isin(sample.of_column, [*found, ALWAYS_ON])]
    if known.size:
        responses.append(r * (sample.Y / np.sqrt((sample.p @ sample.Y**2).sum()) - r))
        responses += [r * x[:, None] for x in known.T[:_MOST_FACTORS]]
    ranked = Ranked.of(sample.X, sample.p)
    if N_FUNCTIONS * sample.X.size <= _STORED_NUMBERS:
        stored = ranked.kept(np.arange(sample.X.shape[1]), N_FUNCTIONS)
        ranked = replace(ranked, stored=stored)
    p_values = np.ones(sample.of_column.size)
    n_tests = 2.0 * len(responses) * sample.of_column.size
    for number, response in enumerate(responses):
        screening = Screening.of(sample.X, response, sample.p, sample.of_column, ranked=ranked)
        codes = screening.codes
        if codes.shape[1] > 0:
            tested = screening.p_values(level / n_tests)
            if number < 2:  # r and r²
                # Neighbours in a column are alike if the response is any function of it.
                variance = codes.shape[1] / ranked.n_samples
                alike = np.empty(tested.size)
                for columns in row_tiles(ranked.line):
                    ordered = codes[np.argsort(ranked.line[columns], axis=1, kind="stable")]
                    alike[columns] = np.einsum("cik,cik->c", ordered[:, 1:], ordered[:, :-1])
                tested = np.minimum(tested, ndtr(-(alike + variance) / np.sqrt(variance)))
            p_values = np.minimum(p_values, n_tests * tested)
    nominees: list[int] = []
    for column in np.argsort(p_values, kind="stable"):
        feature = int(sample.of_column[column])
        if p_values[column] > level or len(nominees) == _MOST:
            break
        if feature >= 0 and feature not in found and feature not in nominees:
            nominees.append(feature)
    return nominees
