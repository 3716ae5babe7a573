"""Selectors for numbers that the experiments alone compare with: lasso, boosting, permutation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.linear_model import lars_path
from sklearn.model_selection import KFold

from covmin.baselines import BaselineSelector
from covmin.baselines.base import Ranked, Target, best_first, chosen_then_rest
from covmin.runtime.seeds import seed_of

__all__ = ["BoostingSelector", "LassoSelector", "PermutationSelector"]


class LassoSelector(BaselineSelector):
    """The lasso: features in the order in which they enter its path.

    Those that never enter follow by their correlation with the response.
    """

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        y = target.values
        coefficients = lars_path(Z, y, method="lasso")[2]
        entered = coefficients != 0.0
        step = np.where(entered.any(axis=1), entered.argmax(axis=1), np.inf)
        chosen = np.argsort(step, kind="stable")[: np.isfinite(step).sum()]
        return chosen_then_rest(chosen, np.abs(Z.T @ y)), None


@dataclass(eq=False, repr=False, kw_only=True)
class BoostingSelector(BaselineSelector):
    """Gradient boosting: the decrease of impurity summed over its trees.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of the trees; None is 0.
    """

    random_state: int | None = None

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        model = GradientBoostingRegressor(random_state=seed_of(self.random_state))
        scores = model.fit(Z, target.values).feature_importances_
        return best_first(scores), scores


@dataclass(eq=False, repr=False, kw_only=True)
class PermutationSelector(BaselineSelector):
    """Permutation importance of extra-trees: the loss of fit when a feature is shuffled.

    Trees are grown on four fifths of the samples and judged on the fifth left out, in turn.

    Parameters
    ----------
    n_repeats : int, default=3
        Shuffles of each feature in each fold.
    random_state : int or None, default=None
        Seed of the trees, the folds and the shuffles; None is 0.
    """

    n_repeats: int = 3
    random_state: int | None = None

    def _rank(self, Z: np.ndarray, target: Target, m: int) -> Ranked:
        seed = seed_of(self.random_state)
        rng = np.random.default_rng(seed)
        folds = KFold(5, shuffle=True, random_state=seed)
        scores = np.zeros(Z.shape[1])
        for train, test in folds.split(Z):
            trees = ExtraTreesRegressor(100, random_state=seed)
            trees.fit(Z[train], target.values[train])
            scores += rise_of_error(trees, Z[test], target.values[test], self.n_repeats, rng)
        return best_first(scores), scores


def rise_of_error(
    model: ExtraTreesRegressor,
    Z: np.ndarray,
    y: np.ndarray,
    n_repeats: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Sum of squared errors (d,) with each column of Z (n, d) shuffled, less that without."""
    n, d = Z.shape
    rise = np.full(d, -np.sum((y - model.predict(Z)) ** 2))
    for _ in range(n_repeats):
        # All columns in one call: a call costs more than the rows of one column.
        shuffled = np.repeat(Z[None], d, axis=0)
        for j in range(d):
            shuffled[j, :, j] = rng.permutation(Z[:, j])
        predicted = model.predict(shuffled.reshape(-1, d)).reshape(d, n)
        rise += np.sum((y - predicted) ** 2, axis=1) / n_repeats
    return rise
