"""What covmin states of its own result, against 5,000 fresh rows.

``python -m experiments stated``: the cross-validated error of the selected features, divided by the
error on fresh rows of the regression that cross-validation uses, trained on all rows of the fit.
Both are shares of the variance of the rows that they predict. Fresh rows of groups are of other
groups, and fresh rows in time order are a later stretch.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import TimeSeriesSplit

from covmin import CCMSelector
from covmin.data import TableOptions, read
from covmin.runtime.seeds import unit_seed
from covmin.selection.crossval import _hold_out
from experiments.provenance import FIT
from experiments.study import Study, Unit, every

N_DRAWS, N_FRESH = 20, 5000
Draw = Callable[[np.random.Generator, int], tuple[Any, Any]]


def normal(d: int, y: Callable[[np.ndarray, np.random.Generator], Any]) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        X = rng.standard_normal((n, d))
        return X, y(X.T, rng)

    return draw


def noise(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal(x.shape[1])


def five_classes(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    number = np.digitize(x[0] + x[1] * x[2] + 0.5 * noise(x, rng), [-1.0, -0.3, 0.3, 1.0])
    return np.array(list("abcde"))[number]


def far_columns(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.standard_t(2.5, (n, 8))
    return X, X[:, :3].sum(axis=1) + 2.0 * rng.standard_normal(n)


def mixed_table(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    kind = rng.integers(0, 6, n)
    frame = pd.DataFrame(rng.standard_normal((n, 5)), columns=list("abcde"))
    y = frame["a"] + np.sin(2 * kind) + 0.7 * rng.standard_normal(n)
    frame["kind"] = np.array(list("uvwxyz"))[kind]
    return frame.mask(rng.random(frame.shape) < 0.1), y


def visits(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Eight rows of each patient, whose columns are alike, with an effect of the patient."""
    patient = np.repeat(np.arange(n // 8), 8)
    X = 0.8 * rng.standard_normal((n // 8, 8))[patient] + 0.6 * rng.standard_normal((n, 8))
    return X, X[:, 0] + X[:, 1] + rng.standard_normal(n // 8)[patient] + rng.standard_normal(n)


def series(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Autocorrelated columns and noise."""
    e = rng.standard_normal((n, 9))
    for before, after in pairwise(e):
        after += 0.8 * before
    return e[:, :8], e[:, 0] + e[:, 1] + e[:, 8]


# Rows, the draw, and options of the fit.
TABLES: dict[str, tuple[int, Draw, dict[str, Any]]] = {
    "line": (200, normal(10, lambda x, r: x[:3].sum(axis=0) + noise(x, r)), {}),
    "products": (500, normal(20, lambda x, r: x[0] * x[1] + x[2] + 0.5 * noise(x, r)), {}),
    "weak effects": (300, normal(15, lambda x, r: 0.2 * x[:5].sum(axis=0) + noise(x, r)), {}),
    "heavy tails": (
        2000,
        normal(8, lambda x, r: 10 * x[:3].sum(axis=0) + 30 * r.standard_t(2.2, x.shape[1])),
        {},
    ),
    "far columns": (500, far_columns, {}),
    "two classes": (300, normal(10, lambda x, r: x[0] + x[1] > noise(x, r)), {}),
    "five classes": (500, normal(10, five_classes), {}),
    "rare class": (600, normal(10, lambda x, r: x[0] + x[1] + 0.7 * noise(x, r) > 2.0), {}),
    "counts": (400, normal(10, lambda x, r: r.poisson(np.exp(0.6 * (x[0] + x[1])))), {}),
    "categories and gaps": (500, mixed_table, {}),
    "wide": (120, normal(1000, lambda x, r: x[:3].sum(axis=0) + noise(x, r)), {}),
    "groups": (480, visits, {"groups": True}),
    "time": (600, series, {"cv": TimeSeriesSplit(5)}),
}


def stated(unit: Unit) -> dict[str, Any]:
    """The stated error, and that on fresh rows."""
    n, draw, options = TABLES[unit["task"]]
    rng = np.random.default_rng(unit_seed(0, "stated", unit["task"], unit["draw"]))
    X, y = draw(rng, n + N_FRESH)
    y = y.astype(int) if np.asarray(y).dtype == bool else y
    task = "regression" if unit["task"] == "counts" else "auto"
    fit_options = {"groups": np.arange(n) // 8} if "groups" in options else {}
    selector = CCMSelector(task=task, cv=options.get("cv"), verbose=0)
    selector.fit(X[:n], y[:n], **fit_options)
    at = selector.cv_results_.n_features.tolist().index(selector.n_features_)
    said = selector.cv_results_.mean_error[0, at]
    table = read(X, y, TableOptions.of(selector))
    table = table.distinct(table.columns(True).independent(0), n + N_FRESH)
    held = _hold_out(table, (table.row < n, table.row >= n), True)
    sets = [np.empty(0, dtype=int), np.flatnonzero(selector.support_)]
    none, fresh = (
        float(held.weight @ ((held.target - predicted) ** 2).sum(axis=1))
        for predicted, _ in held.predictions(sets)
    )
    return {"kept": selector.n_features_, "stated": said, "fresh": fresh / none}


def units() -> list[dict[str, Any]]:
    return every(draw=range(N_DRAWS), task=TABLES)


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over the draws, and the ratio of stated and fresh error with its standard error."""
    frame = frame.assign(ratio=frame["stated"] / frame["fresh"])
    grouped = frame.groupby("task", sort=False)
    found = grouped[["kept", "stated", "fresh", "ratio"]].mean()
    return found.assign(ratio_error=grouped["ratio"].sem(), draws=grouped.size()).reset_index()


_LINE: dict[str, Any] = {"cell": {"task": "line"}, "value": "ratio"}
STUDIES = [Study("stated", units, stated, 0.1, means, by="task", parts=FIT, **_LINE)]
