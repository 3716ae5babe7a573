"""Encode responses as the centred columns Y of the criterion."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from covmin.constants import MANY_CLASSES
from covmin.core.kernels.base import ScaledKernel
from covmin.core.kernels.distances import Gaussian, median_bandwidth
from covmin.core.screening import SEARCH
from covmin.remarks import InputError, warn

from .blocks.views import NormalScores, rows_to_look_at
from .survival import survival_columns

# Floats beyond this are always integers, so being an integer tells nothing.
_EXACT_INTEGERS = 2.0**53
# Random numberings that the order of classes is compared with, and the fewest classes for that: an
# order of four is one of twelve. The order must be this share of what the classes explain in its
# best column: all of it for counts, a third for forty persons whose faces are numbered.
_NUMBERINGS, _FEWEST_IN_ORDER, _FOLLOWS = 400, 5, 0.75


@dataclass(frozen=True)
class EncodedResponse:
    """Centred responses with unit mean square.

    For regression there is one column, or one per output with equal variances. Two classes are
    encoded as ±1, more classes one-hot, ordered classes as one step per threshold, survival times
    by martingale residuals. The columns are centred under the sample weights.
    """

    Y: np.ndarray  # (n_samples, n_columns)
    # Summed variances of the columns before division, infinite if that overflows; 1 for several
    # numeric outputs, which have no common unit.
    squared_unit: float
    task: str  # "classification", "regression" or "survival"
    classes: Any  # labels in order; one array per output if there are several
    labels: np.ndarray | None  # (n_samples,), class index of each, for stratified folds
    times: np.ndarray | None = None  # (n_samples, 2), event and time, for task "survival"
    is_ordered: bool = False  # whether the order of classes is part of Y, after their indicators
    by_ranks: bool = False  # whether far values made normal scores of numbers

    @property
    def strata(self) -> np.ndarray | None:
        """Class or event of each sample, for stratified folds."""
        if self.times is None:
            return self.labels
        # Without censoring, all are of one kind.
        return np.unique(self.times[:, 0], return_inverse=True)[1]

    def of_rows(self, rows: np.ndarray) -> Self:
        """Return the response of some samples, given by number or mask."""
        labels, times = (None if each is None else each[rows] for each in (self.labels, self.times))
        return replace(self, Y=self.Y[rows], labels=labels, times=times)

    def with_order(self, X: np.ndarray, rows: np.ndarray, p: np.ndarray) -> Self:
        """Return the response with the order of its classes beside them, if the order shows.

        Whole numbers may be counts, scores or mere names. The order counts, with half of the
        variance, if a single column of X (n_rows, n_columns), standardised samples ``rows``,
        explains more of it than of 95 % of random numberings, and if the means of the classes in
        that column mostly follow it.
        """
        assert self.labels is not None
        n_classes, rng = self.classes.size, np.random.default_rng(0)
        if n_classes < _FEWEST_IN_ORDER:
            return self
        orders = np.stack([rng.permutation(n_classes) for _ in range(_NUMBERINGS)])
        numberings = np.vstack([np.arange(n_classes), orders]).astype(np.float64)
        is_in = p[rows] / p[rows].sum() * (self.labels[rows] == np.arange(n_classes)[:, None])
        shares = is_in.sum(axis=1)
        numberings -= (numberings @ shares)[:, None]
        numberings /= np.sqrt(np.maximum(numberings**2 @ shares, np.finfo(float).tiny))[:, None]
        sums = is_in @ X
        explained = (numberings @ sums) ** 2
        highest, column = explained.max(axis=1), int(explained[0].argmax())
        # Of the variance between classes, without what is due to chance.
        between = (sums[:, column] ** 2) @ (1.0 / np.maximum(shares, np.finfo(float).tiny))
        between -= (n_classes - 1) / len(rows)
        at_random = (highest[1:] >= highest[0] * (1.0 - 1e-9)).mean()
        if at_random > SEARCH.level or highest[0] < _FOLLOWS * between:
            return self
        order = self.labels - p @ self.labels / p.sum()
        order *= np.sqrt(p.sum() / (p @ order**2))
        return replace(self, Y=np.column_stack([self.Y, order]) / np.sqrt(2.0), is_ordered=True)

    def reduced_to(self, residuals: np.ndarray, sample_weight: np.ndarray) -> Self:
        """Return the response with ``Y`` replaced by its centred residuals."""
        power = float((sample_weight @ residuals**2).sum() / sample_weight.sum())
        if power <= np.finfo(float).eps:
            text = "The given features determine y, so there is nothing left to explain."
            raise InputError(text, "given")
        return replace(self, Y=residuals / np.sqrt(power), squared_unit=self.squared_unit * power)


def encode_response(
    y: Any,
    task: str = "auto",
    *,
    sample_weight: np.ndarray | None = None,
    levels: list[Any] | None = None,
    kernel: str = "linear",
    clip: bool = True,
) -> EncodedResponse:
    """Encode a response of shape (n_samples,) or (n_samples, n_outputs) for the criterion.

    For "survival", y must be an array from :func:`covmin.data.survival.survival_times`. ``levels``
    are the ordered classes if y is an ordered categorical. ``kernel`` is the kernel on a numeric
    response, "linear" or "gaussian".
    """
    y = _of_one_kind(np.asarray(y))
    if task == "auto":
        task = "ordinal" if levels is not None else guess_task(y)
    p = np.ones(y.shape[0]) if sample_weight is None else sample_weight
    p, labels, by_ranks = p / p.sum(), None, False
    classes: Any = None
    if task == "regression":
        columns, by_ranks = _number_columns(y, p, clip)
    elif task == "survival":
        columns = survival_columns(y, p)
    elif task == "ordinal":
        columns, classes, labels = _ordered_columns(y, levels)
    elif y.ndim == 2 and y.shape[1] > 1:
        # The classes of every output side by side, apart from outputs with one class.
        classes = [np.unique(output) for output in y.T]
        varying = (output for output, found in zip(y.T, classes, strict=True) if found.size > 1)
        columns = np.hstack([np.empty((len(y), 0)), *(_class_columns(each)[0] for each in varying)])
    else:
        columns, classes, labels = _class_columns(y)
    if (np.ptp(columns, axis=0) == 0.0).all():
        raise _constant_response()
    if kernel == "gaussian":
        columns = _gaussian_columns(columns, task, p)
    elif task == "regression" and columns.shape[1] > 1:
        # Equal variances that sum to one, so that units do not matter.
        columns = _standardized(columns, p)
        columns = columns / np.sqrt(columns.shape[1])
    # Divide by the largest entry first, so that squares of huge responses stay finite.
    largest = max(float(np.abs(columns).max()), np.finfo(float).tiny)
    Y = columns / largest
    Y -= p @ Y
    root = np.sqrt((p @ Y**2).sum())
    if root <= np.finfo(float).eps:
        raise _constant_response()
    times = y if task == "survival" else None
    task = "classification" if task == "ordinal" else task
    scale = float(largest * root)
    unit = scale * scale  # of Python numbers: an overflow is infinite
    return EncodedResponse(Y / root, unit, task, classes, labels, times, by_ranks=by_ranks)


def _of_one_kind(y: np.ndarray) -> np.ndarray:
    """Refuse structured arrays, and text among numbers.

    Numbers and booleans stored as objects, for example after one was missing, are converted.
    """
    if y.dtype.names is not None:
        text = f"y is a structured array of {', '.join(y.dtype.names)}, but survival times are not"
        raise InputError(f"{text} supported here. Pass one column of classes or numbers.", "y")
    if y.dtype.kind != "O":
        return y
    if len({isinstance(value, str) for value in y.flat}) > 1:
        text = "y contains both text and numbers. Convert its labels to one type, such as strings."
        raise InputError(text, "y")
    for kind, dtype in ((bool | np.bool_, bool), (Real, float)):
        if y.ndim == 1 and all(isinstance(value, kind) for value in y):
            return y.astype(dtype)
    return y


def _constant_response() -> InputError:
    text = "y is constant, so no feature can explain it."
    return InputError(f"{text} Check that the right column was passed as y.", "y")


def class_weights(
    response: EncodedResponse, class_weight: Any, sample_weight: np.ndarray
) -> np.ndarray:
    """Return the sample weights multiplied by the weights of their classes.

    "balanced" gives all classes the same total weight; a dict maps labels to weights.
    """
    labels, classes = response.labels, response.classes
    if labels is None:
        text = "class_weight requires a single column of class labels as y"
        raise InputError(f"{text}; for other responses, pass sample_weight.", "class_weight")
    if isinstance(class_weight, str):
        totals = np.bincount(labels, sample_weight)
        return sample_weight / totals[labels] * (sample_weight.sum() / totals.size)
    known = classes.tolist()
    if unknown := set(class_weight) - set(known):
        text = f"class_weight has the label {unknown.pop()!r}, which is not in y; the labels of y"
        raise InputError(f"{text} are {', '.join(map(repr, known[:10]))}.", "class_weight")
    factors = np.array([float(class_weight.get(label, 1.0)) for label in known])
    with np.errstate(all="ignore"):  # of weights that are refused below
        relative = factors / factors.max()  # so that no weight overflows
        weight: np.ndarray = sample_weight * relative[labels]
    # NaN, infinity and what is not positive fail too.
    if not ((factors > 0.0) & (relative >= np.finfo(float).eps)).all() or not weight.all():
        text = "class_weight must contain positive numbers that are not too far apart"
        raise InputError(f"{text}; got {class_weight!r}.", "class_weight")
    return weight


def ordered_levels(y: Any) -> list[Any] | None:
    """Return the ordered classes of an ordered categorical; None for anything else."""
    dtype = getattr(y, "dtype", None)
    if not (getattr(dtype, "ordered", False) or str(dtype).startswith("Enum")):
        return None
    return list(dtype.categories)  # type: ignore[union-attr]


def guess_task(y: np.ndarray) -> str:
    """Infer whether a response holds classes or numbers."""
    if y.dtype.kind == "f" and y.size and np.abs(y).max() > _EXACT_INTEGERS:
        return "regression"
    kind = type_of_target(y, input_name="y")
    if kind == "unknown":
        text = f"Unknown label type: y of dtype {y.dtype} holds neither numbers nor class labels."
        raise InputError(f"{text} Pass numbers, or strings or integers for classes.", "y")
    if y.dtype.kind not in "iuf" or kind in ("binary", "multilabel-indicator"):
        return "classification"
    if kind != "multiclass":
        return "regression"
    values = np.unique(y)
    n_classes = values.size
    if n_classes <= MANY_CLASSES[0] and n_classes < y.size:
        return "classification"
    # Codes of many classes are consecutive; measurements and counts have gaps.
    are_codes = values[0] in (0, 1) and values[-1] - values[0] == n_classes - 1
    repeat = y.shape[0] >= MANY_CLASSES[1] * n_classes
    measured = not (are_codes and repeat)
    task, other = ("regression", "classification") if measured else ("classification", "regression")
    # A weight or a price, for example, can only be a number.
    if are_codes or (repeat and n_classes <= MANY_CLASSES[0] * MANY_CLASSES[1]):
        text = f"y has {n_classes} distinct integers in {y.shape[0]} samples, which are read as"
        advice = f"Pass task={task!r} if that is right, or task={other!r}."
        warn("guessed-task", f"{text} {'numbers' if measured else 'classes'}.", advice=advice)
    return task


def _class_columns(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    classes, labels = _classes(y)
    if classes.size == 2:
        return 2.0 * labels[:, None] - 1.0, classes, labels
    return np.eye(classes.size)[labels], classes, labels


def _classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if type_of_target(y, input_name="y") == "continuous":
        said = f"Classification needs labels, but y is continuous, such as {y.flat[0]}"
        raise InputError(f"{said}; bin the numbers or use task='regression'.", "task")
    classes, labels = np.unique(column_or_1d(y, warn=True), return_inverse=True)
    n = labels.size
    if classes.size == n > 2 or classes.size > max(MANY_CLASSES[0], n // 2):
        text = f"y has {classes.size} classes in {n} samples (such as {str(classes[0])!r}), so most"
        cure = "Check that y does not identify the rows. Store numbers and dates as numbers."
        raise InputError(f"{text} classes have a single sample. {cure}", "y")
    return classes, labels


def _ordered_columns(y: np.ndarray, levels: list[Any] | None) -> tuple[np.ndarray, ...]:
    """Return one step per threshold, so that distant classes differ in more columns."""
    if levels is None:
        if y.dtype.kind not in "biuf":
            text = "task='ordinal' requires ordered classes: numbers, or an ordered categorical."
            raise InputError(text, "task")
        classes, labels = _classes(y)
    else:
        values = column_or_1d(y, warn=True).tolist()
        present = set(values)
        code = {each: number for number, each in enumerate(filter(present.__contains__, levels))}
        classes, labels = np.array(list(code)), np.array([code[value] for value in values])
    return (labels[:, None] > np.arange(classes.size - 1)).astype(np.float64), classes, labels


def _gaussian_columns(columns: np.ndarray, task: str, p: np.ndarray) -> np.ndarray:
    """Return a factor of the Gaussian kernel matrix of a numeric response."""
    if task != "regression":
        why = "the indicators of classes already determine their distribution"
        if task == "survival":
            why = "for times to an event, only the mean of the martingale residuals has a meaning"
        text = f'response_kernel="gaussian" is for a numeric response: {why}.'
        raise InputError(text, "formulation")
    Z = _standardized(columns, p)
    # Sample from the sorted values, so that neither order nor duplicates matter.
    values, place = np.unique(Z, axis=0, return_inverse=True)
    some = rows_to_look_at(len(values))
    weight = np.bincount(place.ravel(), p)[some]
    return kernel_factor(Gaussian(median_bandwidth(values[some], 2, weight)), Z, p)


def kernel_factor(
    kernel: ScaledKernel, Y: np.ndarray, p: np.ndarray, *, max_rank: int = 50, tol: float = 1e-4
) -> np.ndarray:
    """Return columns L (n, rank) with ``K_Y ≈ LLᵀ``, by pivoted Cholesky factorisation.

    The pivot is the row of Y (n, n_outputs) with the largest residual. Rows are compared by
    content, so neither their order nor their repetition matters. The kernel must have
    ``k(y, y) = 1``. The factorisation stops when the mean of ``diag(K_Y − LLᵀ)`` is ``tol``.
    """
    w, left, columns = np.ones(Y.shape[1]), np.ones(Y.shape[0]), list[np.ndarray]()
    # Among ties, the row closest to the mean comes first, whatever its position.
    centrality = -((Y - p @ Y) ** 2).sum(axis=1)
    while len(columns) < max_rank and p @ left > tol:
        worst = left >= left.max() * (1.0 - 1e-9)
        pivot = int(np.flatnonzero(worst)[np.argmax(centrality[worst])])
        column = kernel.cross(Y, Y[pivot : pivot + 1], w)[:, 0]
        for earlier in columns:
            column = column - earlier[pivot] * earlier
        column = column / np.sqrt(left[pivot])
        columns.append(column)
        left = np.maximum(left - column**2, 0.0)
    return np.stack(columns, axis=1)


def _standardized(columns: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Scale columns to mean 0 and variance 1; drop outputs that do not vary."""
    Z = columns / np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)
    Z = Z - p @ Z
    deviation = np.sqrt(p @ Z**2)
    varies = deviation > np.finfo(float).eps
    if not varies.any():
        raise _constant_response()
    return Z[:, varies] / deviation[varies]


def _number_columns(y: np.ndarray, p: np.ndarray, clip: bool) -> tuple[np.ndarray, bool]:
    """Return a numeric response as columns, and whether any are normal scores.

    With ``clip``, normal scores replace numbers with a few far values: their order is reliable.
    """
    try:
        columns = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        text = f"task='regression' requires numbers, but y has dtype {y.dtype}."
        cure = "Convert it, or pass task='classification' for labels."
        raise InputError(f"{text} {cure}", "task") from error
    columns = columns[:, None] if columns.ndim == 1 else columns
    clipping = NormalScores.clipped(columns, len(columns), np.full(columns.shape[1], not clip))
    if clipping is None:
        return columns, False
    usual = np.array([knots is None for knots in clipping.knots])
    return NormalScores.of(columns, p, usual).apply(columns), True
