"""A second look: designs that no tool was developed on, and rows that depend on each other.

Each table has 20 columns. *False* is the mean share of false ones among those called needed
(verdicts) or kept (knockoffs), or the share of tests that reject a column that adds nothing (test).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from covmin import KnockoffSelector, VerdictSelector, conditional_dependence_test
from covmin.remarks import InputError
from covmin.runtime.seeds import unit_seed
from experiments.study import Unit

from .simulation import gaussian_design, simulation

D, LEVEL = 20, 0.1
ALPHA = 0.05
Rng = np.random.Generator
# X, y, and the columns that add to all others.
Data = tuple[np.ndarray, np.ndarray, list[int]]


def factors(rng: Rng, n: int) -> Data:
    shared = np.repeat(rng.standard_normal((n, 4)), 5, axis=1)
    X = shared + 0.5 * rng.standard_normal((n, D))
    return X, X[:, 0] + X[:, 5] - X[:, 10] + rng.standard_normal(n), [0, 5, 10]


def hinge(rng: Rng, n: int) -> Data:
    X = gaussian_design(rng, 0.5, n, D)
    bend = np.maximum(X[:, 0] - 0.5, 0.0)
    X[:, 1] = bend + 0.2 * X[:, 1]
    return X, 3.0 * bend + X[:, 8] + 0.5 * rng.standard_normal(n), [0, 8]


def wave(rng: Rng, n: int) -> Data:
    X = rng.uniform(-1.0, 1.0, (n, D))
    X[:, 1] = np.sin(4.0 * X[:, 0]) + 0.3 * X[:, 1]
    return X, np.sin(4.0 * X[:, 0]) + X[:, 5] + 0.3 * rng.standard_normal(n), [0, 5]


def product(rng: Rng, n: int) -> Data:
    X = rng.standard_normal((n, D))
    X[:, 2] = X[:, 0] * X[:, 1] + 0.5 * X[:, 2]
    return X, X[:, 0] * X[:, 1] + X[:, 9] + 0.5 * rng.standard_normal(n), [0, 1, 9]


def levels(rng: Rng, n: int) -> Data:
    X = rng.integers(0, 5, (n, D)).astype(float)
    step = (X[:, 0] > 2.0).astype(float)
    X[:, 1] = np.where(rng.random(n) < 0.8, X[:, 0], X[:, 1])
    return X, 2.0 * step + X[:, 6] / 2.0 + rng.standard_normal(n), [0, 6]


def counts(rng: Rng, n: int) -> Data:
    X = gaussian_design(rng, 0.7, n, D)
    return X, rng.poisson(np.exp(0.6 * X[:, 3] + 0.5 * X[:, 12])).astype(float) + 0.0, [3, 12]


def rare(rng: Rng, n: int) -> Data:
    X = gaussian_design(rng, 0.7, n, D)
    y = X[:, 3] + X[:, 12] + 0.5 * rng.standard_normal(n)
    return X, (y > np.quantile(y, 0.9)).astype(int), [3, 12]


def heavy(rng: Rng, n: int) -> Data:
    X = np.exp(gaussian_design(rng, 0.7, n, D))
    return X, np.log(X[:, 3]) + np.log(X[:, 12]) + rng.standard_t(2, n), [3, 12]


def spread(rng: Rng, n: int) -> Data:
    X = gaussian_design(rng, 0.7, n, D)
    return X, X[:, 3] + np.exp(X[:, 12] / 2.0) * rng.standard_normal(n), [3]


def sums(rng: Rng, n: int) -> Data:
    """Half of the columns matter; the others are noisy sums of two of them."""
    X = rng.standard_normal((n, D))
    half = D // 2
    X[:, half:] = X[:, :half] + np.roll(X[:, :half], 1, axis=1) + 0.3 * X[:, half:]
    return X, X[:, :half].sum(axis=1) + np.sqrt(half / 6.0) * rng.standard_normal(n), [*range(half)]


def patients(rng: Rng, n: int) -> Data:
    """Eight rows of each patient, and a coin toss for each patient; nothing can be learnt."""
    patient = np.arange(n) // 8
    X = rng.standard_normal((n // 8 + 1, D))[patient] + 0.3 * rng.standard_normal((n, D))
    return X, rng.integers(0, 2, n // 8 + 1)[patient], []


def in_time(rng: Rng, n: int) -> Data:
    """Columns and response are independent autoregressions of 0.9."""
    X = gaussian_design(rng, 0.9, D + 1, n).T
    return X[:, 1:], X[:, 0], []


DESIGNS: dict[str, Callable[[Rng, int], Data]] = {
    each.__name__.replace("_", " "): each
    for each in (factors, hinge, wave, product, levels, counts, rare, heavy, spread, sums)
}
DESIGNS |= {"patients": patients, "in time": in_time}
LENGTHS = {"patients": 8, "in time": 20}


def judged(
    tool: str, X: Any, y: np.ndarray, x: Any, given: Any, groups: Any, is_true: np.ndarray
) -> dict[str, float]:
    """False and true ones of a tool on a table; of the test, whether it rejects x given others."""
    with warnings.catch_warnings(action="ignore"):
        if tool == "test":
            tested = conditional_dependence_test(x, y, given=given, groups=groups)
            return {"false": float(tested.p_value <= ALPHA)}
        if tool == "verdicts":
            verdicts = VerdictSelector(fdr=LEVEL, verbose=0).fit(X, y, groups=groups).verdicts_
            kept = verdicts == "needed"
        else:
            kept = KnockoffSelector(fdr=float(tool.split()[1])).fit(X, y, groups=groups).support_
    false = float((kept & ~is_true).sum() / max(kept.sum(), 1))
    return {"false": false} | ({"found": float(kept[is_true].mean())} if is_true.any() else {})


def work(unit: Unit) -> dict[str, Any]:
    """False and true ones of a tool on one table, and whether it refuses without groups."""
    name, n, tool = unit["design"], unit["n"], unit["tool"]
    rng = np.random.default_rng(unit_seed(2, "attacks", name, n, unit["run"]))
    X, y, needed = DESIGNS[name](rng, n)
    is_true = np.isin(np.arange(D), needed)

    # The column most like a needed one, given all others: few, for few groups.
    j = np.flatnonzero(~is_true)[np.abs(np.corrcoef(X.T)[~is_true][:, is_true]).sum(1).argmax()]
    pair = X[:, [j]], np.delete(X, j, axis=1)[:, : 3 if name in LENGTHS else D]
    refused = 0.0
    try:
        found = judged(tool, X, y, *pair, None, is_true)
    except InputError:
        refused = 1.0
    if refused or name in LENGTHS:
        found = judged(tool, X, y, *pair, np.arange(n) // LENGTHS.get(name, 1), is_true)
    return found | {"found": found.get("found"), "refused": refused}


_SIZES = {"test": (60, 200, 1000), "verdicts": (300,), "knockoffs 0.2": (300,)}
_RUNS = {"test": 200, "verdicts": 60, "knockoffs 0.2": 60}
CELLS = [
    {"tool": tool, "design": name, "n": n, "runs": _RUNS[tool] if n < 1000 else 60}
    for tool, sizes in _SIZES.items()
    for n in sizes
    for name in DESIGNS
    if n >= 15 * LENGTHS.get(name, 1)  # as many groups
]
TOOLS = ("test", "verdicts", "knockoffs")
_CELL: dict[str, Any] = {"cell": {"tool": "test", "design": "hinge", "n": 200}, "value": "false"}
STUDIES = [simulation("guarantees-attacks", CELLS, work, "tool", TOOLS, **_CELL)]
