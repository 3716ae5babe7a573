"""Score feature sets with the user's own estimator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from covmin.data import Table
from covmin.data.blocks.array import stays_what_it_is
from covmin.data.dtypes import is_frame
from covmin.data.survival import as_structured
from covmin.remarks import warn
from covmin.text import count_of

from .crossval import Score
from .splits import Fold


@dataclass(frozen=True)
class EstimatorScore:
    """The score, on a test fold, of an estimator trained on the other folds.

    The estimator sees the columns as the user passed them, and duplicate rows as duplicates.
    Unequal weights are passed to ``fit`` and to the scorer if they accept them.
    """

    estimator: Any
    scorer: Any
    X: Any  # rows of the user's table
    y: Any
    copies: np.ndarray | None  # number of duplicates of each row; None if rows have weights
    weight: np.ndarray
    name: str  # of the score

    def __call__(self, columns: np.ndarray, fold: Fold) -> float:
        """Return the score of some columns."""
        X = _safe_indexing(self.X, columns, axis=1)
        train, test = map(np.flatnonzero, fold)
        if self.copies is not None:
            train, test = (np.repeat(rows, self.copies[rows]) for rows in (train, test))
        estimator = clone(self.estimator)
        trained: dict[str, Any] = {}
        scored: dict[str, Any] = {}
        if self.copies is None:
            if (parameter := _weight_parameter(estimator)) is not None:
                trained = {parameter: self.weight[train]}
            function = getattr(self.scorer, "_score_func", self.scorer)
            if type(self.scorer).__name__ == "_PassthroughScorer":
                function = _last_step(estimator)[1].score
            if "sample_weight" in signature(function).parameters:
                scored = {"sample_weight": self.weight[test]}
        on = count_of(columns.size, "column")
        with _said(f"{self.estimator} could not be trained on {on} of X"):
            estimator.fit(_safe_indexing(X, train), _safe_indexing(self.y, train), **trained)
        with _said(f"{self.name} failed for {self.estimator} on a test fold"):
            X_test, y_test = _safe_indexing(X, test), _safe_indexing(self.y, test)
            score = float(self.scorer(estimator, X_test, y_test, **scored))
            if not np.isfinite(score):
                raise ValueError(f"it is {score}, which is not a valid score")
        return score


@contextmanager
def _said(what: str) -> Iterator[None]:
    """Prefix errors with what was being done."""
    try:
        yield
    except Exception as error:
        raise ValueError(f"{what}: {error}") from error


def check_scored(estimator: Any, scoring: Any) -> None:
    """Raise an error before a long fit if the scoring is invalid."""
    if estimator is not None:
        check_scoring(clone(estimator), scoring)
    elif scoring is not None:
        raise ValueError(
            f"scoring={scoring!r} requires an estimator; pass estimator=, or omit scoring."
        )


def estimator_score(estimator: Any, scoring: Any, table: Table) -> Score | None:
    """Return the score of an estimator on a table; None without an estimator.

    A table that is read in blocks is passed on as an array of numbers.
    """
    if estimator is None:
        return None
    X, y = table.passed
    held = table.X
    if not stays_what_it_is(X):
        held = X if is_frame(X) else X.tocsr() if issparse(X) else np.asarray(X)
        held = _safe_indexing(held, table.row)
    copies = _copies(table.weight, len(y))
    if copies is None and _weight_parameter(estimator) is None:
        warn(
            "unweighted-estimator",
            f"{estimator} does not accept sample weights; it is trained without them to choose "
            "the number of features.",
        )
    times = table.response.times
    if times is not None and getattr(getattr(y, "dtype", None), "names", None) is None:
        y = as_structured(times)  # as scikit-survival has them
    else:
        y = _safe_indexing(y if hasattr(y, "iloc") else np.asarray(y), table.row)
    return EstimatorScore(
        estimator,
        check_scoring(estimator, scoring),
        held,
        y,
        copies,
        table.weight,
        scoring_name(estimator, scoring),
    )


def scoring_name(estimator: Any, scoring: Any) -> str:
    """Return the name of a score.

    >>> from sklearn.linear_model import Ridge
    >>> scoring_name(Ridge(), None), scoring_name(Ridge(), "r2")
    ('score of Ridge', 'r2')
    """
    if scoring is None:
        return f"score of {type(estimator).__name__}"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", str(scoring))


def _last_step(estimator: Any) -> tuple[str, Any]:
    """Return the name and estimator of the last step of a pipeline, or the estimator itself."""
    name, last = "", estimator
    while hasattr(last, "steps"):
        step, last = last.steps[-1]
        name += f"{step}__"
    return name, last


def _weight_parameter(estimator: Any) -> str | None:
    """Return the name of the sample weights in ``fit``; None if it does not accept them."""
    name, last = _last_step(estimator)
    return f"{name}sample_weight" if has_fit_parameter(last, "sample_weight") else None


def _copies(weight: np.ndarray, n_rows: int) -> np.ndarray | None:
    """Return how often each row occurs, if the weights are multiples; None otherwise.

    >>> _copies(np.array([1.0, 3.0]), 4), _copies(np.array([1.0, 1.5]), 4)
    (array([1, 3]), None)
    """
    times = weight / weight.min()
    copies = np.rint(times).astype(int)
    return copies if np.allclose(times, copies, rtol=1e-9) and copies.sum() <= n_rows else None
