"""Look back for columns that act with the features that were found.

What was found sharpens the eye. With r the leave-one-out residuals of kernel ridge regression on
the features found, f̂ its predictions and x the found columns themselves, the columns

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

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np
from scipy.special import ndtr

from covmin.constants import SAMPLE_ROWS

from .arrays import row_tiles
from .exchange import Exchanged, exchange
from .screening import N_FUNCTIONS, SEARCH, Ranked, Screening
from .set_errors import Set, SetErrors, SetSample
from .units import ALWAYS_ON

# Nominees of a half, found columns in products, rows of a half, and rounds.
_MOST, _MOST_FACTORS, _FEWEST_ROWS, _ROUNDS = 8, 8, 40, 3
# Store the functions of all columns, for several responses, up to this many values.
_STORED_NUMBERS = 2**24
# A second search for pairs has half of the level.
_PAIRS = replace(SEARCH, level=0.5 * SEARCH.level)


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
            less = min((errors.judge(one, together) for one in fewer), key=attrgetter("error"))
            if less.error > together.error:
                break
            together = less
        while rest:
            more = (now.features | {j} for j in sorted(rest))
            new = min((errors.judge(one, now) for one in more), key=attrgetter("error"))
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
