"""Features found among heavy-tailed columns, by how the columns are scaled.

Run as ``python -m experiments.far_values``; writes ``experiments/results/far-values.md``. The true
features are functions of normal numbers, and the columns are monotone functions of these, or hold
a few values that are errors. ``--real`` measures instead what scaling by ranks costs or gains on
real sets: trees, which see ranks alone, are fitted to the features kept on training rows and
scored on others.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.model_selection import train_test_split

from covmin import CCMSelector
from covmin.evaluation.frames import markdown_table

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).parents[2] / "shared" / "data"
N_COLUMNS = 30
SIZES = {150: 10}  # samples, draws
REAL = (
    *((f"regression/{name}", "regression") for name in ("autos", "concrete", "energy", "housing")),
    *((f"regression/{name}", "regression") for name in ("parkinsons", "skillcraft", "stock")),
    *((f"paper/{name}", "classification") for name in ("glass", "vowel", "wine", "warpAR10P")),
)
_TRAINING_ROWS = 600


def robust(X: np.ndarray) -> np.ndarray:
    """Median and median deviation, then a soft limit at two of these.

    Where more than half of the values are equal, the deviation is that of the others.
    """
    distance = np.abs(X - np.median(X, axis=0))
    spread = np.median(distance, axis=0)
    for j in np.flatnonzero(spread == 0.0):
        spread[j] = np.median(distance[distance[:, j] > 0.0, j])
    z = (X - np.median(X, axis=0)) / (1.4826 * spread)
    limited: np.ndarray = z / np.sqrt(1.0 + (z / 2.0) ** 2)
    return limited


SCALINGS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], Any]] = {
    "deviation": (lambda X: X, True),
    "median, limited": (robust, True),
    "uniform ranks": (lambda X: rankdata(X, axis=0), True),
    "normal scores": (lambda X: X, "rank"),
}


def columns(kind: str, Z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Columns with some distribution, made of normal ones."""
    n, d = Z.shape
    if kind == "cauchy":
        return np.tan(np.pi * (ndtr(Z) - 0.5))
    if kind == "lognormal":
        return np.exp(1.5 * Z)
    if kind == "counts, half zero":
        return np.where(Z > 0.1, rng.poisson(np.exp(1.2 * Z)), 0).astype(float)
    if kind == "two heaps":
        return Z + 4.0 * np.sign(Z)
    X = Z.copy()
    if kind == "one value 1e12":
        X[rng.integers(n, size=d), np.arange(d)] = 1e12
    elif kind == "3 % errors":
        wrong = rng.random(X.shape) < 0.03
        X[wrong] = 100.0 * rng.standard_normal(int(wrong.sum()))
    return X


KINDS = (
    "normal",
    "cauchy",
    "lognormal",
    "counts, half zero",
    "two heaps",
    "one value 1e12",
    "3 % errors",
)


def response(task: str, Z: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """What the first columns say, and how many they are."""
    noise = 0.3 * rng.standard_normal(len(Z))
    if task == "numbers":
        return np.sin(1.5 * Z[:, 0]) + 0.5 * Z[:, 1] ** 2 + Z[:, 2] + noise, 3
    if task == "classes":
        return (Z[:, 0] + Z[:, 1] ** 2 - 1.0 + Z[:, 2] + noise > 0.0).astype(int), 3
    return (Z[:, 0] * Z[:, 1] > 0.0).astype(int), 2


def found(kind: str, task: str, n: int, seed: int) -> dict[str, float]:
    """Share of the true features among as many that are kept."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, N_COLUMNS))
    y, k = response(task, Z, rng)
    X = columns(kind, Z, rng)
    result = {}
    for name, (transform, standardize) in SCALINGS.items():
        ranking = CCMSelector(k, standardize=standardize).fit(transform(X), y).ranking_
        result[name] = float((ranking[:k] <= k).mean())
    return result


def synthetic() -> pd.DataFrame:
    rows = []
    for n, draws in SIZES.items():
        for kind in KINDS:
            for task in ("numbers", "classes", "product"):
                shares = pd.DataFrame([found(kind, task, n, seed) for seed in range(draws)])
                rows.append({"columns": kind, "task": task, "n": n, **shares.mean()})
                print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def real(n_splits: int = 5) -> pd.DataFrame:
    """Score of trees on the features kept, R² or accuracy, mean over splits."""
    rows = []
    for path, task in REAL:
        with np.load(DATA / f"{path}.npz", allow_pickle=False) as arrays:
            X, y = arrays["X"].astype(float), arrays["y"]
        scores: dict[str, list[float]] = {"True": [], "rank": []}
        for seed in range(n_splits):
            strata = y if task == "classification" else None
            train, test = train_test_split(
                np.arange(len(y)), test_size=1 / 3, random_state=seed, stratify=strata
            )
            train = train[:_TRAINING_ROWS]
            trees = ExtraTreesClassifier if strata is not None else ExtraTreesRegressor
            for standardize in (True, "rank"):
                for m in {min(each, X.shape[1] // 2) for each in (2, 4, 8)}:
                    selector = CCMSelector(m, standardize=standardize, task=task)
                    kept = selector.fit(X[train], y[train]).get_support()
                    model = trees(200, random_state=0).fit(X[train][:, kept], y[train])
                    scores[str(standardize)].append(model.score(X[test][:, kept], y[test]))
        rows.append({"set": path, **{name: np.mean(each) for name, each in scores.items()}})
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    table.loc[len(table)] = ["mean", *table[["True", "rank"]].mean()]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    name = "far-values-real.md" if options.real else "far-values.md"
    table = real() if options.real else synthetic()
    (RESULTS / name).write_text(markdown_table(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
