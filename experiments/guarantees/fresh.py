"""A third look, by somebody who had no part in the tools: designs for all three of them.

The measures are those of :mod:`experiments.guarantees.attacks`. Each design names the columns that
add to all others, and the one that the test looks at, which adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from covmin.runtime.seeds import unit_seed
from experiments.study import Unit

from .attacks import TOOLS, judged
from .simulation import gaussian_design, simulation

D = 12
Rng = np.random.Generator
# X, y, the columns that add to all others, and the column to test.
Data = tuple[pd.DataFrame, np.ndarray, list[int], int]


def data(X: Any, y: np.ndarray, needed: list[int], tested: int) -> Data:
    return pd.DataFrame(X).rename(columns=str), y, needed, tested


def kinds(rng: Rng, n: int) -> Data:
    """Numbers, counts, binary columns and text in turn, each following the last one."""
    Z = gaussian_design(rng, 0.6, n, D)
    X: dict[int, Any] = dict(enumerate(Z.T))
    X |= {j: np.floor(np.exp(Z[:, j])) for j in range(1, D, 4)}
    X |= {j: (Z[:, j] > 0.5).astype(float) for j in range(2, D, 4)}
    X |= {j: np.array(list("uvwx"))[np.digitize(Z[:, j], [-0.8, 0, 0.8])] for j in range(3, D, 4)}
    y = Z[:, 0] + X[5].clip(0, 6) / 2 + 1.5 * X[10] + rng.standard_normal(n)
    return data(X, y, [0, 5, 10], 11)


def gaps(rng: Rng, n: int) -> Data:
    """Columns that do not matter are missing where the one before is large."""
    X = gaussian_design(rng, 0.5, n, D)
    y = X[:, 2] + X[:, 7] + rng.standard_normal(n)
    missing = rng.random((n, D)) < 0.15 + 0.3 * (np.roll(X, 1, axis=1) > 0.8)
    missing[:, [2, 7]] = False
    return data(np.where(missing, np.nan, X), y, [2, 7], 3)


def stand_in(rng: Rng, n: int) -> Data:
    """A tenth of all is missing, so a noisy copy helps where its original is missing."""
    X = rng.standard_normal((n, D))
    y = X[:, 2] + np.abs(X[:, 7]) + rng.standard_normal(n)
    X[:, 3] = X[:, 2] + 0.7 * X[:, 3]
    return data(np.where(rng.random((n, D)) < 0.1, np.nan, X), y, [2, 3, 7], 8)


def uneven(rng: Rng, n: int) -> Data:
    X = gaussian_design(rng, 0.6, n, D)
    return data(X, X[:, 1] + np.exp(0.6 * X[:, 5]) * rng.standard_normal(n), [1], 5)


def families(rng: Rng, n: int) -> Data:
    """Three families of four columns with correlations of 0.9."""
    X = np.repeat(rng.standard_normal((n, 3)), 4, axis=1) + rng.standard_normal((n, D)) / 3.0
    y = X[:, 0] + 1.5 * np.maximum(X[:, 5], 0.0) + 0.7 * rng.standard_normal(n)
    return data(X, y, [0, 5], 1)


def rounded(rng: Rng, n: int) -> Data:
    X = np.round(1.5 * gaussian_design(rng, 0.8, n, D))
    return data(X, X[:, 3] - X[:, 8] + 1.5 * rng.standard_normal(n), [3, 8], 4)


def coarse(rng: Rng, n: int) -> Data:
    """Two features, and rounded versions of them."""
    X = rng.standard_normal((n, D))
    X[:, 1], X[:, 3] = np.round(X[:, 0]), X[:, 2] > 0.0
    return data(X, X[:, 0] + X[:, 2] + 0.5 * rng.standard_normal(n), [0, 2], 1)


def collinear(rng: Rng, n: int) -> Data:
    """A third column is nearly the sum of two that matter."""
    X = rng.standard_normal((n, D))
    X[:, 2] = X[:, 0] + X[:, 1] + 0.1 * X[:, 2]
    X[:, 3] = X[:, 2] - X[:, 4] + 0.1 * X[:, 3]
    return data(X, X[:, 0] + X[:, 1] + rng.standard_normal(n), [0, 1], 2)


def joint(rng: Rng, n: int) -> Data:
    X = gaussian_design(rng, 0.4, n, D)
    y = X[:, 0] * X[:, 6] + (X[:, 3] > 0.0) * X[:, 9] + 0.6 * rng.standard_normal(n)
    return data(X, y, [0, 3, 6, 9], 7)


def saturated(rng: Rng, n: int) -> Data:
    """Two classes by a curve, and a proxy that follows the same curve."""
    X = rng.standard_normal((n, D))
    curve = np.tanh(2.0 * X[:, 0])
    X[:, 1] = curve + 0.4 * X[:, 1]
    chance = 1.0 / (1.0 + np.exp(2.0 - 3.0 * curve - X[:, 5]))
    return data(X, (rng.random(n) < chance).astype(int), [0, 5], 1)


def proxies(rng: Rng, n: int) -> Data:
    """A feature, and three bent and noisy measurements of it."""
    X = rng.standard_normal((n, D))
    own = X[:, 0]
    X[:, 1:4] = np.column_stack([own, np.exp(own), own**3]) + X[:, 1:4] * [0.5, 0.5, 1.0]
    return data(X, np.sin(1.5 * own) + X[:, 7] + 0.5 * rng.standard_normal(n), [0, 7], 1)


def months(rng: Rng, n: int) -> Data:
    """The number of the month, and a temperature that follows it as y does."""
    X = rng.standard_normal((n, D))
    X[:, 0] = rng.integers(1, 13, n)
    warm = np.cos(2.0 * np.pi * X[:, 0] / 12.0)
    X[:, 1] = warm + 0.5 * X[:, 1]
    return data(X, 2.0 * warm + X[:, 4] + 0.7 * rng.standard_normal(n), [0, 4], 1)


_FIRST = (kinds, gaps, stand_in, uneven, families, rounded)
_LAST = (coarse, collinear, joint, saturated, proxies, months)
DESIGNS: dict[str, Callable[[Rng, int], Data]] = {
    each.__name__.replace("_", " "): each for each in (*_FIRST, *_LAST)
}
# Columns on which the spread of y depends, but not its mean: true ones for knockoffs only.
SPREAD = {"uneven": [5]}


def work(unit: Unit) -> dict[str, Any]:
    """False and true ones of a tool on one table, whose rows are independent."""
    name, n, tool = unit["design"], unit["n"], unit["tool"]
    rng = np.random.default_rng(unit_seed(0, "fresh", name, n, unit["run"]))
    X, y, needed, tested = DESIGNS[name](rng, n)
    needed = [*needed, *SPREAD.get(name, [])] if "knockoffs" in tool else needed
    is_true = np.isin(np.arange(X.shape[1]), needed)
    pair = X.iloc[:, [tested]], X.drop(columns=X.columns[tested])
    return judged(tool, X, y, *pair, range(n), is_true)


_CELLS = (("test", 60, 200), ("test", 200, 200), ("test", 1000, 200))
CELLS = [
    {"tool": tool, "design": name, "n": n, "runs": runs}
    for tool, n, runs in (*_CELLS, ("knockoffs 0.2", 300, 100), ("verdicts", 300, 60))
    for name in DESIGNS
]
_CELL: dict[str, Any] = {"cell": {"tool": "verdicts", "design": "kinds"}, "value": "false"}
STUDIES = [simulation("guarantees-fresh", CELLS, work, "tool", TOOLS, **_CELL)]
