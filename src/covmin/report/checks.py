"""Check the data for problems that a reader of the ranking should know about."""

from hashlib import blake2b
from typing import Any

import numpy as np

from covmin.constants import MANY_ROWS
from covmin.selection.leaks import leak_text, leaking_features
from covmin.selection.summary import Explained
from covmin.text import count_of, listed, shortened, verb

from .view import View

# Samples below which a class is small.
_SMALL = 5


def check_data(selector: Any, view: View, explained: Explained) -> list[dict[str, str]]:
    """Return warnings about columns and classes: kind, title and text.

    The kind is "leak", "constant", "duplicate" or "small".
    """
    found: list[tuple[str, str, str]] = []
    names = [shortened(name) for name in view.names]
    if leaks := leaking_features(selector.ranking_, selector.n_features_, view.table, explained):
        found.append(("leak", "Too good to be true?", leak_text([names[j] for j in leaks])))
    constants = np.flatnonzero(selector.constant_).tolist()
    if n := len(constants):
        text = f"Without information, so ranked last: {listed([names[j] for j in constants])}."
        found.append(("constant", f"{count_of(n, 'column')} {verb(n, 'are')} constant.", text))
    copies = [j for j in _copies(view) if j not in constants]
    if n := len(copies):
        text = f"The same values as in an earlier column: {listed([names[j] for j in copies])}. "
        text += "Which copy is kept is arbitrary: exclude the duplicates."
        found.append(("duplicate", f"{count_of(n, 'column')} {verb(n, 'are')} duplicated.", text))
    if view.task == "classification":
        labels, codes = view.classes
        if small := [labels[c] for c in np.flatnonzero(np.bincount(codes) < _SMALL)]:
            title = f"{count_of(len(small), 'class', 'classes')} with few samples."
            text = f"Fewer than {_SMALL} each: {listed(small)}. Errors are unreliable for these."
            found.append(("small", title, text))
    return [{"kind": kind, "title": title, "text": text} for kind, title, text in found]


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
