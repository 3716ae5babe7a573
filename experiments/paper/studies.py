"""The paper's experiments: ranks of the true features on synthetic data, accuracy on real data."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from covmin.datasets import make_additive, make_shell, make_xor
from covmin.evaluation.compare import make_splits
from covmin.evaluation.curves import CurveTask, default_sizes, rank_features, summarise
from covmin.evaluation.selectors import ComparedTable, Make
from covmin.runtime.seeds import unit_seed
from experiments.study import Study, Unit, every

from .data import list_datasets, load
from .selectors import budget, paper_selectors

# Fastest first, so that an interrupted run has finished most of the methods.
BASELINES = ("pearson", "anova", "mrmr", "rfe", "bahsic", "extra-trees", "mi", "hsic-lasso")
METHODS = ("ccm", "ccm-single", *BASELINES)
_FAMILIES = ("ccm-soft-", "ccm-free-", "ccm-fourier-")
VARIANTS = tuple(name for name in paper_selectors() if name.startswith(_FAMILIES))

# Synthetic data: the median rank of the true features -------------------------------------------

TASKS = {"binary": make_shell, "xor": make_xor, "regression": make_additive}
SAMPLES, OF_VARIANTS, N_DRAWS = range(10, 101, 10), (30, 60, 100), 100
BLOCK = 20  # draws of a unit: enough to outweigh the overhead, few enough to lose


def draws(unit: Unit) -> list[dict[str, Any]]:
    """The median rank of the m true features on each draw of a block; (m + 1)/2 is optimal.

    A selector is told m. Unlike in the paper, columns are shuffled in every draw: one that breaks
    ties by position gains nothing from the true features coming first.
    """
    task, n, make, rows = unit["task"], unit["n_samples"], paper_selectors()[unit["selector"]], []
    for repeat in range(unit["first"], unit["first"] + BLOCK):
        # The seed does not depend on the selector: all selectors see the same draw.
        seed = unit_seed(0, task, n, repeat)
        data = TASKS[task](n, random_state=seed)
        columns = np.random.default_rng(seed).permutation(data.data.shape[1])
        true = np.flatnonzero(np.isin(columns, data.informative))
        order, seconds, _ = rank_features(make, true.size, data.data[:, columns], data.target, seed)
        rank = None if order is None else median_rank(order, true)
        row = {"protocol": "median rank", "optimal": (true.size + 1) / 2, "median_rank": rank}
        rows.append(row | {"fit_seconds": seconds})
    return rows


def median_rank(order: np.ndarray, true: np.ndarray) -> float:
    """The median rank of true columns in an order (n_features,).

    >>> median_rank([2, 0, 3, 1], [0, 1])
    3.0
    """
    return float(np.median(np.flatnonzero(np.isin(order, true)) + 1))


def synthetic_units() -> list[dict[str, Any]]:
    blocks = range(0, N_DRAWS, BLOCK)
    units = every(selector=METHODS, task=TASKS, n_samples=SAMPLES, first=blocks)
    return units + every(selector=VARIANTS, task=TASKS, n_samples=OF_VARIANTS, first=blocks)


def summarised(records: pd.DataFrame) -> pd.DataFrame:
    """Means over draws for each task, selector and number of samples; failed draws apart."""
    keys = ["task", "protocol", "selector", "n_samples", "optimal"]
    summary = records.astype({"median_rank": float}).groupby(keys, sort=False)
    return summary.agg(
        mean_rank=("median_rank", "mean"),
        standard_error=("median_rank", "sem"),
        fit_seconds=("fit_seconds", "mean"),
        n_draws=("median_rank", "size"),
        n_failed=("median_rank", lambda ranks: int(ranks.isna().sum())),
    ).reset_index()


# Real data: accuracy of a kernel SVM against the number of features -----------------------------

PAPER_SETS = tuple(list_datasets())  # in the order of the paper's figure
_N_FOLDS, _SHUFFLES = 5, 3


@lru_cache(maxsize=16)
def curve_task(name: str) -> CurveTask:
    """One of :data:`PAPER_SETS` with its splits."""
    X, y = load(name)
    splits = make_splits(X, y, cv=_N_FOLDS, n_repeats=_SHUFFLES)
    d = X.shape[1]
    selectors = {name: of_budget(name, paper_selectors()[name], d) for name in METHODS}
    table = ComparedTable(X, {}, X, np.arange(d), d)
    return CurveTask(table, y, selectors, default_sizes(d), splits, True, 0)


def of_budget(name: str, make: Make, d: int) -> Make:
    """What makes a selector of d features, with the paper's m where that is its budget."""
    return lambda largest, **options: make(budget(name, d, largest), **options)


def curves(unit: Unit) -> list[dict[str, Any]] | None:
    """Accuracy for each number of features; none where the set is not there."""
    try:
        task = curve_task(unit["dataset"])
    except (OSError, ImportError) as error:
        print(f"Skipped: {unit['dataset']}. {str(error).splitlines()[0]}")
        return None
    return task(unit)["rows"]


def real_units() -> list[dict[str, Any]]:
    """Nested: a ranking of each training fold; paper: one of all rows, scored on all shuffles.

    As in the paper, a single solve ranks for m = 100 if there are more than 100 features, and for a
    fifth of them otherwise.
    """
    units = []
    for selector, dataset in product(METHODS, PAPER_SETS):
        head = {"dataset": dataset, "selector": selector}
        units.append({**head, "protocol": "paper"})
        folds = range(_N_FOLDS)
        units += [{**head, "protocol": "nested", "repeat": 0, "fold": fold} for fold in folds]
    return units


def mean_scores(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.astype({"score": float, "fit_seconds": float})
    return summarise(frame, ["dataset", "protocol", "selector", "n_features"])


_XOR: dict[str, Any] = {"task": "xor", "selector": "ccm", "n_samples": 30, "first": 0}
_WINE = {"dataset": "wine", "selector": "ccm", "protocol": "nested", "n_features": 5}
STUDIES = [
    Study("synthetic", synthetic_units, draws, 0.5, summarised, cell=_XOR, value="mean_rank"),
    Study("real", real_units, curves, 1.4, mean_scores, cell=_WINE, value="mean_score"),
]
