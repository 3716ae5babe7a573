"""Out-of-fold kernel ridge regression of columns on a set of features."""

from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import KFold

from covmin.core.kernels import Gaussian, Kernel, Linear, Mixed, Polynomial
from covmin.data.standardize import prepare_columns
from covmin.plan.problem import make_problem

_N_FOLDS = 5
# Linear, quadratic, smooth, and mostly additive smooth functions.
_KERNELS: tuple[Kernel, ...] = (Linear(), Polynomial(degree=2), Gaussian(), Mixed(mixing=0.9))
_RIDGES = (1.0, 0.1, 0.01, 0.001)


def out_of_fold_smoother(X: np.ndarray, targets: np.ndarray, seed: int) -> np.ndarray:
    """Return the matrix S (n, n) of out-of-fold predictions ``S @ targets``.

    Each sample is predicted by a model that was fitted without it. The kernel and the ridge
    minimise the squared error, so the columns of ``targets`` must have comparable scales.
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
    X: np.ndarray, targets: np.ndarray, new: np.ndarray, kernels: tuple[Kernel, ...]
) -> Iterator[list[np.ndarray]]:
    """Yield predictions (n_new, n_targets) for each ridge, kernel by kernel."""
    means = targets.mean(axis=0)
    columns = prepare_columns(X)
    every = np.arange(columns.index.size)
    for kernel in kernels:
        if every.size == 0:  # no column varies: predict the mean
            yield [np.tile(means, (new.shape[0], 1)) for _ in _RIDGES]
            continue
        problem = make_problem(columns, targets - means, kernel)
        operator = problem.operator(every, np.ones(every.size))
        samples = columns.apply(new)
        yield [means + operator.predict(samples, ridge) for ridge in _RIDGES]
