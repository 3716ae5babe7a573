"""Nested accuracy of selectors on the paper's sets and on others.

Five folds, several repeats; a Gaussian support vector machine (C = 1, σ by the median rule) gets
the first 5, 10, …, 100 features, and the figure is the mean over these numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from covmin.evaluation.compare import make_splits
from covmin.evaluation.curves import prefix_scores, rank_features
from covmin.runtime.seeds import unit_seed
from experiments.paper.data import list_datasets, load
from experiments.rivals import selectors
from experiments.sets import CLASSES, load_classes
from experiments.study import Study, Unit
from experiments.tables import markdown_table, titled

PAPER_SETS = tuple(name for name in list_datasets() if name != "CLL-SUB-111")
OURS = ("ccm", "ccm-gaussian", "ccm-single")
# From the quickest to the slowest, so that an interrupted run has most of the picture.
RIVALS = ("anova", "rfe-sklearn", "rfe", "mrmr", "extra-trees")
RIVALS += ("bahsic", "hsic-lasso", "mi", "lassonet")
SIZES = (5, 10, 20, 30, 50, 75, 100)
_N_FOLDS = 5
# Differences in points that are called none.
_LEVEL = 0.1


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
    spec = selectors()[unit["selector"]]
    m = spec.budget(X.shape[1], max(sizes))
    order, seconds, error = rank_features(spec, m, X[train], y[train], seed)
    if order is None:
        raise RuntimeError(f"{unit}: {error}")
    scores = prefix_scores(order, sizes, X, y, (train, test), classification=True)
    return {"score": float(np.mean(scores)), "fit_seconds": seconds}


def units(sets: Sequence[str]) -> list[dict[str, Any]]:
    keys = ("selector", "repeat", "dataset", "fold")
    every = product((*OURS, *RIVALS), range(3), sets, range(_N_FOLDS))
    return [dict(zip(keys, each, strict=True)) for each in every]


def summary(folds: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy and its standard error over folds, for each set and selector."""
    groups = folds.groupby(["dataset", "selector"], sort=False)
    return groups.agg(
        accuracy=("score", "mean"),
        standard_error=("score", "sem"),
        fit_seconds=("fit_seconds", "mean"),
        n_folds=("score", "size"),
    ).reset_index()


def percent(mean: pd.Series, error: pd.Series) -> list[str]:
    return [f"{100 * m:.1f} ± {100 * e:.1f}" for m, e in zip(mean, error, strict=True)]


def accuracy_table(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Sets against selectors, in per cent with standard errors; the best of each set named."""
    table = table.assign(cell=percent(table["accuracy"], table["standard_error"]))
    wide = {v: table.pivot(index="dataset", columns="selector", values=v)[names] for v in table}
    cells, means = wide["cell"].fillna(""), wide["accuracy"]
    cells["best"] = means.idxmax(axis=1)
    everywhere = means.dropna(axis=1).mean()
    shown = [f"{100 * everywhere[n]:.1f}" if n in everywhere else "" for n in names]
    cells.loc["mean"] = [*shown, everywhere.idxmax()]
    cells.loc["folds, at least"] = [*(f"{count:.0f}" for count in wide["n_folds"].min()), ""]
    order = [*dict.fromkeys(table["dataset"]), "mean", "folds, at least"]
    return cells.loc[order].reset_index().rename(columns={"dataset": "set"})


def standings(table: pd.DataFrame) -> pd.DataFrame:
    """How often each of the rivals and ccm is first, and how often far from it."""
    means = 100 * table.pivot(index="dataset", columns="selector", values="accuracy")
    means = means[[n for n in ("ccm", *RIVALS) if n in means]].dropna(axis=1)
    below = means.rsub(means.max(axis=1), axis=0)
    rows = {
        "mean": means.mean().round(1),
        "first, or within 0.1 point": (below <= _LEVEL).sum(),
        "more than 1 point below the first": (below > 1.0).sum(),
        "furthest below": below.max().round(1),
    }
    frame = pd.DataFrame(rows).sort_values("mean", ascending=False)
    return frame.rename_axis("selector").reset_index()


def report(table: pd.DataFrame) -> str:
    """The tables in Markdown."""
    names = [n for n in (*OURS, *RIVALS) if n in set(table["selector"])]
    times = table.pivot(index="dataset", columns="selector", values="fit_seconds")[names]
    title = "Nested accuracy in per cent, mean over the numbers of features "
    parts = {
        f"{title}(± standard error over folds)": markdown_table(accuracy_table(table, names)),
        f"How the {table['dataset'].nunique()} sets add up": markdown_table(standings(table), 1),
        "Seconds of a fit": markdown_table(times.rename_axis("set").reset_index(), 2),
    }
    return titled(parts)


_CELL: dict[str, Any] = {
    "cell": {"dataset": "wine", "selector": "ccm"},
    "value": "accuracy",
}
STUDIES = [
    Study("accuracy", partial(units, PAPER_SETS), fold_accuracy, 2.6, summary, report, **_CELL),
    Study("other", partial(units, tuple(CLASSES)), fold_accuracy, 0.5, summary, report),
]
