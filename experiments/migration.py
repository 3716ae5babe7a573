"""What other selectors find on four tasks with known features, beside covmin.

It needs ``pip install boruta lassonet mrmr_selection pyHSICLasso``. Every method sees the same 200
samples of 50 features. Methods that need the number of features get the number of true ones; the
others choose it. Seconds are of the processor, with one thread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from covmin import CCMSelector
from covmin.datasets import make_additive, make_correlated_linear, make_shell, make_xor
from covmin.evaluation import named_selectors
from experiments.paper.selectors import paper_selectors
from experiments.study import Study, Unit
from experiments.tables import markdown_table

N_SAMPLES, N_FEATURES, N_DRAWS = 200, 50, 10
TASKS = {
    "XOR": (make_xor, 3),
    "shell": (make_shell, 4),
    "additive": (make_additive, 4),
    "look-alikes": (make_correlated_linear, 4),
}

# A method takes samples, response, the number of true features and whether y holds classes,
# and returns the indices of the features it keeps.
Method = Callable[[np.ndarray, np.ndarray, int, bool], Any]


def covmin_given(X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> Any:
    return CCMSelector(m).fit(X, y).get_support(indices=True)


def covmin_auto(X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> Any:
    return CCMSelector(n_jobs=1).fit(X, y).get_support(indices=True)


def k_best(score: str, X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> Any:
    return named_selectors()[score].make(m).fit(X, y)[-1].get_support(indices=True)


def mrmr(X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> Any:
    from mrmr import mrmr_classif, mrmr_regression

    run = mrmr_classif if classes else mrmr_regression
    frame = pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])])
    chosen = run(X=frame, y=pd.Series(y), K=m, show_progress=False, n_jobs=1)
    return [int(name) for name in chosen]


def hsic_lasso(X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> Any:
    return paper_selectors()["hsic-lasso"].make(m).fit(X, y)[-1].get_support(indices=True)


def lassonet(X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> Any:
    from lassonet import LassoNetClassifier, LassoNetRegressor

    Z = StandardScaler().fit_transform(X).astype(np.float32)
    if classes:
        model = LassoNetClassifier(random_state=0, verbose=0)
        model.path(Z, np.unique(y, return_inverse=True)[1])
    else:
        model = LassoNetRegressor(random_state=0, verbose=0)
        model.path(Z, ((y - y.mean()) / y.std()).astype(np.float32).reshape(-1, 1))
    return np.argsort(-model.feature_importances_.numpy(), kind="stable")[:m]


def rfecv(X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> Any:
    model = SVC(kernel="linear") if classes else SVR(kernel="linear")
    Z = StandardScaler().fit_transform(X)
    return RFECV(model, step=1, cv=5).fit(Z, y).get_support(indices=True)


def boruta(X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> Any:
    from boruta import BorutaPy

    forest = RandomForestClassifier if classes else RandomForestRegressor
    selector = BorutaPy(forest(max_depth=5, random_state=0), n_estimators="auto", random_state=0)
    return np.flatnonzero(selector.fit(X, y).support_)


METHODS: dict[str, Method] = {
    "covmin, m given": covmin_given,
    "SelectKBest, F test": partial(k_best, "anova"),
    "SelectKBest, mutual information": partial(k_best, "mi"),
    "mRMR": mrmr,
    "HSIC-Lasso": hsic_lasso,
    "LassoNet": lassonet,
    "covmin, m chosen": covmin_auto,
    "RFECV, linear SVM": rfecv,
    "Boruta": boruta,
}
SLOW = ("LassoNet", "RFECV, linear SVM", "Boruta")  # run last


def measure(unit: Unit) -> dict[str, Any]:
    """True and false features that a method keeps on one draw of a task."""
    make, n_true = TASKS[unit["task"]]
    bunch = make(N_SAMPLES, n_noise=N_FEATURES - n_true, random_state=unit["draw"])
    method, classes = METHODS[unit["method"]], bunch.task == "classification"
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = method(bunch.data, bunch.target, n_true, classes)
    used = time.process_time() - start
    true = np.isin(chosen, bunch.informative).sum()
    return {"true": int(true), "false": int(len(chosen) - true), "seconds": round(used, 3)}


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """True and false features kept, mean over draws, and the mean seconds of a fit."""
    means = frame.groupby(["method", "task"], sort=False)[["true", "false"]].mean()
    cells = means.apply(lambda row: f"{row['true']:.1f} + {row['false']:.1f}", axis=1).unstack()
    cells = cells[list(TASKS)].rename(columns={t: f"{t} ({TASKS[t][1]} true)" for t in TASKS})
    cells["seconds"] = frame.groupby("method")["seconds"].mean()
    cells["draws"] = frame.groupby(["method", "task"])["draw"].nunique().unstack().min(axis=1)
    return cells.loc[list(METHODS)].rename_axis("method").reset_index()


def report(frame: pd.DataFrame) -> str:
    """The table in Markdown."""
    return markdown_table(table(frame), 2)


def units() -> list[dict[str, Any]]:
    every = sorted(product(range(N_DRAWS), METHODS, TASKS), key=lambda unit: unit[1] in SLOW)
    return [{"method": name, "task": task, "draw": draw} for draw, name, task in every]


_CELL = {"method": "covmin, m given", "task": "XOR"}
STUDIES = [
    Study("migration", units, measure, 0.1, report=report, by="method", cell=_CELL, value="true")
]
