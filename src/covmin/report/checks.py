"""Check the data for problems that a reader of the ranking should know about."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from covmin.constants import SUSPICIOUS_SHARE
from covmin.selection.summary import Explained
from covmin.text import count_of, listed, shortened

from .view import View, read_as_fitted

_LISTED = 12
_CHECKED = 10
_SMALL_CLASS = 5
_LEAK = (
    "One feature alone determines the response almost exactly. If it is measured after the "
    "response, or computed from it, exclude it and refit."
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
    return data_warnings(view, explained, np.argsort(selector.ranking_, kind="stable").tolist())


def data_warnings(view: View, explained: Explained, order: list[int]) -> list[dict[str, Any]]:
    """Return what `check_data` returns; only the best columns are checked for leaks."""
    numbering = _numbering(view)
    constants, copies = _constants_and_copies(view)
    best = [j for j in order[:_CHECKED] if j not in numbering and not view.is_left_out(j)]
    leaks = [j for j in best if explained([j]) > SUSPICIOUS_SHARE[0]]
    found = [_row_number(shortened(view.names[j]), j, explained([j])) for j in numbering]
    if leaks:
        found.insert(0, _warning("leak", "Too good to be true?", _LEAK, leaks))
    if constants:
        found.append(_warning("constant", f"{_columns(constants)} constant", _CONSTANT, constants))
    if copies:
        found.append(_warning("duplicate", f"{_columns(copies)} duplicated", _COPY, copies))
    if view.task == "classification":
        found += _thin_classes(*view.classes)
    return found


def _warning(kind: str, title: str, text: str, features: Sequence[int] = ()) -> dict[str, Any]:
    shown, n = list(features[:_LISTED]), len(features)
    return {"kind": kind, "title": title, "text": text, "features": shown, "n_features": n}


def _row_number(name: str, j: int, explained: float) -> dict[str, Any]:
    """Return a warning about a row number; the worst case is one that follows the response."""
    if explained >= SUSPICIOUS_SHARE[1]:
        text = (
            f"“{name}” is a row number, and alone it explains {explained:.0%} of the response: the "
            "rows seem to be sorted by the response, and a model would learn the order. Exclude "
            "this column."
        )
        return _warning("leak", "A row number tracks the response", text, [j])
    text = (
        f"“{name}” is a row number. Anything it explains is due to the order of the rows. Exclude "
        "it, unless you study that order."
    )
    return _warning("id", "A column looks like a row number", text, [j])


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


def _constants_and_copies(view: View) -> tuple[list[int], list[int]]:
    """Return constant columns, and columns that repeat an earlier one."""
    X, source = view.table.X, view.table.layout.source
    varies = ~((X[:1] == X).all(axis=0) | np.isnan(X).all(axis=0))
    columns, starts = np.unique(np.sort(source), return_index=True)
    encoded = np.split(np.argsort(source, kind="stable"), starts[1:])
    constants, copies, first = [], [], dict[bytes, int]()
    for j, its in zip(columns.tolist(), encoded, strict=True):
        if not varies[its].any():
            constants.append(j)
            continue
        # Adding zero turns -0.0 into 0.0.
        key = blake2b((np.ascontiguousarray(X[:, its].T) + 0.0).data).digest()
        if first.setdefault(key, j) != j:
            copies.append(j)
    return constants, copies


def _thin_classes(labels: list[str], codes: np.ndarray) -> list[dict[str, Any]]:
    small = [labels[c] for c in np.flatnonzero(np.bincount(codes) < _SMALL_CLASS)]
    if not small:
        return []
    text = (
        f"Fewer than {_SMALL_CLASS} samples each: {listed(small)}. Cross-validated errors are "
        "unreliable for such classes."
    )
    title = f"{count_of(len(small), 'class', 'classes')} with few samples"
    return [_warning("small", title, text)]


def _columns(columns: list[int]) -> str:
    return f"{count_of(len(columns), 'column')} {'is' if len(columns) == 1 else 'are'}"
