"""The share of the variance of a response that a set of features leaves unexplained."""

from typing import Any

import numpy as np
from sklearn.utils._param_validation import validate_params

from covmin.data.columns import PreparedColumns
from covmin.data.samples import read_samples
from covmin.data.tables import from_tensors
from covmin.plan.constants import (
    CROSS_FIT_ROWS,
    FUNCTION_SCALES,
    IN_SAMPLE_RIDGE,
    IN_SAMPLE_SHARE,
    LANDMARKS,
)
from covmin.plan.copies import without_copies
from covmin.runtime.seeds import seed_of
from covmin.runtime.threads import one_blas_thread

from .judge import judge, principal_components, summed_kernel
from .selector import CCMSelector

_CONSTRAINTS = CCMSelector._parameter_constraints
_SHARED = "task", "categorical_features", "column_types", "random_state"


@validate_params(
    {
        "X": "no_validation",  # read as the selector reads it
        "y": "no_validation",
        "held_out": ["boolean"],
        "sample_weight": "no_validation",
        **{name: _CONSTRAINTS[name] for name in _SHARED},
    },
    prefer_skip_nested_validation=True,
)
def unexplained_variance(
    X: Any,
    y: Any,
    *,
    held_out: bool = True,
    sample_weight: Any = None,
    task: str = "auto",
    categorical_features: Any = "from_dtype",
    column_types: Any = "auto",
    random_state: Any = None,
) -> float:
    """Share of the variance of y that the features leave unexplained.

    0: they determine y; 1: they say nothing about its mean. Functions of the features of any
    shape are tried, interactions included.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features in question, as :meth:`~covmin.CCMSelector.fit` takes them.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Numbers, or class labels: the share is then that of the variances of the indicators of
        the classes, added up. Several columns of numbers count equally, whatever their units.
    held_out : bool, default=True
        Whether every sample is predicted without itself. If not, the share is that of the
        samples fitted: it never grows when features are added, and falls towards 0 with
        enough of them, whether or not they matter.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples. A weight of two is the same as a copy of the sample, unless every
        feature takes but a few values: held out, equal rows are then samples of their own.
    task : {"auto", "classification", "ordinal", "regression"}, default="auto"
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
    column_types : {"auto", "strict"} or dict, default="auto"
        As in :class:`~covmin.CCMSelector`.
    random_state : int, RandomState instance or None, default=None
        Seed where rows are drawn. None is a fixed seed.

    Returns
    -------
    share : float
        Between 0 and 1.

    See Also
    --------
    conditional_covariance_trace : The paper's criterion, raw: for comparisons, not to be read.

    Notes
    -----
    Held out, it is the leave-one-out error of kernel ridge regression over that of the mean. The
    scale of the functions and the ridge are those with the smallest error, and the mean is
    tried too: no share is above 1. A sample is left out with all its weight, and with its copies:
    rows that are equal, unless every feature takes but a few values. A feature that does not
    matter raises the share by what the regression loses to its noise: below, all twenty features
    leave 18 % of 300 samples, 7 % of 1000. Features that were chosen
    with the same samples look better than they are. Up to 1000 samples the kernel is exact;
    beyond, it is that of functions around 1000 samples drawn, judged on up to 20,000.

    In the sample, it is the paper's criterion at a scale and a ridge that depend on nothing, on
    at most 1000 samples.

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
    reader = CCMSelector(
        task=task, categorical_features=categorical_features, column_types=column_types
    )
    samples = read_samples(reader, X, y, sample_weight)
    seed = seed_of(random_state)
    columns = samples.columns(standardize=True)
    X, Y, p = _drawn(columns, samples.response.Y, seed, held_out)
    if columns.index.size == 0 or not np.ptp(Y, axis=0).any():
        return 1.0
    # Squared scales of the columns of a feature add up to one.
    weights = columns.units.scale**2
    with one_blas_thread():
        if not held_out:
            return _in_sample(X, Y, p, weights)
        return judge(X, Y, p, weights, n_landmarks=LANDMARKS)[0].unexplained


def _drawn(
    columns: PreparedColumns, Y: np.ndarray, seed: int, held_out: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples in random order, at most as many as are judged, with responses and weights.

    Copies of a sample are merged, for one would give the other away.
    """
    most = CROSS_FIT_ROWS if held_out else LANDMARKS
    rows = without_copies(columns, seed) if held_out else columns.distinct(seed)
    X = columns.X.sample(rows.first[:most])
    p, Y = rows.p[:most] / rows.p[:most].sum(), Y[rows.first[:most]]
    return X.astype(np.float64), Y - p @ Y, p


def _in_sample(X: np.ndarray, Y: np.ndarray, p: np.ndarray, weights: np.ndarray) -> float:
    """The paper's criterion for a kernel that can only grow with features.

    With ``exp(c Σκ)`` over some features, the kernel of one more is ``exp(c Σκ) ∘ exp(cκ)``. This
    is the former plus a positive kernel, as long as c does not depend on the features, and the
    criterion falls as the kernel grows.
    """
    size = IN_SAMPLE_SHARE * weights.sum()
    total = sum(summed_kernel(X, weights, scale) for scale in FUNCTION_SCALES)
    K = np.exp(IN_SAMPLE_SHARE / len(FUNCTION_SCALES) * total - size)
    Z, variances = principal_components(K, p)
    # The kernel was divided by exp(size), that it does not overflow, and so is the ridge.
    ridge = max(IN_SAMPLE_RIDGE * np.exp(-size), np.finfo(float).tiny)
    explained = ((Z.T @ (p[:, None] * Y)) ** 2).sum(axis=1) / (variances + ridge)
    return float(np.clip(1.0 - explained.sum() / (p @ Y**2).sum(), 0.0, 1.0))
