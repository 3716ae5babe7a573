"""The scikit-learn estimator."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from covmin.core.kernels import KERNELS
from covmin.core.path import Path, Progress, approximation_error, default_budgets, run_path
from covmin.core.problem import Formulation, Problem
from covmin.core.substitutes import substitutes
from covmin.data.columns import PreparedColumns, n_features_to_keep
from covmin.data.outputs import WholeColumnsMixin
from covmin.data.responses import EncodedResponse
from covmin.data.support import SupportMixin
from covmin.data.tables import from_tensors
from covmin.plan.formulation import (
    CRITERION_PARAMETERS,
    bandwidth_value,
    check_lambda2,
    choose_approximation,
    features_have_sum,
    kernel_parameters,
    make_problem,
    mixture,
    rank_sizes,
    sees_interactions,
)
from covmin.plan.ridge import (
    RIDGE_LIMITS,
    is_better_without_sum,
    ridge_for_classes,
    ridge_for_numbers,
    ridge_for_units,
)
from covmin.runtime.interrupts import Interrupts
from covmin.runtime.progress import History, ProgressBar
from covmin.runtime.repeats import N_JOBS
from covmin.runtime.threads import blas_threads, row_threads, worker_threads
from covmin.runtime.version import VersionedPickles

from .checkpoint import Checkpoint, fingerprint
from .crossfit import CrossFit, candidate_sizes, cross_fit, residuals_beyond_given
from .fitting import (
    Samples,
    check_columns,
    cross_fit_bunch,
    epsilon_values,
    interactions_bunch,
    path_bunch,
    read_samples,
    seed_of,
    squared,
    substitutes_bunch,
    unchanged_on_failure,
)
from .notebook import selection_html

__all__ = ["CCMSelector"]

# Below this many samples there is nothing to hold out.
_MIN_CROSS_FIT_SAMPLES = 4
# Beyond this many, a random sample chooses ε and m: its error is known to a fraction of a
# per cent, and the folds cost no more however many samples there are.
_CROSS_FIT_ROWS = 20_000


@dataclass(frozen=True)
class During:
    """What goes on beside a fit while it runs."""

    bar: ProgressBar
    checkpoint: Checkpoint
    stop: Interrupts


class CCMSelector(VersionedPickles, SupportMixin, WholeColumnsMixin, BaseEstimator):
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
        A group counts as one feature; given columns do not count.
    groups : array-like of shape (n_features,) or dict, default=None
        Columns that are kept or left as one: a label for each column, or a dict from a label
        to its columns (by name or number), in which columns it does not hold stay by
        themselves.
    given : str, int or array-like, default=None
        Columns that are known to matter, by name, number or mask: always kept, not counted.
        The others are ranked by what they add to these: what these explain by themselves is
        taken off the response first.
    categorical_features : str, int, array-like or None, default="from_dtype"
        Columns that hold categories: with "from_dtype" those of a categorical dtype in a pandas
        or polars frame, else columns by name, number or mask. Each is one feature, whatever its
        number of levels, and any two levels are equally far apart.
    task : {"auto", "classification", "ordinal", "regression"}, default="auto"
        How to read y. "auto" takes labels and whole numbers as classes, an ordered
        categorical as ordered classes, and several columns of 0 and 1 as labels that can
        hold together.
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, from label to weight; "balanced" gives each the same total.
    response_kernel : {"linear", "gaussian"}, default="linear"
        Kernel on a real response. "linear" looks for features that change its mean,
        "gaussian" for features that change its distribution in any way, the spread included.
    standardize : bool, default=True
        Whether to give every feature mean 0 and variance 1 first (in a copy).
    kernel : str, default="auto"
        "auto", "mixed", "additive", "gaussian", "laplacian", "linear" or "polynomial".
        Kernel on the scaled samples. "mixed" adds to the Gaussian, which sees interactions, a
        sum of one-dimensional Gaussians, which sees single effects where features far
        outnumber samples. "additive" is that sum alone: the criterion is then convex in w, so
        that each solve finds its global minimum, and blind to interactions. "auto" is "mixed"
        along a path and "gaussian" for a single solve; with random features it is "mixed" from
        more than a quarter as many columns as these, 128 by default, on. Where samples
        (up to 1000) outnumber features, and all of these together predict nothing, a path is
        tried with both, and the Gaussian is taken if its leave-one-out error is less than 0.9
        of the other's.
    mixing : "auto" or float in [0, 1], default="auto"
        Share γ of the sum in the mixed kernel; 1 is the additive kernel. "auto" takes
        d / 2(d + n) for d features and n samples, or n random features where these are used,
        and at least 0.2 for regression, 0.3 for classes (less, in proportion, for n < 200).
    bandwidth : "median" or float, default="median"
        Bandwidth σ of the kernel. "median" is the median distance between samples over √2
        (Laplacian: the median L1 distance), measured anew on the features of each stage; along
        a path of random features it is scaled to as many features as the stage keeps.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel.
    epsilon : "auto", float or array-like of float, default="auto"
        Ridge ε. "auto" takes the paper's values for a single solve, 0.001 for classes and 0.1
        for regression, and for the inverse-free form (0.01 for regression along a path). A path
        takes 0.01 for regression, and with more than 500 samples 5/n, down to 0.003; for classes
        and d features 0.5/d, between 0.001 and 0.01, less for few samples, for many, and where
        all features together predict nothing, by leave-one-out. With more features than samples
        it takes more, up to 0.1, the worse these predict: noisy labels must not be fitted. Where
        categories or groups have different numbers of columns it is at least the difference
        over n, up to 0.1, so that none wins by its size. Of several values the one with the
        smallest cross-fitted error is taken.
    strategy : {"path", "single"}, default="path"
        "path" solves at shrinking budgets, each among the survivors of the last, and ranks
        features by the order in which they leave. "single" is one solve, ranked by weight.
    interactions : bool, default=True
        Whether a path looks at the products of all pairs of features first (see
        ``interactions_``) and holds on to features whose product explains the response. Once
        there are ten samples for each feature that is left, the criterion decides whether to, at
        the smallest set with room for them. Among many features an interaction is found from far
        fewer samples this way.
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
        n×n matrix. "auto" takes the former up to 2000 samples, if there is memory for it, and
        for "polynomial", which has no such features, at any number. Random features of the
        mixed and the additive kernel are chosen among 2048 columns at most; before that a
        sample of the rows decides, by the exact kernel.
    n_components : int, default=None
        Number of random features; None takes 512. The sum of the mixed and the additive kernel
        adds eight waves for each column, four or two where columns are many.
    max_iter : int, default=200
        Most steps of a solve.
    tol : float, default=1e-3
        A solve stops when the criterion could, to first order, fall by no more than this
        share of itself.
    max_step : float, default=0.2
        Largest change of a weight in one step.
    device : str, default=None
        Torch device to compute on, such as "cpu" or "cuda"; None stays with NumPy, or with the
        device of X where that is a torch tensor.
    n_substitutes : int, default=0
        Substitutes to look for in place of each feature kept (see ``substitutes_``).
    n_jobs : int, default=None
        Folds that are cross-fitted at once.
    random_state : int, RandomState instance or None, default=None
        Seed of the random features, of the folds and of the rows sampled for the bandwidth.
        None is a fixed seed, so that every run gives the same answer; try several to see
        how much a choice by cross-fitting depends on the folds.
    interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does in the main thread: end the fit with nothing changed, or end it well,
        with the ranking it has come to (a second Ctrl-C then ends it at once).
    checkpoint : path-like, default=None
        File that keeps the finished folds and stages of a long fit. A new fit on the same data
        with the same parameters goes on from there; the file goes when the fit is done.
        ``random_state`` must be an integer or None.
    checkpoint_after : float, default=60
        Seconds a fit must last before anything is written.
    callback : callable, default=None
        Called with a :class:`~covmin.core.path.Progress` after each step; its method
        ``fold(done, total)``, if it has one, after each fold that is cross-fitted.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best: a permutation of 1..n_features. The columns of a
        group share its rank; given columns have rank 0.
    support_ : ndarray of bool of shape (n_features,)
        The features kept: exactly ``n_features_`` of them, and the given columns.
    n_features_ : int
        Number of features kept; a group counts as one, and given columns do not count.
    weights_ : ndarray of shape (n_features,)
        Weights w of the solve at ``n_features_``; one for given columns.
    groups_ : ndarray of shape (n_groups,) or None
        Labels of the groups, where there are groups.
    group_ranking_ : ndarray of shape (n_groups,) or None
        Rank of each group.
    group_support_ : ndarray of bool of shape (n_groups,) or None
        The groups kept.
    substitutes_ : Bunch or None
        With ``n_substitutes``: columns ``feature`` (kept), ``substitute`` (left out), and the
        shares of the variance of y left unexplained by the features kept (``unexplained``),
        without the feature (``unexplained_without``) and with the substitute in its place
        (``unexplained_with``). Columns stand for their groups.
    objective_ : float
        Criterion Q at these weights, in squared units of y. ``epsilon_ * objective_`` is the
        variance of y left unexplained (with given columns, of what these leave of y); for
        several real responses, the mean over them of the share of their variance. It is what
        :func:`conditional_covariance_trace` gives for ``weights_``, ``epsilon_`` and
        ``bandwidth_``, which knows neither the mixed kernel, the default along a path, nor
        ``inverse="free"``.
    approximation_ : "fourier" or None
        Approximation used: what "auto" stood for.
    approximation_error_ : float
        How far the criterion of the chosen features is from that of the exact kernel, as a
        share of the latter, on a sample of the rows; 0 for the exact kernel. Where it is more
        than a few per cent, take more ``n_components``.
    device_ : str or None
        Torch device computed on; None for NumPy.
    kernel_ : str
        Kernel used: what "auto" stood for.
    mixing_ : float
        Share γ of the sum in it: 0 where nothing is mixed in.
    path_ : Bunch
        The stages, from the largest set to the smallest: ``n_features``, ``weights`` (one row
        for each stage), ``bandwidth``, ``criterion``, ``optimistic_loo_error`` (leave-one-out
        error of kernel ridge regression as a share of the variance of y; optimistic because
        the selection saw every sample), ``n_iter``, ``converged``.
    interactions_ : Bunch
        Pairs of features whose product adds more than both say by themselves, in the order in
        which they were named: ``features`` of shape (n_pairs, 2), by number; ``share``, how much
        of the variance of the product of their ranks, beyond the columns themselves and the
        pairs before, goes with the response; and ``p_value``, the chance that any of all pairs
        stands out as much where there is no dependence, at most 0.05.
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
    classes_ : ndarray, list of ndarray or None
        Class labels, for each output where there are several; None for regression.
    task_ : {"classification", "regression"}
        How y was read.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
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
        "kernel": [StrOptions({"auto", "mixed", "additive", *KERNELS})],
        "mixing": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "epsilon": [*CRITERION_PARAMETERS["epsilon"], "array-like"],
        "groups": [None, dict, "array-like"],
        "given": [None, str, Integral, "array-like"],
        "categorical_features": [None, str, Integral, "array-like"],
        "class_weight": [None, StrOptions({"balanced"}), dict],
        "response_kernel": [StrOptions({"linear", "gaussian"})],
        "strategy": [StrOptions({"path", "single"})],
        "interactions": ["boolean"],
        "constraint": [StrOptions({"hard", "soft"})],
        "lambda1": [None, Interval(Real, 0, None, closed="left")],
        "inverse": [StrOptions({"exact", "free"})],
        "lambda2": [None, Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_step": [Interval(Real, 0, 1, closed="right")],
        "device": [None, str],
        "n_substitutes": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": N_JOBS,
        "interrupt": [StrOptions({"raise", "keep"})],
        "checkpoint": [None, str, PathLike],
        "checkpoint_after": [Interval(Real, 0, None, closed="left")],
        "callback": [None, callable],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        groups: Any = None,
        given: Any = None,
        categorical_features: Any = "from_dtype",
        task: str = "auto",
        class_weight: Any = None,
        response_kernel: str = "linear",
        standardize: bool = True,
        kernel: str = "auto",
        mixing: float | str = "auto",
        bandwidth: float | str = "median",
        degree: int = 3,
        coef0: float = 1.0,
        epsilon: Any = "auto",
        strategy: str = "path",
        interactions: bool = True,
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
        n_substitutes: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
        interrupt: str = "raise",
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_after: float = 60.0,
        callback: Callable[[Progress], None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.groups = groups
        self.given = given
        self.categorical_features = categorical_features
        self.task = task
        self.class_weight = class_weight
        self.response_kernel = response_kernel
        self.standardize = standardize
        self.kernel = kernel
        self.mixing = mixing
        self.bandwidth = bandwidth
        self.degree = degree
        self.coef0 = coef0
        self.epsilon = epsilon
        self.strategy = strategy
        self.interactions = interactions
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
        self.n_substitutes = n_substitutes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.interrupt = interrupt
        self.checkpoint = checkpoint
        self.checkpoint_after = checkpoint_after
        self.callback = callback
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features of X by what they say about y together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; numbers without missing values, or a frame that also has categorical
            columns. Mapped files (``numpy.memmap``), :func:`covmin.open_parquet` and Dask
            arrays and dataframes are read in blocks and never copied whole, as long as random
            features are used; torch tensors are computed on where they are.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, or one or several real responses. Each of several counts the same,
            whatever its unit: it is divided by its standard deviation.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. A weight of two is the same as the sample twice, a weight
            of zero the same as no such sample.

        Returns
        -------
        self : CCMSelector
            Fitted. A fit that fails leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            X, self.device_, y, sample_weight = from_tensors(X, self.device, y, sample_weight)
            samples = read_samples(self, X, y, sample_weight)
            n = samples.X.shape[0]
            self.approximation_ = self._choose_approximation(samples)
            self.mixing_ = self._share_asked_for(samples)
            in_blocks = self.device_ is None and self.approximation_ == "fourier"
            if not in_blocks:
                samples = samples.in_memory()
            columns = samples.columns(self.standardize, in_blocks=in_blocks)
            check_columns(columns)
            seed = seed_of(self.random_state)
            # Blocks of rows are worked on in threads, each of which then has BLAS to itself.
            threads = row_threads() if in_blocks else 1
            with (
                ProgressBar.shown(self.verbose) as bar,
                blas_threads(n, threads),
                Interrupts.noticed(self.interrupt == "keep") as stop,
                self._checkpointed(columns, samples) as checkpoint,
            ):
                during = During(bar, checkpoint, stop)
                samples = self._beyond_given(samples, seed, threads)
                epsilons = self._epsilons(columns, samples.response, seed)
                if self._may_leave_the_sum_out():
                    self._leave_the_sum_out(columns, samples, epsilons[0], seed, stop)
                epsilon, m, crossfit = self._choose(samples, epsilons, seed, threads, during)
                if self.inverse == "free":
                    check_lambda2(self.lambda2, columns.total_weight, epsilon)
                problem = self._problem(columns, samples.response, epsilon, seed)
                problem = problem.in_threads(threads)
                path, history = self._run(problem, min(m, columns.units.size), during)
                self._store(path, problem, columns, samples, m)
            self.cross_fit_ = cross_fit_bunch(crossfit)
            self.history_ = history.as_bunch()
        self._warn_of_an_early_end(stop.asked)
        return self

    def _checkpointed(
        self, columns: PreparedColumns, samples: Samples
    ) -> AbstractContextManager[Checkpoint]:
        settings: dict[str, Any] = {}
        if self.checkpoint is not None:
            settings = fingerprint(self.get_params(deep=False), columns, samples.response)
        return Checkpoint.kept(self.checkpoint, self.checkpoint_after, settings)

    def _warn_of_an_early_end(self, interrupted: bool) -> None:
        if interrupted:
            text = (
                f"The fit was interrupted at {self.path_.n_features[-1]} features; smaller sets "
                "are ranked as they stood then."
            )
        elif not self.converged_:
            text = (
                f"A solve stopped after max_iter={self.max_iter} steps before it reached "
                f"tol={self.tol:g}; increase max_iter or tol."
            )
        else:
            return
        warnings.warn(text, ConvergenceWarning, stacklevel=4)

    def _beyond_given(self, samples: Samples, seed: int, threads: int) -> Samples:
        """The samples with what the given features explain taken off the response."""
        if not samples.plan.given.any() or samples.X.shape[0] < _MIN_CROSS_FIT_SAMPLES:
            return samples
        residuals = residuals_beyond_given(
            samples.in_memory().X,
            samples.response,
            partial(self._fold_problem, samples.response, seed, threads),
            plan=samples.plan,
            sample_weight=samples.weight,
            standardize=self.standardize,
            seed=seed,
        )
        return replace(samples, response=samples.response.reduced_to(residuals, samples.weight))

    def _fold_problem(
        self,
        response: EncodedResponse,
        seed: int,
        threads: int,
        columns: PreparedColumns,
        Y: np.ndarray,
        epsilon: float,
    ) -> Problem:
        """The problem on the samples of a fold."""
        return self._problem(columns, replace(response, Y=Y), epsilon, seed).in_threads(threads)

    def _choose_approximation(self, samples: Samples) -> str | None:
        """What "auto" stands for here; say so where progress is shown."""
        chosen = choose_approximation(
            self.approximation,
            self.kernel,
            samples.X.shape,
            mixing=self.mixing,
            itemsize=samples.X.dtype.itemsize,
            n_components=self.n_components,
            n_responses=samples.response.Y.shape[1],
            strategy=self.strategy,
            copied=self.device_ is not None,
        )
        if self.verbose and self.approximation == "auto":
            what = "random Fourier features" if chosen else "the exact kernel"
            print(f"{samples.X.shape[0]} samples: {what}", file=sys.stderr)
        return chosen

    def _share_asked_for(self, samples: Samples) -> float | str:
        """What the share γ of the sum is to be: zero where random features do without it."""
        with_sum = self.approximation_ is None or features_have_sum(
            self.kernel,
            self.mixing,
            strategy=self.strategy,
            n_columns=samples.X.shape[1],
            n_components=self.n_components,
        )
        return self.mixing if with_sum or self.kernel != "auto" else 0.0

    def _epsilons(
        self, columns: PreparedColumns, response: EncodedResponse, seed: int
    ) -> np.ndarray:
        """The values of ε to choose from; where it is not given, one that fits the data."""
        epsilons = epsilon_values(self.epsilon, response, self.strategy)
        if not isinstance(self.epsilon, str):
            return epsilons
        if self.strategy == "path" and self.inverse == "exact":
            epsilons[0] = self._ridge(columns, response, seed)
        return np.maximum(epsilons, ridge_for_units(columns.units, columns.n_distinct))

    def _ridge(self, columns: PreparedColumns, response: EncodedResponse, seed: int) -> float:
        """ε for these samples along a path."""
        least = RIDGE_LIMITS[response.task][0]
        if self.approximation_ == "fourier":
            return least
        problem = self._problem(columns, response, least, seed)
        if response.task == "classification":
            return ridge_for_classes(problem)
        return ridge_for_numbers(problem)

    def _may_leave_the_sum_out(self) -> bool:
        """Whether the kernel, and the share of the sum in it, are for the fit to choose."""
        return (
            self.kernel == "auto"
            and self.mixing == "auto"
            and self.strategy == "path"
            and self.constraint == "hard"
            and self.inverse == "exact"
            and self.approximation_ is None
        )

    def _leave_the_sum_out(
        self,
        columns: PreparedColumns,
        samples: Samples,
        epsilon: float,
        seed: int,
        stop: Callable[[], bool],
    ) -> None:
        """Keep the Gaussian alone, where it finds what the mixed kernel does not."""
        m = None
        if self.n_features_to_select != "auto":
            m = n_features_to_keep(self.n_features_to_select, samples.plan.n_choices)
            m = min(m, columns.units.size)
        problem = self._problem(columns, samples.response, epsilon, seed)
        if is_better_without_sum(problem, m, stop):
            self.mixing_ = 0.0

    def _choose(
        self, samples: Samples, epsilons: np.ndarray, seed: int, threads: int, during: During
    ) -> tuple[float, int, CrossFit | None]:
        """ε and m, by cross-fitting where they are not given."""
        n, d = samples.X.shape[0], samples.plan.n_choices
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
        samples = samples.sample(_CROSS_FIT_ROWS, seed)
        response = samples.response
        for_each_fold = max(1, threads // worker_threads(self.n_jobs))
        crossfit = cross_fit(
            samples.X,
            response,
            partial(self._fold_problem, response, seed, for_each_fold),
            partial(rank_sizes, self.strategy),
            epsilons,
            candidate_sizes(d) if auto_m else [m],
            plan=samples.plan,
            sample_weight=samples.weight,
            standardize=self.standardize,
            seed=seed,
            n_jobs=self.n_jobs,
            on_fold=during.bar.fold_and(self.callback),
            finished=during.checkpoint.folds(),
            keep=during.checkpoint.add_fold,
            stop=during.stop,
        )
        best = crossfit.best_epsilon()
        if auto_m:
            m = crossfit.smallest_within_one_standard_error(best)
        return float(epsilons[best]), m, crossfit

    def _problem(
        self, columns: PreparedColumns, response: EncodedResponse, epsilon: float, seed: int
    ) -> Problem:
        """The core's problem for prepared columns and encoded responses."""
        kernel = mixture(
            self.kernel,
            self.mixing_,
            strategy=self.strategy,
            task=response.task,
        )
        formulation = Formulation(
            epsilon=epsilon,
            **kernel,
            kernel_params=kernel_parameters(self.kernel, self.degree, self.coef0),
            bandwidth=bandwidth_value(self.bandwidth),
            # Ten steps of conjugate gradients do not resolve the narrower kernel.
            for_the_kept=self.strategy == "path"
            and self.approximation_ == "fourier"
            and self.inverse == "exact",
            pairs=self.interactions
            and self.strategy == "path"
            and sees_interactions(self.kernel, self.mixing, self.degree),
            soft=self.constraint == "soft",
            lambda1=None if self.lambda1 is None else float(self.lambda1 / squared(response.scale)),
            inverse_free=self.inverse == "free",
            lambda2=self.lambda2,
            max_iter=self.max_iter,
            tol=self.tol,
            max_step=self.max_step,
        )
        return make_problem(
            columns,
            response.Y,
            formulation,
            approximation=self.approximation_,
            n_components=self.n_components,
            device=self.device_,
            seed=seed,
        )

    def _run(self, problem: Problem, m: int, during: During) -> tuple[Path, History]:
        budgets = default_budgets(problem.n_features, m) if self.strategy == "path" else [m]
        history = History(during.bar.step, *([self.callback] if self.callback else []))
        path = run_path(
            problem,
            budgets,
            history,
            finished=during.checkpoint.stages(),
            on_stage=during.checkpoint.add_stage,
            stop=during.stop,
        )
        return path, history

    def _store(
        self,
        path: Path,
        problem: Problem,
        columns: PreparedColumns,
        samples: Samples,
        m: int,
    ) -> None:
        """Fitted attributes, in the columns and the units of the input."""
        plan, response = samples.plan, samples.response
        order = np.concatenate([columns.unit_index[path.order], columns.constant])
        ranking = np.zeros(plan.given.size, dtype=np.int64)
        ranking[order] = np.arange(1, order.size + 1)
        self.ranking_ = ranking[plan.unit]
        self.support_ = self.ranking_ <= m
        self.n_features_ = m
        self.groups_ = samples.labels
        self.group_ranking_ = None if samples.labels is None else ranking
        self.group_support_ = None if samples.labels is None else ranking <= m
        self.path_ = path_bunch(path, columns.unit_index, plan, response.scale)
        self.interactions_ = interactions_bunch(path.pairs, columns, plan)
        # The stage that kept m features, or the last there is after an interrupt.
        wanted = [s for s in path.stages if s.budget == min(m, columns.units.size)]
        stage = wanted[0] if wanted else path.stages[-1]
        self.weights_ = self.path_.weights[path.stages.index(stage)].copy()
        self.objective_ = float(stage.criterion * squared(response.scale))
        self.approximation_error_ = approximation_error(problem, stage)
        self.bandwidth_ = stage.bandwidth
        self.epsilon_ = problem.formulation.epsilon
        self.kernel_ = problem.formulation.kernel_name
        self.mixing_ = problem.share
        self.n_iter_ = int(self.path_.n_iter.sum())
        self.converged_ = bool(self.path_.converged.all())
        self.classes_ = response.classes
        self.task_ = response.task
        self.substitutes_ = None
        if self.n_substitutes:
            found = substitutes(problem, stage, self.n_substitutes)
            self.substitutes_ = substitutes_bunch(found, columns.unit_index, plan, self.epsilon_)

    def _html_repr(self) -> str:
        """scikit-learn's diagram and, after a fit, the features kept."""
        diagram = super()._html_repr()
        if not self.__sklearn_is_fitted__():
            return diagram
        return f"<div>{diagram}{selection_html(self)}</div>"
