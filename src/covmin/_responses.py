"""Responses as centred columns: what the criterion calls Y."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

__all__ = ["EncodedResponse", "encode_response"]

# The paper's ridge for classes and for a real response.
_DEFAULT_EPSILON = {"classification": 0.001, "regression": 0.1}

# Whole-number responses with more values than this, and fewer samples for each than the
# next number, are counts or measurements rather than classes.
_MANY_CLASSES = 20
_FEW_MEMBERS = 5
# Floats beyond this are all whole numbers, which says nothing about what they mean.
_EXACT_INTEGERS = 2.0**53


@dataclass(frozen=True)
class EncodedResponse:
    """Centred responses of unit mean square.

    Attributes
    ----------
    Y : ndarray of shape (n_samples, n_columns)
        One column for regression (or one for each output), ±1 for two classes, one-hot for
        more; centred under the sample weights, divided by ``scale``.
    scale : float
        Root of the summed variances of the columns before division.
    task : {"classification", "regression"}
    classes : ndarray or None
        Labels in the order of the columns.
    labels : ndarray of shape (n_samples,) or None
        Class index of each sample, for stratified folds.
    """

    Y: np.ndarray
    scale: float
    task: str
    classes: np.ndarray | None
    labels: np.ndarray | None

    @property
    def default_epsilon(self) -> float:
        """The paper's ridge for this task."""
        return _DEFAULT_EPSILON[self.task]


def encode_response(y: Any, task: str = "auto", p: np.ndarray | None = None) -> EncodedResponse:
    """Encode a response for the criterion.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    task : {"auto", "classification", "regression"}
    p : ndarray of shape (n_samples,), optional
        Sample weights that sum to one; equal by default.

    Returns
    -------
    EncodedResponse

    Examples
    --------
    >>> encode_response(["a", "b", "b", "a"]).Y.ravel()
    array([-1.,  1.,  1., -1.])
    """
    y = np.asarray(y)
    if task == "auto":
        task = _guess_task(y)
    if task == "classification":
        columns, classes, labels = _class_columns(y)
    else:
        columns, classes, labels = _real_columns(y), None, None
    if p is None:
        p = np.full(columns.shape[0], 1.0 / columns.shape[0])
    # Dividing by the largest entry first keeps squares of huge responses finite.
    largest = max(float(np.abs(columns).max()), np.finfo(float).tiny)
    Y = columns / largest
    Y -= p @ Y
    power = float((p @ Y**2).sum())
    if (np.ptp(columns, axis=0) == 0.0).all() or power <= np.finfo(float).eps ** 2:
        raise ValueError(
            "y is constant, so no feature can explain it. "
            "Check that the right column was passed as y."
        )
    return EncodedResponse(Y / np.sqrt(power), largest * np.sqrt(power), task, classes, labels)


def _guess_task(y: np.ndarray) -> str:
    if y.dtype.kind == "f" and y.size and np.abs(y).max() > _EXACT_INTEGERS:
        return "regression"
    kind = type_of_target(y, input_name="y")
    if kind == "unknown":
        raise ValueError(
            f"Unknown label type: y of dtype {y.dtype} is neither numbers nor class labels. "
            "Pass numbers for regression, or strings or integers for classes."
        )
    if kind not in ("binary", "multiclass"):
        return "regression"
    if kind == "multiclass" and y.dtype.kind in "iuf":
        return _guess_task_of_whole_numbers(y)
    return "classification"


def _guess_task_of_whole_numbers(y: np.ndarray) -> str:
    n_classes = np.unique(y).size
    if n_classes <= _MANY_CLASSES:
        return "classification"
    measured = y.shape[0] < _FEW_MEMBERS * n_classes
    task, other = ("regression", "classification") if measured else ("classification", "regression")
    warnings.warn(
        f"y has {n_classes} distinct whole numbers in {y.shape[0]} samples; they are taken as "
        f"{'a real response' if measured else 'classes'}. Pass task={other!r} if that is wrong, "
        f"or task={task!r} to silence this.",
        UserWarning,
        stacklevel=6,
    )
    return task


def _class_columns(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if y.ndim == 2 and y.shape[1] > 1:
        raise ValueError(
            f"task='classification' takes one column of labels; y has {y.shape[1]}. For several "
            "0/1 labels for each sample pass task='regression', which treats them as outputs."
        )
    if type_of_target(y, input_name="y") == "continuous":
        raise ValueError(
            "Classification needs class labels, but y holds continuous numbers "
            f"(such as {y.flat[0]}); bin them or use task='regression'."
        )
    classes, labels = np.unique(column_or_1d(y, warn=True), return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"y has one class only ({classes[0]}); at least two classes are needed to tell "
            "which features separate them."
        )
    if classes.size == 2:
        return 2.0 * labels[:, None] - 1.0, classes, labels
    return np.eye(classes.size)[labels], classes, labels


def _real_columns(y: np.ndarray) -> np.ndarray:
    try:
        columns = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"task='regression' needs numbers, but y has dtype {y.dtype}. "
            "Convert it, or pass task='classification' for labels."
        ) from error
    if not np.isfinite(columns).all():
        raise ValueError("Input y contains NaN or infinity; drop or impute those samples first.")
    return columns[:, None] if columns.ndim == 1 else columns
