"""Check the data for problems that a reader of the ranking should know about."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from covmin.constants import MANY_ROWS, SUSPICIOUS_SHARE
from covmin.selection.leaks import leak_text, leaking_features
from covmin.selection.summary import Explained
from covmin.text import count_of, listed, shortened, verb

from .view import View, read_as_fitted

_LISTED = 12
_SMALL_CLASS = 5
_ROW_NUMBER = "A column looks like a row number"
_SORTED = (
    "“{name}” is a row number, and alone it explains {share:.0%} of the response: the rows seem to "
    "be sorted by the response, and a model would learn the order. Exclude this column."
)
_IN_ORDER = (
    "“{name}” is a row number. Anything it explains is due to the order of the rows. Exclude it, "
    "unless you study that order."
)
_SMALL = (
    "Fewer than {most} samples each: {names}. Cross-validated errors are unreliable for such "
    "classes."
)
_CONSTANT = "Columns with the same value in every sample carry no information and are ranked last."
_COPY = (
    "The values repeat those of an earlier column, so which of the two is kept is arbitrary. "
    "Exclude the duplicates."
)


def check_data(
    selector: Any, X: Any, y: Any = None, *, explained: Explained | None = None
) -> list[dict[str, Any]]:
    """Return warnings about columns of the data.

    Parameters
    ----------
    selector : CCMSelector
        Fitted on X and y.
    X : array-like of shape (n_samples, n_features), or Table
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Not needed with a table.
    explained : Explained, optional
        What sets of columns of the same table explain, to share its regressions.

    Returns
    -------
    warnings : list of dict
        ``kind`` ("leak", "id", "constant", "duplicate" or "small"), ``title``, ``text``,
        ``features`` (column indices, at most a dozen) and ``n_features``.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin import CCMSelector
    >>> from covmin.report import check_data
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = np.column_stack([rng.standard_normal((60, 3)), np.arange(60)])
    >>> [warning["title"] for warning in check_data(CCMSelector(1).fit(X, y), X, y)]
    ['A row number tracks the response']
    """
    table = read_as_fitted(selector, X, y)
    view, explained = View(selector, table), explained or Explained(selector, table)
    return data_warnings(selector, view, explained)


def data_warnings(selector: Any, view: View, explained: Explained) -> list[dict[str, Any]]:
    """Return what `check_data` returns."""
    numbering = _numbering(view)
    constants = np.flatnonzero(selector.constant_).tolist()
    copies = [j for j in _copies(view) if j not in constants]
    leaks = leaking_features(selector.ranking_, selector.n_features_, view.table, explained)
    leaks = [j for j in leaks if j not in numbering]
    text = leak_text([shortened(view.names[j]) for j in leaks])
    found = [_warning("leak", "Too good to be true?", text, leaks)] if leaks else []
    for j in numbering:
        is_leak, name = explained([j]) >= SUSPICIOUS_SHARE[2], shortened(view.names[j])
        title = "A row number tracks the response" if is_leak else _ROW_NUMBER
        text = (_SORTED if is_leak else _IN_ORDER).format(name=name, share=explained([j]))
        found.append(_warning("leak" if is_leak else "id", title, text, [j]))
    for kind, columns, what, text in (
        ("constant", constants, "constant", _CONSTANT),
        ("duplicate", copies, "duplicated", _COPY),
    ):
        if n := len(columns):
            title = f"{count_of(n, 'column')} {verb(n, 'are')} {what}"
            found.append(_warning(kind, title, text, columns))
    if view.task == "classification":
        labels, codes = view.classes
        small = [labels[c] for c in np.flatnonzero(np.bincount(codes) < _SMALL_CLASS)]
        title = f"{count_of(len(small), 'class', 'classes')} with few samples"
        text = _SMALL.format(most=_SMALL_CLASS, names=listed(small))
        found += [_warning("small", title, text)] if small else []
    return found


def _warning(kind: str, title: str, text: str, features: Sequence[int] = ()) -> dict[str, Any]:
    shown, n = list(features[:_LISTED]), len(features)
    return {"kind": kind, "title": title, "text": text, "features": shown, "n_features": n}


def _numbering(view: View) -> list[int]:
    """Return columns of distinct integers that are consecutive, or increase or decrease by row.

    Dates are often in order, and excluded columns cannot mislead.
    """
    X, source, kinds = view.table.X, view.table.layout.source, view.table.kinds
    n, found = X.shape[0], []
    if n <= _SMALL_CLASS:
        return []
    # Huge spans overflow without harm: such columns are not row numbers.
    with np.errstate(over="ignore", invalid="ignore"):
        span = X.max(axis=0).astype(np.float64) - X.min(axis=0)
        for k in np.flatnonzero((span >= n - 1) & (X[0] % 1 == 0)).tolist():
            x, steps = X[:, k], np.diff(X[:, k])
            ordered = (steps > 0).all() or (steps < 0).all()
            consecutive = span[k] == n - 1 and np.unique(x).size == n
            is_number = kinds is None or kinds[source[k]] == "number"
            if is_number and (ordered or consecutive) and not (x % 1).any():
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
