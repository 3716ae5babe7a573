"""What all baselines share: the response, standardised columns, one ranking without ties."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import validate_data

from covmin.data.checks import check_numbers
from covmin.data.columns import n_features_to_keep, prepare_columns
from covmin.data.outputs import SupportMixin
from covmin.data.responses import encode_response
from covmin.runtime.docstrings import sections_of, with_sections
from covmin.runtime.seeds import global_state_restored
from covmin.runtime.threads import one_blas_thread
from covmin.runtime.validation import fit_context
from covmin.runtime.version import VersionedPickles

# Columns, best first, and the score of each where the method has one.
Ranked: TypeAlias = tuple[np.ndarray, np.ndarray | None]

COUNT = Interval(Integral, 1, None, closed="left")


@dataclass(frozen=True)
class Target:
    """A response ready for any baseline."""

    values: np.ndarray  # (n_samples,): class codes 0..k-1, or numbers of mean 0 and variance 1
    n_classes: int  # 0 for numbers

    @classmethod
    def read(cls, y: np.ndarray, task: str) -> Self:
        """Read a response as classes or as numbers, as CCM does."""
        response = encode_response(y, task)
        if response.labels is None:
            return cls(response.Y[:, 0], n_classes=0)
        return cls(response.labels, n_classes=int(response.classes.size))

    @property
    def is_classes(self) -> bool:
        """Whether the response is a class label."""
        return self.n_classes > 0

    def columns(self) -> np.ndarray:
        """Response as columns Y: one per class (0 or 1), or the one standardised column.

        ``Y Yᵀ`` is the delta kernel of the classes, or the linear kernel of the numbers.
        """
        return np.eye(self.n_classes)[self.values] if self.is_classes else self.values[:, None]


@dataclass(eq=False, repr=False)
class BaselineSelector(VersionedPickles, SupportMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the m features of rank 1..m, where a subclass says how to rank.

    A subclass implements ``_rank(Z, target, m)``, which orders the columns of Z, best first.
    Z has no constant column and each has mean 0 and variance 1; columns that do not vary
    carry no information and are put last here, for all baselines alike. Where the method has
    a score of each feature it is kept as ``scores_``, 0 for constant columns.

    A subclass is a dataclass whose fields are its parameters. Its docstring names its own
    parameters and attributes alone: those below are put before them.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction (rounded down, at least one).
        None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y. "auto" takes continuous numbers as regression, and so whole numbers of
        many distinct values, with a warning; anything else as classes.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature: 1 is the best; a permutation of 1..n_features. Ties are broken by
        the position of the column.
    support_ : ndarray of bool of shape (n_features,)
        The features kept: exactly ``n_features_`` of them.
    n_features_ : int
        Number of features kept.
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
        # A docstring that names the shared parameters itself is complete.
        if cls.__doc__ and inherited and "n_features_to_select :" not in cls.__doc__:
            sections = sections_of(inherited)
            shared = {title: sections[title] for title in ("Parameters", "Attributes")}
            cls.__doc__ = with_sections(cls.__doc__, shared)

    @fit_context(prefer_skip_nested_validation=True)
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
        target = Target.read(y, self.task)
        d = X.shape[1]
        half = 0.5 if self.n_features_to_select is None else self.n_features_to_select
        m = n_features_to_keep(half, d)
        columns = prepare_columns(X)
        if columns.index.size == 0:
            raise ValueError(
                f"Every one of the {d} feature(s) of X is constant: there is nothing to rank."
            )
        # Baselines break ties by position, so the columns go back into the user's order.
        positions = np.argsort(columns.index)
        varying = columns.index[positions]
        # Libraries behind some baselines draw from the global generator, or seed it.
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
        """Order the columns of Z (n_samples, d), best first, with a score of each or None."""


@dataclass(eq=False, repr=False, kw_only=True)
class BackwardElimination(BaselineSelector):
    """The best feature is the last to survive: every round drops the least important ones.

    Features that leave in the same round are ordered by their importance in it, so there are
    no ties.

    Parameters
    ----------
    step : int or float in (0, 1), default=0.1
        Features dropped per round: a number, or a fraction of those that *remain* (rounded
        down, at least one), which makes the rounds a geometric series: large steps while
        there are thousands, single ones from 19 on at 0.1.
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
        """From the sorted columns of Z (n, d) that remain (s,) to the importance of each (s,)."""


def best_first(scores: np.ndarray) -> np.ndarray:
    """Indices from the largest score to the smallest; ties by position, undefined scores last.

    >>> best_first(np.array([1.0, 2.0, np.nan, 2.0]))
    array([1, 3, 0, 2])
    """
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")


def chosen_then_rest(chosen: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """All columns: those chosen in their order, then the others by their scores (d,)."""
    return np.concatenate([chosen, np.setdiff1d(best_first(scores), chosen, assume_unique=True)])
