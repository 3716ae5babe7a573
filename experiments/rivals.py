"""Everything that the experiments compare by name: the library's, the paper's, and a few more.

Some need a package: ``pip install lightgbm boruta lassonet xrfm skrebate hidimstat``. Those whose
package is missing are left out of a run, which then says so.
"""

from __future__ import annotations

import time
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFE
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from covmin.evaluation.baselines import Question, baseline, by_redundancy
from covmin.evaluation.curves import rank_features
from covmin.evaluation.selectors import Make
from experiments.paper.selectors import paper_selectors


def rfe_of_trees(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Recursive elimination, a column at a time, by the importances of extra-trees."""
    trees = ExtraTreesClassifier if question.classes else ExtraTreesRegressor
    return -RFE(trees(random_state=question.seed), n_features_to_select=1).fit(Z, y).ranking_


def mrmr_eight(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """MRMR by the mutual information of eight bins, about equally many samples in each."""
    codes = y if question.classes else eighths(y[:, None])[:, 0]
    return by_redundancy(eighths(Z), codes, max(question.n_features, 10))


def eighths(Z: np.ndarray) -> np.ndarray:
    """Which eighth of its column a value is in; equal values are in one."""
    return np.minimum(8 * (rankdata(Z, axis=0) - 0.5) / len(Z), 7).astype(int)


def boosted(Z: np.ndarray, y: np.ndarray, question: Question) -> Any:
    """200 rounds of LightGBM."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = LGBMClassifier if question.classes else LGBMRegressor
    options = {"n_estimators": 200, "importance_type": "gain", "n_jobs": 1, "verbose": -1}
    return model(**options, random_state=question.seed).fit(Z, y)


def lightgbm(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Gain of LightGBM."""
    return boosted(Z, y, question).feature_importances_


def lightgbm_shap(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Mean absolute SHAP values of LightGBM, which computes them itself."""
    values = boosted(Z, y, question).predict(Z, pred_contrib=True)
    # The last column of each class is that of no feature.
    return np.abs(values.reshape(len(Z), -1, Z.shape[1] + 1)[..., :-1]).mean(axis=(0, 1))


def multisurf(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """MultiSURF (Urbanowicz et al., 2018), which compares every two rows: on 800 of them."""
    from skrebate import MultiSURF

    rows = np.random.default_rng(question.seed).permutation(len(y))[:800]
    return MultiSURF().fit(Z[rows], y[rows]).feature_importances_


def xrfm(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Diagonal of the average gradient outer product of xRFM (Beaglehole et al., 2025)."""
    import torch
    from xrfm import xRFM

    X, Y = (torch.tensor(each, dtype=torch.float32) for each in (Z, np.c_[y]))
    if question.classes:
        Y = torch.nn.functional.one_hot(Y[:, 0].long()).float()
    held_out = np.arange(len(y)) % 5 == 0
    model = xRFM(device=torch.device("cpu"), tuning_metric="mse")
    model.fit(X[~held_out], Y[~held_out], X[held_out], Y[held_out])
    means = [np.asarray(each) for each in model.collect_best_agops()]
    return sum(each.diagonal() if each.ndim > 1 else each for each in means)


def conditional(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Conditional importance of hidimstat: of a forest, given all other columns."""
    from hidimstat import CFI

    forest = RandomForestClassifier if question.classes else RandomForestRegressor
    train = np.random.default_rng(question.seed).random(len(y)) < 0.7
    model = forest(random_state=question.seed).fit(Z[train], y[train])
    scored = {"method": "predict_proba", "loss": log_loss} if question.classes else {}
    options = {"n_permutations": 20, "feature_types": "continuous", "random_state": question.seed}
    importance = CFI(estimator=model, **scored, **options)
    return importance.fit_importance(Z[~train], y[~train])


def fitted_boruta(X: np.ndarray, y: np.ndarray, classes: bool, seed: int = 0) -> Any:
    """Boruta around a random forest."""
    from boruta import BorutaPy

    forest = RandomForestClassifier if classes else RandomForestRegressor
    model = forest(max_depth=5, random_state=seed)
    return BorutaPy(model, n_estimators="auto", random_state=seed).fit(X, y)


def boruta(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """The ranking of Boruta: what is confirmed comes first, with ties."""
    found = fitted_boruta(Z, y, question.classes, question.seed)
    importances = found.estimator.fit(Z, y).feature_importances_
    return -(found.ranking_ + 1e-6 * np.argsort(np.argsort(-importances)))


def lassonet(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """LassoNet (Lemhadri et al., 2021): the penalty at which a feature leaves."""
    from lassonet import LassoNetClassifier, LassoNetRegressor

    model = LassoNetClassifier if question.classes else LassoNetRegressor
    seed = question.seed
    net = model(
        hidden_dims=(100,), verbose=0, random_state=seed, torch_seed=seed, path_multiplier=1.05
    )
    y = y if question.classes else y[:, None].astype(np.float32)
    net.path(Z.astype(np.float32), y, return_state_dicts=False)
    return np.asarray(net.feature_importances_)


def permutation(Z: np.ndarray, y: np.ndarray, question: Question) -> np.ndarray:
    """Loss of held-out score of randomised trees when a feature is shuffled."""
    scores = np.zeros(Z.shape[1])
    folds = KFold(min(5, len(y)), shuffle=True, random_state=question.seed)
    forest = ExtraTreesClassifier if question.classes else ExtraTreesRegressor
    for train, test in folds.split(Z):
        trees = forest(100, random_state=question.seed).fit(Z[train], y[train])
        loss = permutation_importance(
            trees, Z[test], y[test], n_repeats=3, random_state=question.seed
        )
        scores += np.nan_to_num(loss.importances_mean)
    return scores


_RIVALS = {
    "rfe-trees": rfe_of_trees,
    "permutation": permutation,
    "mrmr-8": mrmr_eight,
    "lightgbm": lightgbm,
    "lightgbm-shap": lightgbm_shap,
    "multisurf": multisurf,
    "xrfm": xrfm,
    "conditional": conditional,
    "boruta": boruta,
    "lassonet": lassonet,
}


# Packages that are not among the extras of covmin: ``pip install`` them.
_PACKAGES = {"lightgbm-shap": "lightgbm", "multisurf": "skrebate", "conditional": "hidimstat"}
_PACKAGES |= {name: name for name in ("lightgbm", "boruta", "lassonet", "xrfm")}
_PACKAGES["hsic-lasso"] = "pyHSICLasso"


def missing(name: str) -> bool:
    """Whether the package of a selector is not installed."""
    return name in _PACKAGES and find_spec(_PACKAGES[name]) is None


def selectors() -> dict[str, Make]:
    """All selectors by name."""
    return {
        **paper_selectors(),
        **{name: partial(baseline, score) for name, score in _RIVALS.items()},
    }


def ranked(name: str, m: int, X: Any, y: np.ndarray, seed: int = 0) -> tuple[np.ndarray, float]:
    """Columns from best to worst, and the seconds of the processor that the ranking took."""
    start = time.process_time()
    order, _, error = rank_features(selectors()[name], m, X, y, seed)
    if order is None:
        raise RuntimeError(f"{name}: {error}")
    return order, time.process_time() - start
