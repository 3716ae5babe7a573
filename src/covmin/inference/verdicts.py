"""Classify every feature as needed or relevant, with a bound on the false discovery rate."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from covmin.data import Table, TableOptions, read
from covmin.data.checks import check_columns, warn_of_excluded
from covmin.data.standardize import PreparedColumns
from covmin.plan.constants import MOST_STAND_INS
from covmin.runtime.repeats import N_JOBS, VERBOSE, repeat
from covmin.runtime.seeds import seed_of
from covmin.runtime.threads import one_blas_thread
from covmin.runtime.validation import fit_context
from covmin.runtime.version import VersionedPickles
from covmin.selection.frames import results_frame
from covmin.selection.summary import feature_names
from covmin.selection.transform import SupportMixin, WholeColumnsMixin, unchanged_on_failure

from .questions import Questions
from .reading import note_columns
from .tails import adjusted_p_values

NEEDED, RELEVANT, NOT_SHOWN, GIVEN = "needed", "relevant", "not shown to matter", "given"


@dataclass(eq=False, repr=False)
class VerdictSelector(VersionedPickles, SupportMixin, WholeColumnsMixin, BaseEstimator):
    r"""Classify every feature as needed, relevant, or not shown to matter.

    Each feature gets two p-values:

    - *needed*: does it explain y beyond all other features?
    - *relevant*: does it explain y on its own, jointly with one other feature, or beyond all
      others?

    A feature that is relevant but not shown to be needed is reported with its substitutes. Among
    the features called needed, and among those called needed or relevant, the expected fraction of
    false ones is at most ``fdr``.

    Parameters
    ----------
    fdr : float in (0, 1), default=0.1
        Bound on the false discovery rate of either kind.
    method : {"bh", "by"}, default="bh"
        Correction for multiple testing: "bh" is Benjamini–Hochberg; "by" is Benjamini–Yekutieli
        [2]_, which is valid for any dependence between p-values and finds fewer features.
    keep : {"relevant", "needed"}, default="relevant"
        Features that ``transform`` keeps: those that are needed or relevant, or only the needed
        ones.
    feature_groups : array-like of shape (n_features,) or dict, default=None
        Columns that are tested together: a label for each column, or a dict that maps a label to
        its columns (names or indices).
    given : str, int or array-like, default=None
        Columns that are known to matter, as names, indices or a mask. They are always kept, and
        all tests condition on them.
    categorical_features : str, int, array-like or None, default="from_dtype"
        Categorical columns, as in :class:`CCMSelector`.
    missing : {"keep", "error"}, default="keep"
        How to treat missing values in X: use an indicator of missingness as part of the feature,
        or raise an error.
    column_types : {"auto", "strict"} or dict, default="auto"
        How to read the columns, as in :class:`CCMSelector`.
    task : {"auto", "classification", "ordinal", "regression", "survival"}, default="auto"
        How to read y, as in :class:`CCMSelector`.
    n_jobs : int, default=None
        Number of features to test in parallel.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples. None is a fixed seed.
    verbose : int or "auto", default="auto"
        1 shows a progress bar, 0 does not. "auto" shows it in terminals and notebooks, after a few
        seconds.

    Attributes
    ----------
    verdicts_ : ndarray of shape (n_features,)
        ``"needed"``, ``"relevant"``, ``"not shown to matter"`` or ``"given"``.
    needed_pvalues_, relevant_pvalues_ : ndarray of shape (n_features,)
        The two p-values of each feature; NaN for given columns.
    needed_qvalues_, relevant_qvalues_ : ndarray of shape (n_features,)
        The smallest ``fdr`` at which the feature is needed or relevant; NaN for given columns.
    substitutes_ : list of ndarray
        For each relevant feature, the indices of its substitutes, closest first: given these, it
        is not shown to add anything. Empty for all others.
    conditions_ : ndarray
        Indices of the features that represent all others, because together they predict y best.
        Each feature is tested given these, and given what all others predict of the feature.
    support_ : ndarray of bool of shape (n_features,)
        Mask of the features kept, including given ones. There may be none.
    n_features_ : int
        Number of features kept.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature: needed ones first, then relevant ones, then the others, each by
        p-value. Columns of a group share a rank; given columns have rank 0.
    feature_groups_ : ndarray of shape (n_groups,) or None
        Labels of the groups, if there are groups.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has column names.

    See Also
    --------
    conditional_dependence_test : A p-value for one set of features given another.
    KnockoffSelector : Controls the false discovery rate if many features matter.

    Notes
    -----
    *Needed.* Uses the test of :func:`conditional_dependence_test`. Conditioning on hundreds of
    features is not feasible, and usually few of them affect y. A feature is therefore tested given
    those that predict y best, which :class:`CCMSelector` ranks and a leave-one-out error limits
    (without the feature itself, so that its substitutes are found), and given what all other
    features predict of the feature itself, as one column. A feature missed by one of the two is
    included by the other (double selection [1]_). The product of the errors of the two regressions
    is assumed to be small.

    *Relevant.* Combines three tests, each at a third of the level: the ranks of the feature against
    y, unconditionally; the pairs found by a search over all products, tested given the partner and
    corrected for all partners; and the test above. A feature is called needed only if it is called
    relevant too, so that the list of both has one error rate.

    Only the mean of y, or its class probabilities, are tested. At most 5000 samples are used.

    References
    ----------
    .. [1] A. Belloni, V. Chernozhukov and C. Hansen, "Inference on treatment effects after
       selection among high-dimensional controls", Review of Economic Studies 81, 2014.
    .. [2] Y. Benjamini and D. Yekutieli, "The control of the false discovery rate in multiple
       testing under dependency", Annals of Statistics 29, 2001.

    Examples
    --------
    y depends on a product and on x₂; x₃ is a noisy copy of x₂:

    >>> import numpy as np
    >>> from covmin import VerdictSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 8))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(200)
    >>> X[:, 3] = X[:, 2] + 0.5 * X[:, 3]
    >>> selector = VerdictSelector().fit(X, y)
    >>> selector.verdicts_[:5].tolist()
    ['needed', 'needed', 'needed', 'relevant', 'not shown to matter']
    >>> selector.substitutes_[3]
    array([2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "method": [StrOptions({"bh", "by"})],
        "keep": [StrOptions({"relevant", "needed"})],
        "feature_groups": [None, dict, "array-like"],
        "given": [None, str, Integral, "array-like"],
        "categorical_features": [None, str, Integral, "array-like"],
        "missing": [StrOptions({"keep", "error"})],
        "column_types": [StrOptions({"auto", "strict"}), dict],
        "task": [StrOptions({"auto", "classification", "ordinal", "regression", "survival"})],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
        "verbose": VERBOSE,
    }

    _: KW_ONLY
    fdr: float = 0.1
    method: str = "bh"
    keep: str = "relevant"
    feature_groups: Any = None
    given: Any = None
    categorical_features: Any = "from_dtype"
    missing: str = "keep"
    column_types: Any = "auto"
    task: str = "auto"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int | str = "auto"

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Test every feature of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples: numbers, or a data frame that may also hold text, categories and dates.
            Missing values are allowed.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or numbers. Samples with a missing response are dropped.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. A sample of weight 2 is one observation that counts twice, not two
            observations.

        Returns
        -------
        self : VerdictSelector
            The fitted selector. If ``fit`` raises an error, the estimator is unchanged.
        """
        with unchanged_on_failure(self):
            samples = read(X, y, TableOptions.of(self), sample_weight)
            with one_blas_thread():
                columns = samples.columns("rank")
                check_columns(samples, columns, "rank")
                warn_of_excluded(samples)
                questions = Questions.of(columns, samples.response, seed_of(self.random_state))
                self._present(_Answers(questions, self), columns, samples)
        return self

    def _present(self, answers: "_Answers", columns: PreparedColumns, samples: Table) -> None:
        """Set all fitted attributes, in terms of the input columns."""
        layout = samples.layout
        each = _Spread(columns, layout.unit, layout.given)
        note_columns(self, samples)
        self.needed_pvalues_ = each.spread(answers.needed, 1.0)
        self.relevant_pvalues_ = each.spread(answers.relevant, 1.0)
        self.needed_qvalues_ = each.spread(answers.needed_q, 1.0)
        self.relevant_qvalues_ = each.spread(answers.relevant_q, 1.0)
        self.verdicts_ = each.spread_words(answers.verdicts)
        self.substitutes_ = each.spread_lists(answers.stand_ins)
        self.conditions_ = each.inputs(answers.questions.chosen)
        kept = {NEEDED, GIVEN} if self.keep == NEEDED else {NEEDED, GIVEN, RELEVANT}
        self.support_ = np.isin(self.verdicts_, list(kept))
        self.n_features_ = int(self.support_.sum())
        self.ranking_ = each.ranks(answers.order)

    def verdict_frame(self) -> Any:
        """Return the verdicts as a table, needed features first.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``name``, ``verdict``, ``needed_p``, ``relevant_p``, ``needed_q``,
            ``relevant_q``, ``kept`` and ``substitutes`` (names). A polars frame after
            ``set_output(transform="polars")``.

        Examples
        --------
        >>> from covmin import VerdictSelector
        >>> from covmin.datasets import make_additive
        >>> X, y = make_additive(200, random_state=0, return_X_y=True)
        >>> frame = VerdictSelector().fit(X, y).verdict_frame()
        >>> sorted(frame.loc[frame["verdict"] == "needed", "name"])
        ['x0', 'x1', 'x2', 'x3']
        """
        check_is_fitted(self)
        order = np.argsort(self.ranking_, kind="stable")
        names = feature_names(self)
        return results_frame(
            self,
            name=[names[j] for j in order],
            verdict=self.verdicts_[order],
            needed_p=self.needed_pvalues_[order],
            relevant_p=self.relevant_pvalues_[order],
            needed_q=self.needed_qvalues_[order],
            relevant_q=self.relevant_qvalues_[order],
            kept=self.support_[order],
            substitutes=[", ".join(str(names[k]) for k in self.substitutes_[j]) for j in order],
        )


class _Answers:
    """p-values, verdicts, substitutes and order of the units that vary."""

    def __init__(self, questions: Questions, selector: VerdictSelector) -> None:
        self.questions = questions
        units, fdr = range(questions.units.size), selector.fdr
        jobs, verbose = selector.n_jobs, selector.verbose
        questions.prepare()
        added = partial(questions.added_to_all, level=fdr)
        self.needed = np.array(repeat(added, units, "verdicts", "feature", jobs, verbose))
        tests = np.stack([self.needed, questions.alone, questions.in_pairs()])
        self.relevant = np.minimum(len(tests) * tests.min(axis=0), 1.0)
        self.needed_q = adjusted_p_values(self.needed, selector.method)
        self.relevant_q = adjusted_p_values(self.relevant, selector.method)
        # A needed feature must also be relevant: a union of two lists would add their errors.
        is_relevant = self.relevant_q <= fdr
        is_needed = is_relevant & (self.needed_q <= fdr)
        self.verdicts = np.select([is_needed, is_relevant], [NEEDED, RELEVANT], NOT_SHOWN)
        self.order = np.lexsort([self.needed, self.relevant, ~is_relevant, ~is_needed])
        shown = np.flatnonzero(is_relevant)
        self.stand_ins = [np.empty(0, dtype=np.int64) for _ in units]
        for unit in np.flatnonzero(is_relevant & ~is_needed).tolist():
            others = shown[shown != unit]
            self.stand_ins[unit] = questions.stand_ins(unit, others, fdr, MOST_STAND_INS)


class _Spread:
    """Maps results of the units that vary to the input columns."""

    def __init__(self, columns: PreparedColumns, unit: np.ndarray, given: np.ndarray) -> None:
        self._columns, self._unit, self._given = columns, unit, given
        _, self._first = np.unique(unit, return_index=True)  # represents its unit

    def spread(self, values: np.ndarray, constant: float) -> np.ndarray:
        """Return one number per input column; NaN for given ones."""
        every = np.where(self._given, np.nan, constant)
        every[self._columns.unit_index] = values
        return every[self._unit]

    def spread_words(self, words: np.ndarray) -> np.ndarray:
        """Return one verdict per input column."""
        every = np.where(self._given, GIVEN, NOT_SHOWN).astype(f"<U{len(NOT_SHOWN)}")
        every[self._columns.unit_index] = words
        return every[self._unit]

    def inputs(self, units: np.ndarray) -> np.ndarray:
        """Return the first column of each unit."""
        found: np.ndarray = self._first[self._columns.unit_index[units]]
        return found

    def spread_lists(self, lists: list[np.ndarray]) -> list[np.ndarray]:
        """Return lists of units as lists of columns, one per input column."""
        every = [np.empty(0, dtype=np.int64) for _ in self._given]
        for unit, others in zip(self._columns.unit_index, lists, strict=True):
            every[unit] = self.inputs(others)
        return [every[unit] for unit in self._unit]

    def ranks(self, order: np.ndarray) -> np.ndarray:
        """Return ranks from 1, given an order of the units that vary; constant units are last."""
        columns = self._columns
        # Ties are in input order.
        ranking = np.zeros(self._given.size, dtype=np.int64)
        last = np.concatenate([columns.unit_index[order], columns.constant])
        ranking[last] = np.arange(1, last.size + 1)
        return ranking[self._unit]
