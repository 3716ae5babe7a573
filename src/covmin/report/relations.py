"""Effects of features on the response, and their substitutes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from covmin.selection.summary import Explained, find_substitutes
from covmin.text import number, percent

from .view import Column, View

_SUBSTITUTED = 10
# Samples over which predictions are averaged, quantiles of a number, and levels of a category.
_AVERAGED, _QUANTILES, _LEVELS = 200, (0.1, 0.3, 0.5, 0.7, 0.9), 12
# An effect has a direction if reversals take less than this fraction of the way.
_STEADY = 0.1


def substitutes(
    selector: Any, view: View, explained: Explained, kept: Sequence[int]
) -> dict[str, Any]:
    """Return the loss when a selected feature is dropped, or replaced by an unselected one."""

    def label(number: int) -> str:
        columns = np.flatnonzero(selector.group_of_column_ == number)
        return ", ".join(view.names[j] for j in columns)

    base = 1.0 - explained(kept)
    rows = []
    for (a, b), found in find_substitutes(selector, explained, 1, _SUBSTITUTED):
        instead = found["unexplained_with"]
        row = {
            "feature": label(a),
            "substitute": label(b),
            "without": round(found["unexplained_without"], 4),
            "with_substitute": round(instead, 4),
            # A substitute is better only if the difference is visible after rounding.
            "better": instead < base and percent(instead) != percent(base),
        }
        rows.append(row)
    return {"unexplained": round(base, 4), "rows": rows}


def effects(view: View, explained: Explained, kept: Sequence[int]) -> dict[int, str]:
    """Say how the mean prediction changes with each selected feature, the others as they are.

    A kernel ridge regression on the selected features predicts the response, or the frequency of
    each class. A number goes from its 10th to its 90th percentile, a category through its levels.
    """
    if view.responses.ndim > 1:
        return {}
    sample = explained.sample
    if view.task == "classification":
        labels, codes = view.classes
        targets = np.eye(len(labels))[codes[sample.rows]]
    else:
        labels, targets = [], view.y[sample.rows, None]
    used = np.isin(sample.owner, kept)
    predict = explained.regression(kept, targets).predict
    said = {}
    for j in kept:
        column, its = view.column(j), sample.owner[used] == j
        values = column.values[sample.rows]
        places = _places(column, values, np.flatnonzero(~column.missing[sample.rows]))
        if places.size < 2 or not its.any():
            continue
        means = []
        for place in places:
            changed = sample.X[:_AVERAGED, used].copy()
            changed[:, its] = sample.X[place, used][its]
            means.append(predict(changed)[:, -targets.shape[1] :].mean(axis=0))
        which = int(np.ptp(means, axis=0).argmax()) if len(labels) > 2 else len(labels) - 1
        path = np.array(means)[:, which]
        predicted = f"Frequency of “{labels[which]}”" if labels else "Mean prediction"
        texts = [(percent if labels else number)(value) for value in path]
        at = [column.text(values[place]) for place in places]
        said[j] = f"{predicted} {_course(path, texts, at, column.is_category)}"
    return said


def _places(column: Column, values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return samples with increasing values of a number, or with the most frequent levels."""
    levels, first, counts = np.unique(values[there], return_index=True, return_counts=True)
    if column.is_category or levels.size <= len(_QUANTILES):
        return np.asarray(there[first[np.sort(np.argsort(-counts, kind="stable")[:_LEVELS])]])
    order = there[np.argsort(values[there], kind="stable")]
    places = order[(np.array(_QUANTILES) * (order.size - 1)).astype(int)]
    return np.asarray(places[np.unique(values[places], return_index=True)[1]])


def _course(path: np.ndarray, texts: list[str], at: list[str], is_category: bool) -> str:
    """Say in words where predictions go from the first to the last value, or between levels."""
    steps, low, high = np.diff(path), int(path.argmin()), int(path.argmax())
    if texts[low] == texts[high]:
        return f"is {texts[low]} throughout"
    if is_category:
        return f"is lowest for {at[low]} ({texts[low]}), highest for {at[high]} ({texts[high]})"
    for verb, against in (("rises", steps < 0), ("falls", steps > 0)):
        if np.abs(steps[against]).sum() < _STEADY * np.ptp(path):
            return f"{verb} from {texts[0]} at {at[0]} to {texts[-1]} at {at[-1]}"
    return f"is lowest at {at[low]} ({texts[low]}), highest at {at[high]} ({texts[high]})"
