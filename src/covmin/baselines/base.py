"""What all baselines share: validation, standardised columns, one ranking without ties."""

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import validate_data

from covmin.data.checks import check_numbers
from covmin.data.columns import n_features_to_keep, prepare_columns
from covmin.data.support import SupportMixin
from covmin.runtime.version import VersionedPickles

from .target import Target, encode_target

# Columns, best first, and the score of each where the method has one.
Ranked: TypeAlias = tuple[np.ndarray, np.ndarray | None]


class BaselineSelector(VersionedPickles, SupportMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the m features of rank 1..m, where a subclass says how to rank.

    A subclass implements ``_rank(Z, target, m)``, which orders the columns of Z, best first.
    Z has no constant column and each has mean 0 and variance 1; columns that do not vary
    carry no information and are put last here, for all baselines alike.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction (rounded down, at least one).
        None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature: 1 is the best; a permutation of 1..n_features. Ties are broken by
        the position of the column.
    support_ : ndarray of bool of shape (n_features,)
        The features kept: exactly ``n_features_`` of them.
    n_features_ : int
        Number of features kept.
    scores_ : ndarray of shape (n_features,)
        Score of each feature, where the method has one (0 for constant columns).
    task_ : {"classification", "regression"}
        How y was read.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import BaselineSelector
    >>> class LastFirst(BaselineSelector):
    ...     def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
    ...         return np.arange(Z.shape[1])[::-1], None
    >>> LastFirst(1).fit([[0, 3, 1], [1, 3, 0], [1, 3, 1]], [0, 0, 1]).ranking_
    array([2, 3, 1])
    """

    _takes_several_outputs = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "task": [StrOptions({"auto", "classification", "regression"})],
    }

    def __init__(self, n_features_to_select: int | float | None = None, *, task: str = "auto"):
        self.n_features_to_select = n_features_to_select
        self.task = task

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features of X by what they say about y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; n_samples is at least 2.
        y : array-like of shape (n_samples,)
            Class labels or numbers.

        Returns
        -------
        self : object
        """
        check_numbers(X, y)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        target = encode_target(y, self.task)
        half = 0.5 if self.n_features_to_select is None else self.n_features_to_select
        m = n_features_to_keep(half, X.shape[1])
        columns = prepare_columns(X)
        if columns.index.size == 0:
            raise ValueError(
                f"Every one of the {X.shape[1]} feature(s) of X is constant: "
                "there is nothing to rank."
            )
        # Baselines break ties by position, so the columns go back into the user's order.
        positions = np.argsort(columns.index)
        varying = columns.index[positions]
        order, scores = self._rank(columns.X[:, positions], target, m)
        self.task_ = "classification" if target.is_classes else "regression"
        if scores is not None:
            self.scores_ = np.zeros(X.shape[1])
            self.scores_[varying] = scores
        order = np.concatenate([varying[order], columns.constant])
        self.ranking_ = np.empty(X.shape[1], dtype=np.int64)
        self.ranking_[order] = np.arange(1, X.shape[1] + 1)
        self.n_features_ = m
        self.support_ = self.ranking_ <= m
        return self

    @abstractmethod
    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        """Order the columns of Z (n_samples, d), best first, with a score of each or None."""


def best_first(scores: np.ndarray) -> np.ndarray:
    """Indices from the largest score to the smallest; ties by position, undefined scores last.

    Parameters
    ----------
    scores : ndarray of shape (d,)
        Larger is better; NaN counts as worst.

    Returns
    -------
    order : ndarray of int of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.base import best_first
    >>> best_first(np.array([1.0, 2.0, np.nan, 2.0]))
    array([1, 3, 0, 2])
    """
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")


def backward_elimination(
    d: int, step: int | float, importance: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Order features by when they are eliminated, least important first out.

    Every round scores the features that remain and drops the worst of them; features that
    leave in the same round are ordered by their importance in it, so there are no ties.

    Parameters
    ----------
    d : int
        Number of features.
    step : int or float in (0, 1)
        Features dropped per round: a number, or a fraction of those that *remain* (rounded
        down, at least one), which makes the rounds a geometric series.
    importance : callable
        Takes the sorted indices that remain (s,) and returns the importance of each (s,).

    Returns
    -------
    order : ndarray of int of shape (d,)
        Best feature first: the last one to survive.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines.base import backward_elimination
    >>> worth = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    >>> backward_elimination(5, 2, lambda remaining: worth[remaining])
    array([4, 2, 0, 1, 3])
    """
    remaining = np.arange(d)
    eliminated = np.arange(0)
    while remaining.size > 1:
        n_dropped = step if isinstance(step, Integral) else int(step * remaining.size)
        n_kept = max(1, remaining.size - max(1, n_dropped))
        order = remaining[best_first(importance(remaining))]
        eliminated = np.concatenate([order[n_kept:], eliminated])
        remaining = np.sort(order[:n_kept])
    return np.concatenate([remaining, eliminated])
