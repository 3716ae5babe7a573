"""Accuracy on sets of two classes of genes, some of whose training labels are wrong.

Run as ``python -m experiments.noisy_labels``; writes ``experiments/results/noisy-labels.csv``.
Features are ranked, and the machine trained, on the training rows of each fold, where a share
of the labels is turned around; test labels are the true ones. The pairs of classes of TOX-171
are further sets with more features than samples.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from covmin.datasets import load
from covmin.evaluation.frames import markdown_table
from covmin.evaluation.runner import rank_features, run_units, unit_seed
from covmin.evaluation.splits import make_splits
from covmin.evaluation.svm import prefix_scores
from experiments.accuracy import SIZES, variants

RESULTS = Path(__file__).parent / "results"
# Set, classes (None: all), share of wrong labels.
SETS = (
    ("ALLAML", None, 0.0),
    ("ALLAML", None, 0.15),
    ("TOX-171", (1, 2), 0.0),
    ("TOX-171", (2, 4), 0.0),
    ("TOX-171", (3, 4), 0.15),
)
SELECTORS = ("ccm", "ccm-0.001", "ccm-0.1", "anova", "rfe", "extra-trees")


@lru_cache(maxsize=8)
def samples(name: str, classes: tuple[int, int] | None, repeats: int) -> tuple[Any, ...]:
    """Samples, codes of two classes and splits."""
    data = load(name)
    codes = np.unique(data.target, return_inverse=True)[1]
    rows = np.isin(codes, np.subtract(classes, 1)) if classes else np.ones(codes.size, bool)
    X, y = data.data[rows], np.unique(codes[rows], return_inverse=True)[1]
    return X, y, make_splits(X, y, cv=5, n_repeats=repeats)


def fold_accuracy(unit: Mapping[str, Any]) -> float:
    """Accuracy of one fold, mean over the numbers of features."""
    classes = tuple(unit["classes"]) if unit["classes"] else None
    X, y, splits = samples(unit["dataset"], classes, unit["repeat"] + 1)
    train, test = splits[unit["repeat"]][unit["fold"]]
    seed = unit_seed(0, "labels", unit["repeat"], unit["fold"])
    wrong = train[np.random.default_rng(seed).random(train.size) < unit["flipped"]]
    y = y.copy()
    y[wrong] = 1 - y[wrong]
    spec = variants()[unit["selector"]]
    order, _, error = rank_features(spec, max(SIZES), X[train], y[train], seed)
    if error is not None:
        raise RuntimeError(f"{unit}: {error}")
    scores = prefix_scores(order, SIZES, X, y, (train, test), classification=True)
    return float(np.mean(scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_args()
    units = [
        {
            "dataset": name,
            "classes": list(classes) if classes else None,
            "flipped": flipped,
            "selector": selector,
            "repeat": repeat,
            "fold": fold,
        }
        for selector in SELECTORS
        for name, classes, flipped in SETS
        for repeat in range(options.repeats)
        for fold in range(5)
    ]
    scores = run_units(
        units,
        fold_accuracy,
        log=RESULTS / "noisy-labels.jsonl",
        n_jobs=options.jobs,
        progress=True,
    )
    frame = pd.DataFrame(units).assign(score=scores)
    frame["classes"] = ["all" if c is None else "{}, {}".format(*c) for c in frame["classes"]]
    keys = ["dataset", "classes", "flipped", "selector"]
    summary = frame.groupby(keys, sort=False)["score"].agg(["mean", "sem"]).reset_index()
    summary.to_csv(
        RESULTS / "noisy-labels.csv", index=False, float_format="%.4f", lineterminator="\n"
    )
    summary["cell"] = [
        f"{100 * m:.1f} ± {100 * s:.1f}"
        for m, s in zip(summary["mean"], summary["sem"], strict=True)
    ]
    order = list(dict.fromkeys(summary["selector"]))
    wide = summary.pivot_table(
        index=keys[:3], columns="selector", values="cell", aggfunc="first", sort=False
    )[order]
    print(markdown_table(wide.reset_index(), 2))


if __name__ == "__main__":
    main()
