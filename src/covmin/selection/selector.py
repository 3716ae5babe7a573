"""The scikit-learn estimator: a fit reads, plans, chooses, runs and presents."""

import warnings
from copy import copy
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions

from covmin.core.path import run_path
from covmin.data.columns import DistinctRows, PreparedColumns, n_features_to_keep
from covmin.data.outputs import SupportMixin, WholeColumnsMixin
from covmin.data.samples import Samples, check_columns, check_enough, read_samples
from covmin.data.tables import from_tensors
from covmin.plan import Formulation, Plan, Wishes
from covmin.plan.budgets import candidate_sizes
from covmin.plan.constants import CROSS_FIT_ROWS, FEWEST_TO_CROSS_FIT, KEPT_UNCHOSEN
from covmin.plan.duration import workload
from covmin.plan.formulation import formulation_of
from covmin.plan.kernel import kernel_of
from covmin.plan.look import Look
from covmin.runtime.repeats import N_JOBS, VERBOSE
from covmin.runtime.run import LongRun, Run
from covmin.runtime.seeds import seed_of
from covmin.runtime.threads import blas_threads, one_blas_thread
from covmin.runtime.version import VersionedPickles

from .crossfit import CrossFit, beyond_given, cross_fit
from .fingerprint import fingerprint
from .frames import NamedResultsMixin
from .nested import NestedParametersMixin
from .notebook import NotebookMixin
from .results import fitted_attributes, warn_of_the_end
from .scoring import check_scored, estimator_score, warn_if_not_used


@dataclass(eq=False, repr=False)
class CCMSelector(
    VersionedPickles,
    NamedResultsMixin,
    NestedParametersMixin,
    NotebookMixin,
    SupportMixin,
    WholeColumnsMixin,
    BaseEstimator,
):
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
        on training folds, and kernel ridge regression on them, or ``estimator``, is judged on the
        fold left out. A group counts as one feature; given columns do not count.
    estimator : estimator, default=None
        Judges sets of features in place of kernel ridge regression: trained on the columns of X
        as they are passed, scored on the fold left out. A higher score is better.
    scoring : str or callable, default=None
        The score of ``estimator``, as in scikit-learn; None is its own.
    groups : array-like of shape (n_features,) or dict, default=None
        Columns that are kept or left as one: a label for each column, or a dict from a label
        to its columns (by name or number); columns it does not hold stay by themselves.
    given : str, int or array-like, default=None
        Columns that are known to matter, by name, number or mask: always kept, not counted.
        The others are ranked by what they add to these: what these explain by themselves is
        taken off the response first.
    categorical_features : str, int, array-like or None, default="from_dtype"
        Columns that hold categories: with "from_dtype" those of a categorical dtype in a pandas
        or polars frame, else columns by name, number or mask. Each is one feature, whatever its
        number of levels, and any two levels are equally far apart.
    missing : {"keep", "error"}, default="keep"
        What to do about missing values in X. "keep" puts them at the mean of the column and counts
        whether a value is there under the same weight. "error" refuses them.
    column_types : {"auto", "strict"} or dict, default="auto"
        What columns of frames and of arrays of objects are read as. "auto" takes text as categories
        (rare ones merged), numbers and dates in text as such, dates as time and cycles, and leaves
        out columns that name the rows: see ``plan_``. A dict from a column to "number", "category",
        "date" or "drop" says otherwise for some; "strict" refuses all but numbers and categories.
    task : {"auto", "classification", "ordinal", "regression"}, default="auto"
        How to read y. "auto" takes labels and whole numbers of few values as classes, whole
        numbers of many values and other numbers as a real response, an ordered categorical as
        ordered classes, and several columns of 0 and 1 as labels that can hold together.
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, from label to weight; "balanced" gives each the same total.
    response_kernel : {"linear", "gaussian"}, default="linear"
        Kernel on a real response. "linear" looks for features that change its mean,
        "gaussian" for features that change its distribution in any way, the spread included.
    standardize : bool or "rank", default=True
        Whether to give every feature mean 0 and variance 1 first (in a copy). "rank" does so by
        the normal scores of its ranks, which neither far values nor skewed units change.
    kernel : str or kernel, default="auto"
        Kernel on the scaled samples: "mixed", "additive", "rational-quadratic", "gaussian",
        "laplacian", "linear", "polynomial", or an object of :mod:`covmin.kernels` such as
        ``Gaussian(bandwidth=1.5)``. "mixed" adds to the rational quadratic, which sees interactions
        at many scales, a sum over single features, for effects of one among many. "auto" is "mixed"
        along a path ("additive" of rare values) and the paper's "gaussian" for a single solve.
    epsilon : "auto", float or array-like of float, default="auto"
        Ridge ε: the larger, the smoother the functions of the features that count. "auto" is
        the ratio of noise to signal over the number of samples, by what all features together
        leave unpredicted. Of several values the one with the smallest cross-fitted error is taken.
    formulation : {"path", "paper"} or Formulation, default="path"
        "path" solves at shrinking budgets, "paper" once, as published. An object of
        :class:`covmin.Formulation` has all switches of the paper.
    interactions : bool, default=True
        Whether a path looks at the products of all pairs of features first (see ``interactions_``)
        and holds on to features whose product explains the response: far fewer samples do then.
    n_substitutes : int, default=0
        Substitutes to look for in place of each feature kept (see ``substitutes_``).
    approximation : {"auto", "exact", "fourier"} or None, default="auto"
        "exact" or None uses the n×n kernel matrix of all samples, in double precision. "fourier"
        uses random Fourier components, which need no n×n matrix. "auto" takes the matrix up to 2000
        samples and components beyond. With both, a stage takes as many samples as its work allows.
    n_components : int, default=None
        Number of random components; None takes 512.
    device : str, default=None
        Torch device to compute on ("cpu", "cuda"); None stays with NumPy, or with that of a tensor.
    n_jobs : int, default=None
        Folds that are cross-fitted at once.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. None is a fixed seed: every run gives the same answer.
    verbose : int or "auto", default="auto"
        1 shows the plan, how long it will take and a progress bar. "auto" shows a bar alone, if a
        fit lasts longer than a few seconds, at a terminal or in a notebook; 0 shows nothing.
    long_run : LongRun, default=None
        Time limit, checkpoint, interrupt and callback: see :class:`covmin.LongRun`.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, from 1 for the best. Columns of a group share its rank; given columns
        have rank 0. By name: :meth:`ranking_frame`.
    support_ : ndarray of bool of shape (n_features,)
        The features kept: exactly ``n_features_`` of them, and the given columns.
    missing_share_ : ndarray of shape (n_features,)
        Share of the samples in which a column has no value.
    constant_ : ndarray of bool of shape (n_features,)
        Features that are constant, or whose group is: ranked last.
    n_features_ : int
        Number of features kept; a group counts as one, and given columns do not count.
    weights_ : ndarray of shape (n_features,)
        Weights w of the solve at ``n_features_``; one for given columns.
    column_kinds_ : ndarray of str of shape (n_features,)
        What columns were read as: "number", "category", "date"; "identifier", "empty", "dropped".
    plan_ : Plan
        What was decided and why: ``print(selector.plan_)``.
    groups_, group_ranking_, group_support_ : ndarray of shape (n_groups,) or None
        Labels, ranks and support of the groups, where there are groups.
    substitutes_ : Bunch or None
        With ``n_substitutes``: columns ``feature`` (kept), ``substitute`` (left out), and the
        shares of the variance of y left unexplained by the features kept (``unexplained``),
        without the feature (``unexplained_without``) and with the substitute in its place
        (``unexplained_with``). Columns stand for their groups.
    objective_ : float
        Criterion Q at these weights (or its inverse-free form), in squared units of y (with given
        columns, of what these leave of y); for several real responses, the mean of their shares.
        What the features leave unexplained says :func:`~covmin.unexplained_variance`.
    approximation_ : "fourier" or None
        Approximation used.
    approximation_error_ : float
        How far the criterion of the chosen features is from that of the exact kernel, as a
        share of the latter, on a sample of the rows. Where it is more than a few per cent, take
        more ``n_components``.
    device_ : str or None
        Torch device computed on; None for NumPy.
    kernel_ : str
        Kernel used.
    mixing_ : float
        Share γ of the sum over single features in it.
    path_ : Bunch
        The stages, from the largest set to the smallest: ``n_features``, ``weights`` (one row
        for each stage), ``bandwidth``, ``criterion``, ``optimistic_loo_error`` (leave-one-out
        error of kernel ridge regression as a share of the variance of y; optimistic because
        the selection saw every sample), ``n_iter``, ``converged``.
    interactions_ : Bunch
        Pairs of features that say more together than both by themselves, in the order in which
        they were named: ``features`` of shape (n_pairs, 2), by number (:meth:`interactions_frame`
        has their names); ``share``, how much of the variance of a product of waves of their ranks,
        beyond the columns themselves and the pairs before, goes with what single effects leave of
        the response; and ``p_value``, the chance that any of all pairs stands out as much where
        nothing interacts, at most 0.05. Both are about ranks: effects that add up on another
        scale of the response are no interaction.
    spread_ : Bunch
        Features without an effect of their own on the mean of a real response that go with its
        spread: many take part in an interaction. ``features`` by number, ``share`` and
        ``p_value`` as above.
    cross_fit_ : Bunch or None
        Where m or ε was chosen: ``n_features``, ``epsilon``, and of shape (n_epsilons, n_sizes)
        ``mean_error`` with its ``standard_error`` (share of the variance of y) and ``gain`` (how
        much less than without any feature). For one column of classes also ``accuracy``,
        ``balanced_accuracy``, ``log_loss`` and ``roc_auc`` (of each class against the others), for
        an estimator ``mean_score``; each with its ``gain_standard_error`` and the like. As a
        table: :meth:`cross_fit_frame`.
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
    unexplained_variance : What share of the variance of y a set of features leaves unexplained.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features_to_select": [
            StrOptions({"auto"}),
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "estimator": [None, HasMethods(["fit"])],
        "scoring": [None, str, callable],
        "groups": [None, dict, "array-like"],
        "given": [None, str, Integral, "array-like"],
        "categorical_features": [None, str, Integral, "array-like"],
        "missing": [StrOptions({"keep", "error"})],
        "column_types": [StrOptions({"auto", "strict"}), dict],
        "task": [StrOptions({"auto", "classification", "ordinal", "regression"})],
        "class_weight": [None, StrOptions({"balanced"}), dict],
        "response_kernel": [StrOptions({"linear", "gaussian"})],
        "standardize": ["boolean", StrOptions({"rank"})],
        "kernel": "no_validation",  # refused in words where it is read
        "epsilon": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "formulation": "no_validation",
        "interactions": ["boolean"],
        "n_substitutes": [Interval(Integral, 0, None, closed="left")],
        "approximation": [None, StrOptions({"auto", "exact", "fourier"})],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "device": [None, str],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": VERBOSE,
        "long_run": [None, LongRun],
    }

    n_features_to_select: Any = "auto"
    _: KW_ONLY
    estimator: Any = None
    scoring: Any = None
    groups: Any = None
    given: Any = None
    categorical_features: Any = "from_dtype"
    missing: str = "keep"
    column_types: Any = "auto"
    task: str = "auto"
    class_weight: Any = None
    response_kernel: str = "linear"
    standardize: bool | str = True
    kernel: Any = "auto"
    epsilon: Any = "auto"
    formulation: str | Formulation = "path"
    interactions: bool = True
    n_substitutes: int = 0
    approximation: str | None = "auto"
    n_components: int | None = None
    device: str | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int | str = "auto"
    long_run: LongRun | None = None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features of X by what they say about y together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; numbers, or a frame that also has text, categories and dates. Values may be
            missing. Sparse matrices, mapped files (``numpy.memmap``), :func:`covmin.open_parquet`
            and Dask collections are read in blocks and never copied whole, as long as random
            components are used; torch tensors are computed on where they are.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, or real responses. Each of several counts the same, whatever its unit.
            Samples without a response are left out, with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples: two is the same as the sample twice, zero as no such sample.

        Returns
        -------
        self : CCMSelector
            Fitted. A fit that fails leaves the estimator as it was.
        """
        table, long_run = (X, y), self.long_run or LongRun()
        long_run.check()
        formulation = copy(formulation_of(self.formulation))  # the plan keeps it as it is now
        kernel_of(self.kernel, formulation)  # refused before a long table is read
        check_scored(self.estimator, self.scoring)
        X, device, y, sample_weight = from_tensors(X, self.device, y, sample_weight)
        samples = read_samples(self, X, y, sample_weight)
        with one_blas_thread():
            columns = samples.columns(self.standardize)
        labels, n_left_out = samples.column_labels, samples.n_left_out
        check_columns(columns, samples.X, self.standardize, labels, n_left_out)
        check_enough(samples, columns)
        plan = self._plan_of_shape(columns, samples, formulation, device)
        settings: dict[str, Any] = {}
        if long_run.checkpoint is not None:
            settings = fingerprint(self.get_params(deep=False), columns, samples.response)
        with (
            Run.of(long_run, self.verbose, settings) as run,
            blas_threads(plan.matrix_rows, plan.n_threads),
        ):
            attributes = self._run(plan, columns, samples, run)
            # A warning may be an error to the user: a fit that fails changes nothing, and keeps
            # its checkpoint.
            warn_of_the_end(attributes, run, formulation)
        self._present(attributes)
        self._remember(*table)
        return self

    def _plan_of_shape(
        self, columns: PreparedColumns, samples: Samples, formulation: Formulation, device: Any
    ) -> Plan:
        wishes = Wishes(
            formulation,
            kernel=copy(self.kernel),
            epsilon=self.epsilon,
            interactions=self.interactions,
            approximation=self.approximation,
            n_components=self.n_components,
            device=device,
            seed=seed_of(self.random_state),
        )
        shape = columns.n_distinct, columns.index.size
        plan = Plan.of_shape(wishes, shape, columns.X.dtype.itemsize, samples.response)
        plan = plan.with_readings(samples.readings).with_copies(columns.p.size)
        return plan.with_gaps(samples.columns_with_gaps)

    def _run(
        self, plan: Plan, columns: PreparedColumns, samples: Samples, run: Run
    ) -> dict[str, Any]:
        """Finish the plan by looks at the data, choose m and ε, and walk the path."""
        plan = plan.with_table(samples.table[0]).with_kernel(columns)
        rows = columns.distinct(plan.wishes.seed)
        samples = beyond_given(samples, rows, self.standardize)
        table = plan.problem(columns, samples.response.Y)
        wanted = self._wanted(samples.plan.n_choices)
        look = Look(plan.formulated(table, columns, samples.response, 1.0), plan.task)
        plan, look = plan.with_look(columns, look)
        run.planned(plan, workload(plan, columns.units.size, wanted, self.n_jobs))
        epsilon, m, crossfit, reason = self._choose(plan, samples, rows, wanted, run)
        plan = plan.with_choice(epsilon, m, samples.plan.n_choices, reason)
        plan.check_lambda2(columns.total_weight, epsilon)
        problem = plan.formulated(table, columns, samples.response, epsilon)
        budget = min(m, columns.units.size)
        path = run_path(
            problem,
            plan.budgets(problem.n_features, budget),
            look.hold if plan.looks_for_pairs else None,
            run,
            budget,
        )
        return fitted_attributes(
            plan,
            problem,
            path,
            columns,
            samples,
            m,
            n_substitutes=self.n_substitutes,
            crossfit=crossfit,
        ) | {"history_": run.history()}

    def _wanted(self, n_features: int) -> int | None:
        """The number of features asked for; None where it is to be chosen."""
        if self.n_features_to_select == "auto":
            return None
        return n_features_to_keep(self.n_features_to_select, n_features)

    def _choose(
        self, plan: Plan, samples: Samples, rows: DistinctRows, wanted: int | None, run: Run
    ) -> tuple[float, int, CrossFit | None, str]:
        """ε and m, by cross-fitting where they are not given, and why."""
        d, epsilons = samples.plan.n_choices, plan.epsilons
        if len(epsilons) == 1 and wanted is not None:
            warn_if_not_used(self.estimator)
            return epsilons[0], wanted, None, "as asked for"
        if samples.n_samples < FEWEST_TO_CROSS_FIT:
            warnings.warn(
                f"{samples.n_samples} samples are too few to hold some out, so nothing was chosen: "
                "all features are kept, unless a number was given, with the smallest epsilon.",
                UserWarning,
                stacklevel=5,
            )
            return epsilons[0], wanted or d, None, "too few samples to hold some out"
        samples = samples.distinct(rows, CROSS_FIT_ROWS)
        crossfit = cross_fit(
            samples,
            plan,
            candidate_sizes(d) if wanted is None else [wanted],
            standardize=self.standardize,
            run=run,
            n_jobs=self.n_jobs,
            score=estimator_score(self.estimator, self.scoring, samples),
        )
        if crossfit is None:
            return epsilons[0], wanted or min(d, KEPT_UNCHOSEN), None, "no time to choose a number"
        best = crossfit.best_epsilon()
        if wanted is not None:
            return epsilons[best], wanted, crossfit, "as asked for"
        m = crossfit.smallest_within_one_standard_error(best)
        best_is = "smallest cross-fitted error" if self.estimator is None else "best score"
        return epsilons[best], m, crossfit, f"the fewest within one standard error of the {best_is}"

    def _present(self, attributes: dict[str, Any]) -> None:
        """Write every fitted attribute; columns without names leave none behind."""
        if attributes["feature_names_in_"] is None:
            del attributes["feature_names_in_"]
            self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(attributes)
