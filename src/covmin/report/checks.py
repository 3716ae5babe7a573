"""Check the data for problems that a reader of the ranking should know about."""

from hashlib import blake2b
from typing import Any

import numpy as np

from covmin.constants import MANY_ROWS, SUSPICIOUS_SHARE
from covmin.selection.leaks import leak_text, leaking_features
from covmin.selection.summary import Explained
from covmin.text import count_of, listed, percent, shortened, verb

from .view import View

# Columns to name, and samples below which a class is small.
_LISTED, _SMALL = 12, 5
_NUMBERS = (
    "“{}” has a different whole number in every row, in order or without gaps, and alone explains "
    "{} of the response. If it numbers the rows, exclude it: what it explains is their order."
)
_CONSTANT = "Columns with the same value in every sample carry no information and are ranked last."
_COPY = (
    "The values repeat those of an earlier column, and which copy is kept is arbitrary. Exclude "
    "the duplicates."
)


def check_data(selector: Any, view: View, explained: Explained) -> list[dict[str, Any]]:
    """Return warnings about columns and classes: kind, title, text and the columns concerned.

    The kind is "leak", "id", "constant", "duplicate" or "small". At most a dozen columns are named
    in ``features``; ``n_features`` is their number.
    """
    numbering = _numbering(view)
    leaks = leaking_features(selector.ranking_, selector.n_features_, view.table, explained)
    found: list[tuple[str, str, str, list[int]]] = []
    if leaks := [j for j in leaks if j not in numbering]:
        text = leak_text([shortened(view.names[j]) for j in leaks])
        found.append(("leak", "Too good to be true?", text, leaks))
    for j in numbering:
        share = explained([j])
        kind, title = "id", "A column looks like a row number"
        if share >= SUSPICIOUS_SHARE[2]:
            kind, title = "leak", "What may be a row number tracks the response"
        text = _NUMBERS.format(shortened(view.names[j]), percent(share))
        found.append((kind, title, text, [j]))
    constants = np.flatnonzero(selector.constant_).tolist()
    copies = [j for j in _copies(view) if j not in constants]
    for kind, columns, text in (("constant", constants, _CONSTANT), ("duplicate", copies, _COPY)):
        if n := len(columns):
            what = "constant" if columns is constants else "duplicated"
            found.append((kind, f"{count_of(n, 'column')} {verb(n, 'are')} {what}", text, columns))
    if view.task == "classification":
        labels, codes = view.classes
        if small := [labels[c] for c in np.flatnonzero(np.bincount(codes) < _SMALL)]:
            title = f"{count_of(len(small), 'class', 'classes')} with few samples"
            text = (
                f"Fewer than {_SMALL} samples each: {listed(small)}. Cross-validated errors are "
                "unreliable for such classes."
            )
            found.append(("small", title, text, []))
    return [
        {"kind": kind, "title": title, "text": text, "features": columns[:_LISTED]}
        | {"n_features": len(columns)}
        for kind, title, text, columns in found
    ]


def _numbering(view: View) -> list[int]:
    """Return columns of distinct integers that are consecutive, or increase or decrease by row.

    Dates are often in order, and excluded columns cannot mislead.
    """
    X, source, kinds = view.table.X, view.table.layout.source, view.table.kinds
    n, found = X.shape[0], []
    if n <= _SMALL:
        return []
    # Huge spans overflow without harm: such columns are not row numbers.
    with np.errstate(over="ignore", invalid="ignore"):
        span = X.max(axis=0).astype(np.float64) - X.min(axis=0)
        for k in np.flatnonzero((span >= n - 1) & (X[0] % 1 == 0)).tolist():
            x, steps = X[:, k], np.diff(X[:, k])
            ordered = (steps > 0).all() or (steps < 0).all()
            consecutive = span[k] == n - 1 and np.unique(x).size == n
            if kinds[source[k]] == "number" and (ordered or consecutive) and not (x % 1).any():
                found.append(int(source[k]))
    return found


def _copies(view: View) -> list[int]:
    """Return columns that repeat an earlier one."""
    X, source = view.table.X, view.table.layout.source
    if view.table.n_samples < min(view.n_samples, MANY_ROWS):
        return []  # rare words may be equal in a small sample
    columns, starts = np.unique(np.sort(source), return_index=True)
    encoded = np.split(np.argsort(source, kind="stable"), starts[1:])
    copies, first = [], dict[bytes, int]()
    for j, its in zip(columns.tolist(), encoded, strict=True):
        # Adding zero turns -0.0 into 0.0.
        key = blake2b((np.ascontiguousarray(X[:, its].T) + 0.0).data).digest()
        if first.setdefault(key, j) != j:
            copies.append(j)
    return copies
