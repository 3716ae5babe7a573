"""Training and test rows for each repeat and fold."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from covmin.runtime.seeds import unit_seed

Split = tuple[np.ndarray, np.ndarray]
# By whether there are groups, and whether there are classes.
_SPLITTERS = {
    (False, False): KFold,
    (False, True): StratifiedKFold,
    (True, False): GroupKFold,
    (True, True): StratifiedGroupKFold,
}


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
    """Return the training and test rows of each repeat and fold.

    ``cv`` is a number of shuffled folds, stratified for classes, where no group in ``groups``
    (n_samples,) is split; or a scikit-learn splitter; or the splits themselves, which are then
    the same in every repeat.
    """
    if not (isinstance(cv, Integral) or hasattr(cv, "split")):
        cv = list(cv)
    repeats = []
    for repeat in range(n_repeats):
        splitter = cv
        if isinstance(cv, Integral):
            seed = unit_seed(random_state, "splits", repeat)
            make = _SPLITTERS[groups is not None, classification]
            splitter = make(int(cv), shuffle=True, random_state=seed)
        pairs = splitter.split(X, y, groups) if hasattr(splitter, "split") else splitter
        repeats.append([(_rows(train, len(y)), _rows(test, len(y))) for train, test in pairs])
    return repeats


def _rows(rows: Any, n: int) -> np.ndarray:
    """Convert row numbers or a mask to row numbers."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool and rows.size == n else rows.astype(int)
