"""The judge of a feature set: a kernel machine on the selected features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.svm import SVC, SVR

from covmin.core.kernels import median_bandwidth

from .categories import Categories

__all__ = ["machine_score", "prefix_scores"]

_C = 1.0


def machine_score(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    classification: bool,
    seed: int = 0,
) -> float:
    """Score of a kernel machine (C = 1, Gaussian, σ by the median rule) on held-out samples.

    Columns get mean 0 and variance 1, and σ its value, from the training samples alone.
    Classes: accuracy of a support vector machine. Numbers: R² of support vector regression of
    the standardised response, with a tube of 0.1 standard deviations.

    Parameters
    ----------
    X_train, X_test : ndarray of shape (n_train, m) and (n_test, m)
        The selected features.
    y_train, y_test : ndarray of shape (n_train,) and (n_test,)
    classification : bool
    seed : int, default=0
        Seed of the rows sampled for σ where there are more than 1024.

    Returns
    -------
    score : float

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.evaluation.svm import machine_score
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1]])
    >>> y = np.array([0, 0, 1, 1])
    >>> machine_score(X, y, X, y, classification=True)
    1.0
    """
    mean, scale = X_train.mean(axis=0), X_train.std(axis=0)
    # The deviation of equal numbers is a rounding error, seldom 0.
    scale = np.where(np.ptp(X_train, axis=0) > 0, scale, 1.0)
    Z_train, Z_test = (X_train - mean) / scale, (X_test - mean) / scale
    gamma = _gamma(Z_train, seed)
    if classification:
        predicted = SVC(C=_C, gamma=gamma).fit(Z_train, y_train).predict(Z_test)
        return float(np.mean(predicted == y_test))
    centre, spread = y_train.mean(), y_train.std() or 1.0
    machine = SVR(C=_C, gamma=gamma, epsilon=0.1).fit(Z_train, (y_train - centre) / spread)
    return float(r2_score((y_test - centre) / spread, machine.predict(Z_test)))


def _gamma(Z: np.ndarray, seed: int) -> float:
    """1/(2σ²); 1 where no selected feature varies, when any value gives the same machine."""
    if not (np.ptp(Z, axis=0) > 0).any():
        return 1.0
    return 1.0 / (2.0 * median_bandwidth(Z, 2, np.random.default_rng(seed)) ** 2)


def prefix_scores(
    order: np.ndarray | None,
    sizes: Sequence[int],
    X: np.ndarray,
    y: np.ndarray,
    split: tuple[np.ndarray, np.ndarray],
    *,
    classification: bool,
    seed: int = 0,
    categories: Categories | None = None,
) -> list[float | None]:
    """Scores of the first m features of an order, for each m of ``sizes``.

    Parameters
    ----------
    order : ndarray of shape (n_features,) or None
        Columns from best to worst; None, for a ranking that failed, has no scores.
    sizes : sequence of int
        Numbers of features m.
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    split : pair of ndarray of int
        Rows to train and to test on.
    classification : bool
    seed : int, default=0
    categories : Categories, optional
        Which features hold categories; the machine is given an indicator of each level.

    Returns
    -------
    scores : list of float or None
    """
    if order is None:
        return [None] * len(sizes)
    train, test = split

    def score(m: int) -> float:
        first: Any = order[:m]
        Z = X[:, first] if categories is None else categories.columns_of(first)
        return machine_score(
            Z[train],
            y[train],
            Z[test],
            y[test],
            classification=classification,
            seed=seed,
        )

    return [round(score(m), 6) for m in sizes]
