"""Whether the true features come first, and what the first columns of real tables predict.

``python -m experiments truth``: the response is a known function of the first few columns. Every
method is asked for as many features as are true, and is given the share of true ones among them.
``python -m experiments truth-tables``: tables as people bring them, in the folder
``COVMIN_TABLES``. Features are ranked on up to 5,000 rows. Boosted trees, kernel ridge (on 1,000 of
them) and nearest neighbours are trained on the first 2, 3, 5 and 10, and scored (R², accuracy) on
up to 5,000 others; rows of a country stay together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from covmin.runtime.seeds import unit_seed
from experiments.rivals import ranked
from experiments.study import Study, Unit, every
from experiments.tables import each

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("COVMIN_TABLES", ROOT.parent / "shared" / "data" / "tables"))
N_DRAWS, N_SPLITS = 4, 5
MOST_ROWS, KERNEL_ROWS, SIZES = 5000, 1000, (2, 3, 5, 10)
N_LEVELS = 20
JUDGES = ("boosted trees", "kernel ridge", "neighbours")
METHODS = ("ccm", "extra-trees", "mi", "mrmr-8", "lightgbm", "lightgbm-shap", "xrfm")
METHODS += ("multisurf",)
QUICK = ("ccm", "mi", "mrmr-8", "lightgbm")
TABLE_METHODS = ("ccm", "mi", "mrmr-8", "lightgbm", "lightgbm-shap", "permutation", "rfe-trees")


def mixture(x: np.ndarray) -> np.ndarray:
    return x[0] * x[1] + np.sin(2 * x[2]) + x[3] + 0.5 * x[4] ** 2


# Rows, columns, true columns, the function of the columns, and the scale of the noise: of labels,
# the share of wrong ones.
Row = tuple[int, int, int, Callable[[np.ndarray], np.ndarray], float]
ROWS: dict[str, Row] = {
    "xor and threshold": (1000, 200, 3, lambda x: (x[0] * x[1] > 0) ^ (x[2] > 0.7), 0.0),
    "xor and threshold, large": (5000, 500, 3, lambda x: (x[0] * x[1] > 0) ^ (x[2] > 0.7), 0.0),
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
    "sin(8x₀), many rows": (5000, 20, 1, lambda x: np.sin(8 * x[0]), 0.3),
    "t noise, 2 degrees": (300, 200, 3, lambda x: x[:3].sum(axis=0), 1.0),
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
    degrees = 1.0 if "Cauchy" in name else 2.0 if "t noise" in name else np.inf
    y = y + noise * (rng.standard_t(degrees, n) if degrees < 3.0 else rng.standard_normal(n))
    return np.where(rng.random(X.shape) < 0.01 * ("gross" in name), 1000.0 * X, X), y


def work(unit: Unit) -> dict[str, Any]:
    """The share of the true features among as many that are ranked first."""
    n, d, n_true, *_ = ROWS[unit["table"]]
    seed = unit_seed(0, "truth", unit["table"], unit["draw"])
    order, seconds = ranked(unit["selector"], n_true, *draw(unit["table"], seed))
    found = float(np.mean(order[:n_true] < n_true))
    return {"rows": n, "columns": d, "found": found, "seconds": seconds}


def units() -> list[dict[str, Any]]:
    found = every(draw=range(N_DRAWS), selector=METHODS, table=ROWS)
    return [u for u in found if "large" not in u["table"] or u["selector"] in QUICK]


# File, response, the column whose rows stay together, and columns that give the response away.
Source = tuple[str, str, str | None, list[str]]
TABLES: dict[str, Source] = {
    "housing": ("housing.csv.gz", "median_house_value", None, []),
    "diamonds": ("diamonds.csv.gz", "price", None, []),
    "titanic": ("titanic.csv", "survived", None, ["alive"]),
    "life expectancy": ("life_expectancy.csv", "Life expectancy ", "Country", []),
    "flights": ("flights_20000.csv.gz", "arr_delay", None, ["dep_delay", "dep_time", "arr_time"]),
}


class KernelClassifier(KernelRidge):
    """Kernel ridge on the two classes as numbers 0 and 1."""

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Accuracy."""
        return float(np.mean((self.predict(X) > 0.5) == y))


def judges(classes: bool) -> dict[str, Any]:
    """What is trained on the first columns; the two last on standardised ones."""
    neighbours = KNeighborsClassifier if classes else KNeighborsRegressor
    ridge = KernelClassifier if classes else KernelRidge
    grid = {"alpha": (0.01, 0.1, 1.0), "gamma": (0.03, 0.1, 0.3, 1.0)}
    trees = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    ridges = GridSearchCV(ridge(kernel="rbf"), grid, cv=3)
    models = (trees(random_state=0), ridges, neighbours(10, weights="distance"))
    return dict(zip(JUDGES, models, strict=True))


@lru_cache(maxsize=2)
def table_split(name: str, seed: int) -> tuple[Any, ...]:
    """Columns as they come, rows to train and to test on, codes, and standardised columns."""
    file, target, together, leaks = TABLES[name]
    frame = pd.read_csv(FOLDER / file).dropna(subset=[target]).drop(columns=leaks)
    groups = np.arange(len(frame)) if together is None else frame.pop(together)
    y = frame.pop(target).to_numpy()
    splitter = GroupShuffleSplit(1, test_size=0.3, random_state=seed)
    shuffled = np.random.default_rng(seed).permutation
    parts = next(splitter.split(frame, y, groups))
    train, test = (shuffled(rows)[:MOST_ROWS] for rows in parts)
    is_number = [frame[c].dtype.kind in "iuf" for c in frame]
    codes = frame.apply(lambda x: x if x.dtype.kind in "iuf" else x.astype("category").cat.codes)
    filled = codes.fillna(codes.iloc[train].median().fillna(0.0))
    scaled = {}
    for column, number in zip(frame, is_number, strict=True):
        if number:
            z = filled[[column]].to_numpy(float)
        else:  # the most frequent levels
            levels = frame[column].value_counts().index[:N_LEVELS]
            z = (frame[column].to_numpy()[:, None] == levels.to_numpy()).astype(float)
        scale = z[train].std(axis=0) if number else np.ones(z.shape[1])
        scaled[column] = np.clip((z - z[train].mean(axis=0)) / np.where(scale, scale, 1), -5, 5)
    return frame, y, train, test, codes.to_numpy(float), filled.to_numpy(float), scaled


@cache
def judged(name: str, seed: int, columns: tuple[int, ...]) -> dict[str, float]:
    """Scores of the judges on some columns: selectors often agree on the first."""
    frame, y, train, test, codes, _, scaled = table_split(name, seed)
    tables = {"boosted trees": codes[:, columns]}
    Z = np.hstack([scaled[frame.columns[j]] for j in columns])
    scores = {}
    for judge, model in judges(np.unique(y).size == 2).items():
        X, some = tables.get(judge, Z), train[:KERNEL_ROWS] if "kernel" in judge else train
        centre = 0.0 if np.unique(y).size == 2 else y[some].mean()
        model.fit(X[some], y[some] - centre)
        scores[judge] = float(model.score(X[test], y[test] - centre))
    return scores


def table_work(unit: Unit) -> list[dict[str, Any]]:
    """Scores of the judges on the first columns, on rows that ranked nothing."""
    name, seed = unit["table"], unit["draw"]
    frame, y, train, _, _, filled, _ = table_split(name, seed)
    table = frame.iloc[train] if unit["selector"] == "ccm" else filled[train]
    rows = []
    for m in SIZES:
        # Ours chooses a set of a given size; the others rank.
        if not rows or unit["selector"] == "ccm":
            order, seconds = ranked(unit["selector"], min(m, frame.shape[1]), table, y[train])
        first = order[:m]
        row = {"m": m, "first": ", ".join(frame.columns[first]), "seconds": seconds}
        rows.append(row | judged(name, seed, tuple(sorted(first.tolist()))))
    return rows


_REAL = partial(every, draw=range(N_SPLITS), selector=TABLE_METHODS, table=TABLES)
_SHARES = each("found", "table", "rows", "columns")
_SIGNS = {"table": "three signs", "selector": "ccm"}
_TITANIC = {"table": "titanic", "selector": "ccm", "draw": 0}
STUDIES = [
    Study("truth", units, work, 0.4, report=_SHARES, cell=_SIGNS, value="found"),
    Study(
        *("truth-tables", _REAL, table_work, 0.3),
        report=each(JUDGES[0], "table", "m", digits=3),
        folder=FOLDER,
        cell=_TITANIC,
        value=JUDGES[0],
    ),
]
