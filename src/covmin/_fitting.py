"""What a fit does around the method: checks, seeds, and results in the user's terms."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from ._columns import PreparedColumns
from ._crossfit import CrossFit
from ._responses import EncodedResponse
from .core.path import Path

__all__ = [
    "check_columns",
    "cross_fit_bunch",
    "epsilon_values",
    "path_bunch",
    "seed_of",
    "unchanged_on_failure",
]


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


def check_columns(columns: PreparedColumns) -> None:
    """Refuse data in which nothing varies, and warn of columns that do not."""
    n_constant = columns.constant.size
    if columns.index.size == 0:
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


def epsilon_values(epsilon: Any, response: EncodedResponse) -> np.ndarray:
    """The values of ε to choose from, increasing."""
    if isinstance(epsilon, str):
        return np.array([response.default_epsilon])
    epsilons = np.unique(np.atleast_1d(np.asarray(epsilon, dtype=np.float64)))
    if epsilons.size == 0 or not (np.isfinite(epsilons).all() and (epsilons > 0).all()):
        raise ValueError(
            f"epsilon must be positive and finite, got {epsilon!r}; "
            'the paper uses 0.001 for classes and 0.1 for regression (epsilon="auto").'
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


def path_bunch(path: Path, index: np.ndarray, n_features: int, scale: float) -> Bunch:
    """The stages in the columns and the units of the input."""
    stages = path.stages
    weights = np.zeros((len(stages), n_features))
    for row, stage in zip(weights, stages, strict=True):
        row[index[stage.columns]] = stage.weights
    return Bunch(
        n_features=np.array([stage.budget for stage in stages]),
        weights=weights,
        bandwidth=np.array([stage.bandwidth for stage in stages]),
        criterion=np.array([stage.criterion for stage in stages]) * scale**2,
        optimistic_loo_error=np.array([stage.loo_error for stage in stages]),
        n_iter=np.array([stage.solution.n_iter for stage in stages]),
        converged=np.array([stage.solution.converged for stage in stages]),
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
