"""The scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ._columns import PreparedColumns, n_features_to_keep, prepare_columns
from ._crossfit import CrossFit, candidate_sizes, cross_fit
from ._fitting import (
    check_columns,
    cross_fit_bunch,
    epsilon_values,
    path_bunch,
    seed_of,
    unchanged_on_failure,
)
from ._formulation import (
    CRITERION_PARAMETERS,
    check_lambda2,
    kernel_parameters,
    make_problem,
    mixture,
    rank_sizes,
    uses_features,
)
from ._notebook import selection_html
from ._progress import History, ProgressBar
from ._responses import EncodedResponse, encode_response
from ._threads import blas_threads
from .core.kernels import KERNELS
from .core.path import Formulation, Path, Problem, Progress, default_budgets, run_path

__all__ = ["CCMSelector"]

# Below this many samples there is nothing to hold out.
_MIN_CROSS_FIT_SAMPLES = 4


class CCMSelector(SelectorMixin, BaseEstimator):
    r"""Select features by conditional covariance minimisation.

    Finds the features given which the response varies least, as measured by the trace of
    the conditional covariance operator

    .. math:: Q(w) = \operatorname{tr}\bigl(Y^\top (G_w + n\varepsilon I)^{-1} Y\bigr),

    where :math:`G_w` is the centred kernel matrix of the samples with feature j scaled by
    :math:`w_j \in [0, 1]`. Nonlinear effects and interactions count, whether or not a
    feature says anything by itself.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or "auto", default="auto"
        Number of features to keep, or their fraction. "auto" takes the smallest set whose
        cross-fitted error is within one standard error of the best: the features are ranked
        on training folds, and kernel ridge regression on them is judged on the fold left out.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y. "auto" takes labels and whole numbers as classes.
    standardize : bool, default=True
        Whether to give every feature mean 0 and variance 1 first (in a copy).
    kernel : {"auto", "mixed", "gaussian", "laplacian", "linear", "polynomial"}, default="auto"
        Kernel on the scaled samples. "mixed" adds to the Gaussian, which sees interactions, a
        sum of one-dimensional Gaussians, which sees single effects where features far
        outnumber samples. "auto" is "mixed" along a path and "gaussian" for a single solve
        and for random features.
    mixing : "auto" or float in [0, 1], default="auto"
        Share γ of the sum in the mixed kernel; 1 leaves the sum alone, which makes the
        criterion convex in w and blind to interactions. "auto" takes d / 2(d + n) for the d
        features of each stage, and at least 0.2 for regression.
    bandwidth : "median" or float, default="median"
        Bandwidth σ of the kernel. "median" is the median distance between samples over √2
        (Laplacian: the median L1 distance), measured anew on the features of each stage.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    epsilon : "auto", float or array-like of float, default="auto"
        Ridge ε. "auto" takes 0.001 for classes and 0.1 for regression; of several values the
        one with the smallest cross-fitted error is taken.
    strategy : {"path", "single"}, default="path"
        "path" solves at shrinking budgets, each among the survivors of the last, and ranks
        features by the order in which they leave. "single" is one solve, ranked by weight.
    constraint : {"hard", "soft"}, default="hard"
        Whether Σw ≤ m is a constraint or a price ``lambda1`` on Σw.
    lambda1 : float, default=None
        Price of a unit of weight under ``constraint="soft"``. None takes a twentieth of the
        criterion of no feature, cut to a quarter until at least m features are worth it.
    inverse : {"exact", "free"}, default="exact"
        Whether linear systems are solved exactly, or their solution is a variable that is
        minimised over along with w by conjugate gradients.
    lambda2 : float, default=None
        Penalty on the residual of the system under ``inverse="free"``. None takes 3/(nε).
    approximation : {"auto", "fourier"} or None, default="auto"
        None uses the n×n kernel matrix, "fourier" random Fourier features, which need no
        n×n matrix. "auto" takes the former up to 4000 samples.
    n_components : int, default=None
        Number of random features; None takes 512.
    max_iter : int, default=200
        Most steps of a solve.
    tol : float, default=1e-3
        A solve stops when the criterion could, to first order, fall by no more than this
        share of itself.
    max_step : float, default=0.2
        Largest change of a weight in one step.
    device : str, default=None
        Torch device to compute on, such as "cpu" or "cuda"; None stays with NumPy.
    n_jobs : int, default=None
        Folds that are cross-fitted at once.
    random_state : int, RandomState instance or None, default=None
        Seed of the random features, of the folds and of the rows sampled for the bandwidth.
        None is a fixed seed, so that every run gives the same answer; try several to see
        how much a choice by cross-fitting depends on the folds.
    callback : callable, default=None
        Called with a :class:`~covmin.core.path.Progress` after each step.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best: a permutation of 1..n_features.
    support_ : ndarray of bool of shape (n_features,)
        The features kept: exactly ``n_features_`` of them.
    n_features_ : int
        Number of features kept.
    weights_ : ndarray of shape (n_features,)
        Weights w of the solve at ``n_features_``.
    objective_ : float
        Criterion Q at these weights, in squared units of y. ``epsilon_ * objective_`` is the
        variance of y left unexplained, as :func:`conditional_covariance_trace` gives it.
    kernel_ : str
        Kernel used: what "auto" stood for.
    path_ : Bunch
        The stages, from the largest set to the smallest: ``n_features``, ``weights`` (one row
        for each stage), ``bandwidth``, ``criterion``, ``optimistic_loo_error`` (leave-one-out
        error of kernel ridge regression as a share of the variance of y; optimistic because
        the selection saw every sample), ``n_iter``, ``converged``.
    cross_fit_ : Bunch or None
        Where m or ε was chosen: ``n_features``, ``epsilon``, ``mean_error`` and
        ``standard_error`` (share of the variance of y), each error of shape
        (n_epsilons, n_sizes).
    history_ : Bunch
        Every step: ``stage``, ``n_features``, ``objective``, ``gap``, ``n_active``.
    bandwidth_ : float
        Bandwidth σ of the solve at ``n_features_``.
    epsilon_ : float
        Ridge ε used.
    n_iter_ : int
        Steps over all stages.
    converged_ : bool
        Whether every stage converged.
    classes_ : ndarray or None
        Class labels; None for regression.
    task_ : {"classification", "regression"}
        How y was read.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X has names.

    See Also
    --------
    conditional_covariance_trace : The criterion as a measure of dependence.

    Examples
    --------
    Three features tell the four classes apart, each of them useless by itself:

    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> X, y = make_xor(80, random_state=0, return_X_y=True)
    >>> selector = CCMSelector(n_features_to_select=3).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            StrOptions({"auto"}),
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        **CRITERION_PARAMETERS,
        "kernel": [StrOptions({"auto", "mixed", *KERNELS})],
        "mixing": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "epsilon": [*CRITERION_PARAMETERS["epsilon"], "array-like"],
        "strategy": [StrOptions({"path", "single"})],
        "constraint": [StrOptions({"hard", "soft"})],
        "lambda1": [None, Interval(Real, 0, None, closed="left")],
        "inverse": [StrOptions({"exact", "free"})],
        "lambda2": [None, Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_step": [Interval(Real, 0, 1, closed="right")],
        "device": [None, str],
        "n_jobs": [None, Integral],
        "callback": [None, callable],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        task: str = "auto",
        standardize: bool = True,
        kernel: str = "auto",
        mixing: float | str = "auto",
        bandwidth: float | str = "median",
        degree: int = 3,
        coef0: float = 1.0,
        epsilon: Any = "auto",
        strategy: str = "path",
        constraint: str = "hard",
        lambda1: float | None = None,
        inverse: str = "exact",
        lambda2: float | None = None,
        approximation: str | None = "auto",
        n_components: int | None = None,
        max_iter: int = 200,
        tol: float = 1e-3,
        max_step: float = 0.2,
        device: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        callback: Callable[[Progress], None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.standardize = standardize
        self.kernel = kernel
        self.mixing = mixing
        self.bandwidth = bandwidth
        self.degree = degree
        self.coef0 = coef0
        self.epsilon = epsilon
        self.strategy = strategy
        self.constraint = constraint
        self.lambda1 = lambda1
        self.inverse = inverse
        self.lambda2 = lambda2
        self.approximation = approximation
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.max_step = max_step
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features of X by what they say about y together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; numbers without missing values.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, or one or several real responses.

        Returns
        -------
        self : CCMSelector
            Fitted. A fit that fails leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            X, y = validate_data(
                self,
                X,
                y,
                dtype=[np.float64, np.float32],
                ensure_min_samples=2,
                multi_output=True,
            )
            response = encode_response(y, self.task)
            columns = prepare_columns(X, self.standardize)
            check_columns(columns)
            seed = seed_of(self.random_state)
            with ProgressBar.shown(self.verbose) as bar, blas_threads(X.shape[0]):
                epsilon, m, crossfit = self._choose(X, response, seed, bar)
                problem = self._problem(columns.X, response.Y, epsilon, response, seed)
                path, history = self._run(problem, min(m, columns.index.size), bar)
            self._store(path, problem, columns, response, m)
            self.cross_fit_ = cross_fit_bunch(crossfit)
            self.history_ = history.as_bunch()
        if not self.converged_:
            warnings.warn(
                f"A solve stopped after max_iter={self.max_iter} steps before it reached "
                f"tol={self.tol:g}; increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _choose(
        self, X: np.ndarray, response: EncodedResponse, seed: int, bar: ProgressBar
    ) -> tuple[float, int, CrossFit | None]:
        """ε and m, by cross-fitting where they are not given."""
        n, d = X.shape
        epsilons = epsilon_values(self.epsilon, response)
        auto_m = self.n_features_to_select == "auto"
        m = n_features_to_keep(1.0 if auto_m else self.n_features_to_select, d)
        if epsilons.size == 1 and not auto_m:
            return float(epsilons[0]), m, None
        if n < _MIN_CROSS_FIT_SAMPLES:
            warnings.warn(
                f"{n} samples are too few to hold some out, so nothing was chosen: all features "
                "are kept, unless a number was given, and the first epsilon is used.",
                UserWarning,
                stacklevel=4,
            )
            return float(epsilons[0]), m, None
        crossfit = cross_fit(
            X,
            response,
            lambda X, Y, epsilon: self._problem(X, Y, epsilon, response, seed),
            partial(rank_sizes, self.strategy),
            epsilons,
            candidate_sizes(d) if auto_m else [m],
            standardize=self.standardize,
            seed=seed,
            n_jobs=self.n_jobs,
            on_fold=bar.fold,
        )
        best = crossfit.best_epsilon()
        if auto_m:
            m = crossfit.smallest_within_one_standard_error(best)
        return float(epsilons[best]), m, crossfit

    def _problem(
        self, X: np.ndarray, Y: np.ndarray, epsilon: float, response: EncodedResponse, seed: int
    ) -> Problem:
        """The core's problem for prepared samples and encoded responses."""
        if self.inverse == "free":
            check_lambda2(self.lambda2, X.shape[0], epsilon)
        kernel = mixture(
            self.kernel,
            self.mixing,
            strategy=self.strategy,
            task=response.task,
            fourier=uses_features(self.approximation, self.kernel, *X.shape),
        )
        formulation = Formulation(
            epsilon=epsilon,
            **kernel,
            kernel_params=kernel_parameters(self.kernel, self.degree, self.coef0),
            bandwidth=None if self.bandwidth == "median" else float(self.bandwidth),
            soft=self.constraint == "soft",
            lambda1=None if self.lambda1 is None else self.lambda1 / response.scale**2,
            inverse_free=self.inverse == "free",
            lambda2=self.lambda2,
            max_iter=self.max_iter,
            tol=self.tol,
            max_step=self.max_step,
        )
        return make_problem(
            X,
            Y,
            formulation,
            approximation=self.approximation,
            n_components=self.n_components,
            device=self.device,
            seed=seed,
        )

    def _run(self, problem: Problem, m: int, bar: ProgressBar) -> tuple[Path, History]:
        budgets = default_budgets(problem.n_features, m) if self.strategy == "path" else [m]
        history = History(bar.step, *([self.callback] if self.callback else []))
        return run_path(problem, budgets, history), history

    def _store(
        self,
        path: Path,
        problem: Problem,
        columns: PreparedColumns,
        response: EncodedResponse,
        m: int,
    ) -> None:
        """Fitted attributes, in the columns and the units of the input."""
        d = self.n_features_in_
        order = np.concatenate([columns.index[path.order], columns.constant])
        self.ranking_ = np.empty(d, dtype=np.int64)
        self.ranking_[order] = np.arange(1, d + 1)
        self.support_ = self.ranking_ <= m
        self.n_features_ = m
        self.path_ = path_bunch(path, columns.index, d, response.scale)
        chosen = path.stages[[s.budget for s in path.stages].index(min(m, columns.index.size))]
        self.weights_ = self.path_.weights[path.stages.index(chosen)].copy()
        self.objective_ = chosen.criterion * response.scale**2
        self.bandwidth_ = chosen.bandwidth
        self.epsilon_ = problem.formulation.epsilon
        self.kernel_ = "mixed" if problem.formulation.mixing != 0.0 else problem.formulation.kernel
        self.n_iter_ = int(self.path_.n_iter.sum())
        self.converged_ = bool(self.path_.converged.all())
        self.classes_ = response.classes
        self.task_ = response.task

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def _html_repr(self) -> str:
        """scikit-learn's diagram and, after a fit, the features kept."""
        diagram = super()._html_repr()
        if not self.__sklearn_is_fitted__():
            return diagram
        return f"<div>{diagram}{selection_html(self)}</div>"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
