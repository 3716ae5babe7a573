"""Nested accuracy of selectors on the paper's sets and on others.

Five folds, several repeats; a Gaussian support vector machine (C = 1, σ by the median rule) gets
the first 5, 10, …, 100 features, and the figure is the mean over these numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from covmin.evaluation.compare import make_splits
from covmin.evaluation.curves import prefix_scores
from covmin.runtime.seeds import unit_seed
from experiments.paper.data import list_datasets, load
from experiments.rivals import ranked
from experiments.sets import CLASSES, load_classes
from experiments.study import Study, Unit, every
from experiments.tables import each

PAPER_SETS = tuple(name for name in list_datasets() if name != "CLL-SUB-111")
# From the quickest to the slowest, so that an interrupted run has most of the picture.
RIVALS = ("anova", "rfe", "mrmr", "extra-trees", "bahsic", "hsic-lasso", "mi")
# Slower: one repeat, and not the paper's thousands of columns.
NARROW = ("lightgbm", "xrfm", "multisurf")
SIZES = (5, 10, 20, 30, 50, 75, 100)
_N_FOLDS = 5


@lru_cache(maxsize=4)
def samples(name: str, n_repeats: int) -> tuple[Any, ...]:
    """Samples, codes of the classes, numbers of features and splits of a set."""
    X, y = load_classes(name) if name in CLASSES else load(name)
    codes = np.unique(y, return_inverse=True)[1]
    d = X.shape[1]
    sizes = SIZES if d > max(SIZES) else tuple(range(1, d + 1))
    return X, codes, sizes, make_splits(X, codes, cv=_N_FOLDS, n_repeats=n_repeats)


def fold_accuracy(unit: Unit) -> dict[str, float]:
    """Accuracy of one fold, mean over the numbers of features, and the seconds of the ranking."""
    X, y, sizes, splits = samples(unit["dataset"], unit["repeat"] + 1)
    train, test = splits[unit["repeat"]][unit["fold"]]
    seed = unit_seed(0, "ranking", f"{unit['repeat']}/{unit['fold']}")
    order, seconds = ranked(unit["selector"], max(sizes), X[train], y[train], seed)
    scores = prefix_scores(order, sizes, X, y, (train, test), classification=True)
    return {"score": float(np.mean(scores)), "seconds": seconds}


def units(sets: Sequence[str]) -> list[dict[str, Any]]:
    return every(selector=("ccm", *RIVALS), repeat=range(3), dataset=sets, fold=range(_N_FOLDS))


def other_units() -> list[dict[str, Any]]:
    slower = every(selector=NARROW, repeat=[0], dataset=CLASSES, fold=range(_N_FOLDS))
    return [*units(tuple(CLASSES)), *slower]


def summary(folds: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy and its standard error over folds, for each set and selector."""
    groups = folds.groupby(["dataset", "selector"], sort=False)
    measures = {"accuracy": "mean", "standard_error": "sem", "n_folds": "size"}
    found = groups.agg(**{name: ("score", how) for name, how in measures.items()})
    return found.assign(seconds=groups["seconds"].mean()).reset_index()


_REPORT = each("accuracy", "dataset", digits=3)
_PAPER = partial(units, PAPER_SETS)
_CELL: dict[str, Any] = {"cell": {"dataset": "wine", "selector": "ccm"}, "value": "accuracy"}
_DIGITS: dict[str, Any] = {"cell": {"dataset": "digits", "selector": "ccm"}, "value": "accuracy"}
STUDIES = [
    Study("accuracy", _PAPER, fold_accuracy, 1.5, summary, _REPORT, **_CELL),
    Study("other", other_units, fold_accuracy, 0.6, summary, _REPORT, **_DIGITS),
]
