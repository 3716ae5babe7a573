"""What a given set of features leaves unexplained, and the paper's criterion for it."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from covmin.constants import LANDMARKS, MANY_ROWS, PAPER_RIDGE
from covmin.core.regression import regress_on_sets
from covmin.data import TableOptions, read
from covmin.data.independence import check_independence
from covmin.data.standardize import Standardize
from covmin.plan import Plan
from covmin.plan.formulation import FORMULATIONS, Fourier, approximation_of
from covmin.plan.rules import choose_approximation, kernel_of, with_share
from covmin.runtime.compat import HasMethods, Interval, StrOptions, validate_params
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.seeds import seed_of

from .assemble import problem_of
from .crossval import held_out_shares
from .selector import CCMSelector

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _allowed(*names: str, **others: Any) -> Callable[[_Function], _Function]:
    """Return a check of the parameters that mean the same as in :class:`CCMSelector`."""
    shared = {name: CCMSelector._parameter_constraints[name] for name in (*names, "random_state")}
    # The reader checks the tables.
    tables = dict.fromkeys(("X", "y", "sample_weight", "groups"), "no_validation")
    check: Any = validate_params(tables | shared | others, prefer_skip_nested_validation=True)
    return check


@_allowed("task", "column_types", "cv")
def unexplained_variance(
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    cv: Any = None,
    groups: Any = None,
    task: str = "auto",
    column_types: Any = "auto",
    random_state: Any = None,
) -> float:
    """Return the fraction of the variance of y that the features leave unexplained.

    0 means that they determine y; 1 means that they carry no information about its mean. The
    estimate allows for nonlinear effects and interactions.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or Table
        The features to evaluate, in any form that :meth:`~covmin.CCMSelector.fit` accepts.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Not needed with a table. Numbers, or class labels; for classes, the variances of the class
        indicators are added up. Several columns of numbers count equally, whatever their units. For
        survival times, the result refers to the martingale residuals, which are mostly noise:
        compare sets of features by the concordance index instead (``cv_results_``).
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights; 2 is equivalent to repeating the sample.
    cv : int, splitter or iterable of (train, test), default=None
    groups : array-like of shape (n_samples,), default=None
        Folds, and group of each sample, for samples that are not independent, as in
        :class:`~covmin.CCMSelector`. The error is then that on held-out samples.
    task : {"auto", "classification", "ordinal", "regression", "survival"}, default="auto"
    column_types : {"auto", "strict"} or dict, default="auto"
        As in :class:`~covmin.CCMSelector`.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing rows. None is a fixed seed.

    Returns
    -------
    share : float
        Between 0 and 1.

    See Also
    --------
    conditional_covariance_trace : The paper's criterion, for comparisons.

    Notes
    -----
    The result is the leave-one-out error of kernel ridge regression, divided by that of the mean.
    The scale of the kernel and the ridge minimise this error, and the mean is also a candidate. A
    sample is left out with its duplicates, unless every feature has only a few values. Irrelevant
    features increase the result, because the regression fits their noise. Features that were
    selected on the same samples look better than they are. Up to 20,000 samples are used.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin import unexplained_variance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 20))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2]
    >>> y += np.sqrt(0.05 / 0.95) * y.std() * rng.standard_normal(300)  # 5 % noise
    >>> for columns in ([0, 1, 2], [0, 1], [3, 4, 5]):
    ...     print(columns, f"{unexplained_variance(X[:, columns], y):.0%}")
    [0, 1, 2] 5%
    [0, 1] 44%
    [3, 4, 5] 100%
    """
    table = read(X, y, TableOptions(column_types, task=task), sample_weight, groups)
    columns, groups = table.columns(standardize=True), table.groups
    if cv is None:
        check_independence(table, columns)
    # Duplicates are merged, because one would predict the other.
    rows = columns.independent(seed_of(random_state))
    with one_blas_thread():
        if cv is not None or (groups is not None and np.unique(groups).size < table.n_samples):
            every = [np.arange(table.layout.unit.size)]
            [share] = held_out_shares(table.distinct(rows, MANY_ROWS), cv, every).tolist()
            return float(min(share, 1.0))  # the mean is a candidate too
        first, p = rows.first[:MANY_ROWS], rows.p[:MANY_ROWS] / rows.p[:MANY_ROWS].sum()
        Z, Y = columns.X.take(first), table.response.Y[first]
        if columns.index.size == 0 or not np.ptp(Y, axis=0).any():
            return 1.0
        # The squared scales of the columns of a feature add up to one.
        weights = columns.units.scale**2
        [found] = regress_on_sets(Z, Y - p @ Y, p, weights, n_landmarks=LANDMARKS[-1])
        return found.unexplained


@_allowed(
    "standardize",
    "approximation",
    weights=[None, "array-like"],
    task=[StrOptions({"auto", "classification", "ordinal", "regression"})],
    kernel=[str, HasMethods(["at", "get_params"])],
    epsilon=[StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
)
def conditional_covariance_trace(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    sample_weight: Any = None,
    task: str = "auto",
    standardize: Standardize = True,
    kernel: Any = "gaussian",
    epsilon: float | str = "auto",
    approximation: str | Fourier = "auto",
    random_state: Any = None,
) -> float:
    """Return the paper's criterion, the estimated trace of the conditional covariance operator.

    ``ε · tr(Yᵀ (G_w + nεI)⁻¹ Y)`` for y given ``w ⊙ x``, for one ε and one bandwidth, in squared
    units of y. Use it to compare sets of the same size at the same ε, as the paper does. It exceeds
    the conditional variance, and may increase when features are added, because the bandwidth does.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers or columns with a categorical dtype, without missing values.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Numbers, or class labels, encoded as ±1 for two classes and one-hot for more; the
        variances of the indicators are then added up. Several columns of numbers count equally,
        whatever their units.
    weights : array-like of shape (n_features,), default=None
        Weight w of each feature; all 1 by default.
    sample_weight : array-like of shape (n_samples,), default=None
    task : {"auto", "classification", "ordinal", "regression"}, default="auto"
    standardize : bool or "rank", default=True
        Whether to scale every feature to mean 0 and variance 1 first; "rank" uses the normal
        scores of the ranks.
    kernel : str or kernel, default="gaussian"
        As in :class:`~covmin.CCMSelector`. A median bandwidth is that of the features with positive
        weight.
    epsilon : "auto" or float, default="auto"
        Regularisation parameter ε. "auto" is 0.001 for classes and 0.1 for regression.
    approximation : {"auto", "exact", "fourier"} or Fourier, default="auto"
        As in :class:`~covmin.CCMSelector`.
    random_state : int, RandomState instance or None, default=None
        Seed of the random Fourier features. None is a fixed seed.

    Returns
    -------
    trace : float
        In squared units of y, between 0 and the (summed) variance of y. Of several columns of
        numbers, divided by their standard deviations, it is the mean.

    See Also
    --------
    unexplained_variance : Fraction of the variance that the features leave unexplained.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin import conditional_covariance_trace
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(300)
    >>> explains = conditional_covariance_trace(X[:, [0]], y, epsilon=1e-3)
    >>> useless = conditional_covariance_trace(X[:, [1]], y, epsilon=1e-3)
    >>> bool(explains < 0.02), bool(useless > 0.4)
    (True, True)
    """
    table = read(X, y, TableOptions("strict", task=task, clip=False), sample_weight)
    response, columns = table.response, table.columns(standardize)
    d = table.layout.unit.size
    w = np.ones(d) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (d,) or not np.isfinite(w).all() or (w < 0).any():
        raise ValueError(f"weights must be {d} finite numbers ≥ 0; got {weights!r}.")
    w = w[columns.unit_index]
    keep = np.flatnonzero(w > 0.0)
    if keep.size == 0:  # no feature varies or has positive weight: nothing is explained
        return float(response.squared_unit)
    if isinstance(epsilon, str):
        epsilon = PAPER_RIDGE[response.task]
    formulation, shape = FORMULATIONS["paper"], columns.X.shape
    given, n_features = kernel_of(kernel, formulation), columns.units.n_features
    chosen, _ = with_share(given, shape[0], n_features)
    named, n_components = approximation_of(approximation)
    by, _ = choose_approximation(named, chosen, shape, n_components=n_components)
    plan = Plan((), response.task, *shape, formulation, by, chosen, n_components=n_components)
    with one_blas_thread():
        problem = problem_of(replace(plan, seed=seed_of(random_state)), columns, response.Y)
        problem = replace(problem, epsilon=epsilon)
        value = problem.trace(keep, w[keep], problem.bandwidth(keep))
    return float(epsilon * value * response.squared_unit)
