"""Split samples into folds for cross-validation: those of a group in one, and classes alike."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from covmin.constants import FOLDS
from covmin.data import Table
from covmin.plan.rules import n_folds_used
from covmin.remarks import InputError

# Masks of the training and of the test samples.
Fold = tuple[np.ndarray, np.ndarray]
# With fewer samples there is no cross-validation.
FEWEST_SAMPLES = 4


def splits(table: Table, cv: Any = None, *, every_fold: bool = False) -> list[Fold]:
    """Return the folds of a table, by a splitter if one is given.

    Samples of a group are in one fold. Without groups and splitter, only as many folds are used as
    are needed for enough test samples, unless ``every_fold``.
    """
    n, strata, groups = table.n_samples, table.response.strata, table.groups
    if groups is not None and np.unique(groups).size == n:  # every sample is on its own
        groups = None
    pairs: list[Any]
    if cv is None and groups is None:
        tests = stratified_folds(n, strata)
        return [(~test, test) for test in tests[: len(tests) if every_fold else n_folds_used(n)]]
    if lists_rows(cv):  # as they were passed
        pairs = [tuple(np.isin(table.row, np.asarray(rows)) for rows in split) for split in cv]
    else:
        # A splitter sees the samples in the order in which they were passed, which may be time.
        order = np.argsort(table.row, kind="stable")
        y = None if strata is None else strata[order]
        groups = None if groups is None else groups[order]
        if groups is not None and not hasattr(cv, "split"):
            n_folds = min(int(cv or FOLDS[0]), np.unique(groups).size)
            if n_folds < 2:
                raise InputError("groups has a single value; cross-validation needs two.")
            cv = GroupKFold(n_folds) if y is None else StratifiedGroupKFold(n_folds)
        found = check_cv(cv, y, classifier=y is not None).split(order[:, None], y, groups)
        places = np.arange(n)
        pairs = [tuple(np.isin(places, order[rows]) for rows in split) for split in found]
    for train, test in pairs:
        if train.sum() < 2 or not test.any():
            text = "A split of cv has fewer than two training samples, or no test sample, with a"
            raise InputError(f"{text} response and a positive weight; use fewer folds.", "cv")
    return pairs


def lists_rows(cv: Any) -> bool:
    """Tell whether splits are given by the rows themselves."""
    return cv is not None and not isinstance(cv, Integral) and not hasattr(cv, "split")


def stratified_folds(n_samples: int, labels: np.ndarray | None) -> list[np.ndarray]:
    """Return masks of the test samples of each fold, stratified by class.

    The number of folds does not depend on the size of a class: with two folds, a class with two
    samples would have one to train on. Fold sizes differ by at most one, per class and in total.
    Classes are ordered by first occurrence, so that their names do not matter.

    >>> [fold.nonzero()[0].tolist() for fold in stratified_folds(5, None)]
    [[0, 2, 4], [1, 3]]
    """
    classes = np.zeros(n_samples, dtype=int) if labels is None else labels
    n_folds = max(2, min(FOLDS[0], n_samples // 2))
    met = np.unique(classes, return_index=True)[1]
    fold = np.empty(n_samples, dtype=int)
    fold[np.argsort(met[classes], kind="stable")] = np.arange(n_samples) % n_folds
    return [fold == number for number in range(n_folds)]
