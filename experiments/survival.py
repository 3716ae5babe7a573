"""Features for times to an event, on the sets that scikit-survival ships.

Categories are made indicators and gaps medians, the same for all. Features are ranked on two
thirds of the samples, drawn with as many events, and two judges trained there on the first m are
scored on the rest by the concordance index: ``cox``, Cox regression with a ridge, and ``forest``, a
random survival forest. Each set is taken as it is and with 50 probes, columns of it whose rows
were shuffled.

- ``covmin``: ``CCMSelector``,
- ``lasso``: the order in which Cox regression with the lasso takes features up (``Coxnet``),
- ``forest importances``: what shuffling a column costs a random survival forest, on its own
  samples,
- ``univariate``: the concordance index of a Cox regression on each feature by itself.

Needs scikit-survival.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from covmin import CCMSelector
from experiments.study import Study
from experiments.tables import markdown_table

SETS = ("gbsg2", "whas500", "veterans_lung_cancer", "breast_cancer", "aids", "flchain")
METHODS = ("covmin", "lasso", "forest importances", "univariate")
JUDGES = ("cox", "forest")
SIZES = (1, 2, 3, 5, 10)
N_PROBES = 50
# Of the largest set so many rows are drawn.
_MOST_ROWS = 1200


@lru_cache
def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features as numbers, and events with their times."""
    from sksurv import datasets

    X, y = getattr(datasets, f"load_{name}")()
    X = X.drop(columns="chapter", errors="ignore")  # of flchain: what a person died of
    X = pd.get_dummies(X, drop_first=True, dtype=float).astype(float)
    X = X.fillna(X.median()).to_numpy()
    if len(y) > _MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(y), _MOST_ROWS, replace=False)
        X, y = X[rows], y[rows]
    return X[:, np.ptp(X, axis=0) > 0], y


def with_probes(X: np.ndarray, seed: int) -> np.ndarray:
    """The table and columns of it, drawn at random, in a random order of their rows."""
    rng = np.random.default_rng([seed, 1])
    probes = X[:, rng.integers(X.shape[1], size=N_PROBES)]
    return np.hstack([X, rng.permuted(probes, axis=0)])


def _forest(seed: int = 0) -> Any:
    from sksurv.ensemble import RandomSurvivalForest

    return RandomSurvivalForest(
        60, min_samples_leaf=10, max_features="sqrt", low_memory=True, random_state=seed
    )


def _by_lasso(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    path = CoxnetSurvivalAnalysis(l1_ratio=1.0, alpha_min_ratio=0.001, n_alphas=100).fit(X, y)
    taken = path.coef_ != 0.0
    first = np.where(taken.any(axis=1), taken.argmax(axis=1), taken.shape[1])
    return np.lexsort((-np.abs(path.coef_[:, -1]), first))


def _by_forest(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    forest = _forest(1).fit(X, y)
    importances = permutation_importance(forest, X, y, n_repeats=2, random_state=0).importances_mean
    return np.argsort(-importances, kind="stable")


def _by_each(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    scores = [_cox().fit(x[:, None], y).score(x[:, None], y) for x in X.T]
    return np.argsort(-np.array(scores), kind="stable")


def _cox() -> Any:
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    return CoxPHSurvivalAnalysis(alpha=1.0)


def order(method: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The features from best to worst."""
    if method == "covmin":
        return np.argsort(CCMSelector(min(max(SIZES), X.shape[1])).fit(X, y).ranking_)
    return {"lasso": _by_lasso, "forest importances": _by_forest, "univariate": _by_each}[method](
        X, y
    )


def work(unit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Concordance indices of every method at every number of features."""
    X, y = table(unit["set"])
    X = with_probes(X, unit["split"]) if unit["probes"] else X
    event = y[y.dtype.names[0]]
    splits = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=unit["split"])
    train, test = next(splits.split(X, event))
    scaler = StandardScaler().fit(X[train])
    Z, left_out = scaler.transform(X[train]), scaler.transform(X[test])
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in METHODS:
            begun = time.process_time()
            best = order(method, Z, y[train])
            seconds = time.process_time() - begun
            for m in [m for m in SIZES if m <= table(unit["set"])[0].shape[1]]:
                some = best[:m]
                for judge, model in zip(JUDGES, (_cox(), _forest()), strict=True):
                    score = model.fit(Z[:, some], y[train]).score(left_out[:, some], y[test])
                    row = {"method": method, "m": m, "judge": judge, "score": float(score)}
                    rows.append(row | {"seconds": seconds})
    return rows


def report(frame: pd.DataFrame) -> str:
    """Means over splits, and the differences to covmin with their standard errors."""
    text = []
    for probes, title in ((0, "As they are"), (1, f"With {N_PROBES} probes")):
        part = frame[frame["probes"] == probes]
        for judge in JUDGES:
            mean = part[part["judge"] == judge].pivot_table(
                "score", ["set", "split"], "method", sort=False
            )
            mean = 100 * mean[list(METHODS)]
            wide = mean.groupby("set", sort=False).mean()
            wide.loc["mean"] = wide.mean()
            for other in METHODS[1:]:
                less = mean["covmin"] - mean[other]
                cell = {name: _told(less.xs(name)) for name in wide.index[:-1]}
                wide[f"covmin less {other}"] = [*cell.values(), _told_of_sets(less)]
            text += [f"## {title}, judged by {judge}", markdown_table(wide.reset_index(), 1)]
    by_size = 100 * frame.pivot_table("score", ["probes", "judge", "m"], "method", sort=False)
    by_size = by_size[list(METHODS)].reset_index().replace({"probes": {0: "no", 1: "yes"}})
    seconds = frame.pivot_table("seconds", "set", "method", sort=False)[list(METHODS)]
    return "\n\n".join(
        [
            *text,
            "## By the number of features, mean over sets",
            markdown_table(by_size, 1),
            "## Processor seconds of a ranking, with and without probes",
            markdown_table(seconds.reset_index(), 2),
        ]
    )


def _told(differences: pd.Series) -> str:
    """Mean over splits. Splits share samples, so that this error is too small rather than large."""
    return f"{differences.mean():+.1f} ± {differences.sem():.1f}"


def _told_of_sets(less: pd.Series) -> str:
    by_set = less.groupby("set", sort=False).mean()
    return f"{by_set.mean():+.1f} ± {by_set.sem():.1f}"


def units() -> list[dict[str, Any]]:
    return [
        {"set": name, "probes": probes, "split": split}
        for split in range(4)
        for name in SETS
        for probes in (0, 1)
    ]


STUDIES = [Study("survival", units, work, 0.1, report=report, by="set")]
