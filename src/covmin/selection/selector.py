"""The scikit-learn estimator: a fit reads the data, plans, chooses m and ε, and runs the path."""

import weakref
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from covmin.core.kernels.base import Configurable
from covmin.data import TableOptions, read
from covmin.data.independence import check_independence
from covmin.data.table import check_columns
from covmin.plan import Formulation, Fourier
from covmin.plan.formulation import formulation_of
from covmin.plan.rules import kernel_of
from covmin.runtime.compat import N_JOBS, VERBOSE, HasMethods, Interval, StrOptions, fit_context
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.resume import fingerprint
from covmin.runtime.run import LongRun, Run

from .attributes import present, warn_of_the_end
from .fit import fit, settings_of
from .frames import NamedResultsMixin
from .scoring import check_scored
from .transform import FeatureSelector

# Names that an editor can offer.
_Joint = Literal["gaussian", "laplacian", "mixed", "polynomial", "rational-quadratic"]
KernelName = Literal["auto", "additive", "linear", _Joint]
Task = Literal["auto", "classification", "ordinal", "regression", "survival"]


@dataclass(eq=False, repr=False)
class CCMSelector(NamedResultsMixin, FeatureSelector):
    r"""Select features by conditional covariance minimisation.

    Finds the features that leave the least variance of the response unexplained, measured by the
    trace of the conditional covariance operator,

    .. math:: Q(w) = \operatorname{tr}\bigl(Y^\top (G_w + n\varepsilon I)^{-1} Y\bigr),

    where :math:`G_w` is the centred kernel matrix of the samples after feature j is multiplied by
    its weight :math:`w_j \in [0, 1]`. The criterion captures nonlinear effects and interactions,
    even among features that are useless on their own.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1], (int, int) or "auto", default="auto"
        Number or fraction of features to keep. "auto" chooses by cross-validation the smallest
        number that is not clearly worse than the best, by the error of kernel ridge regression or
        the score of ``estimator``. A pair, such as ``(2, 20)``, chooses a number in this range. A
        group counts as one feature; ``given`` columns do not count.
    cv : int, splitter or iterable, default=None
        How the samples are split to choose the number of features, as in scikit-learn. None uses
        up to five folds: stratified by class, and with the samples of a group (see ``fit``) in one
        fold. Samples in time order need ``TimeSeriesSplit``.
    estimator : estimator, default=None
        Scores the feature sets, instead of kernel ridge regression. It is trained on the columns of
        X as you pass them.
    scoring : str or callable, default=None
        Score of ``estimator``, as in scikit-learn; higher is better. None uses its ``score``.
    feature_groups : array-like of shape (n_features,) or dict, default=None
        Columns that are kept or dropped together: a label for each column, or a dict that maps a
        label to its columns (names or indices). Columns that the dict omits are not grouped.
    given : str, int or array-like, default=None
        Columns that are known to matter, as names, indices or a mask. They are always kept; the
        other features are ranked by what they add.
    column_types : {"auto", "strict"} or dict, default="auto"
        How to read the columns. "auto" reads categorical dtypes and text as categories, numbers
        and dates in text as such, and dates as time and cycles; it excludes free text and columns
        that identify the rows. A missing value is set to the column mean, with an indicator of
        missingness. ``plan_`` lists the result. A dict maps columns, by name or index, to "number",
        "category", "date", "text" (one feature of its words) or "drop". "strict" accepts only
        numbers and categorical dtypes, none missing.
    task : {"auto", "classification", "ordinal", "regression", "survival"}, default="auto"
        How to read y. "auto" treats labels, and integers with few distinct values, as classes;
        other numbers as a numeric response; an ordered categorical as ordered classes; several
        columns of 0 and 1 as multilabel; and a structured array of bool and float as "survival",
        an event indicator and the time to event or censoring. Survival uses martingale residuals
        as the response, and the concordance index to score feature sets.
    class_weight : "balanced", dict or None, default=None
        Weight of each class. "balanced" gives all classes the same total weight.
    standardize : bool or "rank", default=True
        Whether to scale a copy of each feature to mean 0 and variance 1. "rank" uses the normal
        scores of the ranks, which are robust to outliers and skewed distributions.
    kernel : str or kernel, default="auto"
        Kernel on the weighted samples: "mixed", "additive", "rational-quadratic", "gaussian",
        "laplacian", "linear", "polynomial", or an object from :mod:`covmin.kernels`, such as
        ``Gaussian(bandwidth=1.5)``. "auto" is "mixed" for a path ("additive" if most features
        rarely vary, as word counts do), and "gaussian", as in the paper, for a single solve.
    epsilon : "auto", float or array-like of float, default="auto"
        Regularisation parameter ε; larger values mean smoother functions. "auto" depends on the
        part of y that all features together cannot predict. Several are cross-validated.
    formulation : {"path", "paper"} or Formulation, default="path"
        "path" solves for a decreasing number of features; "paper" solves once, as published. A
        :class:`covmin.Formulation` gives access to all options of the paper.
    interactions : "auto", bool or int, default="auto"
        Largest number of features whose products are all tested first (see ``interactions_``), to
        protect the features found at the start of the path. "auto", like True, tests all pairs, and
        all sets of three and four if there are few enough; False tests none.
    approximation : {"auto", "exact", "fourier"} or Fourier, default="auto"
        "exact" uses the n×n kernel matrix of all samples; "fourier" uses random Fourier features,
        whose number :class:`covmin.Fourier` sets; "auto" uses the matrix for up to 2000 samples.
        Except with "exact", early stages may use a subsample.
    device : str, default=None
        Torch device ("cpu", "cuda"). None uses NumPy, or the device of X if X is a tensor.
    n_jobs : int, default=None
        Number of cross-validation folds to run in parallel.
    random_state : int, RandomState instance or None, default=None
        Seed of all random draws. None is a fixed seed, so results are reproducible.
    verbose : int or "auto", default="auto"
        1 shows the plan and a progress bar with the remaining time; 0 shows nothing. "auto" shows a
        progress bar, in terminals and notebooks, if the fit takes more than a few seconds.
    long_run : LongRun, default=None
        Time limit, checkpoint, interrupt and callback: see :class:`covmin.LongRun`.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is best. Columns of a group share a rank; ``given`` columns have
        rank 0. With names: :meth:`ranking_frame`.
    support_ : ndarray of bool of shape (n_features,)
        Mask of the columns kept: ``n_features_`` features and the ``given`` columns.
    lost_without_ : ndarray of shape (n_features,)
        What the selected features no longer explain if this one alone is left out, as a fraction of
        the variance of y; about 0 if others say the same. With ``cv`` or groups, on held-out
        samples, if m or ε is chosen. NaN if not measured: for features that are not selected, with
        more than 30, and without tuned regressions (see ``plan_``).
    missing_share_ : ndarray of shape (n_features,)
        Fraction of missing values in each column.
    n_distinct_ : ndarray of shape (n_features,)
        Number of distinct values of each column; NaN if the table is large or read in blocks.
    constant_ : ndarray of bool of shape (n_features,)
        Features that are constant, or whose group is; they rank last.
    n_features_ : int
        Number of features kept; a group counts as one, and ``given`` columns do not count.
    weights_ : ndarray of shape (n_features,)
        Weights w for ``n_features_`` features; 1 for ``given`` columns.
    column_kinds_ : ndarray of str of shape (n_features,)
        How each column was read: "number", "category", "date", "text", "identifier", "free text",
        "empty", "dropped".
    plan_ : Plan
        The decisions of the fit and their reasons: ``print(selector.plan_)``.
    feature_groups_, group_ranking_, group_support_ : ndarray of shape (n_groups,) or None
        Labels, ranks and mask of the groups, if there are groups.
    objective_ : float
        Criterion Q (its inverse-free form to about 1 %) at ``weights_``, in squared units of y.
    approximation_ : "fourier" or None
        Approximation used.
    kernel_ : str
        Kernel used.
    path_ : Bunch
        The stages, from the largest set to the smallest: ``n_features``, ``weights`` (one row per
        stage), ``bandwidth``, ``criterion``, ``n_iter``, ``converged``.
    interactions_ : Bunch
        Sets of features that explain more jointly than separately, in the order found:
        ``features`` of shape (n_sets, largest size), as indices, filled up with -1; ``share``, how
        much of a product of functions of their ranks is associated with what single effects leave
        of the response; ``p_value``, the probability that any of all sets reaches this share
        without interactions, at most 0.05; NaN if rows depend on each other. With names:
        :meth:`interactions_frame`.
    spread_ : Bunch
        Features that affect the spread of a numeric response and have no effect on its mean, often
        because they interact: ``features`` as indices, ``share`` and ``p_value`` as above.
    cv_results_ : Bunch or None
        Cross-validation results, if m or ε was chosen: ``n_features``, ``epsilon``, and, of shape
        (n_epsilons, n_sizes), ``mean_error`` and ``standard_error`` (fractions of the variance of
        y in the test folds). For a single classification target also ``accuracy``,
        ``balanced_accuracy``, ``log_loss`` and ``roc_auc`` (one versus rest); for survival
        ``concordance``; for an ``estimator`` ``mean_score``. Each has a standard error, such as
        ``accuracy_standard_error``. As a table: :meth:`cv_results_frame`.
    fold_frequency_ : ndarray of shape (n_features,) or None
        Fraction of the cross-validation folds whose training samples select each feature, among
        the first ``n_features_``; 0 for ``given`` columns.
    history_ : Bunch
        All optimisation steps: ``stage``, ``n_features``, ``objective``, ``gap``, ``n_active``.
    bandwidth_ : float
        Kernel bandwidth σ for ``n_features_`` features.
    epsilon_ : float
        Regularisation parameter ε used.
    n_iter_ : int
        Total number of optimisation steps.
    converged_ : bool
        Whether all stages converged.
    classes_ : ndarray, list of ndarray or None
        Class labels (a list of them for several outputs); None for regression.
    task_ : {"classification", "regression", "survival"}
        How y was read.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has column names.

    See Also
    --------
    unexplained_variance : Fraction of the variance of y that a set of features leaves unexplained.

    Examples
    --------
    Three features determine the four classes; each is useless on its own:

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
            Interval(Real, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            tuple,
            list,
        ],
        "cv": ["cv_object"],
        "estimator": [None, HasMethods(["fit"])],
        "scoring": [None, str, callable],
        "feature_groups": [None, dict, "array-like"],
        "given": [None, str, Integral, "array-like"],
        "column_types": [StrOptions({"auto", "strict"}), dict],
        "task": [StrOptions({"auto", "classification", "ordinal", "regression", "survival"})],
        "class_weight": [None, StrOptions({"balanced"}), dict],
        "standardize": ["boolean", StrOptions({"rank"})],
        "kernel": "no_validation",  # checked with a clearer error message in kernel_of
        "epsilon": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "formulation": "no_validation",
        "interactions": [
            StrOptions({"auto"}),
            "boolean",
            Interval(Integral, 0, None, closed="left"),
        ],
        "approximation": [StrOptions({"auto", "exact", "fourier"}), Fourier],
        "device": [None, str],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": VERBOSE,
        "long_run": [None, LongRun],
    }

    n_features_to_select: Any = "auto"
    _: KW_ONLY
    cv: Any = None
    estimator: Any = None
    scoring: Any = None
    feature_groups: Any = None
    given: Any = None
    column_types: Any = "auto"
    task: Task = "auto"
    class_weight: Any = None
    standardize: bool | Literal["rank"] = True
    kernel: KernelName | Configurable = "auto"
    epsilon: Any = "auto"
    formulation: Literal["path", "paper"] | Formulation = "path"
    interactions: bool | int | Literal["auto"] = "auto"
    approximation: Literal["auto", "exact", "fourier"] | Fourier = "auto"
    device: str | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int | str = "auto"
    long_run: LongRun | None = None

    if TYPE_CHECKING:  # scikit-learn makes this one

        def set_fit_request(  # noqa: D102
            self, *, sample_weight: bool | str | None = ..., groups: bool | str | None = ...
        ) -> Self: ...

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Rank the features of X by what they jointly explain of y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or Table
            Samples: numbers, or a data frame that may also hold text, categories and dates.
            Missing values are allowed. Sparse matrices, ``numpy.memmap`` files,
            :func:`covmin.open_parquet` and Dask collections are read in blocks, without a full
            copy, if random Fourier features are used. Torch tensors stay on their device.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Class labels or numbers; not needed with a table. Several outputs count equally,
            whatever their units. For survival, a structured array as in scikit-survival or, with
            ``task="survival"``, a table of two columns: event and time. Samples with a missing
            response are dropped, with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. A weight of 2 means to repeat the sample, and a weight of 0 to omit it.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient or a day. Cross-validation keeps the samples of
            a group in one fold. Without groups and ``cv``, samples that follow each other or are
            nearly copies and are alike, in a feature and in y, lead to a warning.

        Returns
        -------
        self : CCMSelector
            The fitted selector. If ``fit`` raises an error, the estimator is unchanged.
        """
        if self.long_run is not None:
            self.long_run.check()
        if self.estimator is not None or self.scoring is not None:
            check_scored(self.estimator, self.scoring)
        settings = settings_of(self)
        table = read(X, y, TableOptions.of(self), sample_weight, groups)
        settings.device = settings.device or table.device
        with one_blas_thread():
            columns = table.columns(self.standardize, settings.device)
        check_columns(table, columns)
        independent = check_independence(table, columns, is_cured=self.cv is not None)
        settings.independent = independent
        identity: dict[str, Any] = {}
        if self.long_run is not None and self.long_run.checkpoint is not None:
            identity = fingerprint(self.get_params(deep=False), columns, table.response)
        with Run.of(self.long_run or LongRun(), self.verbose, identity) as run:
            found = fit(table, columns, settings, run)
            attributes = present(found, run.steps, independent)
            # Warnings may be errors for the user. A failed fit changes nothing and keeps its
            # checkpoint, so warn before the attributes are set.
            warn_of_the_end(self, found, table, attributes, run)
        if attributes["feature_names_in_"] is None:
            del attributes["feature_names_in_"]
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        self.__dict__.update(attributes)
        self._fitted_on = tuple(map(remembered, (X, y)))
        return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of nested objects, such as ``kernel__degree``.

        A kernel, formulation, approximation or long_run given by name, or as None, is replaced by
        its object first.
        """
        makers: dict[str, Any] = {
            "kernel": lambda name: kernel_of(name, Formulation()),
            "formulation": formulation_of,
            "approximation": lambda _: Fourier(),
            "long_run": lambda _: LongRun(),
        }
        for name, made in makers.items():
            given = params.get(name, getattr(self, name))
            nested = any(key.startswith(f"{name}__") for key in params)
            if nested and (given is None or isinstance(given, str)):
                params[name] = copy(made(given))
        return super().set_params(**params)


def remembered(table: Any) -> Callable[[], Any]:
    """Return a weak reference to a table: a function that returns it as long as it exists."""
    try:
        return weakref.ref(table)
    except TypeError:  # of lists there are no weak references, and they are small: keep a copy
        copied = deepcopy(table) if isinstance(table, list | tuple) else None
        return lambda: copied
