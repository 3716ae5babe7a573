"""Selection frequencies over random halves of the samples."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, _safe_indexing, check_array, get_tags
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from covmin.data import Table
from covmin.data.blocks.array import Blocks
from covmin.data.columns import LEFT_OUT, summary
from covmin.data.dtypes import is_frame
from covmin.data.independence import check_independence
from covmin.data.response import ordered_levels
from covmin.remarks import warn
from covmin.runtime.compat import HasMethods, Interval, fit_context
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.run import for_many_fits, repeat
from covmin.runtime.seeds import seed_of
from covmin.selection.selector import CCMSelector

from .error_control import false_selections, smallest_threshold
from .refitting import (
    InferenceSelector,
    by_column,
    check_size,
    read_for,
    rows_to_fit,
    shared_constraints,
)

_ROUNDING = 1e-9


@dataclass(eq=False, repr=False)
class StabilitySelector(InferenceSelector):
    """Keep the features that a selector selects repeatedly on random halves of the samples.

    The samples are split into two random halves, ``n_pairs`` times, and the selector is fitted to
    each half. Features that a large enough fraction of the fits selects are kept, which bounds the
    expected number of false selections [1]_.

    Parameters
    ----------
    estimator : selector, default=None
        Any object with ``fit`` and ``get_support``, which should select a fixed, small number q of
        features. None means ``CCMSelector(q)`` with q² ≈ 0.8·d, which bounds the number of false
        selections at a threshold of 0.9 by one, without further assumptions. The parameters of a
        CCMSelector, such as ``feature_groups`` and ``given``, determine what counts as a feature.
    threshold : float in (0, 1], default=0.75
        Smallest frequency of a feature that is kept. Only thresholds above ½ have a bound.
    max_false : float, default=None
        Instead of ``threshold``, use the smallest threshold whose bound ``r_concave`` on the
        expected number of false selections is at most this.
    n_pairs : int, default=50
        Number of pairs of halves; the selector is fitted twice for each.
    n_jobs, random_state, verbose
        Number of fits to run in parallel, seed of the halves, and whether to show progress, as in
        :class:`CCMSelector`.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features,)
        Fraction of the fits that selected each feature; 1 for given columns.
    mean_ranks_ : ndarray of shape (n_features,) or None
        Mean rank of each feature over the fits, if the selector ranks features.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by frequency, then by mean rank, then by position; 1 is best. Columns
        of a group share a rank; given columns have rank 0.
    support_, n_features_ : ndarray of bool of shape (n_features,), int
        Mask of the features kept and of the given columns, and number of features kept, without
        given ones; a group counts as one. There may be none.
    threshold_, n_selected_ : float
        Smallest frequency of a kept feature; mean number q of features that a fit selected.
    error_bound_ : Bunch
        Bounds on the expected number of false selections at ``threshold_``: ``worst_case`` and
        ``r_concave``.
    feature_groups_, n_features_in_, feature_names_in_
        As in :class:`CCMSelector`.

    See Also
    --------
    KnockoffSelector : Bounds the fraction of false selections instead of their number.
    covmin.plotting.RankingDisplay : Plots the frequencies.

    Notes
    -----
    A selection is false if a fit on half of the samples selects the feature no more often than a
    random choice of q features, with a probability of at most q/d. ``worst_case`` is
    ``q² / d(2τ − 1)`` and only requires independent samples. ``r_concave`` is much smaller. It
    assumes that the tail of the number of pairs that select such a feature decreases at least like
    a power, which cannot be checked on a single data set. Duplicate rows are merged, unless all
    columns have few values or the selector accepts no weights: two halves must not share a sample.

    References
    ----------
    .. [1] R. D. Shah and R. J. Samworth, "Variable selection with error control: another look
       at stability selection", Journal of the Royal Statistical Society B 75, 2013.

    Examples
    --------
    >>> from covmin import CCMSelector, StabilitySelector
    >>> from covmin.datasets import make_xor
    >>> X, y = make_xor(120, random_state=0, return_X_y=True)
    >>> selector = StabilitySelector(CCMSelector(3), n_pairs=10, threshold=0.9).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1, 2])
    >>> selector.frequencies_[:3]
    array([1., 1., 1.])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [None, HasMethods(["fit", "get_support"])],
        "threshold": [Interval(Real, 0, 1, closed="right")],
        "max_false": [None, Interval(Real, 0, None, closed="neither")],
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        **shared_constraints("n_jobs", "random_state", "verbose"),
    }

    # Metadata that scikit-learn may route here.
    __metadata_request__fit: ClassVar[dict[str, None]] = {"sample_weight": None}

    estimator: Any = None
    _: KW_ONLY
    threshold: float = 0.75
    max_false: float | None = None
    n_pairs: int = 50
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int | str = "auto"

    # The inner selector validates its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any) -> Self:
        """Fit the selector to halves of the samples and count how often it selects each feature.

        Parameters
        ----------
        X, y
            As in :meth:`CCMSelector.fit`, with X in memory. A data frame is passed to the selector
            unchanged. Classes are split evenly between halves.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample. Samples of a group are in one half, and a selector whose ``fit``
            takes groups gets them. Without groups, samples that depend on each other are refused.
        **fit_params : dict
            Parameters of the selector's ``fit``, such as ``sample_weight``. Those of samples are
            split into halves.

        Returns
        -------
        self : StabilitySelector
            The fitted selector. If ``fit`` raises an error, the estimator is unchanged.
        """
        table = self._read(X, y, fit_params.get("sample_weight"), groups)
        estimator = self._estimator(table)
        with one_blas_thread():
            columns = table.columns(True)
        check_independence(table, columns, refuses=True)
        rows, weight = rows_to_fit(table, columns, estimator, 0)
        if len(rows) == table.n_samples and np.ptp(columns.p) == 0.0:
            rows, weight = np.arange(table.n_samples), None  # in table order
        # Groups are split, by the class or event of their first row.
        groups = None if table.groups is None else table.groups[rows]
        labels = np.arange(len(rows)) if groups is None else groups
        _, first, group = np.unique(labels, return_index=True, return_inverse=True)
        strata = table.response.strata
        strata = np.zeros(len(rows), dtype=int) if strata is None else strata[rows]
        halves = _complementary_halves(strata[first], self.n_pairs, seed_of(self.random_state))
        fit_params = _check_method_params(table.passed[0], fit_params, table.row[rows])
        if weight is not None:
            fit_params["sample_weight"] = weight
        if groups is not None and has_fit_parameter(estimator, "groups"):
            fit_params["groups"] = groups
        X, y = (_safe_indexing(part, table.row[rows]) for part in table.passed)
        choose = partial(_choose, estimator, X, y, fit_params)
        of_half = [np.flatnonzero(np.isin(group, half)) for half in halves]
        fits = repeat(choose, of_half, "stability", "half", self.n_jobs, self.verbose)
        self._count(fits, table)
        return self

    @property
    def _selector(self) -> Any:
        """The inner selector, as passed, or the default."""
        return CCMSelector() if self.estimator is None else self.estimator

    def _read(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Table:
        passed = X.passed[0] if isinstance(X, Table) else X
        if isinstance(passed, Blocks) or hasattr(passed, "__dask_graph__"):
            raise TypeError(
                "StabilitySelector uses random halves of the rows, which must be in memory; X is a "
                f"{type(passed).__name__}. Load it, or a sample of its rows, into an array or a "
                "data frame first (compute() for Dask, pandas.read_parquet)."
            )
        selector = self._selector
        takes_missing = get_tags(selector).input_tags.allow_nan
        if not isinstance(selector, CCMSelector) and not isinstance(X, Table) and not is_frame(X):
            # It cannot read text.
            X = check_array(X, dtype="numeric", accept_sparse="csr", ensure_all_finite="allow-nan")
        table = read_for(selector, X, y, sample_weight, groups, takes_missing=takes_missing)
        passed, y = table.passed
        if not is_frame(passed):  # rows can be taken of it
            passed = check_array(passed, accept_sparse="csr", dtype=None, ensure_all_finite=False)
            table = replace(table, passed=(passed, y))
        groups = table.row if table.groups is None else table.groups
        check_size(np.unique(groups).size, 4, type(self).__name__)
        return table

    def _estimator(self, table: Table) -> Any:
        """Return the estimator for each half, which may look different from all samples."""
        q = max(1, int(np.sqrt(0.8 * table.layout.n_choices)))
        estimator = CCMSelector(q) if self.estimator is None else self.estimator
        estimator = for_many_fits(estimator, self)
        strict = table.options.column_types == "strict"
        if isinstance(estimator, CCMSelector) and table.readings and not strict:
            kinds = {j: "drop" if k in LEFT_OUT else str(k) for j, k in enumerate(table.kinds)}
            estimator.set_params(column_types=kinds)
            if out := [reading for reading in table.readings if reading.kind in LEFT_OUT]:
                columns = [reading.column for reading in out]
                warn("excluded-columns", " ".join(summary(out)), columns)
        if "task" not in estimator.get_params(deep=False):
            return estimator
        response = table.response
        if response.labels is not None and (counts := np.bincount(response.labels)).min() < 2:
            raise ValueError(
                f"Class {response.classes[counts.argmin()]} has only one sample, so one half of "
                "the samples would lack it. Drop or merge rare classes, or pass an estimator with "
                "task='regression'."
            )
        if estimator.task == "auto" and ordered_levels(table.passed[1]) is None:
            estimator.set_params(task=response.task)  # fewer values may look like classes
        return estimator

    def __sklearn_tags__(self) -> Tags:
        return self._tags_of(self._selector)

    def _count(self, fits: list[tuple[np.ndarray, np.ndarray | None]], table: Table) -> None:
        """Set the fitted attributes from masks and ranks of all fits."""
        layout = table.layout
        # A feature is represented by its first column; given ones are not selected.
        _, first = np.unique(layout.unit, return_index=True)
        column = first[~layout.given]
        chosen = np.array([support for support, _ in fits])
        frequencies = chosen.mean(axis=0)
        q = float(chosen[:, column].sum(axis=1).mean())
        ranks = [ranking for _, ranking in fits if ranking is not None]
        mean_ranks = np.mean(ranks, axis=0) if len(ranks) == len(fits) else None
        ties = np.zeros(column.size) if mean_ranks is None else mean_ranks[column]
        ranking = np.argsort(np.lexsort((ties, -chosen[:, column].sum(axis=0)))) + 1
        known = q, column.size, self.n_pairs
        threshold = float(self.threshold)
        if self.max_false is not None:
            threshold = smallest_threshold(self.max_false, *known)
        kept = frequencies[column] >= threshold - _ROUNDING
        self._present(
            table,
            frequencies_=frequencies,
            n_selected_=q,
            mean_ranks_=mean_ranks,
            threshold_=threshold,
            error_bound_=false_selections(threshold, *known),
            n_features_=int(kept.sum()),
            ranking_=by_column(layout, ranking, 0),
            support_=by_column(layout, kept, True),
        )


def _choose(
    estimator: Any, X: Any, y: Any, fit_params: dict[str, Any], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the mask and, if the selector ranks features, the ranks of one fit."""
    params = _check_method_params(X, fit_params, rows)
    fitted = clone(estimator).fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **params)
    return np.asarray(fitted.get_support()), getattr(fitted, "ranking_", None)


def _complementary_halves(strata: np.ndarray, n_pairs: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the rows of both halves of each pair, stratified by class.

    Classes with a single row cannot be split; they are combined. With an odd number of samples, a
    random one of the largest class is omitted.
    """
    rng = np.random.default_rng(seed)
    n, counts = strata.size, np.bincount(strata)
    strata = np.where(counts[strata] < 2, counts.size, strata)
    largest = int(np.bincount(strata).argmax())
    for _ in range(n_pairs):
        # Sort by class, with classes in random order; every second sample goes to one half.
        place = rng.permutation(int(strata.max()) + 1)
        place[largest] = place.size
        order = np.lexsort((rng.random(n), place[strata]))
        yield np.sort(order[0 : n - 1 : 2])
        yield np.sort(order[1:n:2])
