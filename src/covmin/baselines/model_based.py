"""Rank features by the weights of a fitted model: a linear SVM or randomised trees."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.svm import SVC, SVR

from covmin.runtime.compat import N_JOBS, Interval
from covmin.runtime.seeds import seed_of

from .base import COUNT, BackwardElimination, BaselineSelector, Ranked, Target, best_first


@dataclass(eq=False, repr=False, kw_only=True)
class RFESelector(BackwardElimination):
    r"""Recursive elimination: drop the features with the smallest :math:`\sum_c w_{cj}^2`, refit.

    Guyon et al. (2002). :math:`w_c` are the weights of a linear support vector machine on the
    remaining features: one machine per pair of classes, or support vector regression of the
    standardised response. Unlike :class:`sklearn.feature_selection.RFE`, this ranking has no
    ties, and a fractional step is a fraction of the features that *remain*.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the regularisation strength of the SVM.

    Notes
    -----
    libsvm solves the dual problem: it is deterministic, has no iteration limit to warn about, and
    is cheap for few samples with many features.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import RFESelector
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> RFESelector(2).fit(X, X[:, 1] - X[:, 4] > 0).get_support(indices=True)
    array([1, 4])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BackwardElimination._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    C: float = 1.0

    def _importance(self, Z: np.ndarray, target: Target) -> Callable[[np.ndarray], np.ndarray]:
        machine = (SVC if target.is_classes else SVR)(kernel="linear", C=self.C)

        def squared_weights(remaining: np.ndarray) -> np.ndarray:
            weights = machine.fit(Z[:, remaining], target.values).coef_
            return np.asarray(np.sum(weights**2, axis=0))

        return squared_weights


@dataclass(eq=False, repr=False, kw_only=True)
class ExtraTreesSelector(BaselineSelector):
    r"""Impurity decrease: :math:`s_j = \sum_{\text{splits on } x_j} p(\text{node})\,\Delta i`.

    The decrease in impurity at a split, weighted by the fraction of samples that reach it and
    averaged over extremely randomised trees (Geurts et al., 2006), which draw their thresholds
    at random.

    Parameters
    ----------
    n_estimators : int, default=500
        Number of trees.
    random_state : int, RandomState or None, default=None
        Seed of the trees; None means 0.
    n_jobs : int or None, default=None
        Number of trees to grow in parallel.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Impurity importances, which sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from covmin.baselines import ExtraTreesSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 6))
    >>> selector = ExtraTreesSelector(1, n_estimators=50)
    >>> selector.fit(X, abs(X[:, 3]) > 1).get_support(indices=True)
    array([3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaselineSelector._parameter_constraints,
        "n_estimators": [COUNT],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
    }

    n_estimators: int = 500
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        forest = (ExtraTreesClassifier if target.is_classes else ExtraTreesRegressor)(
            self.n_estimators, random_state=seed_of(self.random_state), n_jobs=self.n_jobs
        )
        scores = forest.fit(Z, target.values).feature_importances_
        return best_first(scores), scores
