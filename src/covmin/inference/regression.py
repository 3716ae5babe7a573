"""What one set of features says about the mean of some columns, judged out of fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from covmin.core.problem import Formulation
from covmin.data.columns import prepare_columns
from covmin.plan.formulation import make_problem

__all__ = ["out_of_fold_smoother"]

_N_FOLDS = 5
# A plane, a quadric, a smooth function, and a smooth function that leans on single features.
_KERNELS: tuple[dict[str, Any], ...] = (
    {"kernel": "linear"},
    {"kernel": "polynomial", "kernel_params": {"degree": 2, "coef0": 1.0}},
    {"kernel": "gaussian"},
    {"kernel": "gaussian", "mixing": 0.9},
)
_RIDGES = (1.0, 0.1, 0.01, 0.001)


def out_of_fold_smoother(X: np.ndarray, targets: np.ndarray, seed: int) -> np.ndarray:
    """The matrix S of out-of-fold kernel ridge regression: ``S @ targets`` are predictions.

    Each sample is predicted by a model that has not seen it. Of several kernels and ridges
    those with the smallest squared error are taken.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    targets : ndarray of shape (n_samples, n_targets)
        On scales that may be compared.
    seed : int
        Of the folds.

    Returns
    -------
    S : ndarray of shape (n_samples, n_samples)

    Examples
    --------
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> S = out_of_fold_smoother(X, X**2, seed=0)
    >>> bool(np.abs(S @ X**2 - X**2).max() < 0.01)
    True
    """
    n = X.shape[0]
    folds = list(KFold(min(_N_FOLDS, n), shuffle=True, random_state=seed).split(X))
    squares = np.zeros((len(_KERNELS), len(_RIDGES)))
    for train, test in folds:
        for k, ridges in enumerate(_predictions(X[train], targets[train], X[test], _KERNELS)):
            squares[k] += [((targets[test] - means) ** 2).sum() for means in ridges]
    kernel, ridge = np.unravel_index(squares.argmin(), squares.shape)
    S = np.zeros((n, n))
    for train, test in folds:
        units = np.eye(train.size)
        (ridges,) = _predictions(X[train], units, X[test], _KERNELS[kernel : kernel + 1])
        S[np.ix_(test, train)] = ridges[ridge]
    return S


def _predictions(
    X: np.ndarray, targets: np.ndarray, new: np.ndarray, kernels: tuple[dict[str, Any], ...]
) -> Iterator[list[np.ndarray]]:
    """For each kernel and each ridge, predictions of shape (n_new, n_targets)."""
    means = targets.mean(axis=0)
    columns = prepare_columns(X)
    every = np.arange(columns.index.size)
    for options in kernels:
        if every.size == 0:  # nothing varies here: the mean is all there is
            yield [np.tile(means, (new.shape[0], 1)) for _ in _RIDGES]
            continue
        problem = make_problem(
            columns,
            targets - means,
            Formulation(epsilon=1.0, **options),
            approximation=None,
            n_components=None,
            device=None,
            seed=0,
        )
        gram = problem.gram(every, problem.bandwidth(every))
        operator = gram.at(np.ones(every.size))
        samples = columns.apply(new)
        yield [means + operator.predict(samples, ridge) for ridge in _RIDGES]
