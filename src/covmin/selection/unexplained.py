"""The fraction of the variance of a response that a set of features leaves unexplained."""

from typing import Any

import numpy as np

from covmin.constants import LANDMARKS, MANY_ROWS
from covmin.core.regression import regress_on_sets
from covmin.data import TableOptions, read
from covmin.data.table import from_tensors
from covmin.runtime.compat import validate_params
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.seeds import seed_of

from .selector import CCMSelector

_CONSTRAINTS = CCMSelector._parameter_constraints
_SHARED = "task", "column_types", "random_state"


@validate_params(
    {
        "X": "no_validation",  # read as the selector reads it
        "y": "no_validation",
        "sample_weight": "no_validation",
        **{name: _CONSTRAINTS[name] for name in _SHARED},
    },
    prefer_skip_nested_validation=True,
)
def unexplained_variance(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    task: str = "auto",
    column_types: Any = "auto",
    random_state: Any = None,
) -> float:
    """Return the fraction of the variance of y that the features leave unexplained.

    0 means that they determine y; 1 means that they carry no information about its mean. The
    estimate allows for nonlinear effects and interactions.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features to evaluate, in any form that :meth:`~covmin.CCMSelector.fit` accepts.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Numbers, or class labels; for classes, the variances of the class indicators are added up.
        Several columns of numbers count equally, whatever their units. For survival times,
        the result refers to the martingale residuals, which are mostly noise: compare sets of
        features by the concordance index instead (``cv_results_``).
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. A weight of 2 is equivalent to repeating the sample, unless every feature
        has only a few values: equal rows are then separate samples.
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
    The result is the leave-one-out error of kernel ridge regression,
    divided by that of the mean. The scale of the kernel and the ridge minimise this error, and the
    mean is also a candidate, so the result is at most 1. A sample is left out with all its weight
    and with its duplicates, that is, equal rows, unless every feature has only a few values.
    Irrelevant features increase the result, because the regression fits their noise: in the
    example below, all twenty features leave 18 % unexplained with 300 samples, and 7 % with 1000.
    Features that were selected on the same samples look better than they are. Up to 1000 samples
    the kernel is exact; beyond that it is approximated with 1000 landmarks and evaluated on up to
    20,000 samples.

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
    X, _, y, sample_weight = from_tensors(X, None, y, sample_weight)
    options = TableOptions(column_types, task=task)
    table = read(X, y, options, sample_weight)
    seed = seed_of(random_state)
    columns = table.columns(standardize=True)
    # Duplicates are merged, because one would predict the other.
    rows = columns.independent(seed)
    first, p = rows.first[:MANY_ROWS], rows.p[:MANY_ROWS] / rows.p[:MANY_ROWS].sum()
    Z, Y = columns.X.sample(first).astype(np.float64), table.response.Y[first]
    if columns.index.size == 0 or not np.ptp(Y, axis=0).any():
        return 1.0
    # The squared scales of the columns of a feature add up to one.
    weights = columns.units.scale**2
    with one_blas_thread():
        return regress_on_sets(Z, Y - p @ Y, p, weights, n_landmarks=LANDMARKS[-1])[0].unexplained
