"""A p-value for what a set of features says about the response beyond another set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_consistent_length

from covmin.core.kernels import Gaussian
from covmin.data.checks import check_numbers, columns_named
from covmin.data.columns import prepare_columns
from covmin.data.responses import encode_response, ordered_levels
from covmin.plan.approximation import by_size
from covmin.plan.problem import make_problem
from covmin.runtime.repeats import N_JOBS, VERBOSE, repeat
from covmin.runtime.seeds import seed_of
from covmin.runtime.threads import one_blas_thread
from covmin.runtime.validation import validate_params

from .regression import out_of_fold_smoother

__all__ = ["DependenceTest", "conditional_dependence_test"]

_MIN_SAMPLES = 10
_EPSILON = 0.01

Sampler = Callable[[np.ndarray, np.random.Generator], np.ndarray]
Draw = Callable[[np.random.Generator], np.ndarray]
Features = Callable[[np.ndarray], np.ndarray]
# How X is drawn anew, what the statistic sees of it, of which response, and what that is called.
Plan = tuple[Draw, Features, np.ndarray, str]


@dataclass(frozen=True)
class DependenceTest:
    """Result of :func:`conditional_dependence_test`.

    Attributes
    ----------
    statistic : float
        Share of the variance of y, beyond what the given features predict, that the features
        explain together with the given ones. It is optimistic, as any error on the samples
        fitted is: compare it with ``null_``.
    p_value : float
        ``(1 + #{null ≥ statistic}) / (1 + n_resamples)``.
    null_ : ndarray of shape (n_resamples,)
        The statistic with the features drawn anew, so that they say nothing more about y.
    scheme : {"permutation", "residual permutation", "sampler"}
        How they were drawn.
    """

    statistic: float
    p_value: float
    null_: np.ndarray = field(repr=False)
    scheme: str


@validate_params(
    {
        "X": ["array-like"],
        "y": ["array-like"],
        "given": [None, "array-like"],
        "n_resamples": [Interval(Integral, 1, None, closed="left")],
        "task": [StrOptions({"auto", "classification", "ordinal", "regression"})],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "sampler": [None, callable],
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
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int | str = "auto",
) -> DependenceTest:
    """Test whether features say something about the mean of y beyond other features.

    The statistic is one less :func:`~covmin.conditional_covariance_trace` as a share of the
    variance of y; it is compared with its values for features that are drawn anew, given
    the others, without regard to y.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features under test, as one set.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels, or one or several real responses.
    given : array-like of shape (n_samples, n_given), default=None
        The features that are known already. None tests plain dependence.
    n_resamples : int, default=199
        Number B of new draws. The smallest possible p-value is 1/(1 + B).
    task : {"auto", "classification", "ordinal", "regression"}, default="auto"
        How to read y.
    epsilon : float, default=0.01
        Ridge of the criterion.
    sampler : callable, default=None
        Called with ``given`` and a :class:`numpy.random.Generator`, draws X anew from its
        conditional distribution, where that is known.
    n_jobs : int, default=None
        Draws worked on at once.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws and of the folds. None is a fixed seed.
    verbose : int or "auto", default="auto"
        1 shows a progress bar, 0 does not; "auto" does after some seconds, at a terminal or in a
        notebook.

    Returns
    -------
    test : DependenceTest
        With ``statistic``, ``p_value`` and ``null_``.

    See Also
    --------
    KnockoffSelector : Tests every feature given all others, and bounds the false discoveries.

    Notes
    -----
    Without ``given``, rows of X are permuted: the test is exact for independent samples.

    With a ``sampler`` that draws from the true distribution of X given ``given``, it is exact
    too, whatever the response (a conditional randomisation test).

    Otherwise X is taken as ``m(given) + e`` with a residual e independent of ``given``. m is
    estimated out of fold, and residuals are permuted. The level is right as far as this
    description of X is: it fails if the spread or the shape of X, not only its mean, changes
    with ``given``, or if m is estimated badly. To soften the latter, the statistic looks
    at the residuals of y after an out-of-fold regression on ``given`` as well, so that what m
    misses matters only as far as the model for y misses the same. A discrete X
    does not fit this description; use a ``sampler``.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson and J. Lv, "Panning for gold: model-X knockoffs for
       high dimensional controlled variable selection", JRSS B 80, 2018.
    .. [2] R. D. Shah and J. Peters, "The hardness of conditional independence testing and the
       generalised covariance measure", Annals of Statistics 48, 2020.

    Examples
    --------
    Both features follow z, but only the first has a say of its own:

    >>> import numpy as np
    >>> from covmin import conditional_dependence_test
    >>> rng = np.random.default_rng(0)
    >>> z, a, b = rng.standard_normal((3, 150, 1))
    >>> y = (z + a**2 + 0.5 * rng.standard_normal((150, 1))).ravel()
    >>> conditional_dependence_test(z + a, y, given=z).p_value
    0.005
    >>> conditional_dependence_test(z + b, y, given=z).p_value > 0.05
    True
    """
    X = _checked(X, "X", y)
    response = encode_response(y, task, levels=ordered_levels(y))
    check_consistent_length(X, response.Y)
    seed = seed_of(random_state)
    if given is None:
        if sampler is not None:
            raise ValueError("sampler draws X anew from given; pass given= as well.")
        plan: Plan = lambda rng: X[rng.permutation(len(X))], _block, response.Y, "permutation"
    else:
        Z = _checked(given, "given", y)
        check_consistent_length(X, Z)
        with one_blas_thread():
            plan = _conditional_plan(X, Z, response.Y, seed, sampler)
    draw, features, R, scheme = plan

    def statistic(number: int) -> float:
        # The samples as they are come first, then one draw for each number.
        drawn = X if number == 0 else draw(np.random.default_rng([seed, number]))
        return explained_share(features(drawn), R, epsilon)

    numbers = range(n_resamples + 1)
    values = repeat(statistic, numbers, "dependence test", "draw", n_jobs, verbose)
    null = np.array(values[1:])
    p_value = float((1 + np.count_nonzero(null >= values[0])) / (1 + n_resamples))
    return DependenceTest(values[0], p_value, null, scheme)


def explained_share(columns: np.ndarray, R: np.ndarray, epsilon: float) -> float:
    """Share of the variance of R, centred, that columns of the same total variance explain."""
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


def _conditional_plan(
    X: np.ndarray, Z: np.ndarray, Y: np.ndarray, seed: int, sampler: Sampler | None
) -> Plan:
    """As without Z, but for residuals of X and Y, and with Z beside those of X.

    What y has of X is a function of Z and of the residuals of X: nothing is lost, and what X
    repeats of Z gets no weight. Every draw is regressed on Z as the samples are, so that what
    a regression does to residuals happens to all alike.
    """
    # Where X can be drawn, the regression is tuned on a draw, to treat X like all others.
    model = X if sampler is None else _sampled(sampler, Z, np.random.default_rng(seed), X.shape)
    S = out_of_fold_smoother(Z, _block(model), seed)
    R = Y - out_of_fold_smoother(Z, Y, seed) @ Y
    R -= R.mean(axis=0)
    known = _block(Z)

    def features(drawn: np.ndarray) -> np.ndarray:
        return np.hstack([_block(drawn - S @ drawn), known])

    if sampler is not None:
        return lambda rng: _sampled(sampler, Z, rng, X.shape), features, R, "sampler"
    means = S @ X
    residuals = X - means

    def draw(rng: np.random.Generator) -> np.ndarray:
        return means + residuals[rng.permutation(len(X))]

    return draw, features, R, "residual permutation"


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
    """Columns of equal variance that sum to one, so that blocks weigh the same at any width."""
    columns = prepare_columns(X).X
    return columns / np.sqrt(max(columns.shape[1], 1))


def _checked(X: Any, name: str, y: Any) -> np.ndarray:
    check_numbers(X, y)
    if isinstance(X, str) or (isinstance(X, list) and any(isinstance(x, str) for x in X)):
        raise TypeError(f"{name} holds names; pass the columns themselves, such as frame[names].")
    X = np.asarray(X) if not hasattr(X, "columns") else X
    if getattr(X, "ndim", 2) == 1:
        X = np.reshape(X, (-1, 1))
    with columns_named(X):
        return check_array(X, dtype=np.float64, ensure_min_samples=_MIN_SAMPLES, input_name=name)
