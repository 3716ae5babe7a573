"""Numbers of features and folds: the budgets of a path, and the candidate sizes for "auto"."""

from math import ceil

from .constants import (
    EACH_SIZE_UP_TO,
    ENOUGH_LEFT_OUT,
    FEWEST_FOLDS,
    FIRST_BUDGET,
    N_FOLDS,
    SHRINK,
)


def path_budgets(n_features: int) -> list[int]:
    """Return the budgets of a path: from 100 features, or 60 % of all, down to one.

    >>> path_budgets(10)
    [6, 3, 1]
    >>> path_budgets(5000)
    [100, 60, 36, 21, 12, 7, 4, 2, 1]
    """
    budgets = [min(FIRST_BUDGET, max(int(SHRINK * n_features), 1))]
    while budgets[-1] > 1:
        budgets.append(max(int(SHRINK * budgets[-1]), 1))
    return budgets


def candidate_sizes(n_features: int) -> list[int]:
    """Return the candidate numbers of features: each up to ten, those of the path, and the most.

    >>> candidate_sizes(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 20]
    >>> candidate_sizes(5000)[10:]
    [12, 21, 36, 60, 100]
    """
    sizes = {*range(1, min(n_features, EACH_SIZE_UP_TO) + 1), *path_budgets(n_features)}
    return sorted(sizes | {min(n_features, FIRST_BUDGET)})


def n_folds_used(n_samples: int) -> int:
    """Return how many folds are used: enough for the test samples, and at least two.

    >>> [n_folds_used(n) for n in (200, 700, 5000)]
    [5, 3, 2]
    """
    left_out = n_samples / N_FOLDS
    return min(N_FOLDS, max(FEWEST_FOLDS, ceil(ENOUGH_LEFT_OUT / left_out)))
