"""Selection frequencies over random halves of the samples."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import Bunch, Tags, _safe_indexing, check_array, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params

from covmin.data import Table
from covmin.data.blocks import ArrayBlocks, in_blocks
from covmin.data.columns import LEFT_OUT, summary
from covmin.data.dtypes import is_frame
from covmin.data.response import EncodedResponse, ordered_levels
from covmin.data.standardize import n_features_to_keep, prepare_columns
from covmin.remarks import warn
from covmin.runtime.compat import HasMethods, Interval, RealNotInt, StrOptions, fit_context
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.run import for_many_fits, repeat
from covmin.runtime.seeds import seed_of
from covmin.selection.selector import CCMSelector

from .error_control import ASSUMPTIONS, false_selections, smallest_threshold
from .refitting import (
    InferenceSelector,
    Refit,
    by_column,
    read_for,
    rows_to_fit,
    shared_constraints,
)

# Each half must have at least two samples.
_MIN_SAMPLES = 4
_ROUNDING = 1e-9


@dataclass(eq=False, repr=False)
class StabilitySelector(InferenceSelector):
    """Keep the features that a selector selects repeatedly on random halves of the samples.

    The samples are split at random into two halves, ``n_pairs`` times, and the selector is fitted
    to each half. The fraction of these fits that select a feature is its selection frequency.
    Features whose frequency reaches a threshold are kept. The expected number of false selections
    is then bounded (Shah and Samworth, 2013).

    Parameters
    ----------
    estimator : selector, default=None
        Any object with ``fit`` and ``get_support``. It should select a fixed, small number q of
        features. None means ``CCMSelector(q)`` with q² ≈ 0.8·d, which bounds the number of false
        selections at a threshold of 0.9 by one, without further assumptions. The
        ``feature_groups``, ``given`` and other parameters of a CCMSelector determine what counts
        as a feature.
    threshold : float in (0, 1], default=0.75
        Smallest frequency of a feature that is kept. Only thresholds above ½ have a bound.
    max_false : float, default=None
        Instead of ``threshold``, use the smallest threshold that bounds the expected number of
        false selections by this number under ``assumption``.
    n_features_to_select : int or float in (0, 1], default=None
        Instead of ``threshold``, keep this number or fraction of features, those with the highest
        frequencies.
    assumption : {"r-concave", "unimodal", "none"}, default="r-concave"
        Assumption behind ``max_false``; see Notes.
    n_pairs : int, default=50
        Number of pairs of halves; the selector is fitted twice for each.
    n_jobs, random_state, verbose
        Number of fits to run in parallel, seed of the halves, and whether to show progress, as in
        :class:`CCMSelector`.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features,)
        Fraction of the fits that selected each feature; 1 for given columns.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by frequency; 1 is best. Ties are ordered by the mean rank that the
        selector gave them, if it ranks features, and then by position. Columns of a group share a
        rank; given columns have rank 0.
    mean_ranks_ : ndarray of shape (n_features,) or None
        Mean rank of each feature over the fits, if the selector ranks features.
    support_, n_features_ : ndarray of bool of shape (n_features,), int
        Mask of the features kept and of the given columns, and number of features kept, without
        given ones; a group counts as one. There may be none.
    threshold_ : float
        Smallest frequency of a kept feature.
    n_selected_ : float
        Mean number q of features that a fit selected, counted in the same way.
    error_bound_ : Bunch
        Bounds on the expected number of false selections at ``threshold_``: ``worst_case``,
        ``unimodal`` and ``r_concave``.
    feature_groups_, n_features_in_, feature_names_in_
        As in :class:`CCMSelector`.

    See Also
    --------
    KnockoffSelector : Bounds the fraction of false selections instead of their number.
    covmin.plotting.StabilityDisplay : Plots the frequencies.

    Notes
    -----
    A selection is false if a fit on half of the samples selects the feature with a probability of
    at most q/d, that is, no more often than a random selection of q features. Noise features have
    this property if the selector is no worse than guessing and treats all noise features alike.

    ``worst_case`` is ``q² / d(2τ − 1)`` and only requires independent samples. ``unimodal`` and
    ``r_concave`` are much smaller. They assume that the number of pairs that select such a feature
    has a unimodal distribution, or one whose tail decreases at least like a power, which cannot be
    checked on a single data set. All bounds treat q as known. If ``n_features_to_select``
    determines the threshold, they are descriptive. Duplicate rows are merged, unless all columns
    have few values or the selector accepts no weights: two halves must not share a sample.

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
        "n_features_to_select": [
            None,
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "assumption": [StrOptions(set(ASSUMPTIONS))],
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        **shared_constraints(),
    }

    estimator: Any = None
    _: KW_ONLY
    threshold: float = 0.75
    max_false: float | None = None
    n_features_to_select: int | float | None = None
    assumption: str = "r-concave"
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
        X, y, groups
            As in :meth:`CCMSelector.fit`, with X in memory. A data frame is passed to the selector
            unchanged. Classes are split evenly between halves.
        **fit_params : dict
            Parameters of the selector's ``fit``, such as ``sample_weight``, which are split into
            halves. With scikit-learn's metadata routing, the selector must request them.

        Returns
        -------
        self : StabilitySelector
            The fitted selector. If ``fit`` raises an error, the estimator is unchanged.
        """
        if self.max_false is not None and self.n_features_to_select is not None:
            raise ValueError(
                "max_false and n_features_to_select both determine how many features to keep; "
                "pass only one of them."
            )
        if fit_params and _routing_enabled():
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        data = self._read(X, y, fit_params.get("sample_weight"), groups)
        estimator = self._estimator(data.table)
        rows, weight = _rows_to_split(data, estimator)
        numbers = data.table.row[rows]
        strata = data.table.response.strata  # classes or events
        strata = np.zeros(len(rows), dtype=int) if strata is None else strata[rows]
        halves = list(_complementary_halves(strata, self.n_pairs, seed_of(self.random_state)))
        if weight is not None:
            of_all = np.zeros(len(data.y))
            of_all[numbers] = weight
            fit_params = fit_params | {"sample_weight": of_all}
        choose = partial(_choose, estimator, _indexable(data.X), data.y, fit_params, numbers)
        fits = repeat(choose, halves, "stability", "half", self.n_jobs, self.verbose)
        self._count(fits, data.table)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata that the inner selector has requested.

        Returns
        -------
        routing : MetadataRouter
            From ``fit`` to the ``fit`` of the selector.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self._selector, method_mapping=mapping)

    @property
    def _selector(self) -> Any:
        """The inner selector, as passed, or the default."""
        return CCMSelector() if self.estimator is None else self.estimator

    def _read(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Refit:
        passed = X.passed[0] if isinstance(X, Table) else X
        if in_blocks(passed) or hasattr(passed, "__dask_graph__"):
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
        data = read_for(selector, X, y, sample_weight, groups, takes_missing=takes_missing)
        if data.table.n_samples < _MIN_SAMPLES:
            raise ValueError(
                f"Found array with {data.table.n_samples} sample(s) while a minimum of "
                f"{_MIN_SAMPLES} is required, two for each half."
            )
        return data

    def _estimator(self, table: Table) -> Any:
        """Return the estimator for each half, which reads columns as for all samples."""
        q = max(1, int(np.sqrt(0.8 * table.layout.n_choices)))
        estimator = CCMSelector(q) if self.estimator is None else self.estimator
        estimator = for_many_fits(estimator, self)
        if isinstance(estimator, CCMSelector):
            _fix_kinds(estimator, table)
        if "task" in estimator.get_params(deep=False):
            _check_rare_classes(table.response)
            # Fewer values may look like classes.
            if estimator.task == "auto" and ordered_levels(table.passed[1]) is None:
                estimator.set_params(task=table.response.task)
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
            threshold = smallest_threshold(self.max_false, *known, self.assumption)
        kept = frequencies[column] >= threshold - _ROUNDING
        if self.n_features_to_select is not None:
            kept = ranking <= n_features_to_keep(self.n_features_to_select, column.size)
            threshold = float(frequencies[column][kept].min())
        names = {"none": "worst_case", "unimodal": "unimodal", "r-concave": "r_concave"}
        bounds = {name: false_selections(threshold, *known, a) for a, name in names.items()}
        self._present(
            table,
            frequencies_=frequencies,
            n_selected_=q,
            mean_ranks_=mean_ranks,
            threshold_=threshold,
            error_bound_=Bunch(**bounds),
            n_features_=int(kept.sum()),
            ranking_=by_column(layout, ranking, 0),
            support_=by_column(layout, kept, True),
        )


def _choose(
    estimator: Any,
    X: Any,
    y: Any,
    fit_params: dict[str, Any],
    numbers: np.ndarray,
    half: np.ndarray,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the mask and, if the selector ranks features, the ranks of one fit."""
    rows = numbers[half]
    params = _check_method_params(X, fit_params, rows)
    fitted = clone(estimator).fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **params)
    return np.asarray(fitted.get_support()), getattr(fitted, "ranking_", None)


def _indexable(X: Any) -> Any:
    """Return a table that supports indexing by rows."""
    if issparse(X):
        return X.tocsr()
    return X if is_frame(X) else check_array(X, dtype=None, ensure_all_finite=False)


def _rows_to_split(data: Refit, estimator: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the samples to split, and their weights if there are any."""
    table = data.table
    X = table.X if in_blocks(table.X) else ArrayBlocks(table.X)
    with one_blas_thread():
        columns = prepare_columns(
            X, layout=table.layout, sample_weight=data.weight, Y=table.response.Y
        )
    rows, weight = rows_to_fit(columns, estimator, 0, is_weighted=data.weight is not None)
    # In table order, unless rows are merged or weights differ.
    is_plain = len(rows) == table.n_samples and np.ptp(columns.p) == 0.0
    return (np.arange(table.n_samples), None) if is_plain else (rows, weight)


def _fix_kinds(estimator: CCMSelector, table: Table) -> None:
    """Fix the kinds of the columns, because half of the rows may look different."""
    is_strict = isinstance(estimator.column_types, str) and estimator.column_types == "strict"
    if is_strict or table.kinds is None or not table.readings:
        return
    kinds = {j: "drop" if k in LEFT_OUT else str(k) for j, k in enumerate(table.kinds)}
    estimator.set_params(column_types=kinds)
    if out := [reading for reading in table.readings if reading.kind in LEFT_OUT]:
        warn("excluded-columns", " ".join(summary(out)), [reading.column for reading in out])


def _check_rare_classes(response: EncodedResponse) -> None:
    if response.labels is None:
        return
    counts = np.bincount(response.labels)
    if counts.min() < 2:
        rare = response.classes[counts.argmin()]
        raise ValueError(
            f"Class {rare} has only one sample, so one half of the samples would lack it. Drop "
            "or merge rare classes, or pass an estimator with task='regression'."
        )


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
