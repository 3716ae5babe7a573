"""The paper's criterion for a given set of features."""

from numbers import Real
from typing import Any

import numpy as np

from covmin.constants import PAPER_RIDGE
from covmin.core.kernels import Kernel
from covmin.data import TableOptions, read
from covmin.data.standardize import Standardize
from covmin.plan.formulation import FORMULATIONS, Fourier, approximation_of
from covmin.plan.rules import by_size, kernel_of
from covmin.runtime.compat import HasMethods, Interval, StrOptions, validate_params
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.seeds import seed_of

from .assemble import make_problem


@validate_params(
    {
        "X": ["array-like"],
        "y": ["array-like"],
        "weights": [None, "array-like"],
        "sample_weight": [None, "array-like"],
        "task": [StrOptions({"auto", "classification", "ordinal", "regression"})],
        "standardize": ["boolean", StrOptions({"rank"})],
        "kernel": [str, HasMethods(["at", "get_params"])],
        "epsilon": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "approximation": [StrOptions({"auto", "exact", "fourier"}), Fourier],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
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
    units of y. Use it to compare sets of the same size at the same ε, as the paper does. As n grows
    and ε shrinks, it converges to the mean conditional variance of y. For finite n it is larger,
    because of the regularisation: for a product and a linear term with 5 % noise it is 70 % of the
    variance. It may also increase when features are added, because the bandwidth increases with
    them. To measure what features leave unexplained, use :func:`~covmin.unexplained_variance`.

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
        Weight of each sample; equal by default.
    task : {"auto", "classification", "ordinal", "regression"}, default="auto"
    standardize : bool or "rank", default=True
        Whether to scale every feature to mean 0 and variance 1 first; "rank" uses the normal
        scores of the ranks.
    kernel : str or kernel, default="gaussian"
        "gaussian", "rational-quadratic", "laplacian", "linear", "polynomial", or an object from
        :mod:`covmin.kernels`. The median bandwidth uses the features with positive weight.
    epsilon : "auto" or float, default="auto"
        Regularisation parameter ε. "auto" is 0.001 for classes and 0.1 for regression.
    approximation : {"auto", "exact", "fourier"} or Fourier, default="auto"
        As in :class:`~covmin.CCMSelector`.
    random_state : int, RandomState instance or None, default=None
        Seed of the random Fourier features. None is a fixed seed.

    Returns
    -------
    trace : float
        In squared units of y, between 0 and the (summed) variance of y. Several columns of numbers
        are first divided by their standard deviations, and the result is the mean.

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
    table = read(X, y, TableOptions("strict", task=task), sample_weight)
    response, columns = table.response, table.columns(standardize)
    w = _check_weights(weights, table.layout.unit.size)[columns.unit_index]
    keep = np.flatnonzero(w > 0.0)
    if keep.size == 0:  # no feature varies or has positive weight: nothing is explained
        return float(response.squared_unit)
    if isinstance(epsilon, str):
        epsilon = PAPER_RIDGE[response.task]
    chosen = _kernel(kernel)
    named, n_components = approximation_of(approximation)
    with one_blas_thread():
        problem = make_problem(
            columns,
            response.Y,
            chosen,
            approximation=by_size(named, chosen, columns.X.shape),
            n_components=n_components,
            seed=seed_of(random_state),
            epsilon=epsilon,
        )
        value = problem.trace(keep, w[keep], problem.bandwidth(keep))
    return float(epsilon * value * response.squared_unit)


def _kernel(given: Any) -> Kernel:
    kernel = kernel_of(given, FORMULATIONS["paper"])
    if getattr(kernel, "mixing", 1.0) == "auto":
        raise ValueError(
            "The additive share of the mixed kernel is chosen during a fit; here, pass it as a "
            "number: kernel=covmin.kernels.Mixed(mixing=0.3)."
        )
    return kernel


def _check_weights(weights: Any, n_features: int) -> np.ndarray:
    if weights is None:
        return np.ones(n_features)
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n_features,) or not np.isfinite(w).all() or (w < 0).any():
        raise ValueError(
            f"weights must be {n_features} finite numbers ≥ 0, one for each feature; "
            f"got {weights!r}."
        )
    return w
