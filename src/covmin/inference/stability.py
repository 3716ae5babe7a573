"""How often a feature is selected when the samples change."""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Bunch, Tags, _safe_indexing, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params, validate_data

from covmin.data.checks import check_kind, is_frame
from covmin.data.columns import n_features_to_keep
from covmin.data.encoding import summary
from covmin.data.kinds import LEFT_OUT
from covmin.data.outputs import SupportMixin, WholeColumnsMixin, unchanged_on_failure
from covmin.data.responses import EncodedResponse, encode_response, ordered_levels
from covmin.data.sources import is_source
from covmin.data.survival import read_times
from covmin.data.tables import read_encoded
from covmin.runtime.repeats import N_JOBS, VERBOSE, for_many_fits, repeat
from covmin.runtime.seeds import seed_of
from covmin.runtime.validation import fit_context
from covmin.runtime.version import VersionedPickles
from covmin.selection.selector import CCMSelector

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
        selections at a threshold of 0.9 by one without further assumptions.
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
        Share of the fits that chose each feature.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature by frequency, 1 for the best, without ties: equal frequencies are
        ordered by the mean rank the selector gave them, where it ranks, and then by position.
    mean_ranks_ : ndarray of shape (n_features,) or None
        That mean rank.
    support_ : ndarray of bool of shape (n_features,)
        The features kept. There may be none.
    n_features_ : int
        Number of features kept.
    threshold_ : float
        Frequency that every feature kept has reached.
    n_selected_ : float
        q: mean number of features that one fit chose.
    error_bound_ : Bunch
        Bounds on the expected number of false selections at ``threshold_``: ``worst_case``,
        ``unimodal`` and ``r_concave``.
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
            Class labels, which are split evenly between halves, or real responses; or times to an
            event, as the selector takes them.
        **fit_params
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
            X, y = self._validated(X, y)
            estimator = for_many_fits(self._estimator(), self)
            response = _read_response(y, estimator)
            _fix_kinds(estimator, X)
            if "task" in estimator.get_params(deep=False):
                _check_rare_classes(response)
                # Every half is read the way all samples are: fewer values may look like classes.
                if estimator.task == "auto" and ordered_levels(y) is None:
                    estimator.set_params(task=response.task)
            seed = seed_of(self.random_state)
            halves = list(_complementary_halves(_strata(response), self.n_pairs, seed))
            passed = self._routed(X, fit_params)
            choose = partial(_choose, estimator, X, y, passed)
            self._store(repeat(choose, halves, "stability", "half", self.n_jobs, self.verbose))
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

    def _routed(self, X: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
        """What of the parameters of a fit goes to the selector."""
        if fit_params and _routing_enabled():
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        return _check_method_params(X, fit_params)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Checked samples; frames and series stay what they are, columns of any type included."""
        responses, _ = read_times(y, getattr(self.estimator, "task", None))
        check_kind(X, responses, takes_sparse=True)
        as_it_is = is_frame(X)
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        options: dict[str, Any] = {"dtype": "numeric", "ensure_all_finite": finite}
        if as_it_is:
            options = {"dtype": None, "ensure_all_finite": False}
        options |= {"ensure_min_samples": _MIN_SAMPLES, "accept_sparse": "csr"}
        checked, numbers = validate_data(self, X, responses, multi_output=True, **options)
        stays = ordered_levels(y) is not None or (responses is not y and hasattr(y, "dtypes"))
        stays |= getattr(getattr(y, "dtype", None), "names", None) is not None
        return (X if as_it_is else checked), (y if stays else numbers)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        selector = CCMSelector() if self.estimator is None else self.estimator
        tags.input_tags.allow_nan = get_tags(selector).input_tags.allow_nan
        return tags

    def _estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return CCMSelector(max(1, int(np.sqrt(0.8 * self.n_features_in_))))

    def _store(self, fits: list[tuple[np.ndarray, np.ndarray | None]]) -> None:
        d = self.n_features_in_
        chosen = np.array([support for support, _ in fits])
        self.frequencies_ = chosen.mean(axis=0)
        self.n_selected_ = float(chosen.sum(axis=1).mean())
        ranks = [ranking for _, ranking in fits if ranking is not None]
        self.mean_ranks_ = np.mean(ranks, axis=0) if len(ranks) == len(fits) else None
        ties = np.zeros(d) if self.mean_ranks_ is None else self.mean_ranks_
        order = np.lexsort((ties, -chosen.sum(axis=0)))
        self.ranking_ = np.argsort(order) + 1
        self._keep(order)
        named = zip(("worst_case", "unimodal", "r_concave"), ASSUMPTIONS, strict=True)
        at = self.threshold_, self.n_selected_, d, self.n_pairs
        self.error_bound_ = Bunch(**{name: false_selections(*at, each) for name, each in named})

    def _keep(self, order: np.ndarray) -> None:
        """Set the threshold and the features that reach it."""
        d = self.n_features_in_
        if self.n_features_to_select is not None:
            m = n_features_to_keep(self.n_features_to_select, d)
            self.threshold_ = float(self.frequencies_[order[m - 1]])
            self.support_ = self.ranking_ <= m
        else:
            self.threshold_ = float(self.threshold)
            if self.max_false is not None:
                self.threshold_ = smallest_threshold(
                    self.max_false, self.n_selected_, d, self.n_pairs, self.assumption
                )
            self.support_ = self.frequencies_ >= self.threshold_ - _ROUNDING
        self.n_features_ = int(self.support_.sum())


def _choose(
    estimator: Any, X: Any, y: Any, fit_params: dict[str, Any], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """What one fit chose: a mask and, where the selector ranks, the ranks."""
    passed = _check_method_params(X, fit_params, rows)
    fitted = clone(estimator).fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **passed)
    return np.asarray(fitted.get_support()), getattr(fitted, "ranking_", None)


def _refuse_blocks(X: Any) -> None:
    """Refuse Parquet sources and Dask collections, of which no half can be taken."""
    if is_source(X) or hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"StabilitySelector takes random halves of the rows, which must be in memory; X is a "
            f"{type(X).__name__}. Read it, or a sample of its rows, into an array or a data frame "
            "first (compute() of Dask, pandas.read_parquet)."
        )


def _fix_kinds(estimator: Any, X: Any) -> None:
    """Have every half read its columns the way all samples are: fewer rows may look otherwise."""
    parameters = estimator.get_params(deep=False)
    asked = parameters.get("column_types", "strict")
    if isinstance(asked, str) and asked == "strict":
        return
    given = parameters.get("given")
    encoded = read_encoded(X, parameters["categorical_features"], asked, given)
    if encoded is not None:
        kinds = {j: "drop" if k in LEFT_OUT else str(k) for j, k in enumerate(encoded.kinds)}
        estimator.set_params(column_types=kinds)
        if out := [each for each in encoded.readings if each.kind in LEFT_OUT]:
            warnings.warn(" ".join(summary(out)), UserWarning, stacklevel=4)


def _read_response(y: Any, estimator: Any) -> EncodedResponse:
    task = getattr(estimator, "task", None)
    with warnings.catch_warnings():
        if task is None:  # advice on a parameter that the estimator does not have
            warnings.simplefilter("ignore", UserWarning)
        return encode_response(*read_times(y, task), levels=ordered_levels(y))


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


def _strata(response: EncodedResponse) -> np.ndarray:
    """A number for each sample: its class or event, or zero for a real response.

    Classes of one sample, which no two halves can share, are dealt out as one.
    """
    labels = response.strata
    if labels is None:
        return np.zeros(response.Y.shape[0], dtype=int)
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
