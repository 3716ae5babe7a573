"""What a reader should know about the data before trusting a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from ._samples import Samples, as_samples

__all__ = ["check_data", "data_warnings"]

_LISTED = 12
_SMALL_CLASS = 5
# A single feature that leaves less than this unexplained is too good to be true; a row
# number that explains this much follows the response.
_DETERMINES = 0.02
_TRACKS = 0.8
_CHECKED = 10


def check_data(
    selector: Any, X: Any, y: Any, feature_names: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Columns of the data that a reader of the ranking should be warned about.

    Parameters
    ----------
    selector : CCMSelector
        Fitted on X and y.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    feature_names : sequence of str, optional
        Names of the columns; by default the selector's.

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
    samples = as_samples(selector, X, y, feature_names)
    return data_warnings(samples, np.argsort(selector.ranking_))


def data_warnings(samples: Samples, order: np.ndarray) -> list[dict[str, Any]]:
    """Constant, duplicate, id-like and leaking columns, and thin data.

    Parameters
    ----------
    samples : Samples
    order : ndarray of shape (n_features,)
        Columns from best to worst: the best are checked for leaks.

    Returns
    -------
    list of dict
        ``kind``, ``title``, ``text`` and ``features`` (column indices, the first dozen).
    """
    found = [
        *_leaks(samples, order),
        *_row_numbers(samples),
        *_constants(samples),
        *_duplicates(samples),
        *_thin_data(samples),
    ]
    for warning in found:
        warning["n_features"] = len(warning["features"])
        warning["features"] = [int(j) for j in warning["features"][:_LISTED]]
    return found


def _warning(kind: str, title: str, text: str, features: Any = ()) -> dict[str, Any]:
    return {"kind": kind, "title": title, "text": text, "features": list(features)}


def _constants(samples: Samples) -> list[dict[str, Any]]:
    constant = np.flatnonzero((samples.X[:1] == samples.X).all(axis=0))
    if constant.size == 0:
        return []
    text = "The same value in every sample cannot say anything: constant columns are ranked last."
    return [_warning("constant", f"{_columns(constant.size)} constant", text, constant)]


def _duplicates(samples: Samples) -> list[dict[str, Any]]:
    """Columns that repeat an earlier one."""
    first: dict[bytes, int] = {}
    varying = ~(samples.X[:1] == samples.X).all(axis=0)
    repeats = []
    for j in map(int, np.flatnonzero(varying)):
        # Adding zero turns -0.0 into 0.0.
        key = blake2b((np.ascontiguousarray(samples.X[:, j]) + 0.0).data).digest()
        if first.setdefault(key, j) != j:
            repeats.append(j)
    if not repeats:
        return []
    text = (
        "The same values as in an earlier column, row by row: which of the copies is kept is "
        "arbitrary. Leave the copies out."
    )
    return [_warning("duplicate", f"{_columns(len(repeats))} duplicated", text, repeats)]


def _row_numbers(samples: Samples) -> list[dict[str, Any]]:
    """Columns that number the rows, worst where they follow the response."""
    found = []
    for j in _numbering_columns(samples.X):
        name, explained = samples.names[j], 1.0 - samples.unexplained([j])
        if explained >= 1.0 - _TRACKS:
            text = (
                f"“{name}” numbers the rows, and its value alone explains {explained:.0%} of the "
                "response: the rows seem to be sorted by it, and a model would learn the sorting. "
                "Leave this column out."
            )
            found.append(_warning("leak", "A row number tracks the response", text, [j]))
        else:
            text = (
                f"“{name}” numbers the rows. What it explains, it explains by the order of the "
                "table: leave it out, unless that order is what you study."
            )
            found.append(_warning("id", "A column looks like a row number", text, [j]))
    return found


def _numbering_columns(X: np.ndarray) -> list[int]:
    """Columns of distinct whole numbers that are consecutive, or rise or fall with the rows."""
    n = X.shape[0]
    if n <= _SMALL_CLASS:
        return []
    # Columns as wide as the floats go number nothing, but may pass by.
    with np.errstate(over="ignore"):
        return _rising_columns(X, n)


def _rising_columns(X: np.ndarray, n: int) -> list[int]:
    span = X.max(axis=0).astype(np.float64) - X.min(axis=0)
    found = []
    for j in map(int, np.flatnonzero((span >= n - 1) & (X[0] % 1 == 0))):
        steps = np.diff(X[:, j])
        ordered = (steps > 0).all() or (steps < 0).all()
        if (ordered or (span[j] == n - 1 and np.unique(X[:, j]).size == n)) and not (
            X[:, j] % 1
        ).any():
            found.append(j)
    return found


def _leaks(samples: Samples, order: np.ndarray) -> list[dict[str, Any]]:
    numbering = set(_numbering_columns(samples.X))
    leaks = [
        int(j)
        for j in order[:_CHECKED]
        if int(j) not in numbering and samples.unexplained([int(j)]) < _DETERMINES
    ]
    if not leaks:
        return []
    text = (
        "One feature alone determines the response almost exactly. If it is measured after the "
        "response, or computed from it, leave it out and fit again."
    )
    return [_warning("leak", "Too good to be true?", text, leaks)]


def _thin_data(samples: Samples) -> list[dict[str, Any]]:
    if samples.task != "classification":
        return []
    labels, counts = np.unique(samples.y, return_counts=True)
    small = [str(label) for label in labels[counts < _SMALL_CLASS]]
    if not small:
        return []
    text = (
        f"Fewer than {_SMALL_CLASS} samples each: {', '.join(small[:_LISTED])}. Errors on folds "
        "left out say little about such classes."
    )
    return [
        _warning(
            "small", f"{len(small)} class{'es' if len(small) > 1 else ''} with few samples", text
        )
    ]


def _columns(n: int) -> str:
    return f"{n} column{' is' if n == 1 else 's are'}"
