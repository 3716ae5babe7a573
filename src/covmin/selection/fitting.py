"""What a fit does around the method: checks, seeds, and results in the user's terms."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from covmin.core.nominations import Pairs
from covmin.core.path import Path
from covmin.core.substitutes import Substitutes
from covmin.data.columns import (
    ColumnPlan,
    PreparedColumns,
    check_finite,
    prepare_columns,
    weighted_samples,
)
from covmin.data.responses import EncodedResponse, class_weights, encode_response, ordered_levels
from covmin.data.sources.local import ArraySource, is_source
from covmin.data.tables import read_table
from covmin.runtime.memory import check_memory

from .crossfit import CrossFit

__all__ = [
    "Samples",
    "check_columns",
    "cross_fit_bunch",
    "epsilon_values",
    "interactions_bunch",
    "path_bunch",
    "read_samples",
    "seed_of",
    "squared",
    "substitutes_bunch",
    "unchanged_on_failure",
]


# The paper's 0.1 holds strong effects back so much that a copy of a strong feature is worth
# more than a new one; along the path a smaller ridge costs nothing.
_PATH_EPSILON = 0.01


@contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Give an estimator its attributes back when fitting it fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@dataclass(frozen=True)
class Samples:
    """What a fit is given, checked and encoded; samples of weight zero are gone.

    Attributes
    ----------
    X : ndarray or Source of shape (n_samples, n_encoded)
    response : EncodedResponse
    weight : ndarray of shape (n_samples,)
    plan : ColumnPlan
    labels : ndarray or None
        Label of each unit, where there are groups.
    """

    X: Any
    response: EncodedResponse
    weight: np.ndarray
    plan: ColumnPlan
    labels: np.ndarray | None

    def columns(self, standardize: bool, *, in_blocks: bool = False) -> PreparedColumns:
        """The columns made ready for the criterion, copied or to be read in blocks."""
        return prepare_columns(
            self._as_source() if in_blocks else self.X,
            standardize,
            plan=self.plan,
            sample_weight=self.weight,
            Y=self.response.Y,
        )

    def _as_source(self) -> Any:
        return self.X if is_source(self.X) else ArraySource(self.X)

    def in_memory(self) -> Samples:
        """The same samples as arrays, if there is memory for them."""
        if not is_source(self.X):
            return self
        n, d = self.X.shape
        check_memory(
            n * d * self.X.dtype.itemsize,
            f"A copy of {n} rows and {d} columns",
            'Only random features read rows in blocks: use approximation="fourier" with any '
            "kernel but the polynomial one, without given features, on the CPU.",
        )
        X = self.X.take(np.arange(n))
        check_finite(X.min(axis=0), X.max(axis=0), self.X.names)  # an array has no names
        return replace(self, X=X)

    def sample(self, n_rows: int, seed: int) -> Samples:
        """All samples in memory, or as many of them as asked for, drawn at random."""
        n = self.X.shape[0]
        if n <= n_rows:
            return self.in_memory()
        rows = np.sort(np.random.default_rng(seed).choice(n, n_rows, replace=False))
        labels = self.response.labels
        response = replace(
            self.response,
            Y=self.response.Y[rows],
            labels=None if labels is None else np.unique(labels[rows], return_inverse=True)[1],
        )
        X = self.X.take(rows) if is_source(self.X) else self.X[rows]
        return replace(self, X=X, response=response, weight=self.weight[rows])


def read_samples(selector: Any, X: Any, y: Any, sample_weight: Any) -> Samples:
    """Check and encode what a selector is to be fitted on, by its parameters."""
    levels = ordered_levels(y)
    X, y, plan, labels = read_table(
        selector,
        X,
        y,
        categorical_features=selector.categorical_features,
        groups=selector.groups,
        given=selector.given,
    )
    X, y, weight = weighted_samples(X, y, sample_weight)
    encode = partial(
        encode_response, y, selector.task, levels=levels, kernel=selector.response_kernel
    )
    response = encode(sample_weight=weight)
    if selector.class_weight is not None:
        weight = class_weights(response, selector.class_weight, weight)
        response = encode(sample_weight=weight)
    return Samples(X, response, weight, plan, labels)


def check_columns(columns: PreparedColumns) -> None:
    """Refuse data in which nothing varies, and warn of columns that do not."""
    n_constant = columns.constant.size
    if columns.units.size == 0:
        raise ValueError(
            f"Every one of the {n_constant} feature(s) of X is constant: "
            "there is nothing to select."
        )
    if n_constant:
        warnings.warn(
            f"{n_constant} constant feature(s) carry no information and are ranked last.",
            UserWarning,
            stacklevel=4,
        )


def epsilon_values(epsilon: Any, response: EncodedResponse, strategy: str) -> np.ndarray:
    """The values of ε to choose from, increasing."""
    if isinstance(epsilon, str):
        if strategy == "path" and response.task == "regression":
            return np.array([_PATH_EPSILON])
        return np.array([response.default_epsilon])
    epsilons = np.unique(np.atleast_1d(np.asarray(epsilon, dtype=np.float64)))
    if epsilons.size == 0 or not (np.isfinite(epsilons).all() and (epsilons > 0).all()):
        raise ValueError(
            f"epsilon must be positive and finite, got {epsilon!r}; "
            'epsilon="auto" takes a value that suits the data.'
        )
    return epsilons


def seed_of(random_state: Any) -> int:
    """One seed for everything a fit draws; NumPy's global generator is left alone.

    None is a fixed seed: the same data give the same features on every run.

    Examples
    --------
    >>> seed_of(None), seed_of(7)
    (0, 7)
    """
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(random_state.randint(2**31 - 1))


def squared(scale: float) -> np.float64:
    """The square; infinite, without a word, where floats end.

    Examples
    --------
    >>> float(squared(3.0)), float(squared(1e200))
    (9.0, inf)
    """
    with np.errstate(over="ignore", under="ignore"):
        return np.square(np.float64(scale))


def path_bunch(path: Path, unit_index: np.ndarray, plan: ColumnPlan, scale: float) -> Bunch:
    """The stages in the columns and the units of the input."""
    stages = path.stages
    weights = np.zeros((len(stages), plan.given.size))
    weights[:, plan.given] = 1.0
    for row, stage in zip(weights, stages, strict=True):
        row[unit_index[stage.columns]] = stage.weights
    return Bunch(
        n_features=np.array([stage.budget for stage in stages]),
        weights=weights[:, plan.unit],
        bandwidth=np.array([stage.bandwidth for stage in stages]),
        criterion=np.array([stage.criterion for stage in stages]) * squared(scale),
        optimistic_loo_error=np.array([stage.loo_error for stage in stages]),
        n_iter=np.array([stage.solution.n_iter for stage in stages]),
        converged=np.array([stage.solution.converged for stage in stages]),
    )


def substitutes_bunch(
    found: Substitutes, unit_index: np.ndarray, plan: ColumnPlan, epsilon: float
) -> Bunch:
    """Substitutes as columns of equal length, in the columns of the input."""
    # The first column of a unit stands for it.
    _, first = np.unique(plan.unit, return_index=True)
    column = first[unit_index]
    n_candidates = found.candidate.shape[1]
    return Bunch(
        feature=np.repeat(column[found.feature], n_candidates),
        substitute=column[found.candidate.ravel()],
        unexplained=np.full(found.candidate.size, epsilon * found.criterion),
        unexplained_without=np.repeat(epsilon * found.without, n_candidates),
        unexplained_with=epsilon * found.replaced.ravel(),
    )


def interactions_bunch(pairs: Pairs, columns: PreparedColumns, plan: ColumnPlan) -> Bunch:
    """Pairs that interact, in the columns of the input."""
    return Bunch(
        features=np.sort(plan.source[columns.index[pairs.columns]], axis=1),
        share=pairs.share,
        p_value=pairs.p_value,
    )


def cross_fit_bunch(crossfit: CrossFit | None) -> Bunch | None:
    """The cross-fitted errors, where there are any."""
    if crossfit is None:
        return None
    return Bunch(
        n_features=crossfit.sizes,
        epsilon=crossfit.epsilons,
        mean_error=crossfit.mean,
        standard_error=crossfit.standard_error,
    )
