"""Test whether a set of features explains the response beyond another set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_consistent_length

from covmin.core.kernels import Gaussian
from covmin.core.regression import Given
from covmin.data import Table, TableOptions, read
from covmin.data.checks import check_numbers, columns_named
from covmin.data.response import encode_response, ordered_levels
from covmin.data.standardize import prepare_columns
from covmin.plan.approximation import by_size
from covmin.plan.constants import TESTED_ROWS
from covmin.plan.problem import make_problem
from covmin.runtime.repeats import N_JOBS, VERBOSE, repeat
from covmin.runtime.seeds import seed_of
from covmin.runtime.threads import one_blas_thread
from covmin.runtime.validation import validate_params

from .regression import out_of_fold_smoother
from .residual_products import Added, added_by

__all__ = ["DependenceTest", "conditional_dependence_test"]

_MIN_SAMPLES = 10
_EPSILON = 0.01
# Shares of variance that differ by less are equal.
_ROUNDING = 1e-8

Sampler = Callable[[np.ndarray, np.random.Generator], np.ndarray]
Draw = Callable[[np.random.Generator], np.ndarray]
Features = Callable[[np.ndarray], np.ndarray]
# X as numbers, how to resample it, the features of the statistic, the response, and the name of the
# scheme.
Plan = tuple[np.ndarray, Draw, Features, np.ndarray, str]


@dataclass(frozen=True)
class DependenceTest:
    """Result of :func:`conditional_dependence_test`.

    Attributes
    ----------
    statistic : float
        With permutations or a sampler: the fraction of the variance of y, beyond what the given
        features predict, that the features explain together with the given ones. It is too high,
        because it is measured on the fitted samples: compare it with ``null_``. With residual
        products: the statistic divided by its mean under the null hypothesis.
    p_value : float
        ``(1 + #{null ≥ statistic}) / (1 + n_resamples)`` if X is resampled; otherwise the tail
        probability of a weighted sum of χ² variables.
    null_ : ndarray of shape (n_resamples,) or None
        The statistic for resampled features, which add nothing about y; None if X is not
        resampled.
    scheme : {"permutation", "residual products", "sampler"}
        How the p-value was computed.
    """

    statistic: float
    p_value: float
    null_: np.ndarray | None = field(repr=False)
    scheme: str


@validate_params(
    {
        "X": ["array-like"],
        "y": ["array-like"],
        "given": [None, "array-like"],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "task": [StrOptions({"auto", "classification", "ordinal", "regression", "survival"})],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "sampler": [None, callable],
        "sample_weight": [None, "array-like"],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": VERBOSE,
    },
    prefer_skip_nested_validation=True,
)
def conditional_dependence_test(
    X: Any,
    y: Any,
    *,
    given: Any = None,
    n_resamples: int = 199,
    task: str = "auto",
    epsilon: float = _EPSILON,
    sampler: Sampler | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int | str = "auto",
) -> DependenceTest:
    """Test whether features explain the mean of y beyond other features.

    Without ``given``, or with a ``sampler``, the statistic is one minus
    :func:`~covmin.conditional_covariance_trace` as a fraction of the variance of y. It is compared
    with its values for features that are resampled independently of y. With ``given`` alone, the
    statistic is the size of the mean product of the residuals of y and of X given these features.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features to test, as one set: numbers, or a data frame that may also hold categories,
        text and dates. Missing values are allowed and used as information.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels, one or several numeric responses, or events and times. Samples with a missing
        response are dropped.
    given : array-like of shape (n_samples, n_given), default=None
        The features to condition on, in any form that X may have. None tests unconditional
        dependence.
    n_resamples : int, default=199
        Number B of resamples, if X is resampled. The smallest possible p-value is then
        1/(1 + B).
    task : {"auto", "classification", "ordinal", "regression", "survival"}, default="auto"
        How to read y, as in :class:`CCMSelector`.
    epsilon : float, default=0.01
        Regularisation parameter ε of the criterion, if X is resampled.
    sampler : callable, default=None
        Called with ``given`` and a :class:`numpy.random.Generator`; returns a new draw of X from
        its conditional distribution, if that is known. X and ``given`` must be numeric.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights, with ``given``. A sample of weight 2 is one observation that counts twice,
        not two observations.
    n_jobs : int, default=None
        Number of resamples to process in parallel.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples and of the folds. None is a fixed seed.
    verbose : int or "auto", default="auto"
        1 shows a progress bar, 0 does not. "auto" shows it in terminals and notebooks, after a few
        seconds.

    Returns
    -------
    test : DependenceTest
        With ``statistic``, ``p_value`` and ``null_``.

    See Also
    --------
    VerdictSelector : Tests every feature given all others, and controls the false discovery rate.

    Notes
    -----
    Without ``given``, the rows of X are permuted; the test is exact for independent samples.

    With a ``sampler`` that draws from the true conditional distribution of X, the test is also
    exact, whatever the response (a conditional randomisation test [1]_).

    Otherwise the test uses residual products, a generalised covariance measure [2]_ with many
    functions of X. Kernel ridge regression removes from y, and from functions of X, what the given
    features predict. If X adds nothing, the products of the two residuals have mean zero. The null
    distribution is that of their sum given the size of each product. The spread and the shape of X
    and y may therefore depend on ``given``, X may be discrete, and tails may be heavy. No test is
    valid for all distributions [2]_: this one requires the *product* of the errors of the two
    regressions to be small compared with 1/√n. It fails if X and y both depend on a function of
    ``given`` that the samples are too few to show, such as the same product of two among ten
    columns in sixty samples, the same jump at an unknown value in a hundred, or the same one of
    more columns than samples.

    Columns are replaced by their ranks. Effects that do not depend on ``given``, and effects that
    vary with a given feature, are tested separately, and the p-value is twice the smaller one. If
    ``given`` determines X up to one per cent of its variance, the p-value is 1.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson and J. Lv, "Panning for gold: model-X knockoffs for
       high dimensional controlled variable selection", JRSS B 80, 2018.
    .. [2] R. D. Shah and J. Peters, "The hardness of conditional independence testing and the
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
    if given is not None and sampler is None:
        found = _by_residual_products(X, y, given, task, sample_weight, seed)
        return DependenceTest(found.ratio, found.p_value, None, "residual products")
    if sample_weight is not None:
        raise ValueError(
            "sample_weight requires given= and no sampler: unequal weights cannot be permuted."
        )
    with one_blas_thread():
        if sampler is None:
            plan = _plan_by_permutation(X, y, task)
        elif given is None:
            raise ValueError("sampler draws X conditionally on given; pass given= as well.")
        else:
            plan = _plan_by_sampler(X, given, y, task, seed, sampler)
    X, draw, features, R, scheme = plan

    def statistic(number: int) -> float:
        # Number 0 is the original sample, the others are resamples.
        drawn = X if number == 0 else draw(np.random.default_rng([seed, number]))
        return explained_share(features(drawn), R, epsilon)

    numbers = range(n_resamples + 1)
    values = repeat(statistic, numbers, "dependence test", "draw", n_jobs, verbose)
    null = np.array(values[1:])
    # Many resamples of a column of few values are equal but for rounding: they are ties.
    n_as_large = np.count_nonzero(null >= values[0] - _ROUNDING)
    p_value = float((1 + n_as_large) / (1 + n_resamples))
    return DependenceTest(values[0], p_value, null, scheme)


def _by_residual_products(
    X: Any, y: Any, given: Any, task: str, sample_weight: Any, seed: int
) -> Added:
    tables = [_as_table(each, name) for each, name in ((X, "X"), (given, "given"))]
    check_consistent_length(*tables, y)
    columns = []
    for table in tables:
        samples = _read(table, y, task, sample_weight)
        X, layout, weight = samples.X, samples.layout, samples.weight
        columns.append(prepare_columns(X, "rank", layout=layout, sample_weight=weight))
    response = samples.response
    # In random order, because the first samples are landmarks.
    rows = np.random.default_rng(seed).permutation(samples.n_samples)[:TESTED_ROWS]
    p = samples.weight[rows] / samples.weight[rows].sum()
    own, known = (np.asarray(each.X[rows], dtype=np.float64) for each in columns)
    of_own, of_known = (each.units.scale**2 for each in columns)
    with one_blas_thread():
        return added_by(own, of_own, response.Y[rows], Given.of(known, of_known, p))


def _read(table: Any, y: Any, task: str, sample_weight: Any = None) -> Table:
    samples = read(table, y, TableOptions(task=task), sample_weight).in_memory()
    if samples.n_samples < _MIN_SAMPLES:
        raise ValueError(
            f"Found array with {samples.n_samples} sample(s) while a minimum of {_MIN_SAMPLES} "
            "is required."
        )
    return samples


def _as_table(X: Any, name: str) -> Any:
    """Convert a single column to a table; raise an error for names instead of columns."""
    _refuse_names(X, name)
    if hasattr(X, "to_frame"):
        return X.to_frame()
    X = X if hasattr(X, "shape") else np.asarray(X)
    return X.reshape(-1, 1) if getattr(X, "ndim", 2) == 1 else X


def explained_share(columns: np.ndarray, R: np.ndarray, epsilon: float) -> float:
    """Return the fraction of the variance of centred R that columns explain."""
    prepared = prepare_columns(columns, standardize=False)
    every = np.arange(prepared.units.size)
    if every.size == 0:  # nothing varies, so nothing is explained
        return 0.0
    # The median rule without the median: mean squared distances are twice the variance, and
    # the same for each draw.
    sigma = float(np.sqrt(columns.var(axis=0).sum()))
    kernel = Gaussian(sigma)
    problem = make_problem(
        prepared, R, kernel, approximation=by_size("auto", kernel, columns.shape), epsilon=epsilon
    )
    value = problem.trace(every, np.ones(every.size), sigma)
    return 1.0 - epsilon * value / float((R**2).mean(axis=0).sum())


def _plan_by_permutation(X: Any, y: Any, task: str) -> Plan:
    """Return the scheme that permutes the rows of X."""
    samples = _read(_as_table(X, "X"), y, task)
    columns = prepare_columns(samples.X, layout=samples.layout)
    # Units count alike, whatever the number of their columns.
    block = np.asarray(columns.X, dtype=np.float64) * columns.units.scale
    block /= np.sqrt(max(columns.units.size, 1))
    return (
        block,
        lambda rng: block[rng.permutation(len(block))],
        lambda drawn: drawn,
        samples.response.Y,
        "permutation",
    )


def _plan_by_sampler(X: Any, given: Any, y: Any, task: str, seed: int, sampler: Any) -> Plan:
    """Return the scheme for residuals of X and Y given Z, with Z next to those of X.

    Any effect of X on y is a function of Z and of the residuals of X, so nothing is lost, and what
    X shares with Z gets no weight. Every resample is regressed on Z in the same way, so that the
    regression affects all residuals equally.
    """
    X, Z = _checked(X, "X", y), _checked(given, "given", y)
    Y = encode_response(y, task, levels=ordered_levels(y)).Y
    check_consistent_length(X, Z, Y)
    # Tune the regression on a resample, so that X is treated like all others.
    model = _sampled(sampler, Z, np.random.default_rng(seed), X.shape)
    S = out_of_fold_smoother(Z, _block(model), seed)
    R = Y - out_of_fold_smoother(Z, Y, seed) @ Y
    R -= R.mean(axis=0)
    known = _block(Z)

    def features(drawn: np.ndarray) -> np.ndarray:
        return np.hstack([_block(drawn - S @ drawn), known])

    return X, lambda rng: _sampled(sampler, Z, rng, X.shape), features, R, "sampler"


def _sampled(
    sampler: Sampler, Z: np.ndarray, rng: np.random.Generator, shape: tuple[int, ...]
) -> np.ndarray:
    drawn = np.asarray(sampler(Z.copy(), rng), dtype=np.float64)
    if drawn.shape != shape and drawn.shape != shape[:1]:
        raise ValueError(
            f"sampler must return an array of the shape of X, {shape}; got {drawn.shape}."
        )
    return drawn.reshape(shape)


def _block(X: np.ndarray) -> np.ndarray:
    """Scale columns to equal variances that sum to one, whatever their number."""
    columns = prepare_columns(X).X
    return columns / np.sqrt(max(columns.shape[1], 1))


def _checked(X: Any, name: str, y: Any) -> np.ndarray:
    check_numbers(X, y)
    _refuse_names(X, name)
    X = np.asarray(X) if not hasattr(X, "columns") else X
    if getattr(X, "ndim", 2) == 1:
        X = np.reshape(X, (-1, 1))
    with columns_named(X):
        return check_array(X, dtype=np.float64, ensure_min_samples=_MIN_SAMPLES, input_name=name)


def _refuse_names(X: Any, name: str) -> None:
    if isinstance(X, str) or (isinstance(X, list) and any(isinstance(x, str) for x in X)):
        raise TypeError(f"{name} contains names; pass columns instead, such as frame[names].")
