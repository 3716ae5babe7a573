"""Whether the true features come first, and what the first columns of real tables predict.

``python -m experiments truth``: the response is a known function of the first few columns. Every
method is asked for as many features as are true, and is given the share of true ones among them.
``python -m experiments truth-tables``: tables as people bring them, in the folder
``COVMIN_TABLES``. Features are ranked on up to 5,000 rows, and boosted trees trained on the first
2, 3 and 5 are scored (R², accuracy) on up to 5,000 others; rows of a country stay together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GroupShuffleSplit

from covmin.evaluation.curves import rank_features
from covmin.runtime.seeds import unit_seed
from experiments.rivals import selectors
from experiments.study import Study, Unit

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("COVMIN_TABLES", ROOT.parent / "shared" / "data" / "tables"))
N_DRAWS, MOST_ROWS, SIZES = 4, 5000, (2, 3, 5)
METHODS = ("ccm", "extra-trees", "mi")
TABLE_METHODS = ("ccm", "mi", "permutation", "rfe-trees")


def mixture(x: np.ndarray) -> np.ndarray:
    return x[0] * x[1] + np.sin(2 * x[2]) + x[3] + 0.5 * x[4] ** 2


# Rows, columns, true columns, the function of the columns, and the scale of the noise: of labels,
# the share of wrong ones.
Row = tuple[int, int, int, Callable[[np.ndarray], np.ndarray], float]
ROWS: dict[str, Row] = {
    "xor and threshold": (1000, 200, 3, lambda x: (x[0] * x[1] > 0) ^ (x[2] > 0.7), 0.0),
    "three signs": (300, 60, 3, lambda x: x[:3].prod(axis=0) > 0, 0.05),
    "three signs, wide": (500, 300, 3, lambda x: x[:3].prod(axis=0) > 0, 0.05),
    "four signs": (800, 60, 4, lambda x: x[:4].prod(axis=0) > 0, 0.0),
    "x₀(1 + x₁x₂)": (1000, 200, 3, lambda x: x[0] * (1 + x[1] * x[2]), 0.3),
    "2x₀ + x₁x₂x₃": (1000, 20, 4, lambda x: 2 * x[0] + x[1] * x[2] * x[3], 0.5),
    "10x₀x₁x₂, uniform": (1000, 200, 3, lambda x: 10 * x[:3].prod(axis=0), 0.5),
    "parity of five bits": (300, 10, 5, lambda x: x[:5].sum(axis=0) % 2 == 1, 0.0),
    "x₀x₁x₂, many rows": (3000, 50, 3, lambda x: x[:3].prod(axis=0), 0.5),
    "ten weak effects": (2000, 200, 10, lambda x: 0.12 * x[:10].sum(axis=0), 1.0),
    "product, wave, line, square": (1000, 500, 5, mixture, 0.5),
    "sin(8x₀)": (300, 20, 1, lambda x: np.sin(8 * x[0]), 0.3),
    "sin(8x₀), more rows": (3000, 20, 1, lambda x: np.sin(8 * x[0]), 0.3),
    "Cauchy noise": (300, 200, 3, lambda x: x[:3].sum(axis=0), 1.0),
    "1 % gross errors": (300, 200, 2, lambda x: x[:2].sum(axis=0), 0.5),
    "Poisson counts": (100, 200, 2, lambda x: np.exp(0.6 * x[:2].sum(axis=0)), 0.0),
}


def draw(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table of ROWS: classes are whole numbers, everything else is a float."""
    n, d, _, function, noise = ROWS[name]
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d)) if "uniform" in name else rng.standard_normal((n, d))
    if "bits" in name:
        X = 1.0 * (X > 0.0)
    y = function(X.T)
    if y.dtype == bool:
        return X, (y ^ (rng.random(n) < noise)).astype(int)
    if "Poisson" in name:
        return X, 1.0 * rng.poisson(y)
    y = y + noise * (rng.standard_cauchy(n) if "Cauchy" in name else rng.standard_normal(n))
    return np.where(rng.random(X.shape) < 0.01 * ("gross" in name), 1000.0 * X, X), y


def ranked(unit: Unit, m: int, X: Any, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Columns from best to worst, and the seconds of the ranking."""
    order, seconds, error = rank_features(selectors()[unit["selector"]], m, X, y, seed=0)
    if order is None:
        raise RuntimeError(f"{unit}: {error}")
    return order, seconds


def work(unit: Unit) -> dict[str, Any]:
    """The share of the true features among as many that are ranked first."""
    n, d, n_true, *_ = ROWS[unit["table"]]
    seed = unit_seed(0, "truth", unit["table"], unit["draw"])
    order, seconds = ranked(unit, n_true, *draw(unit["table"], seed))
    found = float(np.mean(order[:n_true] < n_true))
    return {"rows": n, "columns": d, "found": found, "seconds": seconds}


def units(tables: Iterable[str], methods: Iterable[str]) -> list[dict[str, Any]]:
    every = product(range(N_DRAWS), methods, tables)
    return [{"table": name, "selector": method, "draw": k} for k, method, name in every]


# File, response, and the column whose rows stay together.
TABLES = {
    "housing": ("housing.csv.gz", "median_house_value", None),
    "diamonds": ("diamonds.csv.gz", "price", None),
    "titanic": ("titanic.csv", "survived", None),
    "life expectancy": ("life_expectancy.csv", "Life expectancy ", "Country"),
}


def table_work(unit: Unit) -> list[dict[str, Any]]:
    """Scores of boosted trees on the first columns, on rows that ranked nothing."""
    file, target, together = TABLES[unit["table"]]
    frame = pd.read_csv(FOLDER / file).dropna(subset=[target])
    frame = frame.drop(columns="alive", errors="ignore")  # the response of titanic in words
    groups = np.arange(len(frame)) if together is None else frame.pop(together)
    y = frame.pop(target).to_numpy()
    splitter = GroupShuffleSplit(1, test_size=0.3, random_state=unit["draw"])
    shuffled = np.random.default_rng(unit["draw"]).permutation
    parts = next(splitter.split(frame, y, groups))
    train, test = (shuffled(rows)[:MOST_ROWS] for rows in parts)
    codes = frame.apply(lambda x: x if x.dtype.kind in "iuf" else x.astype("category").cat.codes)
    X, classes = codes.to_numpy(float), np.unique(y).size == 2
    filled = codes.fillna(codes.median()).to_numpy(float)
    table = frame.iloc[train] if unit["selector"] == "ccm" else filled[train]
    order, seconds = ranked(unit, max(SIZES), table, y[train])
    boosted = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    rows = []
    for m in SIZES:
        k = order[:m]
        score = boosted(random_state=0).fit(X[train][:, k], y[train]).score(X[test][:, k], y[test])
        row = {"m": m, "first": ", ".join(frame.columns[k]), "score": float(score)}
        rows.append(row | {"seconds": seconds})
    return rows


_SYNTHETIC, _REAL = partial(units, ROWS, METHODS), partial(units, TABLES, TABLE_METHODS)
_CELL = {"table": "three signs", "selector": "ccm"}
STUDIES = [
    Study("truth", _SYNTHETIC, work, 0.1, cell=_CELL, value="found"),
    Study("truth-tables", _REAL, table_work, 0.1, folder=FOLDER),
]
