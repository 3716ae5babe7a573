"""What other selectors find on four tasks with known features, beside covmin.

It needs ``pip install boruta lassonet pyHSICLasso``. Every method sees the same 200 samples of 50
features. Methods that need the number of features get the number of true ones; the others choose
it. Seconds are of the processor, with one thread.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_selection import RFECV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import Bunch

from covmin import CCMSelector
from covmin.datasets import make_additive, make_shell, make_xor
from covmin.evaluation.selectors import feature_order
from experiments.rivals import fitted_boruta, selectors
from experiments.study import Study, Unit, every
from experiments.tables import markdown_table

N_SAMPLES, N_FEATURES, N_DRAWS = 200, 50, 10


def make_look_alikes(n_samples: int, *, n_noise: int, random_state: int) -> Bunch:
    """A linear response; each noise feature has a correlation of 0.7 with a true one, in turn."""
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_samples, 4))
    y = X @ np.array([1.0, -1.0, 1.0, -1.0]) + rng.standard_normal(n_samples)
    noise = np.sqrt(1.0 - 0.7**2) * rng.standard_normal((n_samples, n_noise))
    noise += 0.7 * X[:, np.arange(n_noise) % 4]
    return Bunch(data=np.hstack([X, noise]), target=y, task="regression")


TASKS = {
    "XOR": (make_xor, 3),
    "shell": (make_shell, 4),
    "additive": (make_additive, 4),
    "look-alikes": (make_look_alikes, 4),
}
# Methods that are told the number of features, by the name of their selector.
GIVEN = {
    "covmin, m given": "ccm",
    "SelectKBest, F test": "anova",
    "SelectKBest, mutual information": "mi",
    "mRMR": "mrmr",
    "HSIC-Lasso": "hsic-lasso",
    "LightGBM, gain": "lightgbm",
    "LassoNet": "lassonet",
}
CHOOSING = ("covmin, m chosen", "RFECV, linear SVM", "Boruta")
METHODS = (*GIVEN, *CHOOSING)
SLOW = ("LassoNet", "RFECV, linear SVM", "Boruta")  # run last


def kept(method: str, X: np.ndarray, y: np.ndarray, m: int, classes: bool) -> np.ndarray:
    """The features that a method keeps; those that choose the number do not look at m."""
    if method in GIVEN:
        return feature_order(selectors()[GIVEN[method]](m).fit(X, y))[:m]
    if method == "covmin, m chosen":
        return CCMSelector(n_jobs=1).fit(X, y).get_support(indices=True)
    if method == "Boruta":
        return np.flatnonzero(fitted_boruta(X, y, classes).support_)
    model = SVC(kernel="linear") if classes else SVR(kernel="linear")
    found = RFECV(model, step=1, cv=5).fit(StandardScaler().fit_transform(X), y)
    return found.get_support(indices=True)


def measure(unit: Unit) -> dict[str, Any]:
    """True and false features that a method keeps on one draw of a task."""
    make, n_true = TASKS[unit["task"]]
    bunch = make(N_SAMPLES, n_noise=N_FEATURES - n_true, random_state=unit["draw"])
    classes = bunch.task == "classification"
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        chosen = kept(unit["method"], bunch.data, bunch.target, n_true, classes)
    used = time.process_time() - start
    true = np.isin(chosen, bunch.informative).sum()
    return {"true": int(true), "false": int(len(chosen) - true), "seconds": round(used, 3)}


def report(frame: pd.DataFrame) -> str:
    """True and false features kept, mean over draws, and the mean seconds of a fit."""
    means = frame.groupby(["method", "task"], sort=False)[["true", "false"]].mean()
    cells = means.apply(lambda row: f"{row['true']:.1f} + {row['false']:.1f}", axis=1).unstack()
    cells = cells[list(TASKS)].rename(columns={t: f"{t} ({TASKS[t][1]} true)" for t in TASKS})
    cells["seconds"] = frame.groupby("method")["seconds"].mean()
    cells["draws"] = frame.groupby(["method", "task"])["draw"].nunique().unstack().min(axis=1)
    names = [name for name in METHODS if name in cells.index]
    return markdown_table(cells.loc[names].rename_axis("method").reset_index(), 2)


def units() -> list[dict[str, Any]]:
    units = every(draw=range(N_DRAWS), method=METHODS, task=TASKS)
    return sorted(units, key=lambda unit: unit["method"] in SLOW)


_CELL = {"method": "covmin, m given", "task": "XOR"}
STUDIES = [
    Study("migration", units, measure, 0.1, report=report, by="method", cell=_CELL, value="true")
]
