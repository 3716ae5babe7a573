"""Test whether a set of features explains the response beyond another set."""

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from covmin.constants import RIDGE_LIMITS, SAMPLE_ROWS, TESTED_ROWS
from covmin.core.kernels.distances import Gaussian
from covmin.core.regression import Basis
from covmin.data import Table, TableOptions, read
from covmin.data.independence import check_independence, one_of_each_group
from covmin.remarks import InputError
from covmin.runtime.compat import Interval, validate_params
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.seeds import seed_of

from .refitting import check_size, shared_constraints
from .residual_products import SAMPLES_LEFT, Given, residual_product_test

__all__ = ["DependenceTest", "conditional_dependence_test"]

# Shares of variance that differ by less are equal.
_ROUNDING = 1e-8


@dataclass(frozen=True)
class DependenceTest:
    """Result of :func:`conditional_dependence_test`.

    Attributes
    ----------
    statistic : float
        With permutations: the fraction of the variance of y that the features explain. It is too
        high, because it is measured on the fitted samples: compare it with ``null_``. With
        residual products: the statistic divided by its mean under the null hypothesis.
    p_value : float
        ``(1 + #{null ≥ statistic}) / (1 + n_resamples)`` with permutations; otherwise the tail
        probability of a weighted sum of χ² variables.
    null_ : ndarray of shape (n_resamples,) or None
        The statistic for permuted features; None with residual products.
    scheme : {"permutation", "residual products"}
        How the p-value was computed.
    """

    statistic: float
    p_value: float
    null_: np.ndarray | None = field(repr=False)
    scheme: str


@validate_params(
    {
        "X": ["array-like", Table],
        "y": [None, "array-like"],
        "given": [None, "array-like", Table],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "sample_weight": [None, "array-like"],
        "groups": [None, "array-like"],
        **shared_constraints("task", "random_state"),
    },
    prefer_skip_nested_validation=True,
)
def conditional_dependence_test(
    X: Any,
    y: Any = None,
    *,
    given: Any = None,
    n_resamples: int = 199,
    task: str = "auto",
    sample_weight: Any = None,
    groups: Any = None,
    random_state: Any = None,
) -> DependenceTest:
    """Test whether features explain the mean of y beyond other features.

    Without ``given``, the statistic is one minus :func:`~covmin.conditional_covariance_trace` as a
    fraction of the variance of y, compared with its values for permuted features. With ``given``,
    it is the size of the mean product of the residuals of y and of X given these features.

    Parameters
    ----------
    X, y
        The features to test, as one set, and the response, as in :meth:`CCMSelector.fit`.
    given : array-like of shape (n_samples, n_given), or Table, default=None
        The features to condition on, in any form that X may have. None tests unconditional
        dependence.
    n_resamples : int, default=199
        Number B of permutations without ``given``. The smallest possible p-value is 1/(1 + B).
    task : {"auto", "classification", "ordinal", "regression", "survival"}, default="auto"
        How to read y, as in :class:`CCMSelector`.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, with ``given``. A sample of weight 2 is one observation that counts twice,
        not two observations.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as a patient or a day, if samples of a group are alike: one
        sample of each group, drawn at random, is tested.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations and of the order of the samples.

    Returns
    -------
    test : DependenceTest

    See Also
    --------
    VerdictSelector : Tests every feature given all others, and controls the false discovery rate.

    Notes
    -----
    Samples in time order or in clusters and near copies are refused; pass ``groups``. Without
    ``given``, the samples of y are permuted; the test is exact for independent samples.

    With ``given``, the test uses residual products, a generalised covariance measure [1]_ with many
    functions of X: kernel ridge regression removes from y, and from functions of X, what the given
    features predict, and without dependence the products of the residuals have mean zero. It needs
    the *product* of the errors of the two regressions to be small compared with 1/√n, and fails if
    X and y both depend on a function of ``given`` that the samples are too few to show, such as a
    fast wave in a hundred, or a product of three. With fewer
    than ten samples more than given columns it raises an error. Columns are replaced by their
    ranks. Effects that vary with a given feature are tested separately, and the p-value is twice
    the smaller one. If ``given`` determines X up to one per cent of its variance, it is 1.

    References
    ----------
    .. [1] R. D. Shah and J. Peters, "The hardness of conditional independence testing and the
       generalised covariance measure", Annals of Statistics 48, 2020.

    Examples
    --------
    Both features depend on z, but only the first also affects y directly:

    >>> import numpy as np
    >>> from covmin import conditional_dependence_test
    >>> rng = np.random.default_rng(0)
    >>> z, a, b = rng.standard_normal((3, 150, 1))
    >>> y = (z + a**2 + 0.5 * rng.standard_normal((150, 1))).ravel()
    >>> conditional_dependence_test(z + a, y, given=z).p_value < 0.001
    True
    >>> conditional_dependence_test(z + b, y, given=z).p_value > 0.05
    True
    """
    seed = seed_of(random_state)
    table = _read(X, y, task, None if given is None else sample_weight, "X", groups)
    check_independence(table, refuses=True)
    if given is not None:
        known = _read(given, table.passed[1], task, sample_weight, "given")
        p_value, ratio = _by_residual_products(table, known, seed)
        return DependenceTest(ratio, p_value, None, "residual products")
    if sample_weight is not None or np.ptp(table.weight) > 0.0:
        raise ValueError("sample_weight requires given=: unequal weights cannot be permuted.")
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(table.n_samples)
    drawn = drawn[one_of_each_group(table.groups, drawn)[:TESTED_ROWS]]
    with one_blas_thread():
        columns = table.columns(True)
        # Features count alike, whatever the number of their columns; variances sum to one.
        share = columns.units.scale / np.sqrt(max(columns.units.size, 1))
        explained = ExplainedShare(columns.X.take(drawn).astype(np.float64) * share)
        R = table.response.Y[drawn]
        value = explained(R)
        null = np.array([explained(rng.permutation(R)) for _ in range(n_resamples)])
    # Many permutations of a column of few values are equal but for rounding: they are ties.
    n_as_large = np.count_nonzero(null >= value - _ROUNDING)
    p_value = float((1 + n_as_large) / (1 + n_resamples))
    return DependenceTest(value, p_value, null, "permutation")


class ExplainedShare:
    """``1 − ε tr(RᵀM⁻¹R)/‖R‖²``, the share of the variance of R that columns explain.

    In the eigenvectors of the kernel matrix this is a sum of shrunk squares, so that one
    decomposition serves all permutations of R.
    """

    def __init__(self, X: np.ndarray, epsilon: float = RIDGE_LIMITS[2]) -> None:
        # The median rule without the median: mean squared distances are twice the variance.
        sigma = float(np.sqrt(X.var(axis=0).sum()))
        p, weights = np.full(len(X), 1.0 / len(X)), np.ones(X.shape[1])
        self._V, self._shrunk = np.empty((len(X), 0)), np.empty(0)
        if sigma > 0.0:  # nothing varies, so nothing is explained
            basis = Basis.of_kernel(Gaussian(sigma).cross(X, X[:SAMPLE_ROWS], weights), p)
            self._V, self._shrunk = basis.V, basis.variances / (basis.variances + epsilon)

    def __call__(self, R: np.ndarray) -> float:
        R = R - R.mean(axis=0)
        return float(self._shrunk @ ((self._V.T @ R) ** 2).sum(axis=1) / (R**2).sum())


def _by_residual_products(own: Table, known: Table, seed: int) -> tuple[float, float]:
    if not np.array_equal(own.row, known.row):
        raise InputError(
            f"X and given have inconsistent rows: {own.n_samples} and {known.n_samples} samples "
            "are used. Pass the same rows in both.",
            "given",
        )
    # In random order, because the first samples are landmarks.
    rows = np.random.default_rng(seed).permutation(own.n_samples)
    rows = rows[one_of_each_group(own.groups, rows)[:TESTED_ROWS]]
    p = own.weight[rows] / own.weight[rows].sum()
    with one_blas_thread():
        given = Given(*_normal_scores(known, rows), p)
        if given.Z.shape[1] > round(1.0 / (p @ p)) - SAMPLES_LEFT:
            raise InputError(
                f"given has {given.Z.shape[1]} columns, levels of categories included, for "
                f"{rows.size} samples: regressions on so many leave nothing to test. Pass at most "
                f"{max(rows.size - SAMPLES_LEFT, 0)}, or use VerdictSelector, which conditions on "
                "the features that matter.",
                "given",
            )
        return residual_product_test(*_normal_scores(own, rows), own.response.Y[rows], given)


def _normal_scores(table: Table, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns as normal scores, and the weights of the columns."""
    columns = table.columns("rank")
    return columns.X.take(rows).astype(np.float64), columns.units.scale**2


def _read(X: Any, y: Any, task: str, sample_weight: Any, name: str, groups: Any = None) -> Table:
    """Read one or several columns; raise an error for names in place of columns."""
    if isinstance(X, str) or (isinstance(X, list) and any(isinstance(x, str) for x in X)):
        raise TypeError(f"{name} contains names; pass columns instead, such as frame[names].")
    if hasattr(X, "to_frame"):
        X = X.to_frame()
    elif not isinstance(X, Table):
        X = X if hasattr(X, "shape") else np.asarray(X)
        X = X.reshape(-1, 1) if getattr(X, "ndim", 2) == 1 else X
    table = read(X, y, TableOptions(task=task), sample_weight, groups).in_memory()
    check_size(table.n_samples, 10, "this test")
    return table
