"""Features that give the response away: too good to be true."""

from collections.abc import Sequence

import numpy as np

from covmin.constants import SAMPLES_FOR_EACH_FEATURE, SUSPICIOUS_SHARE
from covmin.core.regression import MOST_SUMMANDS, errors_of_sums
from covmin.data import Table
from covmin.data.blocks.array import as_blocks
from covmin.data.blocks.views import rows_to_look_at
from covmin.data.columns import LEFT_OUT, Levels
from covmin.text import listed

from .summary import Explained, Rows

# Of so many leading features: a leak is among the first.
_CHECKED = 10


def leaking_features(ranking: np.ndarray, m: int, table: Table, explained: Explained) -> list[int]:
    """Return columns that give the response away, alone or together; empty if there are none.

    One column alone is suspicious if it explains nearly everything, if it is a text that contains
    the class, or if it tells which survival times are censored. Sets are suspicious only if they
    leave next to nothing: with several features, a good prediction is what one hopes for. A kernel
    finds that of the first selected features, least squares of a sum of any number. ``ranking`` is
    that of the columns, ``m`` how many are selected.
    """
    order = np.argsort(ranking, kind="stable").tolist()
    order = [j for j in order if table.kinds[j] not in LEFT_OUT]
    first, selected = order[:_CHECKED], order[: min(max(m, 1), _CHECKED)]
    named = [j for j in first if _contains_class(table, j) or _tells_event(table, j)]
    one, several = SUSPICIOUS_SHARE[:2]
    summands = _summands(explained.sample, order)
    # One regression for tables without a leak.
    if not selected or (not summands and explained(selected) <= one):
        return named
    if alone := [j for j in first if j in named or explained([j]) > one]:
        return alone
    prefixes = (selected[:k] for k in range(2, len(selected) + 1))
    return summands or next((some for some in prefixes if explained(some) > several), [])


def _summands(sample: Rows, order: list[int]) -> list[int]:
    """Return the features of which the response is a sum; empty if it is none."""
    (X, Y, p, _, owner, _), least = sample, 1.0 - SUSPICIOUS_SHARE[1]
    columns = np.concatenate([np.flatnonzero(owner == j) for j in order[:MOST_SUMMANDS]])
    enough = errors_of_sums(X[:, columns], Y, p) < least
    if not enough.any():
        return []
    kept = list(dict.fromkeys(owner[columns[: np.argmax(enough)]].tolist()))
    for j in kept[::-1]:  # others may rank between them
        rest = [each for each in kept if each != j]
        if errors_of_sums(X[:, np.isin(owner, rest)], Y, p)[-1] < least:
            kept = rest
    return kept


def _contains_class(table: Table, column: int) -> bool:
    """Tell whether the text of a category contains the class of nearly every sample."""
    classes = table.response.classes
    if table.kinds[column] != "category" or table.response.labels is None:
        return False
    words = [str(label).casefold() for label in np.asarray(classes).tolist()]
    # Numbers and single letters occur in any text.
    if not all(len(word) > 1 and word[0].isalpha() for word in words):
        return False
    levels = Levels.of(table.input_column(column))
    texts = [str(level).casefold() for level in levels.values]
    own = [
        code >= 0 and words[label] in texts[code]
        for code, label in zip(levels.codes, table.response.labels, strict=True)
    ]
    return bool(np.mean(own) > SUSPICIOUS_SHARE[0])


def _tells_event(table: Table, column: int) -> bool:
    """Tell whether a column, or where it is missing, tells which survival times are censored.

    A cause of death does, for example: it is known only after the event.
    """
    if table.response.times is None:
        return False
    rows = rows_to_look_at(table.n_samples)
    encoded = np.flatnonzero(table.layout.source == column)
    values = np.nan_to_num(as_blocks(table.X).take(rows, encoded))
    _, code = np.unique(values, axis=0, return_inverse=True)
    if code.max() >= rows.size / SAMPLES_FOR_EACH_FEATURE:
        return False
    event = table.response.times[rows, 0]
    n, n_events = np.bincount(code.ravel()), np.bincount(code.ravel(), event)
    wrong = np.minimum(n_events, n - n_events).sum()
    return bool(wrong < (1.0 - SUSPICIOUS_SHARE[0]) * min(event.sum(), (1.0 - event).sum()))


def leak_text(names: Sequence[str]) -> str:
    """Say what it means that some features give the response away."""
    return (
        f"{listed(names)} {'alone determines' if len(names) == 1 else 'determine'} the response "
        "almost exactly. Exclude what is measured after it, or computed from it, and refit."
    )
