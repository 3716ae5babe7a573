"""Filters: features scored one at a time."""

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_selection import (
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.utils._param_validation import Interval

from covmin.runtime.repeats import N_JOBS

from .base import BaselineSelector, Ranked, best_first
from .randomness import private_random_state
from .target import Target


class PearsonSelector(BaselineSelector):
    r"""Absolute Pearson correlation: :math:`s_j = \max_c |\mathrm{corr}(x_j, y_c)|`.

    For numbers and for two classes there is one response and ``s_j`` is the plain absolute
    correlation. For more classes ``y_c`` is the indicator of class c, so a feature counts as
    much as it tells the class it tells best from the rest; correlating with the class *number*
    would depend on how classes are numbered, and summing the squares over classes would
    repeat the ranking of :class:`AnovaSelector` (up to class frequencies).

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction. None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 the best, no ties.
    scores_ : ndarray of shape (n_features,)
        Absolute correlations, between 0 and 1.
    support_ : ndarray of bool of shape (n_features,)
        The m features kept.
    n_features_ : int
        Number of features kept.

    Examples
    --------
    >>> from covmin.baselines import PearsonSelector
    >>> X = [[0, 5, 1], [1, 1, 0], [2, 2, 1], [3, 4, 0]]
    >>> selector = PearsonSelector(1).fit(X, [0.1, 1.2, 1.9, 3.3])
    >>> selector.ranking_
    array([1, 3, 2])
    >>> selector.scores_.round(2)
    array([0.99, 0.11, 0.54])
    """

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        Y = target.columns()
        Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
        scores = np.abs(Z.T @ Y / Z.shape[0]).max(axis=1)
        # The two indicators of a binary response differ in rounding only.
        return best_first(scores), np.minimum(scores, 1.0)


class AnovaSelector(BaselineSelector):
    r"""F statistic: :math:`s_j = \frac{SS_{between}/(k-1)}{SS_{within}/(n-k)}` for k classes.

    For numbers, the F statistic of the simple regression of y on :math:`x_j`,
    :math:`r_j^2 (n-2) / (1-r_j^2)`, which ranks as the correlation does.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction. None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 the best, no ties.
    scores_ : ndarray of shape (n_features,)
        F statistics; infinite where a feature determines the response.
    support_ : ndarray of bool of shape (n_features,)
        The m features kept.
    n_features_ : int
        Number of features kept.

    Examples
    --------
    >>> from covmin.baselines import AnovaSelector
    >>> X = [[0, 5, 1], [1, 1, 0], [7, 2, 1], [8, 4, 0]]
    >>> selector = AnovaSelector(1).fit(X, ["a", "a", "b", "b"])
    >>> selector.ranking_, selector.scores_.round(1)
    (array([1, 2, 3]), array([98.,  0.,  0.]))
    """

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        test = f_classif if target.is_classes else f_regression
        # Few samples or perfect features make sums of squares vanish: inf and nan are expected.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scores = test(Z, target.values)[0]
        scores = np.nan_to_num(scores, nan=0.0, posinf=np.inf)
        return best_first(scores), scores


class MutualInfoSelector(BaselineSelector):
    r"""Mutual information :math:`s_j = \hat I(x_j; y)`, estimated from nearest neighbours.

    The estimators of Kraskov et al. (2004, numbers) and Ross (2014, classes) as scikit-learn
    implements them. They add a little noise to break ties between equal values, hence
    ``random_state``.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction. None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.
    n_neighbors : int, default=3
        Neighbours in the estimate; more lower the variance and raise the bias. At most
        n_samples - 1 are used.
    random_state : int, RandomState or None, default=None
        Seed of the noise. Pass an int for the same ranking on every run.
    n_jobs : int or None, default=None
        Features scored in parallel.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 the best, no ties.
    scores_ : ndarray of shape (n_features,)
        Estimates in nats, never negative; many can be exactly 0 and are ranked by position.
    support_ : ndarray of bool of shape (n_features,)
        The m features kept.
    n_features_ : int
        Number of features kept.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import MutualInfoSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> MutualInfoSelector(1, random_state=0).fit(X, X[:, 2] ** 2).get_support(indices=True)
    array([2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        task: str = "auto",
        n_neighbors: int = 3,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        super().__init__(n_features_to_select, task=task)
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        estimate = mutual_info_classif if target.is_classes else mutual_info_regression
        scores = estimate(
            Z,
            target.values,
            n_neighbors=min(self.n_neighbors, Z.shape[0] - 1),
            random_state=private_random_state(self.random_state),
            n_jobs=self.n_jobs,
        )
        return best_first(scores), scores
