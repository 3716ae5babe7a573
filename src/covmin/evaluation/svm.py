"""Score a feature set by a kernel SVM on the selected features."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from covmin.core.kernels.bandwidth import median_bandwidth

from .encoded import EncodedTable, filled

# Computes a score from a fitted model, samples and responses, like scikit-learn's scorers.
Scorer = Callable[[Any, np.ndarray, np.ndarray], float]
# Cross-validation folds that calibrate the probabilities of the SVM.
_CALIBRATION_FOLDS = 3


def machine_score(
    X_train: np.ndarray,
    y_train: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    *,
    classification: bool,
    seed: int = 0,
    scorer: Scorer | None = None,
) -> float:
    """Return the score of a kernel SVM on held-out samples.

    The SVM has C = 1 and a Gaussian kernel with σ by the median rule. Standardisation and σ use
    only the training samples; ``seed`` draws the rows for σ if there are more than 1024. For
    classes, the score is the accuracy. For numbers, it is the R² of support vector regression of
    the standardised response, with a tube of 0.1 standard deviations. A ``scorer`` replaces both.
    Missing values are replaced by the mean of the training samples.
    """
    X_train, X_test = filled(X_train, by=X_train), filled(X_test, by=X_train)
    # The standard deviation of equal numbers is a rounding error, seldom exactly 0.
    scale = np.where(np.ptp(X_train, axis=0) > 0, X_train.std(axis=0), 1.0)
    Z_train, Z_test = ((X - X_train.mean(axis=0)) / scale for X in (X_train, X_test))
    gamma = 1.0  # if no selected feature varies, the value does not matter
    if (np.ptp(Z_train, axis=0) > 0).any():
        gamma = 1.0 / (2.0 * median_bandwidth(Z_train, 2, seed=seed) ** 2)
    if scorer is not None:
        machine = _machine(gamma, y_train, scorer, classification=classification)
        return float(scorer(machine.fit(Z_train, y_train), Z_test, y_test))
    if classification:
        predicted = SVC(C=1.0, gamma=gamma).fit(Z_train, y_train).predict(Z_test)
        return float(np.mean(predicted == y_test))
    centre, spread = y_train.mean(), y_train.std() or 1.0
    machine = SVR(C=1.0, gamma=gamma, epsilon=0.1).fit(Z_train, (y_train - centre) / spread)
    return float(r2_score((y_test - centre) / spread, machine.predict(Z_test)))


def _machine(gamma: float, y: np.ndarray, scorer: Scorer, *, classification: bool) -> Any:
    """Return the SVM, in units of the response and with probabilities if the scorer needs them."""
    if not classification:
        regression = SVR(C=1.0, gamma=gamma, epsilon=0.1)
        return TransformedTargetRegressor(regression, transformer=StandardScaler())
    machine = SVC(C=1.0, gamma=gamma)
    if getattr(scorer, "_response_method", None) != "predict_proba":
        return machine
    fewest = int(np.unique(y, return_counts=True)[1].min())
    folds = min(_CALIBRATION_FOLDS, fewest)
    return CalibratedClassifierCV(machine, cv=folds, ensemble=False)


def prefix_scores(
    order: np.ndarray | None,
    sizes: Sequence[int],
    X: np.ndarray,
    y: np.ndarray,
    split: tuple[np.ndarray, np.ndarray],
    *,
    classification: bool,
    seed: int = 0,
    table: EncodedTable | None = None,
    scorer: Scorer | None = None,
) -> list[float | None]:
    """Return the scores of the first m features of an order (n_features,), for each m in ``sizes``.

    There are no scores if the order is None because the ranking failed. The SVM uses all encoded
    columns of a feature.
    """
    if order is None:
        return [None] * len(sizes)
    train, test = split
    scores: list[float | None] = []
    for first in (order[:m] for m in sizes):
        Z = X[:, first] if table is None else table.columns_of(first)
        options: dict[str, Any] = {"classification": classification, "seed": seed}
        score = machine_score(Z[train], y[train], Z[test], y[test], scorer=scorer, **options)
        scores.append(round(score, 6))
    return scores
