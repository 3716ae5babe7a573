"""Classify every feature as needed or relevant, with a bound on the false discovery rate."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import false_discovery_control
from sklearn.utils.validation import check_is_fitted

from covmin.data import TableOptions, read
from covmin.data.independence import check_independence
from covmin.data.table import check_columns
from covmin.runtime.compat import Interval, StrOptions, fit_context
from covmin.runtime.machine import one_blas_thread
from covmin.runtime.run import repeat
from covmin.runtime.seeds import seed_of
from covmin.selection.frames import results_frame
from covmin.selection.summary import feature_names

from .feature_tests import (
    Conditions,
    RankedSample,
    draw_sample,
    find_conditions,
    find_sets,
    p_value_given_all,
    p_values_alone,
    p_values_together,
    separating_set,
)
from .refitting import InferenceSelector, by_column, shared_constraints

NEEDED, RELEVANT, NOT_SHOWN, GIVEN = "needed", "relevant", "not shown to matter", "given"


@dataclass(eq=False, repr=False)
class VerdictSelector(InferenceSelector):
    r"""Classify every feature as needed, relevant, or not shown to matter.

    Each feature gets two p-values:

    - *needed*: does it explain y beyond all other features?
    - *relevant*: does it explain y on its own, jointly with a few others, or beyond all others?

    A relevant feature that is not shown to be needed is reported with its substitutes. Among the
    features called needed, and among those called either, the expected fraction of false ones is
    at most ``fdr``.

    Parameters
    ----------
    fdr : float in (0, 1), default=0.1
        Bound on the false discovery rate of either kind.
    keep : {"relevant", "needed"}, default="relevant"
        Features that ``transform`` keeps: the needed and the relevant, or only the needed ones.
    feature_groups, given, column_types, task
        How to read X and y, as in :class:`CCMSelector`. The columns of a group are tested together.
        Given columns are always kept, and all tests condition on them.
    n_jobs, random_state, verbose
        Number of features to test in parallel, seed of the order of the samples, and whether to
        show progress, as in :class:`CCMSelector`.

    Attributes
    ----------
    verdicts_ : ndarray of shape (n_features,)
        ``"needed"``, ``"relevant"``, ``"not shown to matter"`` or ``"given"``.
    needed_pvalues_, relevant_pvalues_ : ndarray of shape (n_features,)
        The two p-values of each feature; NaN for given columns.
    needed_qvalues_, relevant_qvalues_ : ndarray of shape (n_features,)
        The smallest ``fdr`` at which the feature is needed or relevant; NaN for given columns.
    substitutes_ : list of ndarray
        For each relevant feature, the indices of its substitutes, most correlated first: given
        these, at most three, it is not shown to add anything. Empty for all others.
    conditions_ : ndarray
        Indices of the features that represent all others, because together they predict y best.
        Each feature is tested given these, and given what all others predict of the feature.
    support_, n_features_ : ndarray of bool of shape (n_features,), int
        Mask and number of the features kept, including given ones. There may be none.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature: needed ones first, then relevant ones, then the others, each by
        p-value. Columns of a group share a rank; given columns have rank 0.
    feature_groups_, n_features_in_, feature_names_in_
        As in :class:`CCMSelector`.

    See Also
    --------
    conditional_dependence_test : A p-value for one set of features given another.
    KnockoffSelector : Controls the false discovery rate if many features matter.

    Notes
    -----
    *Needed* is decided by :func:`conditional_dependence_test`, given the features that predict y
    best without this one, and given one column with what all others predict of the feature itself:
    what one of the two misses is included by the other (double selection [1]_).

    *Relevant* combines three tests, each at a third of the level: the ranks of the feature against
    y; the pairs and larger sets that a search over all products finds, given the other features in
    them; and the test above. A feature is called needed only if it is called relevant too.

    *Assumptions.* Samples are independent, or ``groups`` of them are; samples in time order, in
    clusters, or nearly copied are refused without ``groups``. As in
    :func:`conditional_dependence_test`, regressions must be able to find what features share. Only
    the mean of y, or its class probabilities, are tested, on at most 5000 samples.

    References
    ----------
    .. [1] A. Belloni, V. Chernozhukov and C. Hansen, "Inference on treatment effects after
       selection among high-dimensional controls", Review of Economic Studies 81, 2014.

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
        "keep": [StrOptions({"relevant", "needed"})],
        **shared_constraints("feature_groups", "given", "column_types", "task"),
        **shared_constraints("n_jobs", "random_state", "verbose"),
    }

    _: KW_ONLY
    fdr: float = 0.1
    keep: str = "relevant"
    feature_groups: Any = None
    given: Any = None
    column_types: Any = "auto"
    task: str = "auto"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int | str = "auto"

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Test every feature of X.

        Parameters
        ----------
        X, y
            As in :meth:`CCMSelector.fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights. A sample of weight 2 is one observation that counts twice, not two
            observations.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as a patient, a day, or a block of consecutive rows. One
            sample of each group, drawn at random, is tested: samples of a group may be alike.

        Returns
        -------
        self : VerdictSelector
            The fitted selector. If ``fit`` raises an error, the estimator is unchanged.
        """
        table = read(X, y, TableOptions.of(self), sample_weight, groups)
        with one_blas_thread():
            columns = table.columns("rank")
            check_columns(table, columns)
            check_independence(table, columns, refuses=True)
            sample = draw_sample(columns, table, seed_of(self.random_state))
            needed_p, relevant_p, conditions = self._p_values(sample)
            needed_q, relevant_q = map(false_discovery_control, (needed_p, relevant_p))
            # A needed feature must also be relevant: a union of two lists would add their errors.
            is_relevant = relevant_q <= self.fdr
            is_needed = is_relevant & (needed_q <= self.fdr)
            units = np.arange(sample.units.size)
            find = partial(separating_set, sample, scale=conditions.scale, level=self.fdr)
            substitutes = {
                unit: find(unit, units[is_relevant & (units != unit)])
                for unit in units[is_relevant & ~is_needed].tolist()
            }

        layout, unit_index = table.layout, columns.unit_index
        by_input = partial(by_column, layout, units=unit_index)
        verdict = np.select([is_needed, is_relevant], [NEEDED, RELEVANT], NOT_SHOWN)
        verdicts = by_input(verdict, GIVEN, NOT_SHOWN)
        kept = verdicts == NEEDED if self.keep == NEEDED else verdicts != NOT_SHOWN
        support = kept | (verdicts == GIVEN)
        order = np.lexsort([needed_p, relevant_p, ~is_relevant, ~is_needed])
        order = np.concatenate([unit_index[order], columns.constant])
        # Features are listed by their first column.
        _, first = np.unique(layout.unit, return_index=True)
        listed = {unit_index[unit]: first[unit_index[s]] for unit, s in substitutes.items()}
        self._present(
            table,
            verdicts_=verdicts,
            needed_pvalues_=by_input(needed_p, np.nan, 1.0),
            relevant_pvalues_=by_input(relevant_p, np.nan, 1.0),
            needed_qvalues_=by_input(needed_q, np.nan, 1.0),
            relevant_qvalues_=by_input(relevant_q, np.nan, 1.0),
            conditions_=first[unit_index[conditions.best]],
            substitutes_=[listed.get(unit, first[:0]) for unit in layout.unit],
            support_=support,
            n_features_=int(support.sum()),
            ranking_=by_column(layout, np.arange(1, order.size + 1), 0, units=order),
        )
        return self

    def _p_values(self, sample: RankedSample) -> tuple[np.ndarray, np.ndarray, Conditions]:
        """Return the p-values of all units for both questions, and what the tests condition on."""
        sets = find_sets(sample)
        conditions = find_conditions(sample, sets)
        test = partial(p_value_given_all, sample, conditions, self.fdr)
        units = range(sample.units.size)
        needed = np.array(repeat(test, units, "verdicts", "feature", self.n_jobs, self.verbose))
        together = p_values_together(sample, sets, conditions.scale)
        p_values = np.stack([needed, p_values_alone(sample), together])
        return needed, np.minimum(len(p_values) * p_values.min(axis=0), 1.0), conditions

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
        rows = verdict_rows(self)
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        columns["substitutes"] = [", ".join(names) for names in columns["substitutes"]]
        return results_frame(self, **columns)


def verdict_rows(
    selector: VerdictSelector, names: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return a dict for each feature of a fitted selector, needed ones first."""
    check_is_fitted(selector)
    names = list(map(str, feature_names(selector) if names is None else names))
    values = {
        "needed_p": selector.needed_pvalues_,
        "relevant_p": selector.relevant_pvalues_,
        "needed_q": selector.needed_qvalues_,
        "relevant_q": selector.relevant_qvalues_,
    }
    return [
        {"name": names[j], "verdict": str(selector.verdicts_[j])}
        | {key: None if np.isnan(of[j]) else float(of[j]) for key, of in values.items()}
        | {"kept": bool(selector.support_[j])}
        | {"substitutes": [names[k] for k in selector.substitutes_[j].tolist()]}
        for j in np.argsort(selector.ranking_, kind="stable").tolist()
    ]
