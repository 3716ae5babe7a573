"""The base classes of the baselines: read the data, standardise, rank without ties."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from covmin.data.checks import check_numbers
from covmin.data.columns import n_features_to_keep, prepare_columns
from covmin.data.outputs import SupportMixin
from covmin.data.responses import encode_response
from covmin.runtime.compat import Interval, RealNotInt, StrOptions, VersionedPickles, fit_context
from covmin.runtime.docstrings import sections_of, with_sections
from covmin.runtime.seeds import global_state_restored
from covmin.runtime.threads import one_blas_thread

# Column indices, best first, and a score for each column if the method has one.
Ranked: TypeAlias = tuple[np.ndarray, np.ndarray | None]

COUNT = Interval(Integral, 1, None, closed="left")


@dataclass(frozen=True)
class Target:
    """A response in the form that every baseline can use."""

    values: np.ndarray  # (n_samples,): class codes 0..k-1, or numbers of mean 0 and variance 1
    n_classes: int  # 0 for numbers

    @classmethod
    def read(cls, y: np.ndarray, task: str) -> Self:
        """Read a response as classes or numbers, by the same rules as CCMSelector."""
        response = encode_response(y, task)
        if response.labels is None:
            return cls(response.Y[:, 0], n_classes=0)
        return cls(response.labels, n_classes=int(response.classes.size))

    @property
    def is_classes(self) -> bool:
        """Whether the response is a class label."""
        return self.n_classes > 0

    def columns(self) -> np.ndarray:
        """Return the response as columns Y: one indicator per class, or one standardised column.

        ``Y Yᵀ`` is the delta kernel of the classes, or the linear kernel of the numbers.
        """
        return np.eye(self.n_classes)[self.values] if self.is_classes else self.values[:, None]


@dataclass(eq=False, repr=False)
class BaselineSelector(VersionedPickles, SupportMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of the baselines: rank all features and keep the first m.

    A subclass implements ``_rank(Z, target, m)``, which orders the columns of Z, best first. The
    columns of Z have mean 0 and variance 1. Constant columns carry no information: they are
    removed before ``_rank`` and placed last in the ranking. Feature scores, if the method has
    them, are stored in ``scores_``, with 0 for constant columns.

    A subclass is a dataclass whose fields are its parameters. Its docstring lists only its own
    parameters and attributes; the shared ones below are inserted before them.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or the fraction to keep (rounded down, at least one).
        None keeps half of the features.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. With "auto", continuous numbers mean regression. So do integers with
        many distinct values, with a warning. Anything else means classification.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, a permutation of 1..n_features; 1 is best. Ties are broken by
        column position.
    support_ : ndarray of bool of shape (n_features,)
        Mask of the features kept: exactly ``n_features_`` are True.
    n_features_ : int
        Number of features kept.
    task_ : {"classification", "regression"}
        How y was interpreted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import BaselineSelector
    >>> class LastFirst(BaselineSelector):
    ...     def _rank(self, Z, target, m):
    ...         return np.arange(Z.shape[1])[::-1], None
    >>> LastFirst(1).fit([[0, 3, 1], [1, 3, 0], [1, 3, 1]], [0, 0, 1]).ranking_
    array([2, 3, 1])
    """

    _takes_several_outputs = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [None, Interval(RealNotInt, 0, 1, closed="right"), COUNT],
        "task": [StrOptions({"auto", "classification", "regression"})],
    }

    n_features_to_select: int | float | None = None
    _: KW_ONLY
    task: str = "auto"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        inherited = cls.__base__.__doc__ if cls.__base__ is not None else None
        # A docstring that lists the shared parameters itself is complete.
        if cls.__doc__ and inherited and "n_features_to_select :" not in cls.__doc__:
            sections = sections_of(inherited)
            shared = {title: sections[title] for title in ("Parameters", "Attributes")}
            cls.__doc__ = with_sections(cls.__doc__, shared)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features of X by their relevance to y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, at least 2.
        y : array-like of shape (n_samples,)
            Class labels or numbers.

        Returns
        -------
        self : object
        """
        check_numbers(X, y)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        target = Target.read(y, self.task)
        d = X.shape[1]
        half = 0.5 if self.n_features_to_select is None else self.n_features_to_select
        m = n_features_to_keep(half, d)
        columns = prepare_columns(X)
        if columns.index.size == 0:
            raise ValueError(f"All {d} feature(s) of X are constant: there is nothing to rank.")
        # Baselines break ties by position, so restore the user's column order.
        positions = np.argsort(columns.index)
        varying = columns.index[positions]
        # Some of the libraries used here draw from NumPy's global generator, or seed it.
        with one_blas_thread(), global_state_restored():
            order, scores = self._rank(columns.X[:, positions], target, m)
        self.task_ = "classification" if target.is_classes else "regression"
        if scores is not None:
            self.scores_ = np.zeros(d)
            self.scores_[varying] = scores
        self.ranking_ = np.empty(d, dtype=np.int64)
        self.ranking_[np.concatenate([varying[order], columns.constant])] = np.arange(1, d + 1)
        self.n_features_, self.support_ = m, self.ranking_ <= m
        return self

    @abstractmethod
    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        """Return the columns of Z (n_samples, d), best first, and a score for each or None."""


@dataclass(eq=False, repr=False, kw_only=True)
class BackwardElimination(BaselineSelector):
    """Base class of backward elimination: each round drops the least important features.

    The feature that survives longest ranks first. Features dropped in the same round are ordered
    by their importance in that round, so there are no ties.

    Parameters
    ----------
    step : int or float in (0, 1), default=0.1
        Features to drop per round: a number, or a fraction of those that *remain* (rounded down,
        at least one). With 0.1, rounds are large while thousands of features remain, and drop
        one feature at a time from 19 features on.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "step": [COUNT, Interval(RealNotInt, 0, 1, closed="neither")],
    }

    step: int | float = 0.1

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        importance = self._importance(Z, target)
        remaining, eliminated = np.arange(Z.shape[1]), np.arange(0)
        while remaining.size > 1:
            whole = isinstance(self.step, Integral)
            n_dropped = int(self.step if whole else self.step * remaining.size)
            n_kept = max(1, remaining.size - max(1, n_dropped))
            order = remaining[best_first(importance(remaining))]
            eliminated = np.concatenate([order[n_kept:], eliminated])
            remaining = np.sort(order[:n_kept])
        return np.concatenate([remaining, eliminated]), None

    @abstractmethod
    def _importance(self, Z: np.ndarray, target: Target) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function from the remaining columns (s,) of Z to their importances (s,)."""


def best_first(scores: np.ndarray) -> np.ndarray:
    """Return indices from the largest score to the smallest: ties by position, NaN last.

    >>> best_first(np.array([1.0, 2.0, np.nan, 2.0]))
    array([1, 3, 0, 2])
    """
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")


def chosen_then_rest(chosen: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return all columns: the chosen ones in their order, then the rest by their scores (d,)."""
    return np.concatenate([chosen, np.setdiff1d(best_first(scores), chosen, assume_unique=True)])
