"""Selection with control of the false discovery rate, by knockoffs."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Tags, _safe_indexing

from covmin.constants import KNOCKOFF_KERNEL
from covmin.core.kernels.additive import Mixed
from covmin.core.units import ALWAYS_ON, Units
from covmin.data import Table
from covmin.data.independence import check_independence, one_of_each_group
from covmin.data.standardize import prepare_columns
from covmin.data.table import check_columns
from covmin.remarks import silenced, warn
from covmin.runtime.compat import HasMethods, Interval, fit_context
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.run import for_many_fits
from covmin.runtime.seeds import seed_of
from covmin.selection.selector import CCMSelector

from .copula import TableKnockoffs
from .error_control import knockoff_q_values
from .refitting import (
    InferenceSelector,
    by_column,
    check_size,
    read_for,
    rows_to_fit,
    shared_constraints,
)

Importance = Callable[[Any], np.ndarray]

# The meaning of "auto" here; only the ranking matters.
_AUTO: dict[str, Any] = {
    "n_features_to_select": 1,
    "kernel": Mixed(mixing=KNOCKOFF_KERNEL[0]),
    "epsilon": KNOCKOFF_KERNEL[1],
}

# Alternatives without a minimum number of features and without copies.
_FOR_FEW = "VerdictSelector, or conditional_dependence_test for single features"


@dataclass(eq=False, repr=False)
class KnockoffSelector(InferenceSelector):
    r"""Select features with control of the false discovery rate, by model-X knockoffs.

    Every feature, a column or a group, gets a knockoff: a random copy that has the same dependence
    on the other features but carries no information about y. An irrelevant feature is equally
    likely to rank before or after its copy, so the number of copies that rank first estimates the
    number of false selections.

    Parameters
    ----------
    estimator : estimator, default=None
        Estimator that is fitted to features and copies together. None means :class:`CCMSelector`.
        In a CCMSelector, "auto" means ``n_features_to_select=1, kernel=Mixed(mixing=0.5),
        epsilon=0.01`` here. Its ``feature_groups``, ``given`` and ``column_types`` determine how
        the table is read. Any other estimator is fitted to standardised columns and to indicators
        of levels and missingness.
    fdr : float in (0, 1), default=0.1
        Bound on the false discovery rate, the expected fraction of false ones among the features
        kept. Either at least 1/fdr features are kept, or none.
    importance : callable, default=None
        Function of the fitted estimator that returns the importance of each column, such as
        ``lambda model: abs(model.coef_)``; larger is better. The importances of the columns of a
        feature are added. None uses ``ranking_``.
    random_state : int, RandomState instance or None, default=None
        Seed of the copies.

    Attributes
    ----------
    W_ : ndarray of shape (n_features,)
        Statistic of each feature: positive if the feature ranks before its copy, and larger in
        size the better the first of the two ranks. NaN for given columns.
    q_values_ : ndarray of shape (n_features,)
        The smallest ``fdr`` at which the feature is kept; 0 for given columns.
    threshold_ : float
        Features with ``W_`` of at least this value are kept; infinite if none is.
    support_, n_features_ : ndarray of bool of shape (n_features,), int
        Mask of the features kept and of the given columns, and number of features kept, without
        given ones; a group counts as one. There may be none.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by ``W_``, then by position; 1 is best. Columns of a group share a
        rank; given columns have rank 0.
    feature_groups_, n_features_in_, feature_names_in_
        As in :class:`CCMSelector`.

    See Also
    --------
    StabilitySelector : Bounds the number of false selections by subsampling.
    conditional_dependence_test : A p-value for one set of features given another.

    Notes
    -----
    A discovery is false if y is independent of the feature given all others. The bound holds for
    any dependence of y on the features [1]_, and is as good as the model of the *features*, a
    Gaussian copula: each column is a function of latent Gaussian variables, which numbers determine
    by their ranks, and levels, ties and missing values up to an interval [3]_. It covers no feature
    that is a non-monotone function of others. If one clearly depends on a curve of another or,
    among at most a few hundred, on the product of two, a warning is issued, and neither it nor they
    are kept: their copies differ from them whatever y is. The joint covariance G of
    features and copies minimises ``tr(G⁻¹)`` [2]_.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson and J. Lv, "Panning for gold: model-X knockoffs for
       high dimensional controlled variable selection", JRSS B 80, 2018.
    .. [2] A. Spector and L. Janson, "Powerful knockoffs via minimizing reconstructability",
       Annals of Statistics 50, 2022.
    .. [3] P. D. Hoff, "Extending the rank likelihood for semiparametric copula estimation",
       Annals of Applied Statistics 1, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin import KnockoffSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 20))
    >>> y = (np.sin(2 * X[:, :6]) + X[:, :6]).sum(axis=1) + 0.5 * rng.standard_normal(300)
    >>> KnockoffSelector(fdr=0.2).fit(X, y).get_support(indices=True)
    array([0, 1, 2, 3, 4, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [None, HasMethods(["fit"])],
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "importance": [None, callable],
        **shared_constraints("random_state"),
    }

    _takes_sparse: ClassVar[bool] = False  # a copy of a sparse column is not sparse

    estimator: Any = None
    _: KW_ONLY
    fdr: float = 0.1
    importance: Importance | None = None
    random_state: Any = None

    # The inner estimator validates its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Draw copies of the features and keep the features that rank before them.

        Parameters
        ----------
        X, y
            As in :meth:`CCMSelector.fit`, with X in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights, for the distribution of the features and for the estimator.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample. One sample of each group, drawn at random, is used: samples of a
            group may be alike. Without groups, samples that depend on each other are refused.

        Returns
        -------
        self : KnockoffSelector
            The fitted selector. If ``fit`` raises an error, the estimator is unchanged.
        """
        if issparse(X):
            raise TypeError(
                "Sparse data was passed for X, but dense data is required: pass X.toarray()."
            )
        estimator = self._estimator()
        standardize = estimator.standardize if isinstance(estimator, CCMSelector) else True
        table = read_for(estimator, X, y, sample_weight, groups).in_memory()
        if isinstance(estimator, CCMSelector):
            estimator.device = estimator.device or table.device
        table = replace(table, X=np.asarray(table.X, dtype=np.float64))
        columns = table.columns(standardize)
        check_columns(table, columns)
        check_independence(table, columns, refuses=True)
        seed = seed_of(self.random_state)
        rows, weight = rows_to_fit(table, columns, estimator, seed)
        chosen = one_of_each_group(table.groups, rows)
        rows, weight = rows[chosen], None if weight is None else weight[chosen]
        # Any two columns of two samples have a correlation of one.
        check_size(len(rows), 3, type(self).__name__)
        p = np.full(len(rows), 1.0 / len(rows)) if weight is None else weight / weight.sum()
        # Not default_rng(seed) itself, by which simulated samples often are drawn.
        rng = np.random.default_rng([seed, 1])
        with one_blas_thread():
            knockoffs = TableKnockoffs(table.X[rows], table.layout, columns.index, p, rng)
            copies = columns.apply(knockoffs.draw(rng)).take(np.arange(len(rows)))
        curved = knockoffs.curved()
        self._warn_of_assumptions(table, curved)
        # What is silenced was already issued for the features.
        with one_blas_thread(), silenced("too-few-samples", "dependent-rows", "guessed-task"):
            of_units = swap_statistics(
                estimator,
                columns.X.take(rows),
                copies,
                _safe_indexing(table.passed[1], table.row[rows]),
                units=columns.units,
                importance=self.importance,
                standardize=bool(standardize),
                sample_weight=weight,
            )
        W = np.zeros(table.layout.given.size)
        W[columns.unit_index] = of_units
        # Their copies differ from them whatever y is.
        W[table.layout.unit[table.layout.source[curved]]] = 0.0
        self._filter(W[~table.layout.given], table)
        return self

    def _estimator(self) -> Any:
        """Return a clone of the estimator, with "auto" of a CCMSelector replaced."""
        given = CCMSelector() if self.estimator is None else self.estimator
        estimator = for_many_fits(given, self)
        if isinstance(estimator, CCMSelector):
            auto = {n: value for n, value in _AUTO.items() if str(getattr(estimator, n)) == "auto"}
            estimator.set_params(**auto)
        return estimator

    def _warn_of_assumptions(self, table: Table, curved: np.ndarray) -> None:
        """Warn if the filter cannot keep anything, or if the model of the features is wrong."""
        if table.layout.n_choices < self._fewest:
            warn(
                "too-few-features",
                f"fdr={self.fdr:g} requires at least {self._fewest} features, but X has "
                f"{table.layout.n_choices}: none will be selected. Use {_FOR_FEW}, or a larger "
                "fdr.",
            )
        if len(curved):
            *others, bent = curved[0]
            *names, name = table.column_labels[[*np.unique(others), bent]].tolist()
            what = " and ".join(map(repr, names))
            n_columns = np.unique(table.layout.source[curved]).size
            warn(
                "not-gaussian",
                f"Column {name!r} follows a curve or a product of {what}, which a Gaussian copula "
                f"cannot represent: {n_columns} columns of this kind cannot be judged and are not "
                f"kept. Put those that belong together in a group, drop some, or use {_FOR_FEW}.",
                [*names, name],
            )

    def _filter(self, W: np.ndarray, table: Table) -> None:
        """Set the fitted attributes from the statistics of all features but given ones."""
        q = knockoff_q_values(W)
        kept = q <= self.fdr
        n_outstanding = int((max(-W.min(), 0.0) < W).sum())
        if not kept.any() and 0 < n_outstanding < self._fewest <= W.size:
            warn(
                "nothing-kept",
                f"Nothing was kept, though the first {n_outstanding} precede every copy: with "
                f"fdr={self.fdr:g} a knockoff filter keeps at least {self._fewest} features, or "
                f"none. If few features matter, use {_FOR_FEW}.",
            )
        by_input = partial(by_column, table.layout)
        self._present(
            table,
            W_=by_input(W, np.nan),
            q_values_=by_input(q, 0.0),
            support_=by_input(kept, True),
            ranking_=by_input(np.argsort(np.argsort(-W, kind="stable")) + 1, 0),
            n_features_=int(kept.sum()),
            threshold_=float(W[kept].min(initial=np.inf)),
        )

    @property
    def _fewest(self) -> int:
        """The smallest number of features that the filter can keep, beside none."""
        return int(np.ceil(1.0 / self.fdr))

    def __sklearn_tags__(self) -> Tags:
        own = isinstance(self.estimator, CCMSelector)
        tags = self._tags_of(self.estimator if own else CCMSelector())
        tags.input_tags.categorical = True
        return tags


def swap_statistics(
    estimator: Any,
    Z: np.ndarray,
    copies: np.ndarray,
    y: Any,
    *,
    units: Units | None = None,
    importance: Importance | None = None,
    standardize: bool = True,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return W of each unit, which is positive if the unit is better than its copy.

    For a ranking, W is the position of the better of the two, counted from the end, with a negative
    sign if it is the copy. For importances, which are summed over the columns of a unit, W is their
    difference. Swapping a unit with its copy only changes the sign of its own W.
    """
    units = Units.single(Z.shape[1]) if units is None else units
    copied = np.flatnonzero(units.of_column != ALWAYS_ON)
    of_copied = units.of_column[copied]
    # The weights of columns within their unit, relative to equal weights.
    shares = units.scale.copy()
    shares[copied] *= np.sqrt(units.sizes[of_copied])
    # Units come first, then their copies; given columns belong to neither.
    side = np.concatenate([units.of_column, of_copied + units.size])
    both = np.hstack([Z * shares, (copies * shares)[:, copied]])
    if standardize:  # to a mean variance of one in each unit
        p = np.ones(len(Z)) if sample_weight is None else sample_weight
        both = both - (p / p.sum()) @ both
        own = np.flatnonzero(side != ALWAYS_ON)
        total = np.bincount(side[own], (p / p.sum()) @ both[:, own] ** 2)
        scale = np.sqrt(total / np.maximum(np.bincount(side[own]), 1))[side[own]]
        both[:, own] /= np.where(scale > 0.0, scale, 1.0)
    # Order by content, so that the estimator cannot recognise a copy by its position.
    order = prepare_columns(both, standardize=False).index
    both, side = both[:, order], side[order]
    if isinstance(estimator, CCMSelector):
        given = side == ALWAYS_ON
        labels = np.where(given, side.max(initial=0) + 1 + np.arange(side.size), side)
        estimator.set_params(
            feature_groups=labels.tolist() if np.unique(labels).size < labels.size else None,
            given=given.tolist() if given.any() else None,
            column_types="strict",
            standardize=False,
        )
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    estimator.fit(both, y, **weights)
    values = _values(estimator, side, 2 * units.size, importance)
    own, other = values[: units.size], values[units.size :]
    W = own - other
    if importance is None:
        W = np.sign(W) * np.maximum(own, other)
    # Equal columns would be ranked by position, and a copy may be constant by chance.
    differs = (copies != Z).any(axis=0) & (copies != copies[:1]).any(axis=0)
    return np.where(np.bincount(of_copied, differs[copied], minlength=units.size) > 0, W, 0.0)


def _values(
    estimator: Any, side: np.ndarray, n_sides: int, importance: Importance | None
) -> np.ndarray:
    """Return the importance of each unit and each copy; larger is better."""
    free = side != ALWAYS_ON
    values = np.zeros(n_sides)
    if importance is not None:
        found = np.asarray(importance(estimator), dtype=np.float64)
        if found.shape != side.shape:
            raise ValueError(
                f"importance must return one number for each of the {side.size} columns, "
                f"features and knockoffs; got an array of shape {found.shape}."
            )
        np.add.at(values, side[free], found[free])
        return values
    ranking = getattr(estimator, "ranking_", None)
    if ranking is None:
        raise ValueError(
            f"{type(estimator).__name__} has no ranking_ after fit; pass importance=, a function "
            "of the fitted estimator such as lambda model: abs(model.coef_)."
        )
    last = np.unique(side[free]).size
    np.maximum.at(values, side[free], 1.0 + last - np.asarray(ranking)[free])
    return values
