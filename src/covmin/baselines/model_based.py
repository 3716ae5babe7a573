"""Features ranked by the weights of a fitted model: linear SVM and randomised trees."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.svm import SVC, SVR
from sklearn.utils._param_validation import Interval, RealNotInt

from covmin.runtime.repeats import N_JOBS

from .base import (
    BaselineSelector,
    Ranked,
    backward_elimination,
    best_first,
)
from .randomness import global_state_restored, private_random_state
from .target import Target


class RFESelector(BaselineSelector):
    r"""Recursive elimination: drop the features of smallest :math:`\sum_c w_{cj}^2`, refit.

    Guyon et al. (2002): :math:`w_c` are the weights of a linear support vector machine on the
    features that remain (one machine per pair of classes; support vector regression of the
    standardised response for numbers). Unlike :class:`sklearn.feature_selection.RFE` there
    are no ties, as features that leave together are ordered by their weights, and a
    fractional step is a fraction of the features that *remain*: large steps while there are
    thousands, single ones at the end, where the order matters.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction. None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.
    step : int or float in (0, 1), default=0.1
        Features dropped per round: a number, or a fraction of those that remain (at least one,
        so that 0.1 drops them one at a time from 19 on).
    C : float, default=1.0
        Inverse strength of the regularisation of the machine.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 the best: the reverse of the order of elimination.
    support_ : ndarray of bool of shape (n_features,)
        The m features kept.
    n_features_ : int
        Number of features kept.

    Notes
    -----
    The machine is solved in its dual by libsvm: deterministic, without a limit of iterations
    to warn about, and cheap for few samples of many features.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import RFESelector
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> RFESelector(2).fit(X, X[:, 1] - X[:, 4] > 0).get_support(indices=True)
    array([1, 4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "step": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        task: str = "auto",
        step: int | float = 0.1,
        C: float = 1.0,
    ):
        super().__init__(n_features_to_select, task=task)
        self.step = step
        self.C = C

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        machine = (SVC if target.is_classes else SVR)(kernel="linear", C=self.C)

        def squared_weights(remaining: np.ndarray) -> np.ndarray:
            machine.fit(Z[:, remaining], target.values)
            weights: np.ndarray = np.sum(machine.coef_**2, axis=0)
            return weights

        # The machines draw a seed they never use, SVR from the global generator in any case.
        with global_state_restored():
            return backward_elimination(Z.shape[1], self.step, squared_weights), None


class ExtraTreesSelector(BaselineSelector):
    r"""Impurity decrease: :math:`s_j = \sum_{\text{splits on } x_j} p(\text{node})\,\Delta i`.

    The drop of impurity at a split, weighted by the share of samples that reach it and averaged
    over extremely randomised trees (Geurts et al., 2006), whose thresholds are drawn at random.

    Parameters
    ----------
    n_features_to_select : int, float in (0, 1] or None, default=None
        Number m of features to keep, or their fraction. None keeps half of them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; "auto" takes continuous numbers as regression, anything else as classes.
    n_estimators : int, default=500
        Number of trees.
    random_state : int, RandomState or None, default=None
        Seed of the trees. Pass an int for the same ranking on every run.
    n_jobs : int or None, default=None
        Trees grown in parallel.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature, 1 the best, no ties.
    scores_ : ndarray of shape (n_features,)
        Impurity importances; they sum to 1.
    support_ : ndarray of bool of shape (n_features,)
        The m features kept.
    n_features_ : int
        Number of features kept.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import ExtraTreesSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> selector = ExtraTreesSelector(1, n_estimators=50, random_state=0)
    >>> selector.fit(X, abs(X[:, 3]) > 1).get_support(indices=True)
    array([3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        task: str = "auto",
        n_estimators: int = 500,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        super().__init__(n_features_to_select, task=task)
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        forest = (ExtraTreesClassifier if target.is_classes else ExtraTreesRegressor)(
            self.n_estimators,
            random_state=private_random_state(self.random_state),
            n_jobs=self.n_jobs,
        )
        scores = forest.fit(Z, target.values).feature_importances_
        return best_first(scores), scores
