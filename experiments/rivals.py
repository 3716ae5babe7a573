"""Everything that the experiments compare by name: the library's, the paper's, and a few more."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, SVR

from covmin.evaluation.baselines import Question, baseline
from covmin.evaluation.selectors import SelectorSpec
from experiments.paper.selectors import paper_selectors


def boosting(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Decrease of impurity in gradient boosting."""
    model = GradientBoostingClassifier if question.classes else GradientBoostingRegressor
    return model(random_state=question.seed).fit(Z, y).feature_importances_


def rfe_of_sklearn(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Scikit-learn's RFE with ``step=0.1``: a tenth of all features at each step, with ties."""
    machine = (SVC if question.classes else SVR)(kernel="linear")
    return -RFE(machine, n_features_to_select=1, step=0.1).fit(Z, y).ranking_


def rfe_of_trees(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Recursive elimination, a column at a time, by the importances of extra-trees."""
    trees = ExtraTreesClassifier if question.classes else ExtraTreesRegressor
    return -RFE(trees(random_state=question.seed), n_features_to_select=1).fit(Z, y).ranking_


def lightgbm(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Gain of 200 rounds of LightGBM."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = LGBMClassifier if question.classes else LGBMRegressor
    options = {"n_estimators": 200, "importance_type": "gain", "n_jobs": 1, "verbose": -1}
    return model(**options, random_state=question.seed).fit(Z, y).feature_importances_


def boruta(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """The ranking of Boruta around a random forest: what is confirmed comes first, with ties."""
    from boruta import BorutaPy

    forest = RandomForestClassifier if question.classes else RandomForestRegressor
    model = forest(max_depth=5, random_state=question.seed)
    found = BorutaPy(model, n_estimators="auto", random_state=question.seed).fit(Z, y)
    return -(found.ranking_ + 1e-6 * np.argsort(np.argsort(-model.fit(Z, y).feature_importances_)))


def lassonet(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """LassoNet (Lemhadri et al., 2021): the penalty at which a feature leaves.

    Needs ``pip install lassonet``.
    """
    from lassonet import LassoNetClassifier, LassoNetRegressor

    model = LassoNetClassifier if question.classes else LassoNetRegressor
    seed = question.seed
    net = model(
        hidden_dims=(100,), verbose=0, random_state=seed, torch_seed=seed, path_multiplier=1.05
    )
    y = y if question.classes else y[:, None].astype(np.float32)
    net.path(Z.astype(np.float32), y, return_state_dicts=False)
    return np.asarray(net.feature_importances_)


_RIVALS = {
    "boosting": boosting,
    "rfe-sklearn": rfe_of_sklearn,
    "rfe-trees": rfe_of_trees,
    "lightgbm": lightgbm,
    "boruta": boruta,
    "lassonet": lassonet,
}


def selectors() -> dict[str, SelectorSpec]:
    """All selectors by name."""
    return {
        **paper_selectors(),
        **{name: SelectorSpec(name, baseline, {"score": score}) for name, score in _RIVALS.items()},
    }
