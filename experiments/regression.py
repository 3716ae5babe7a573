"""What selected features predict on regression sets.

The sets are ``.npz`` files of ``X`` (n, d) and ``y`` (n,) in the folder ``COVMIN_REGRESSION``, and
those of :mod:`experiments.sets`. They are taken as they are and with 100 probes, columns that are a
permutation of a random column each. Features are ranked on 400 training rows (four fifths, of fewer
than 500) of random splits; columns are standardised by these rows and clipped at ±10. Two
regressions on the first 1, 2, 3, 5, 7 and 10 features are judged by R² on up to 1,000 other rows,
and the figure is the mean over these numbers:

- kernel ridge: Gaussian, σ the median distance over √2, y centred, a ridge of 0.01, 0.1 or 1 on the
  diagonal of the kernel matrix by 3-fold cross-validation;
- extra-trees: 100 trees with at least three samples in a leaf. Fully grown ones fit the noise of a
  single feature; three was fixed before any other selector was judged by it.

Errors of a mean over sets are those of the sets, drawn apart from each other.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from covmin.core.kernels import median_bandwidth
from experiments.rivals import ranked
from experiments.sets import NUMBERS, load_numbers
from experiments.study import Study, Unit, every
from experiments.tables import markdown_table, titled

FOLDER = Path(os.environ.get("COVMIN_REGRESSION", "../shared/data/regression"))
# Every other set by name: variants of the selector are chosen on the first half alone.
EXPLORE = ("autos", "concrete", "energy", "kin40k", "pumadyn32nm", "stock")
JUDGE = ("bike", "elevators", "housing", "parkinsons", "skillcraft")
SELECTORS = ("ccm", "anova", "mi", "mrmr", "rfe", "bahsic", "hsic-lasso", "lasso", "extra-trees")
SELECTORS += ("permutation", "lightgbm", "lightgbm-shap", "xrfm", "multisurf")
SLOW = ("conditional", "boruta", "lassonet")  # without probes
SIZES = (1, 2, 3, 5, 7, 10)
N_TRAIN, N_TEST, N_SPLITS, N_PROBES = 400, 1000, 5, 100
N_FIRST = 5  # probes are counted among so many features
_CLIP = 10.0
JUDGES = ("kernel ridge", "extra-trees")


@lru_cache(maxsize=2)
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name in NUMBERS:
        return load_numbers(name)
    with np.load(FOLDER / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"]


@lru_cache(maxsize=2)
def split(dataset: str, seed: int) -> tuple[np.ndarray, ...]:
    """Training and test rows, standardised by the former, with probes beside them."""
    X, y = load(dataset)
    n, d = X.shape
    rng = np.random.default_rng(seed)
    rows = rng.permutation(n)
    n_train = min(N_TRAIN, 4 * n // 5)
    train, test = rows[:n_train], rows[n_train : n_train + N_TEST]
    probes = [rng.permutation(X[:, rng.integers(d)]) for _ in range(N_PROBES)]
    X = np.column_stack([X, *probes])
    Z = np.clip(StandardScaler().fit(X[train]).transform(X), -_CLIP, _CLIP)
    return Z[train], y[train], Z[test], y[test]


@cache
def r2(judge: str, dataset: str, seed: int, columns: tuple[int, ...]) -> float:
    """R² of a judge on some columns: selectors often agree on the first."""
    X, y, X_test, y_test = split(dataset, seed)
    X, X_test = X[:, columns], X_test[:, columns]
    if judge == "extra-trees":
        trees = ExtraTreesRegressor(100, min_samples_leaf=3, random_state=0)
        return float(trees.fit(X, y).score(X_test, y_test))
    gamma = 0.5 / median_bandwidth(X, 2) ** 2
    ridge = GridSearchCV(KernelRidge(kernel="precomputed"), {"alpha": (0.01, 0.1, 1.0)}, cv=3)
    ridge.fit(rbf_kernel(X, gamma=gamma), y - y.mean())
    predicted = y.mean() + ridge.predict(rbf_kernel(X_test, X, gamma=gamma))
    return float(r2_score(y_test, predicted))


def work(unit: Unit) -> dict[str, Any]:
    """R² of each judge, mean over the numbers of features; probes among the first."""
    dataset, seed = unit["dataset"], unit["split"]
    d = load(dataset)[0].shape[1]
    X, y, *_ = split(dataset, seed)
    X = X[:, : d + unit["probes"]]
    sizes = [m for m in SIZES if m <= X.shape[1]]
    order, seconds = ranked(unit["selector"], sizes[-1], X, y, seed)
    firsts = [tuple(sorted(order[:m].tolist())) for m in sizes]
    found = {j: float(np.mean([r2(j, dataset, seed, each) for each in firsts])) for j in JUDGES}
    return found | {"probes found": int((order[:N_FIRST] >= d).sum()), "seconds": seconds}


def units(sets: Sequence[str], names: Sequence[str], probes: Sequence[int]) -> list[dict[str, Any]]:
    return every(probes=probes, selector=names, split=range(N_SPLITS), dataset=sets)


# Tables ----------------------------------------------------------------------------------------


def by_split(frame: pd.DataFrame, value: str, probes: int) -> pd.DataFrame:
    """A value for every set and split (rows) and selector (columns), in the order of the frame."""
    part = frame[frame["probes"] == probes]
    wide = part.pivot(index=["dataset", "split"], columns="selector", values=value)
    return wide.loc[:, part["selector"].unique()]


def done_everywhere(frame: pd.DataFrame) -> pd.DataFrame:
    """The splits that a selector has done on all its sets: means are of the same splits."""
    runs = ["selector", "probes"]
    n_sets = frame.groupby(runs)["dataset"].transform("nunique")
    return frame[frame.groupby([*runs, "split"])["dataset"].transform("nunique") == n_sets]


def mean_and_error(wide: pd.DataFrame, sets: Sequence[str]) -> tuple[pd.Series, pd.Series]:
    """Mean over sets of the means over splits, and its error; missing where a set is missing."""
    groups = wide.groupby("dataset")
    means, errors = groups.mean().reindex(sets), groups.sem().reindex(sets)
    return means.mean(skipna=False), np.sqrt((errors**2).sum(skipna=False)) / len(sets)


def cells(means: pd.Series, errors: pd.Series, digits: int = 3) -> pd.Series:
    """Means with their errors, as text; empty where there is no mean."""
    text = means.map(f"{{:.{digits}f}}".format) + " ± " + errors.map(f"{{:.{digits}f}}".format)
    return text.where(means.notna(), "")


def figures(frame: pd.DataFrame, sets: Sequence[str]) -> pd.DataFrame:
    """R² of each selector, probes among its first five features, and seconds of a fit."""
    columns, every = {}, sorted(frame["probes"].unique())
    for probes, judge in product(every, JUDGES):
        title = f"{judge}, {probes} probes" if probes else judge
        columns[title] = cells(*mean_and_error(by_split(frame, judge, probes), sets))
    found = mean_and_error(by_split(frame, "probes found", every[-1]), sets)
    columns["probes among the first five"] = cells(*found, digits=2)
    seconds = mean_and_error(by_split(frame, "seconds", every[0]), sets)[0]
    columns["seconds"] = seconds.map("{:.2f}".format, na_action="ignore")
    table = pd.DataFrame(columns).reindex(frame["selector"].unique()).fillna("")
    return table.rename_axis("selector").reset_index()


def report(frame: pd.DataFrame) -> str:
    """All tables in Markdown."""
    frame, every = done_everywhere(frame), (*EXPLORE, *JUDGE)
    titles = {f"R², mean over the {len(every)} sets": every}
    titles["R², mean over the sets that had no part in the design"] = JUDGE
    return titled({t: markdown_table(figures(frame, sets)) for t, sets in titles.items()})




def own_units() -> list[dict[str, Any]]:
    """Rivals that need minutes for many columns see no probes."""
    sets = (*EXPLORE, *JUDGE)
    return [*units(sets, SELECTORS, (0, N_PROBES)), *units(sets, SLOW, (0,))]


_CELL = {"dataset": "energy", "selector": "ccm", "probes": 0}
STUDIES = [
    Study("regression", own_units, work, 3.0, report=report, cell=_CELL, value="kernel ridge"),
    Study("regression-other", partial(units, tuple(NUMBERS), SELECTORS, (0,)), work, 0.1),
]
