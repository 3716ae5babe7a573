"""How often a feature is selected when the samples change."""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Bunch, Tags, _safe_indexing, check_array, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params

from covmin.data.checks import is_frame, missing_responses
from covmin.data.columns import n_features_to_keep, prepare_columns
from covmin.data.encoding import summary
from covmin.data.kinds import LEFT_OUT
from covmin.data.outputs import SupportMixin, WholeColumnsMixin, unchanged_on_failure
from covmin.data.responses import EncodedResponse, ordered_levels
from covmin.data.samples import Samples
from covmin.data.sources import ArraySource, is_source
from covmin.runtime.repeats import N_JOBS, VERBOSE, for_many_fits, repeat
from covmin.runtime.seeds import seed_of
from covmin.runtime.threads import one_blas_thread
from covmin.runtime.validation import fit_context
from covmin.runtime.version import VersionedPickles
from covmin.selection.selector import CCMSelector

from .reading import by_column, note_columns, read_by, reader_of, rows_to_fit, weight_of
from .stability_bounds import ASSUMPTIONS, false_selections, smallest_threshold

# Each half must hold two samples at the least.
_MIN_SAMPLES = 4
_ROUNDING = 1e-9


@dataclass(eq=False, repr=False)
class StabilitySelector(VersionedPickles, SupportMixin, WholeColumnsMixin, BaseEstimator):
    """Keep the features that a selector chooses again and again on halves of the samples.

    The samples are split at random into two halves, ``n_pairs`` times over, and the selector
    is fitted to each half. The share of these fits that choose a feature is its selection
    frequency; features whose frequency reaches a threshold are kept. The number of features
    kept by mistake is then bounded in expectation (Shah and Samworth, 2013).

    Parameters
    ----------
    estimator : selector, default=None
        Anything with ``fit`` and ``get_support``. It should choose a fixed, small number of
        features q. None is ``CCMSelector(q)`` with q² ≈ 0.8·d, which bounds the false
        selections at a threshold of 0.9 by one without further assumptions. The ``groups``,
        ``given`` and other parameters of a CCMSelector say what a feature is.
    threshold : float in (0, 1], default=0.75
        Frequency from which a feature is kept. Only thresholds above ½ have a bound.
    max_false : float, default=None
        Takes the smallest threshold that bounds the expected number of false selections by
        this number under ``assumption``, in place of ``threshold``.
    n_features_to_select : int or float in (0, 1], default=None
        Keeps this many features, or this share of them, those with the highest
        frequencies, in place of ``threshold``.
    assumption : {"r-concave", "unimodal", "none"}, default="r-concave"
        What ``max_false`` relies on; see Notes.
    n_pairs : int, default=50
        Number of pairs of halves; the selector is fitted twice as often.
    n_jobs : int, default=None
        Fits at once.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves. None is a fixed seed, so that every run gives the same answer.
    verbose : int or "auto", default="auto"
        1 shows a progress bar, 0 does not; "auto" does after some seconds, at a terminal or in a
        notebook.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features,)
        Share of the fits that chose each feature; 1 for given columns.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by frequency, 1 for the best, without ties: equal frequencies are
        ordered by the mean rank the selector gave them, where it ranks, and then by position.
        Columns of a group share theirs; given columns have 0.
    mean_ranks_ : ndarray of shape (n_features,) or None
        That mean rank.
    support_ : ndarray of bool of shape (n_features,)
        The features kept, and the given columns. There may be none.
    n_features_ : int
        Number of features kept; a group counts as one, and given columns do not count.
    threshold_ : float
        Frequency that every feature kept has reached.
    n_selected_ : float
        q: mean number of features that one fit chose, counted in the same way.
    error_bound_ : Bunch
        Bounds on the expected number of false selections at ``threshold_``: ``worst_case``,
        ``unimodal`` and ``r_concave``.
    groups_ : ndarray of shape (n_groups,) or None
        Labels of the groups, where there are groups.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    See Also
    --------
    KnockoffSelector : Bounds the share of false selections instead of their number.
    covmin.plotting.StabilityDisplay : The frequencies as a picture.

    Notes
    -----
    A selection is false if one fit on half of the samples chooses the feature with a
    probability of at most q/d: no more often than a choice of q features blindfold. That
    noise features are such features is an assumption about the selector, which holds if it
    is no worse than guessing and treats noise features alike.

    ``worst_case`` needs nothing else than independent samples: it is ``q² / d(2τ − 1)``.
    ``unimodal`` and ``r_concave`` are much smaller and assume that the number of pairs which
    choose such a feature has a distribution of one mode, or one whose tail falls at least
    like a power (r-concave with r = −½ for pairs, −¼ for halves). Shah and Samworth found
    both to hold in all their examples; they cannot be checked on one data set.

    Duplicate rows are merged and their weights added, unless all columns have few values or the
    selector accepts no weights: two halves must not share a sample.

    The bounds count q as known. It is, for a selector of a fixed number of features.
    If ``n_features_to_select`` sets the threshold by what was seen, they only describe it.

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
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": VERBOSE,
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

    # The selector inside validates its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the selector to halves of the samples and count what it chooses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, in memory. A data frame reaches the selector as it is. Values may be missing
            where the selector takes that.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, which are split evenly between halves, real responses, or times to an
            event, as the selector takes them. Samples without a response are left out, with a
            warning.
        **fit_params : dict
            Of the selector's ``fit``, such as ``sample_weight``: each half gets its samples. Where
            scikit-learn's metadata routing is enabled, the selector must request them.

        Returns
        -------
        self : StabilitySelector
            Fitted. A fit that fails leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            if self.max_false is not None and self.n_features_to_select is not None:
                raise ValueError(
                    "max_false and n_features_to_select both say how many features to keep; "
                    "pass one of them."
                )
            _refuse_blocks(X)
            if fit_params and _routing_enabled():
                fit_params = process_routing(self, "fit", **fit_params).estimator.fit
            samples = self._read(X, y, fit_params.get("sample_weight"))
            estimator = self._estimator(samples)
            rows, weight = self._rows(samples, estimator, fit_params.get("sample_weight"))
            strata = _strata(samples.response.strata, rows)
            seed = seed_of(self.random_state)
            halves = list(_complementary_halves(strata, self.n_pairs, seed))
            if weight is not None:
                weight = _spread(weight, samples.row[rows], len(missing_responses(y)))
                fit_params = fit_params | {"sample_weight": weight}
            table = _indexable(X), y if hasattr(y, "dtype") or is_frame(y) else np.asarray(y)
            choose = partial(_choose, estimator, *table, fit_params, samples.row[rows])
            fits = repeat(choose, halves, "stability", "half", self.n_jobs, self.verbose)
            self._store(fits, samples)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata the selector inside has requested.

        Returns
        -------
        routing : MetadataRouter
            From ``fit`` to the ``fit`` of the selector.
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        selector = CCMSelector() if self.estimator is None else self.estimator
        return MetadataRouter(owner=self).add(estimator=selector, method_mapping=mapping)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        selector = CCMSelector() if self.estimator is None else self.estimator
        takes_gaps = get_tags(selector).input_tags.allow_nan
        reader = reader_of(selector, "keep" if takes_gaps else "error")
        if reader is not selector and not is_frame(X):  # to which text means nothing
            options = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan"}
            X = check_array(X, dtype="numeric", **options)
        samples = read_by(reader, selector, X, y, sample_weight)
        if samples.n_samples < _MIN_SAMPLES:
            raise ValueError(
                f"Found array with {samples.n_samples} sample(s) while a minimum of {_MIN_SAMPLES} "
                "is required, two for each half."
            )
        return samples

    def _estimator(self, samples: Samples) -> Any:
        """What is fitted to each half, which it is to read the way all samples are read."""
        q = max(1, int(np.sqrt(0.8 * samples.plan.n_choices)))
        estimator = CCMSelector(q) if self.estimator is None else self.estimator
        estimator = for_many_fits(estimator, self)
        if isinstance(estimator, CCMSelector):
            _fix_kinds(estimator, samples)
        if "task" in estimator.get_params(deep=False):
            _check_rare_classes(samples.response)
            # Fewer values may look like classes.
            if estimator.task == "auto" and ordered_levels(samples.table[1]) is None:
                estimator.set_params(task=samples.response.task)
        return estimator

    def _rows(
        self, samples: Samples, estimator: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The samples to split, and their weights where they have any."""
        weight = weight_of(sample_weight, samples)
        X = samples.X if is_source(samples.X) else ArraySource(samples.X)
        with one_blas_thread():
            columns = prepare_columns(
                X, plan=samples.plan, sample_weight=weight, Y=samples.response.Y
            )
        rows, merged = rows_to_fit(columns, estimator, 0, is_weighted=weight is not None)
        # As they stand in the table, where nothing else is asked for.
        return (np.arange(samples.n_samples), None) if merged is None else (rows, merged)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        selector = CCMSelector() if self.estimator is None else self.estimator
        reads = get_tags(selector).input_tags
        tags.input_tags.allow_nan, tags.input_tags.string = reads.allow_nan, reads.string
        return tags

    def _store(self, fits: list[tuple[np.ndarray, np.ndarray | None]], samples: Samples) -> None:
        plan = samples.plan
        # The first column of a unit stands for it; what is given is no choice.
        _, first = np.unique(plan.unit, return_index=True)
        column = first[~plan.given]
        chosen = np.array([support for support, _ in fits])
        note_columns(self, samples)
        self.frequencies_ = chosen.mean(axis=0)
        self.n_selected_ = float(chosen[:, column].sum(axis=1).mean())
        ranks = [ranking for _, ranking in fits if ranking is not None]
        self.mean_ranks_ = np.mean(ranks, axis=0) if len(ranks) == len(fits) else None
        ties = np.zeros(column.size) if self.mean_ranks_ is None else self.mean_ranks_[column]
        order = np.lexsort((ties, -chosen[:, column].sum(axis=0)))
        ranking = np.argsort(order) + 1
        kept = self._kept(self.frequencies_[column], ranking)
        self.n_features_ = int(kept.sum())
        self.ranking_ = by_column(ranking, 0, plan)
        self.support_ = by_column(kept, True, plan)
        self.groups_ = samples.labels
        named = zip(("worst_case", "unimodal", "r_concave"), ASSUMPTIONS, strict=True)
        at = self.threshold_, self.n_selected_, column.size, self.n_pairs
        self.error_bound_ = Bunch(**{name: false_selections(*at, each) for name, each in named})

    def _kept(self, frequencies: np.ndarray, ranking: np.ndarray) -> np.ndarray:
        """Which units reach the threshold, which is set here."""
        d = ranking.size
        if self.n_features_to_select is not None:
            kept: np.ndarray = ranking <= n_features_to_keep(self.n_features_to_select, d)
            self.threshold_ = float(frequencies[kept].min())
            return kept
        self.threshold_ = float(self.threshold)
        if self.max_false is not None:
            self.threshold_ = smallest_threshold(
                self.max_false, self.n_selected_, d, self.n_pairs, self.assumption
            )
        return frequencies >= self.threshold_ - _ROUNDING


def _choose(
    estimator: Any,
    X: Any,
    y: Any,
    fit_params: dict[str, Any],
    numbers: np.ndarray,
    half: np.ndarray,
) -> tuple[np.ndarray, np.ndarray | None]:
    """What one fit chose: a mask and, where the selector ranks, the ranks."""
    rows = numbers[half]
    params = _check_method_params(X, fit_params, rows)
    fitted = clone(estimator).fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **params)
    return np.asarray(fitted.get_support()), getattr(fitted, "ranking_", None)


def _indexable(X: Any) -> Any:
    """A table of which rows can be taken."""
    if issparse(X):
        return X.tocsr()
    return X if is_frame(X) else check_array(X, dtype=None, ensure_all_finite=False)


def _spread(weight: np.ndarray, row: np.ndarray, n: int) -> np.ndarray:
    """Weights of some rows as those of all rows of the table."""
    spread = np.zeros(n)
    spread[row] = weight
    return spread


def _refuse_blocks(X: Any) -> None:
    """Refuse Parquet sources and Dask collections, of which no half can be taken."""
    if is_source(X) or hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"StabilitySelector takes random halves of the rows, which must be in memory; X is a "
            f"{type(X).__name__}. Read it, or a sample of its rows, into an array or a data frame "
            "first (compute() of Dask, pandas.read_parquet)."
        )


def _fix_kinds(estimator: CCMSelector, samples: Samples) -> None:
    """Have every half read its columns the way all samples are: fewer rows may look otherwise."""
    is_strict = isinstance(estimator.column_types, str) and estimator.column_types == "strict"
    if is_strict or samples.kinds is None or not samples.readings:
        return
    kinds = {j: "drop" if k in LEFT_OUT else str(k) for j, k in enumerate(samples.kinds)}
    estimator.set_params(column_types=kinds)
    if out := [each for each in samples.readings if each.kind in LEFT_OUT]:
        warnings.warn(" ".join(summary(out)), UserWarning, stacklevel=4)


def _check_rare_classes(response: EncodedResponse) -> None:
    if response.labels is None:
        return
    counts = np.bincount(response.labels)
    if counts.min() < 2:
        rare = response.classes[counts.argmin()]
        raise ValueError(
            f"Class {rare} has one sample only, so one half of the samples would lack it. Drop "
            "or merge rare classes, or pass an estimator with task='regression'."
        )


def _strata(labels: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """A number for each of some rows: its class or event, or zero for a real response.

    Classes of one row, which no two halves can share, are dealt out as one.
    """
    if labels is None:
        return np.zeros(rows.size, dtype=int)
    labels = labels[rows]
    counts = np.bincount(labels)
    return np.where(counts[labels] < 2, counts.size, labels)


def _complementary_halves(strata: np.ndarray, n_pairs: int, seed: int) -> Iterator[np.ndarray]:
    """Rows of both halves of each pair; classes are shared out evenly.

    With an odd number of samples one of the largest class, a different one each time, is
    left out.
    """
    rng = np.random.default_rng(seed)
    n = strata.size
    largest = int(np.bincount(strata).argmax())
    for _ in range(n_pairs):
        # Sorted by class, classes in a random order, every second sample goes to one half.
        place = rng.permutation(int(strata.max()) + 1)
        place[largest] = place.size
        order = np.lexsort((rng.random(n), place[strata]))
        yield np.sort(order[0 : n - 1 : 2])
        yield np.sort(order[1:n:2])
