"""Filters: features scored one at a time."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn import feature_selection

from covmin.runtime.compat import N_JOBS
from covmin.runtime.seeds import seed_of

from .base import COUNT, BaselineSelector, Ranked, Target, best_first


class PearsonSelector(BaselineSelector):
    r"""Absolute Pearson correlation: :math:`s_j = \max_c |\mathrm{corr}(x_j, y_c)|`.

    For numbers and for two classes there is one response, and ``s_j`` is the absolute
    correlation. For more classes, ``y_c`` is the indicator of class c, so a feature scores by the
    class that it separates best from the rest. (A correlation with the class *number* would
    depend on how the classes are numbered. A sum of squares over classes would repeat the
    ranking of :class:`AnovaSelector`, up to class frequencies.)

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Absolute correlations, between 0 and 1.

    Examples
    --------
    >>> from covmin.baselines import PearsonSelector
    >>> X = [[0, 5, 1], [1, 1, 0], [2, 2, 1], [3, 4, 0]]
    >>> selector = PearsonSelector(1).fit(X, [0.1, 1.2, 1.9, 3.3])
    >>> selector.ranking_, selector.scores_.round(2)
    (array([1, 3, 2]), array([0.99, 0.11, 0.54]))
    """

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        Y = target.columns()
        Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
        scores = np.abs(Z.T @ Y / Z.shape[0]).max(axis=1)
        # The two indicators of a binary response differ only by rounding.
        return best_first(scores), np.minimum(scores, 1.0)


class AnovaSelector(BaselineSelector):
    r"""F statistic: :math:`s_j = \frac{SS_{between}/(k-1)}{SS_{within}/(n-k)}` for k classes.

    For numbers this is the F statistic of the simple regression of y on :math:`x_j`,
    :math:`r_j^2 (n-2) / (1-r_j^2)`, which gives the same ranking as the correlation.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        F statistics; infinite if a feature determines the response.

    Examples
    --------
    >>> from covmin.baselines import AnovaSelector
    >>> X = [[0, 5, 1], [1, 1, 0], [7, 2, 1], [8, 4, 0]]
    >>> selector = AnovaSelector(1).fit(X, ["a", "a", "b", "b"])
    >>> selector.ranking_, selector.scores_.round(1)
    (array([1, 2, 3]), array([98.,  0.,  0.]))
    """

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        classes = target.is_classes
        test = feature_selection.f_classif if classes else feature_selection.f_regression
        # Few samples or perfect features make sums of squares vanish: expect inf and nan.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scores = test(Z, target.values)[0]
        scores = np.nan_to_num(scores, nan=0.0, posinf=np.inf)
        return best_first(scores), scores


@dataclass(eq=False, repr=False, kw_only=True)
class MutualInfoSelector(BaselineSelector):
    r"""Mutual information :math:`s_j = \hat I(x_j; y)`, estimated from nearest neighbours.

    Uses scikit-learn's implementation of the estimators of Kraskov et al. (2004, numbers) and
    Ross (2014, classes). They add a little noise to break ties between equal values, hence
    ``random_state``.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of nearest neighbours, at most n_samples - 1. A larger number lowers the variance
        of the estimate and raises its bias.
    random_state : int, RandomState or None, default=None
        Seed of the noise; None means 0.
    n_jobs : int or None, default=None
        Number of features to score in parallel.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Estimates in nats, never negative. Features that score exactly 0 are ranked by position.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import MutualInfoSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> MutualInfoSelector(1).fit(X, X[:, 2] ** 2).get_support(indices=True)
    array([2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "n_neighbors": [COUNT],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
    }

    n_neighbors: int = 3
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        kind = "classif" if target.is_classes else "regression"
        estimate = getattr(feature_selection, f"mutual_info_{kind}")
        k, seed = min(self.n_neighbors, Z.shape[0] - 1), seed_of(self.random_state)
        options = {"n_neighbors": k, "random_state": seed, "n_jobs": self.n_jobs}
        scores = estimate(Z, target.values, **options)
        return best_first(scores), scores
