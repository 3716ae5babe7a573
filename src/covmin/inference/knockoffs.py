"""Selection with a bound on the share of false discoveries."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import HasMethods, Interval, Options
from sklearn.utils.validation import validate_data

from covmin.core.kernels import Mixed
from covmin.data.checks import check_numbers, columns_named
from covmin.data.columns import prepare_columns
from covmin.data.far_values import FAR_VALUES
from covmin.data.outputs import SupportMixin, WholeColumnsMixin, unchanged_on_failure
from covmin.data.ranks import Standardize, goes_by_rank
from covmin.data.responses import ordered_levels
from covmin.data.samples import check_columns
from covmin.data.survival import read_times
from covmin.runtime.repeats import N_JOBS, VERBOSE, for_many_fits, repeat
from covmin.runtime.seeds import seed_of
from covmin.runtime.threads import one_blas_thread
from covmin.runtime.validation import fit_context
from covmin.runtime.version import VersionedPickles
from covmin.selection.selector import CCMSelector

from .gaussian_knockoffs import GaussianKnockoffs, content_order

# What the default selector differs in from CCMSelector's own defaults: a comparison of
# features with their copies gains from a ridge that does not follow the noise, and from more of
# the sum over single features.
_EPSILON = 0.01
_MIXING = 0.5

Importance = Callable[[Any], np.ndarray]


@dataclass(eq=False, repr=False)
class KnockoffSelector(VersionedPickles, SupportMixin, WholeColumnsMixin, BaseEstimator):
    r"""Select features so that at most a given share of them is false, in expectation.

    Every feature gets a knockoff: a random copy that relates to the other features as the
    feature does and, by construction, knows nothing about y. The selector ranks features and
    copies together. A feature of no use has equal chances to stand before or behind its copy,
    so the copies that stand in front show how many of the features that do are false.

    Parameters
    ----------
    estimator : estimator, default=None
        What is fitted to features and copies together. None is
        ``CCMSelector(1, kernel=Mixed(mixing=0.5), epsilon=0.01)``.
    fdr : float in (0, 1), default=0.1
        Bound on the false discovery rate: the expected share of false ones among the features
        kept. With ``offset=1`` at least 1/fdr features are kept, or none.
    importance : callable, default=None
        Called with the fitted estimator, gives the importance of each column, larger for
        better; such as ``lambda model: abs(model.coef_)``. None uses ``ranking_``.
    offset : {0, 1}, default=1
        1 bounds the false discovery rate. 0 keeps more features, and bounds the number of
        false ones over the number kept plus 1/fdr, which is less.
    n_draws : int, default=1
        Number of times the copies are drawn. With several the result depends less on chance:
        e-values are averaged over the draws (Ren and Barber, 2024).
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
        before its copy, and larger the better the place of the better one of them.
    q_values_ : ndarray of shape (n_features,)
        The smallest ``fdr`` at which the feature is kept. With several draws, that of the
        e-values at hand, which themselves depend on ``fdr``.
    e_values_ : ndarray of shape (n_features,) or None
        Means over draws; None for a single draw.
    threshold_ : float
        Features with ``W_`` of at least this are kept; infinite if there are none. NaN for
        several draws.
    support_ : ndarray of bool of shape (n_features,)
        The features kept. There may be none.
    n_features_ : int
        Number of features kept.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 for the best: by e-value, if there are several draws, then
        by ``W_``, then by position.
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
    known. Here the features are taken as Gaussian, their covariance is estimated (shrunk as
    by Ledoit and Wolf), and the copies match it in mean and covariance. The bound is then
    as good as that description of the *features*: heavy tails, discrete columns and strong
    nonlinear relations between features put it in doubt, a wrong idea of y does not.

    Swapping a feature with its copy flips the sign of its statistic and changes no other, to
    the last bit: estimators see the columns in an order that depends only on their content.

    The covariance of features and copies together is the one of the smallest
    ``tr(G⁻¹)``, which keeps copies unlike their originals even where features are
    correlated.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson and J. Lv, "Panning for gold: model-X knockoffs for
       high dimensional controlled variable selection", JRSS B 80, 2018.
    .. [2] A. Spector and L. Janson, "Powerful knockoffs via minimizing reconstructability",
       Annals of Statistics 50, 2022.
    .. [3] Z. Ren and R. F. Barber, "Derandomised knockoffs: leveraging e-values for false
       discovery rate control", JRSS B 86, 2024.

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
        least = int(np.ceil(self.offset / self.fdr))
        if n_features < least:
            warnings.warn(
                f"fdr={self.fdr:g} cannot be kept with fewer than {least} features, and X has "
                f"{n_features}: none will be selected. Allow a larger fdr, or use "
                "conditional_dependence_test.",
                UserWarning,
                stacklevel=4,
            )

    def _warn_if_nothing_was_kept(self) -> None:
        """Say so where features stand out that are too few for any filter to keep."""
        least = int(np.ceil(self.offset / self.fdr))
        n_outstanding = int((max(-self.W_.min(), 0.0) < self.W_).sum())
        if self.n_features_ or not 0 < n_outstanding < least <= self.n_features_in_:
            return
        warnings.warn(
            f"Nothing was kept, though {n_outstanding} feature(s) stand before every copy: with "
            f"fdr={self.fdr:g} a knockoff filter keeps at least {least} features, or none. Where "
            "few features matter, use StabilitySelector or conditional_dependence_test, or allow "
            f"fdr={1.0 / n_outstanding:.2g}.",
            UserWarning,
            stacklevel=4,
        )

    # The estimator inside validates its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Draw copies of the features and keep the features that beat theirs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; numbers without missing values.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, one or several real responses, or times to an event, as the estimator
            takes them.

        Returns
        -------
        self : KnockoffSelector
            Fitted. A fit that fails leaves the estimator as it was.
        """
        with unchanged_on_failure(self):
            responses, _ = read_times(y, getattr(self.estimator, "task", None))
            check_numbers(X, responses)
            with columns_named(X):
                X, checked = validate_data(
                    self, X, responses, dtype=np.float64, ensure_min_samples=2, multi_output=True
                )
            # An array has no order of classes, nor an event, which the estimator may want to know.
            y = checked if ordered_levels(y) is None and responses is y else y
            self._warn_if_too_few(X.shape[1])
            # Copies are of what the estimator looks at.
            by_rank = goes_by_rank(getattr(self._estimator(), "standardize", True))
            standardize: Standardize = "rank" if by_rank else True
            columns = prepare_columns(X, standardize)
            labels = getattr(self, "feature_names_in_", np.arange(X.shape[1]))
            check_columns(columns, X, standardize, labels)
            order = content_order(columns.X if by_rank else X[:, columns.index])
            Z = columns.X[:, order]
            with one_blas_thread():
                knockoffs = GaussianKnockoffs(Z)
            seed = seed_of(self.random_state)

            def statistics(draw: int) -> np.ndarray:
                # Counted from one: with [seed, 0] the copies would be drawn from the numbers
                # of default_rng(seed), from which simulated samples are often made.
                copies = knockoffs.draw(np.random.default_rng([seed, draw + 1]))
                return swap_statistics(self._estimator(), Z, copies, y, importance=self.importance)

            draws, jobs = range(self.n_draws), self.n_jobs
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=FAR_VALUES)  # said above, by name
                found = repeat(statistics, draws, "knockoffs", "draw", jobs, self.verbose)
            W = np.zeros((self.n_draws, X.shape[1]))
            W[:, columns.index[order]] = found
            self._store(W)
            self._warn_if_nothing_was_kept()
        return self

    def _estimator(self) -> Any:
        if self.estimator is not None:
            return for_many_fits(self.estimator, self)
        return CCMSelector(1, kernel=Mixed(mixing=_MIXING), epsilon=_EPSILON)

    def _store(self, W: np.ndarray) -> None:
        self.W_ = W.mean(axis=0)
        keys = [-self.W_]
        if self.n_draws == 1:
            self.e_values_ = None
            self.q_values_ = knockoff_q_values(W[0], self.offset)
        else:
            self.e_values_ = np.mean([_e_values(row, self.fdr, self.offset) for row in W], axis=0)
            self.q_values_ = _e_value_q_values(self.e_values_)
            keys.append(-self.e_values_)
        self.support_ = self.q_values_ <= self.fdr
        self.n_features_ = int(self.support_.sum())
        least = float(self.W_[self.support_].min(initial=np.inf))
        self.threshold_ = least if self.n_draws == 1 else np.nan
        self.ranking_ = np.argsort(np.lexsort(keys)) + 1


def swap_statistics(
    estimator: Any,
    Z: np.ndarray,
    copies: np.ndarray,
    y: np.ndarray,
    *,
    importance: Importance | None = None,
) -> np.ndarray:
    """W: how each feature compares with its copy when both are in the model.

    From a ranking, the place of the better of the two, counted from the last, with the sign
    of a feature that stands before its copy; from importances, their difference.
    """
    d = Z.shape[1]
    # In the order of their content, so that the estimator cannot tell a copy by its place.
    both = prepare_columns(np.hstack([Z, copies]))
    estimator.fit(both.X, y)
    if importance is not None:
        found = np.asarray(importance(estimator), dtype=np.float64)
    elif (ranking := getattr(estimator, "ranking_", None)) is not None:
        found = 1.0 + both.index.size - np.asarray(ranking)
    else:
        raise ValueError(
            f"{type(estimator).__name__} has no ranking_ after fit; pass importance=, a function "
            "of the fitted estimator such as lambda model: abs(model.coef_)."
        )
    if found.shape != (both.index.size,):
        raise ValueError(
            f"importance must give one number for each of the {both.index.size} columns, "
            f"features and knockoffs; got an array of shape {found.shape}."
        )
    values = np.zeros(2 * d)
    values[both.index] = found
    own, other = values[:d], values[d:]
    if importance is not None:
        return own - other
    W = np.sign(own - other) * np.maximum(own, other)
    # Equal columns are ranked by their position, which says nothing.
    W[(copies == Z).all(axis=0)] = 0.0
    return W


def knockoff_q_values(W: np.ndarray, offset: int = 1) -> np.ndarray:
    """The smallest level at which the knockoff filter keeps each feature; ∞ where W ≤ 0.

    A feature is kept at level q if ``(offset + #{W ≤ −t}) / #{W ≥ t} ≤ q`` for some t of at
    most its own W.
    """
    q, smallest = np.full(W.size, np.inf), np.inf
    for t in np.unique(W[W > 0.0]):
        smallest = min(smallest, (offset + np.count_nonzero(-t >= W)) / np.count_nonzero(t <= W))
        q[t == W] = smallest
    return q


def _e_values(W: np.ndarray, fdr: float, offset: int) -> np.ndarray:
    """``d·1{Wⱼ ≥ T} / (1 + #{W ≤ −T})`` with the filter's threshold T at half the level.

    Half, as Ren and Barber advise: at the full level most averages would just fall short.
    """
    kept = knockoff_q_values(W, offset) <= fdr / 2.0
    if not kept.any():
        return np.zeros(W.size)
    threshold = W[kept].min()
    return kept * (W.size / (1.0 + np.count_nonzero(-threshold >= W)))


def _e_value_q_values(e: np.ndarray) -> np.ndarray:
    """The level at which the e-BH procedure keeps each feature: ``min_{k ≥ rank} d/(k e₍ₖ₎)``."""
    order = np.argsort(-e, kind="stable")
    places = np.arange(1, e.size + 1)
    with np.errstate(divide="ignore"):
        levels = e.size / (places * e[order])
    q = np.empty(e.size)
    q[order] = np.minimum.accumulate(levels[::-1])[::-1]
    return q
