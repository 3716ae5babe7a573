"""Accuracy on sets some of whose training labels are wrong.

Run as ``python -m experiments.noisy_labels``; writes ``experiments/results/noisy-labels.csv``
and ``.md``. Features are ranked, and the machine trained, on the training rows of each fold,
where a share of the labels is replaced by those of other classes; test labels are the true ones.
The pairs of classes of TOX-171 are further sets of two classes. Sets with more features than
samples: the rule by which the ridge follows the noise was designed on the first, its largest value
lowered when the others had been seen as well. Sets with more samples: the ridge was set on these.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from covmin.evaluation.compare import make_splits
from covmin.evaluation.curves import prefix_scores, rank_features
from covmin.evaluation.runner import run_units
from covmin.runtime.seeds import unit_seed
from experiments.accuracy import samples as all_classes
from experiments.rivals import selectors
from experiments.tables import markdown_table

RESULTS = Path(__file__).parent / "results"
KEYS = ["dataset", "classes", "flipped", "selector"]
# Set, classes (None: all), share of wrong labels.
DESIGNED_ON: tuple[tuple[str, tuple[int, int] | None, float], ...] = (
    ("ALLAML", None, 0.0),
    ("ALLAML", None, 0.15),
    ("TOX-171", (1, 2), 0.0),
    ("TOX-171", (2, 4), 0.0),
    ("TOX-171", (3, 4), 0.15),
)
OTHERS: tuple[tuple[str, tuple[int, int] | None, float], ...] = tuple(
    (name, None, 0.2)
    for name in (
        "orlraws10P",
        "warpAR10P",
        "warpPIE10P",
        "cells",
        "coffee",
        "mice, diet",
        "mice, genotype",
        "numerals",
        "ACSF1",
        "BasicMotions",
        "Pickup",
        "ArrowHead",
    )
)
TALL: tuple[tuple[str, tuple[int, int] | None, float], ...] = tuple(
    (name, None, 0.2)
    for name in (
        "glass",
        "vowel",
        "wine",
        "GunPoint",
        "digits",
        "heart",
        "ionosphere",
        "libras",
        "metastasis",
        "satimage",
        "segment",
        "sonar",
        "spambase",
        "texture",
        "vehicle",
        "wdbc",
        "yeast",
    )
)
GROUPS = {
    "More features than samples, sets the rule was designed on": DESIGNED_ON,
    "More features than samples, other sets": OTHERS,
    "More samples than features": TALL,
}
SELECTORS = ("ccm", "ccm-0.001", "ccm-0.1", "anova", "mrmr", "bahsic", "rfe", "extra-trees")


@lru_cache(maxsize=8)
def samples(name: str, classes: tuple[int, int] | None, repeats: int) -> tuple[Any, ...]:
    """Samples, codes of the classes, numbers of features and splits."""
    X, y, sizes, _ = all_classes(name, 1)
    codes = np.unique(y, return_inverse=True)[1]
    rows = np.isin(codes, np.subtract(classes, 1)) if classes else np.ones(codes.size, bool)
    X, y = X[rows], np.unique(codes[rows], return_inverse=True)[1]
    return X, y, sizes, make_splits(X, y, cv=5, n_repeats=repeats)


def fold_accuracy(unit: Mapping[str, Any]) -> float:
    """Accuracy of one fold, mean over the numbers of features."""
    classes = tuple(unit["classes"]) if unit["classes"] else None
    X, y, sizes, splits = samples(unit["dataset"], classes, unit["repeat"] + 1)
    train, test = splits[unit["repeat"]][unit["fold"]]
    seed = unit_seed(0, "labels", unit["repeat"], unit["fold"])
    rng = np.random.default_rng(seed)
    wrong = train[rng.random(train.size) < unit["flipped"]]
    n_classes = y.max() + 1
    y = y.copy()
    y[wrong] = (y[wrong] + 1 + rng.integers(n_classes - 1, size=wrong.size)) % n_classes
    spec = selectors()[unit["selector"]]
    order, _, error = rank_features(spec, max(sizes), X[train], y[train], seed)
    if error is not None:
        raise RuntimeError(f"{unit}: {error}")
    scores = prefix_scores(order, sizes, X, y, (train, test), classification=True)
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
        for name, classes, flipped in itertools.chain(*GROUPS.values())
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
    summary = frame.groupby(KEYS, sort=False)["score"].agg(["mean", "sem"]).reset_index()
    path = RESULTS / "noisy-labels.csv"
    summary.to_csv(path, index=False, float_format="%.4f", lineterminator="\n")
    text = report(pd.read_csv(path))  # to the last digit those of the file
    (RESULTS / "noisy-labels.md").write_text(text + "\n", encoding="utf-8")
    print(text)


def report(summary: pd.DataFrame) -> str:
    """A table in Markdown for each group of sets."""
    sets = list(zip(summary["dataset"], summary["classes"], summary["flipped"], strict=True))
    parts = []
    for title, group in GROUPS.items():
        named = {(n, "{}, {}".format(*c) if c else "all", share) for n, c, share in group}
        parts.append(f"{title}:\n\n{table(summary[[each in named for each in sets]])}")
    return "\n\n".join(parts)


def table(summary: pd.DataFrame) -> str:
    """Sets against selectors, in per cent with standard errors, and the mean of each."""
    cells = [
        f"{100 * m:.1f} ± {100 * s:.1f}"
        for m, s in zip(summary["mean"], summary["sem"], strict=True)
    ]
    order = list(dict.fromkeys(summary["selector"]))
    wide = summary.assign(cell=cells).pivot_table(
        index=KEYS[:3], columns="selector", values="cell", aggfunc="first", sort=False
    )[order]
    means = summary.groupby("selector")["mean"].mean()
    last = ["mean", "", "", *(f"{100 * means[name]:.1f}" for name in order)]
    rows = wide.reset_index().astype(object)
    rows.loc[len(rows)] = last
    return markdown_table(rows, 2)


if __name__ == "__main__":
    # By its own name: worker processes cannot be sent what lives in __main__.
    from experiments import noisy_labels

    noisy_labels.main()
