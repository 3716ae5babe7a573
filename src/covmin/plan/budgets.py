"""Numbers of features: the budgets of a path, and the candidate sizes for "auto"."""

from .constants import (
    FEWEST_LANDMARKS,
    FIRST_BUDGET,
    LANDMARKS,
    LANDMARKS_OVER_ROOT,
    SHRINK,
    SIZES,
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
    """Return the candidate numbers of features: each up to ten, then 25 % more each time.

    >>> candidate_sizes(14)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14]
    >>> candidate_sizes(5000)[-3:]
    [63, 78, 97]
    """
    dense, most = SIZES
    top = min(n_features, most)
    sizes = list(range(1, min(top, dense) + 1))
    while sizes[-1] < top and (following := sizes[-1] * 5 // 4) <= top:
        sizes.append(following)
    if top == n_features and sizes[-1] != top:
        sizes.append(top)
    return sizes


def n_landmarks(n_samples: int) -> int:
    """Return the number of landmarks of the kernel regression that scores many feature sets.

    >>> [n_landmarks(n) for n in (50, 2000, 10**6)]
    [100, 268, 1000]
    """
    return min(LANDMARKS, max(FEWEST_LANDMARKS, int(LANDMARKS_OVER_ROOT * n_samples**0.5)))
