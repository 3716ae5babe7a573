"""Which rows train and which test, for each repeat and fold."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from covmin.data.responses import guess_task

from .runner import unit_seed

__all__ = ["is_classification", "make_splits"]

Split = tuple[np.ndarray, np.ndarray]


def make_splits(
    X: np.ndarray,
    y: np.ndarray,
    *,
    cv: Any = 5,
    groups: np.ndarray | None = None,
    n_repeats: int = 1,
    random_state: int = 0,
    classification: bool = True,
) -> list[list[Split]]:
    """Training and test rows for each repeat and fold.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    cv : int, splitter or iterable of (train, test), default=5
        A number of shuffled folds, stratified for classes, and with ``groups`` such that no
        group is on both sides; a scikit-learn splitter; or the splits themselves, which are
        the same in every repeat.
    groups : ndarray of shape (n_samples,), optional
        Group of each sample.
    n_repeats : int, default=1
    random_state : int, default=0
    classification : bool, default=True

    Returns
    -------
    splits : list of list of (train, test)
        One list for each repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.evaluation.splits import make_splits
    >>> X, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 1])
    >>> [(train, test)] = make_splits(X, y, cv=[([0, 1], [2, 3])])[0]
    >>> train, test
    (array([0, 1]), array([2, 3]))
    >>> [len(folds) for folds in make_splits(X, y, cv=3, n_repeats=2)]
    [3, 3]
    """
    if not (isinstance(cv, Integral) or hasattr(cv, "split")):
        cv = list(cv)
    return [
        _folds(X, y, cv, groups, unit_seed(random_state, "splits", repeat), classification)
        for repeat in range(n_repeats)
    ]


def _folds(
    X: np.ndarray, y: np.ndarray, cv: Any, groups: Any, seed: int, classification: bool
) -> list[Split]:
    if isinstance(cv, Integral):
        cv = _splitter(int(cv), groups is not None, seed, classification)
    pairs: Iterable[Any] = cv.split(X, y, groups) if hasattr(cv, "split") else cv
    return [(_rows(train, len(y)), _rows(test, len(y))) for train, test in pairs]


def _splitter(n_folds: int, grouped: bool, seed: int, classification: bool) -> Any:
    if grouped:
        kind = StratifiedGroupKFold if classification else GroupKFold
    else:
        kind = StratifiedKFold if classification else KFold
    return kind(n_folds, shuffle=True, random_state=seed)


def _rows(rows: Any, n: int) -> np.ndarray:
    """Row numbers from row numbers or a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool and rows.size == n else rows.astype(int)


def is_classification(y: np.ndarray, task: str = "auto") -> bool:
    """Whether y holds classes: as asked, or by its values.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.evaluation.splits import is_classification
    >>> is_classification(np.array(["a", "b"])), is_classification(np.array([0.5, 1.2]))
    (True, False)
    """
    if task == "auto":
        return guess_task(y) == "classification"
    if task == "regression" and y.dtype.kind not in "biuf":
        raise ValueError(
            f"task='regression' needs numbers, but y holds others, such as {y.flat[0]!r}. "
            "Pass task='classification' for classes."
        )
    return task == "classification"
