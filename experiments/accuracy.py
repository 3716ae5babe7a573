"""Nested accuracy of selectors: on the paper's sets, on others, and with wrong training labels.

Five folds, several repeats; a Gaussian support vector machine (C = 1, σ by the median rule) gets
the first 5, 10, …, 100 features, and the figure is the mean over these numbers.

With wrong labels, features are ranked and the machine is trained on rows where a share of the
labels is replaced by those of other classes; test labels are the true ones. The pairs of classes of
TOX-171 are further sets. The rule by which the ridge follows the noise was designed on the first
group of these sets, its largest value lowered when the others had been seen as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import chain, product
from pathlib import Path
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
from experiments.tables import markdown_table

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
def samples(name: str, classes: tuple[int, ...] | None, n_repeats: int) -> tuple[Any, ...]:
    """Samples, codes of the classes (some or all), numbers of features and splits of a set."""
    X, y = load_classes(name) if name in CLASSES else load(name)
    codes = np.unique(y, return_inverse=True)[1]
    if classes is not None:
        kept = np.isin(codes, np.subtract(classes, 1))
        X, codes = X[kept], np.unique(codes[kept], return_inverse=True)[1]
    d = X.shape[1]
    sizes = SIZES if d > max(SIZES) else tuple(range(1, d + 1))
    return X, codes, sizes, make_splits(X, codes, cv=_N_FOLDS, n_repeats=n_repeats)


def fold_accuracy(unit: Unit) -> dict[str, float]:
    """Accuracy of one fold, mean over the numbers of features, and the seconds of the ranking."""
    classes = tuple(unit["classes"]) if unit.get("classes") else None
    X, y, sizes, splits = samples(unit["dataset"], classes, unit["repeat"] + 1)
    train, test = splits[unit["repeat"]][unit["fold"]]
    if flipped := unit.get("flipped", 0.0):
        seed = unit_seed(0, "labels", unit["repeat"], unit["fold"])
        y = with_wrong_labels(y, train, flipped, np.random.default_rng(seed))
    else:
        seed = unit_seed(0, "ranking", f"{unit['repeat']}/{unit['fold']}")
    spec = selectors()[unit["selector"]]
    m = spec.budget(X.shape[1], max(sizes))
    order, seconds, error = rank_features(spec, m, X[train], y[train], seed)
    if order is None:
        raise RuntimeError(f"{unit}: {error}")
    scores = prefix_scores(order, sizes, X, y, (train, test), classification=True)
    return {"score": float(np.mean(scores)), "fit_seconds": seconds}


def with_wrong_labels(
    y: np.ndarray, train: np.ndarray, share: float, rng: np.random.Generator
) -> np.ndarray:
    """The codes of the classes, in a share of the training rows those of another class."""
    wrong = train[rng.random(train.size) < share]
    n_classes = y.max() + 1
    y = y.copy()
    y[wrong] = (y[wrong] + 1 + rng.integers(n_classes - 1, size=wrong.size)) % n_classes
    return y


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
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts.items())


def draw(table: pd.DataFrame, path: Path) -> None:
    """What ccm gains over each rival, a dot for each set, the mean as a bar."""
    from matplotlib import pyplot as plt

    means = 100 * table.pivot(index="dataset", columns="selector", values="accuracy")
    rivals = [rival for rival in RIVALS if rival in means and means[rival].notna().all()]
    gains = means[rivals].rsub(means["ccm"], axis=0)
    gains = gains[gains.mean().sort_values(ascending=False).index]
    size = (7.2, 0.6 + 0.42 * gains.shape[1])
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    axes.axvline(0.0, color="black", linewidth=0.8)
    for row, rival in enumerate(gains):
        axes.plot(gains[rival], np.full(len(gains), row), "o", color="#0072B2", alpha=0.45, ms=6)
        axes.plot([gains[rival].mean()] * 2, [row - 0.32, row + 0.32], color="#D55E00", lw=3)
    axes.set_yticks(range(gains.shape[1]), [f"{r}  ({gains[r].mean():+.1f})" for r in gains])
    axes.set_xlabel("accuracy of ccm minus that of the other selector, in points (nested)")
    title = f"{len(gains)} sets, a dot for each; bar and number: the mean"
    axes.set_title(title, fontsize="medium")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)


# Wrong labels ----------------------------------------------------------------------------------

# Set, classes (None: all), share of wrong labels.
_DESIGN = [("ALLAML", None, 0.0), ("ALLAML", None, 0.15), ("TOX-171", (1, 2), 0.0)]
_DESIGN += [("TOX-171", (2, 4), 0.0), ("TOX-171", (3, 4), 0.15)]
_WIDE = ("orlraws10P", "warpAR10P", "warpPIE10P", "cells", "coffee", "mice, diet")
_WIDE += ("mice, genotype", "numerals", "ACSF1", "BasicMotions", "Pickup", "ArrowHead")
_TALL = ("glass", "vowel", "wine", "GunPoint", "digits", "heart", "ionosphere", "libras")
_TALL += ("metastasis", "satimage", "segment", "sonar", "spambase", "texture", "vehicle")
_TALL += ("wdbc", "yeast")
GROUPS: dict[str, list[tuple[str, tuple[int, int] | None, float]]] = {
    "More features than samples, sets the rule was designed on": _DESIGN,
    "More features than samples, other sets": [(name, None, 0.2) for name in _WIDE],
    "More samples than features": [(name, None, 0.2) for name in _TALL],
}
_NOISY = ("ccm", "ccm-0.001", "ccm-0.1", "anova", "mrmr", "bahsic", "rfe", "extra-trees")
_SET = ["dataset", "classes", "flipped"]


def noisy_units() -> list[dict[str, Any]]:
    every = product(_NOISY, chain(*GROUPS.values()), range(2), range(_N_FOLDS))
    return [
        {
            **{"dataset": name, "classes": list(classes) if classes else None, "flipped": flipped},
            **{"selector": selector, "repeat": repeat, "fold": fold},
        }
        for selector, (name, classes, flipped), repeat, fold in every
    ]


def noisy_summary(folds: pd.DataFrame) -> pd.DataFrame:
    names = ["all" if c is None else "{}, {}".format(*c) for c in folds["classes"]]
    groups = folds.assign(classes=names).groupby([*_SET, "selector"], sort=False)
    return groups["score"].agg(["mean", "sem"]).reset_index()


def noisy_report(summary: pd.DataFrame) -> str:
    """For each group of sets: sets against selectors in per cent, and the means."""
    parts = []
    summary = summary.assign(cell=percent(summary["mean"], summary["sem"]))
    for title, group in GROUPS.items():
        named = [(n, "{}, {}".format(*c) if c else "all", share) for n, c, share in group]
        part = summary[[each in named for each in summary[_SET].itertuples(index=False, name=None)]]
        order = list(dict.fromkeys(part["selector"]))
        wide = part.pivot_table("cell", _SET, "selector", aggfunc="first", sort=False)[order]
        rows = wide.reset_index().astype(object)
        means = 100 * part.groupby("selector")["mean"].mean()[order]
        rows.loc[len(rows)] = ["mean", "", "", *means.map("{:.1f}".format)]
        parts.append(f"{title}:\n\n{markdown_table(rows, 2)}")
    return "\n\n".join(parts)


STUDIES = [
    Study("accuracy", partial(units, PAPER_SETS), fold_accuracy, 2.6, summary, report),
    Study("other", partial(units, tuple(CLASSES)), fold_accuracy, 0.5, summary, report),
    Study("noisy-labels", noisy_units, fold_accuracy, 2.0, noisy_summary, noisy_report),
]
