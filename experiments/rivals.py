"""Everything that the experiments compare by name: the library's, the paper's, and three more."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, SVR

from covmin.evaluation.baselines import Question, baseline
from covmin.evaluation.selectors import SelectorSpec, ccm_spec
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
    "lassonet": lassonet,
}
_VARIANTS = {
    "ccm-0.001": {"epsilon": 0.001},
    "ccm-0.1": {"epsilon": 0.1},
    "ccm-additive": {"kernel": "additive"},
    "ccm-rational-quadratic": {"kernel": "rational-quadratic"},
}


def selectors() -> dict[str, SelectorSpec]:
    """All selectors by name."""
    return {
        **paper_selectors(),
        **{name: SelectorSpec(name, baseline, {"score": score}) for name, score in _RIVALS.items()},
        **{name: ccm_spec(name, "path", **params) for name, params in _VARIANTS.items()},
    }
