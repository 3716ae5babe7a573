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
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from covmin.core.kernels.distances import median_bandwidth
from experiments.rivals import ranked
from experiments.sets import NUMBERS, load_numbers
from experiments.study import Study, Unit, every
from experiments.tables import each

FOLDER = Path(os.environ.get("COVMIN_REGRESSION", "../shared/data/regression"))
SETS = ("autos", "concrete", "energy", "kin40k", "pumadyn32nm", "stock")
SETS += ("bike", "elevators", "housing", "parkinsons", "skillcraft")
SELECTORS = ("ccm", "anova", "mi", "mrmr", "rfe", "bahsic", "hsic-lasso", "lasso", "extra-trees")
SELECTORS += ("permutation", "lightgbm", "lightgbm-shap", "xrfm", "multisurf")
SLOW = ("conditional",)  # without probes
SIZES = (1, 2, 3, 5, 7, 10)
N_TRAIN, N_TEST, N_SPLITS, N_PROBES = 400, 1000, 5, 100
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
    """R² of each judge, mean over the numbers of features."""
    dataset, seed = unit["dataset"], unit["split"]
    d = load(dataset)[0].shape[1]
    X, y, *_ = split(dataset, seed)
    X = X[:, : d + unit["probes"]]
    sizes = [m for m in SIZES if m <= X.shape[1]]
    order, seconds = ranked(unit["selector"], sizes[-1], X, y, seed)
    firsts = [tuple(sorted(order[:m].tolist())) for m in sizes]
    found = {j: float(np.mean([r2(j, dataset, seed, each) for each in firsts])) for j in JUDGES}
    return found | {"seconds": seconds}


def units(sets: Sequence[str], names: Sequence[str], probes: Sequence[int]) -> list[dict[str, Any]]:
    return every(probes=probes, selector=names, split=range(N_SPLITS), dataset=sets)


def own_units() -> list[dict[str, Any]]:
    """A rival that needs minutes for many columns sees no probes."""
    return [*units(SETS, SELECTORS, (0, N_PROBES)), *units(SETS, SLOW, (0,))]


_CELL = {"dataset": "energy", "selector": "ccm", "probes": 0}
_EACH = each(JUDGES[0], "dataset", "probes", digits=3)
STUDIES = [
    Study("regression", own_units, work, 0.6, report=_EACH, cell=_CELL, value=JUDGES[0]),
    Study("regression-other", partial(units, tuple(NUMBERS), SELECTORS, (0,)), work, 0.1),
]
