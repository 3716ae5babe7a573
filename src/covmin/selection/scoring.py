"""Score feature sets with the user's own estimator."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from covmin.data import Table
from covmin.data.dtypes import is_frame, stays_what_it_is
from covmin.data.survival import as_structured
from covmin.remarks import warn
from covmin.text import count_of

from .splits import Fold

# The score of an estimator on a fold, given columns of the input.
Score = Callable[[np.ndarray, Fold], float]


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
        raise ValueError(f"scoring={scoring!r} requires an estimator; pass estimator=, or omit it.")


def estimator_score(estimator: Any, scoring: Any, table: Table) -> Score | None:
    """Return the score, on a test fold, of an estimator trained on the others; None without one.

    The estimator sees the columns as the user passed them (those of a table read in blocks as an
    array of numbers), and duplicate rows as duplicates. Unequal weights are passed to ``fit`` and
    to the scorer if they accept them.
    """
    if estimator is None:
        return None
    X, y = table.passed
    held = table.X
    if not stays_what_it_is(X):
        held = X if is_frame(X) else X.tocsr() if issparse(X) else np.asarray(X)
        held = _safe_indexing(held, table.row)
    copies = _copies(table.weight, len(y))
    steps, last = _last_step(estimator)
    takes_weights = copies is None and has_fit_parameter(last, "sample_weight")
    if copies is None and not takes_weights:
        text = f"{estimator} does not accept sample weights; it is trained without them."
        warn("unweighted-estimator", text)
    y = _safe_indexing(y if hasattr(y, "iloc") else np.asarray(y), table.row)
    if table.response.times is not None and getattr(y, "dtype", np.dtype(float)).names is None:
        y = as_structured(table.response.times)  # as scikit-survival has them
    name, scorer = scoring_name(estimator, scoring), check_scoring(estimator, scoring)
    scored_by = getattr(scorer, "_score_func", scorer)
    if type(scorer).__name__ == "_PassthroughScorer":
        scored_by = last.score
    is_weighted = copies is None and "sample_weight" in signature(scored_by).parameters

    def score(columns: np.ndarray, fold: Fold) -> float:
        X = _safe_indexing(held, columns, axis=1)
        train, test = map(np.flatnonzero, fold)
        if copies is not None:
            train, test = (np.repeat(rows, copies[rows]) for rows in (train, test))
        trained = {f"{steps}sample_weight": table.weight[train]} if takes_weights else {}
        scored = {"sample_weight": table.weight[test]} if is_weighted else {}
        fitted = clone(estimator)
        what = count_of(columns.size, "column")
        with _said(f"{estimator} could not be trained on {what} of X"):
            fitted.fit(_safe_indexing(X, train), _safe_indexing(y, train), **trained)
        with _said(f"{name} failed for {estimator} on a test fold"):
            X_test, y_test = _safe_indexing(X, test), _safe_indexing(y, test)
            value = float(scorer(fitted, X_test, y_test, **scored))
            if not np.isfinite(value):
                raise ValueError(f"it is {value}, which is not a valid score")
        return value

    return score


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
    """Return the last step of a pipeline, and the prefix of its parameters."""
    prefix = ""
    while hasattr(estimator, "steps"):
        step, estimator = estimator.steps[-1]
        prefix += f"{step}__"
    return prefix, estimator


def _copies(weight: np.ndarray, n_rows: int) -> np.ndarray | None:
    """Return how often each row occurs, if the weights are multiples; None otherwise.

    >>> _copies(np.array([1.0, 3.0]), 4), _copies(np.array([1.0, 1.5]), 4)
    (array([1, 3]), None)
    """
    times = weight / weight.min()
    copies = np.rint(times).astype(int)
    return copies if np.allclose(times, copies, rtol=1e-9) and copies.sum() <= n_rows else None
