"""Selection with a bound on the share of false discoveries."""

import warnings
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, _safe_indexing, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, Options

from covmin.core.kernels import Mixed
from covmin.data.checks import is_frame
from covmin.data.columns import PreparedColumns, prepare_columns
from covmin.data.far_values import FAR_VALUES
from covmin.data.outputs import SupportMixin, WholeColumnsMixin, unchanged_on_failure
from covmin.data.samples import TOO_FEW, Samples, check_columns, check_enough, warn_of_excluded
from covmin.data.tables import from_tensors
from covmin.runtime.repeats import N_JOBS, VERBOSE, for_many_fits, repeat
from covmin.runtime.seeds import seed_of
from covmin.runtime.threads import one_blas_thread
from covmin.runtime.validation import fit_context
from covmin.runtime.version import VersionedPickles
from covmin.selection.selector import CCMSelector

from .copula import TableKnockoffs
from .knockoff_filter import e_value_q_values, knockoff_e_values, knockoff_q_values
from .reading import by_column, note_columns, read_by, reader_of, rows_to_fit, weight_of
from .swap import Importance, swap_statistics

# What "auto" stands for here: a comparison of features with their copies gains from a ridge that
# does not follow the noise, and from more of the sum over single features. Only the ranking counts.
_AUTO: dict[str, Any] = {"n_features_to_select": 1, "kernel": Mixed(mixing=0.5), "epsilon": 0.01}

# The correlation of any two columns of two samples is one.
_MIN_SAMPLES = 3
# What has no least number of features, and makes no copies.
_FOR_FEW = "VerdictSelector, or conditional_dependence_test for single features"


@dataclass(eq=False, repr=False)
class KnockoffSelector(VersionedPickles, SupportMixin, WholeColumnsMixin, BaseEstimator):
    r"""Select features so that at most a given share of them is false, in expectation.

    Every feature gets a knockoff: a random copy that relates to the other features as the
    feature does and, by construction, knows nothing about y. The selector ranks features and
    copies together. A feature of no use has equal chances to stand before or behind its copy,
    so the copies that stand in front show how many of the features that do are false. A feature
    is whatever is chosen as one: a column, with its levels and its gaps, or a group of columns.

    Parameters
    ----------
    estimator : estimator, default=None
        What is fitted to features and copies together. None is :class:`CCMSelector`; what a
        CCMSelector has at "auto" is ``n_features_to_select=1, kernel=Mixed(mixing=0.5),
        epsilon=0.01`` here. Its ``groups``, ``given``, ``categorical_features``, ``column_types``
        and ``missing`` say how the table is read: ``KnockoffSelector(CCMSelector(given="age"))``.
        For any other estimator the table is read by the defaults of CCMSelector, and it is fitted
        to numbers: standardised columns, and indicators of levels and of gaps.
    fdr : float in (0, 1), default=0.1
        Bound on the false discovery rate: the expected share of false ones among the features
        kept. With ``offset=1`` at least 1/fdr features are kept, or none.
    importance : callable, default=None
        Called with the fitted estimator, gives the importance of each column, larger for
        better; such as ``lambda model: abs(model.coef_)``. Those of the columns of a feature are
        added. None uses ``ranking_``.
    offset : {0, 1}, default=1
        1 bounds the false discovery rate. 0 keeps more features, and bounds the number of
        false ones over the number kept plus 1/fdr, which is less.
    n_draws : int, default=1
        Number of times the copies are drawn. With several the result depends less on chance:
        e-values are averaged over the draws (Ren and Barber, 2024). At least 2/fdr features are
        then kept, or none: use it where many features matter, and clearly.
    n_jobs : int, default=None
        Draws worked on at once.
    random_state : int, RandomState instance or None, default=None
        Seed of the copies. None is a fixed seed, so that every run gives the same answer.
    verbose : int or "auto", default="auto"
        1 shows a progress bar, 0 does not; "auto" does after some seconds, at a terminal or in a
        notebook.

    Attributes
    ----------
    W_ : ndarray of shape (n_features,)
        Statistic of each feature, the mean over draws: positive where the feature stands
        before its copy, and larger the better the place of the better one of them. Columns of a
        group share theirs; given columns, which have no copies, have NaN.
    q_values_ : ndarray of shape (n_features,)
        The smallest ``fdr`` at which the feature is kept. With several draws, that of the
        e-values at hand, which themselves depend on ``fdr``. 0 for given columns.
    e_values_ : ndarray of shape (n_features,) or None
        Means over draws; None for a single draw.
    threshold_ : float
        Features with ``W_`` of at least this are kept; infinite if there are none. NaN for
        several draws.
    support_ : ndarray of bool of shape (n_features,)
        The features kept, and the given columns. There may be none.
    n_features_ : int
        Number of features kept; a group counts as one, and given columns do not count.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best: by e-value, if there are several draws, then
        by ``W_``, then by position. Columns of a group share theirs; given columns have 0.
    groups_ : ndarray of shape (n_groups,) or None
        Labels of the groups, where there are groups.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    See Also
    --------
    StabilitySelector : Bounds the number of false selections by subsampling.
    conditional_dependence_test : A p-value for one set of features given another.

    Notes
    -----
    A discovery is false if y is independent of the feature given all the others. The bound
    holds whatever y depends on and however, if the joint distribution of the features is
    known. Here they are taken to have a Gaussian copula: behind each column stand Gaussian
    variables, which numbers show by their ranks, and levels, ties and gaps by the interval
    they lie in. The correlation of these variables is estimated (shrunk as by Ledoit and
    Wolf); they are drawn given the table, their copies given them, and turned back into
    values. The bound is as good as this description of the *features*: skewed and discrete
    columns and heavy tails are part of it. Features that are non-monotone functions of others put
    it in doubt; where one follows the square of another, a warning says so. A wrong idea of y
    does not matter.

    Copies of a given column are the column itself: the others are compared given it. The copies
    of the columns of a group are drawn together, and only the group as a whole can be swapped.

    Duplicate rows are merged and their weights added, unless all columns have few values: a
    duplicate shares the response of its original, while its copy would not.

    Swapping a feature with its copy flips the sign of its statistic and changes no other, to
    the last bit: estimators see the columns in an order that depends only on their content.

    The covariance of features and copies together is the one of the smallest
    ``tr(G⁻¹)``, which keeps copies unlike their originals even where features are
    correlated. For groups it is taken over variables that are uncorrelated within each.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson and J. Lv, "Panning for gold: model-X knockoffs for
       high dimensional controlled variable selection", JRSS B 80, 2018.
    .. [2] A. Spector and L. Janson, "Powerful knockoffs via minimizing reconstructability",
       Annals of Statistics 50, 2022.
    .. [3] Z. Ren and R. F. Barber, "Derandomised knockoffs: leveraging e-values for false
       discovery rate control", JRSS B 86, 2024.
    .. [4] R. Dai and R. F. Barber, "The knockoff filter for FDR control in group-sparse and
       multitask regression", ICML 2016.
    .. [5] P. D. Hoff, "Extending the rank likelihood for semiparametric copula estimation",
       Annals of Applied Statistics 1, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin import KnockoffSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> y = (np.sin(2 * X[:, :6]) + X[:, :6]).sum(axis=1) + 0.5 * rng.standard_normal(200)
    >>> KnockoffSelector(fdr=0.2).fit(X, y).get_support(indices=True)
    array([0, 1, 2, 3, 4, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [None, HasMethods(["fit"])],
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "importance": [None, callable],
        "offset": [Options(Integral, {0, 1})],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": VERBOSE,
    }

    _takes_sparse: ClassVar[bool] = False  # a copy of a column of zeros is not sparse

    estimator: Any = None
    _: KW_ONLY
    fdr: float = 0.1
    importance: Importance | None = None
    offset: int = 1
    n_draws: int = 1
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int | str = "auto"

    def _warn_if_too_few(self, n_features: int) -> None:
        if n_features < self._fewest():
            warnings.warn(
                f"fdr={self.fdr:g} cannot be kept with fewer than {self._fewest()} features, and X "
                f"has {n_features}: none will be selected. Use {_FOR_FEW}, or allow a larger fdr.",
                UserWarning,
                stacklevel=4,
            )

    def _warn_if_nothing_was_kept(self, W: np.ndarray) -> None:
        """Say so where features stand out that are too few for any filter to keep."""
        n_outstanding = int((max(-W.min(), 0.0) < W).sum())
        if self.n_features_ or not 0 < n_outstanding < self._fewest() <= W.size:
            return
        warnings.warn(
            f"Nothing was kept, though {n_outstanding} feature(s) stand before every copy: with "
            f"fdr={self.fdr:g} a knockoff filter keeps at least {self._fewest()} features, or "
            f"none. Where few features matter, use {_FOR_FEW}.",
            UserWarning,
            stacklevel=4,
        )

    def _fewest(self) -> int:
        """The fewest features that the filter can keep, if any."""
        return int(np.ceil(self.offset / self._level()))

    def _level(self) -> float:
        """The level of each draw; of several half, as Ren and Barber advise.

        At the full level most averages would just fall short.
        """
        return self.fdr if self.n_draws == 1 else self.fdr / 2.0

    # The estimator inside validates its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw copies of the features and keep the features that beat theirs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, in memory: numbers, or a frame that also has text, categories and dates. Values
            may be missing.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, one or several real responses, or times to an event, as the estimator
            takes them. Samples without a response are left out, with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, in the distribution of the features and in the estimator.

        Returns
        -------
        self : KnockoffSelector
            Fitted. A fit that fails leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            estimator, seed = self._estimator(), seed_of(self.random_state)
            table = _read(estimator, X, y, sample_weight, seed)
            self._warn_if_too_few(table.samples.plan.n_choices)
            with one_blas_thread():
                # Not [seed, 0], the numbers of default_rng(seed), from which simulated samples are
                # often made.
                knockoffs = table.knockoffs(np.random.default_rng([seed, self.n_draws + 1]))
                _warn_of_bends(knockoffs.bends(), table.samples.column_labels)
            compare = partial(self._compare, estimator, table, knockoffs, seed)
            with warnings.catch_warnings():
                for said in (FAR_VALUES, TOO_FEW):  # said above, of the features alone
                    warnings.filterwarnings("ignore", message=said)
                found = repeat(
                    compare, range(self.n_draws), "knockoffs", "draw", self.n_jobs, self.verbose
                )
            plan = table.samples.plan
            W = np.zeros((self.n_draws, plan.given.size))
            W[:, table.columns.unit_index] = found
            self._store(W[:, ~plan.given], table.samples)
        return self

    def _estimator(self) -> Any:
        """A clone of the estimator; what a CCMSelector leaves to be chosen is chosen here."""
        if self.estimator is None:
            return CCMSelector(**_AUTO)
        estimator = for_many_fits(self.estimator, self)
        if isinstance(estimator, CCMSelector):
            left = {name: getattr(estimator, name) for name in _AUTO}
            auto = {
                name for name, value in left.items() if isinstance(value, str) and value == "auto"
            }
            estimator.set_params(**{name: _AUTO[name] for name in auto})
        return estimator

    def _compare(
        self, estimator: Any, table: "_Table", knockoffs: TableKnockoffs, seed: int, draw: int
    ) -> np.ndarray:
        """W of each unit by one draw of the copies."""
        copies = knockoffs.draw(np.random.default_rng([seed, draw + 1]))
        return swap_statistics(
            clone(estimator),
            table.Z,
            table.columns.apply(copies),
            table.y,
            units=table.columns.units,
            importance=self.importance,
            standardize=table.is_standardized,
            sample_weight=table.weight,
        )

    def _store(self, W: np.ndarray, samples: Samples) -> None:
        """Write the fitted attributes from statistics (n_draws, n_choices)."""
        mean = W.mean(axis=0)
        keys, e = [-mean], None
        if self.n_draws == 1:
            q = knockoff_q_values(W[0], self.offset)
        else:
            each = [knockoff_e_values(row, self._level(), self.offset) for row in W]
            e = np.mean(each, axis=0)
            q = e_value_q_values(e)
            keys.append(-e)
        kept = q <= self.fdr
        plan = samples.plan

        note_columns(self, samples)
        self.W_ = by_column(mean, np.nan, plan)
        self.q_values_ = by_column(q, 0.0, plan)
        self.e_values_ = None if e is None else by_column(e, np.nan, plan)
        self.support_ = by_column(kept, True, plan)
        self.ranking_ = by_column(np.argsort(np.lexsort(keys)) + 1, 0, plan)
        self.n_features_ = int(kept.sum())
        least = float(mean[kept].min(initial=np.inf))
        self.threshold_ = least if self.n_draws == 1 else np.nan
        self.groups_ = samples.labels
        self._warn_if_nothing_was_kept(mean)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        reads = get_tags(reader_of(self.estimator)).input_tags
        tags.input_tags.allow_nan = reads.allow_nan
        tags.input_tags.string, tags.input_tags.categorical = reads.string, reads.categorical
        return tags


@dataclass(frozen=True)
class _Table:
    """What is copied and compared."""

    samples: Samples
    encoded: np.ndarray  # (n_rows, n_encoded), NaN where a value is missing
    columns: PreparedColumns  # how the estimator sees them
    Z: np.ndarray  # (n_rows, n_varying), what it sees
    y: Any  # of these rows, as it was passed
    weight: np.ndarray | None  # of these rows, where there are weights
    is_standardized: bool

    def knockoffs(self, rng: np.random.Generator) -> TableKnockoffs:
        weight = np.ones(len(self.Z)) if self.weight is None else self.weight
        p = weight / weight.sum()
        return TableKnockoffs(self.encoded, self.samples.plan, self.columns.index, p, rng)


def _read(estimator: Any, X: Any, y: Any, sample_weight: Any, seed: int) -> _Table:
    """Read a table by the parameters of the estimator, or by the defaults of CCMSelector."""
    if issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required: pass X.toarray()."
        )
    reader = reader_of(estimator)
    X, reader.device, y, sample_weight = from_tensors(X, reader.device, y, sample_weight)
    samples = read_by(reader, estimator, X, y, sample_weight).in_memory()
    encoded, how = np.asarray(samples.X, dtype=np.float64), reader.standardize
    # Without the weights of classes: a copy must not know of y.
    weight = weight_of(sample_weight, samples)
    Y = samples.response.Y
    columns = prepare_columns(encoded, how, plan=samples.plan, sample_weight=weight, Y=Y)
    check_columns(samples, columns, how)
    warn_of_excluded(samples)
    check_enough(samples, columns)
    rows, weight = rows_to_fit(columns, estimator, seed, is_weighted=weight is not None)
    if len(rows) < _MIN_SAMPLES:
        raise ValueError(
            f"Found array with {len(rows)} sample(s) while a minimum of {_MIN_SAMPLES} is required "
            "by KnockoffSelector."
        )
    y = y if hasattr(y, "dtype") or is_frame(y) else np.asarray(y)
    y = _safe_indexing(y, samples.row[rows])
    return _Table(samples, encoded[rows], columns, columns.X[rows], y, weight, bool(how))


def _warn_of_bends(pairs: np.ndarray, labels: np.ndarray) -> None:
    if len(pairs):
        first, second = labels[pairs[0]].tolist()
        more = f" (and {len(pairs) - 1} more such pairs)" if len(pairs) > 1 else ""
        warnings.warn(
            f"Column {second!r} follows the square of column {first!r}{more}, and no Gaussian "
            "copula does: copies can be told from their originals, and more than a share fdr of "
            "the features kept may be false. Leave one of them out, make a group of them, or "
            f"use {_FOR_FEW}.",
            UserWarning,
            stacklevel=4,
        )
