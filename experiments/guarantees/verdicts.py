"""Verdicts on simulated designs.

The selector was designed on other designs than those shown here (an autoregression of 0.8, one
latent factor with copies, bent functions of features among features, a spread that follows a
feature, all with 150 samples of 20 features).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from covmin import VerdictSelector
from covmin.runtime.seeds import unit_seed
from experiments.study import Unit, results

from .simulation import EFFECTS, gaussian_design, simulation

FDR = 0.1
N_RUNS = 200
N_RUNS_STEPS = 60
N, D = 200, 20
Rng = np.random.Generator
# Samples, response, the columns that add to all others, and the first of those after which nothing
# is related to the response.
Data = tuple[np.ndarray, np.ndarray, list[int], int]


def blocks(rng: Rng, rho: float) -> np.ndarray:
    """Four independent blocks of five columns, in each an autoregression."""
    return np.hstack([gaussian_design(rng, rho, N, 5) for _ in range(4)])


def noise(rng: Rng) -> Data:
    return blocks(rng, 0.5), rng.standard_normal(N), [], 0


def two(rng: Rng) -> Data:
    X = rng.standard_normal((N, D))
    return X, X[:, 0] - X[:, 1] + rng.standard_normal(N), [0, 1], 2


def linear(rng: Rng) -> Data:
    X = blocks(rng, 0.5)
    y = X[:, [1, 3, 6, 8]] @ [0.7, -0.7, 0.7, 0.7] + rng.standard_normal(N)
    return X, y, [1, 3, 6, 8], 10


def correlated(rng: Rng) -> Data:
    shared = np.repeat(rng.standard_normal((N, 4)), 5, axis=1)
    X = np.sqrt(0.8) * shared + np.sqrt(0.2) * rng.standard_normal((N, D))
    return X, X[:, 0] + X[:, 5] + rng.standard_normal(N), [0, 5], 10


def bent(rng: Rng) -> Data:
    X = rng.standard_normal((N, D))
    signal = sum(f(X[:, j]) / f(X[:, j]).std() for j, f in enumerate(EFFECTS))
    return X, signal + rng.standard_normal(N), [0, 1, 2, 3, 4], 5


def copies(rng: Rng) -> Data:
    X = rng.standard_normal((N, D))
    X[:, 3:6] = X[:, :3] + 0.5 * X[:, 3:6]
    y = X[:, 0] + np.abs(X[:, 1]) * 1.5 + X[:, 2] + rng.standard_normal(N)
    return X, y, [0, 1, 2], 6


def xor(rng: Rng) -> Data:
    X = rng.standard_normal((N, D))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    y = np.where(rng.random(N) < 0.1, 1 - y, y)
    return X, y, [0, 1], 2


def product(rng: Rng) -> Data:
    X = blocks(rng, 0.3)
    y = X[:, 0] * X[:, 5] + X[:, 7] + 0.7 * rng.standard_normal(N)
    return X, y, [0, 5, 7], 10


def heavy(rng: Rng) -> Data:
    X = np.exp(blocks(rng, 0.5))
    y = np.log(X[:, 2]) + np.log(X[:, 6]) + rng.standard_t(3, N)
    return X, y, [2, 6], 10


def mixed(rng: Rng) -> Data:
    X = blocks(rng, 0.6)
    X[:, ::2] = X[:, ::2] > 0.5
    X[:, 1::4] = np.floor(np.exp(X[:, 1::4]))
    y = 1.2 * X[:, 2] + X[:, 3] + 0.5 * np.minimum(X[:, 5], 5.0) + rng.standard_normal(N)
    return X, y, [2, 3, 5], 10


def spread(rng: Rng) -> Data:
    X = rng.standard_normal((N, D))
    size = np.exp(0.5 * X[:, 0])
    X[:, 1:5] *= size[:, None]
    return X, X[:, 0] + size * rng.standard_normal(N), [0], 5


def classes(rng: Rng) -> Data:
    X = blocks(rng, 0.5)
    scores = np.column_stack([2.0 * X[:, 1], 2.0 * X[:, 7], X[:, 3] ** 2])
    noise = rng.gumbel(size=scores.shape)
    return X, np.argmax(scores + noise, axis=1), [1, 3, 7], 10


def wide(rng: Rng) -> Data:
    d = 150
    X = rng.standard_normal((100, d))
    y = X[:, 0] + X[:, 1] + X[:, 2] ** 2 - 1.0 + 0.7 * rng.standard_normal(100)
    return X, y, [0, 1, 2], 3


DESIGNS: dict[str, tuple[Callable[[Rng], Data], str]] = {
    "noise": (noise, "nothing matters; blocks of five features, AR(0.5)"),
    "two": (two, "two of twenty, linear"),
    "linear": (linear, "four, linear, in blocks AR(0.5)"),
    "correlated": (correlated, "two, each in a block of five with correlations of 0.8"),
    "bent": (bent, "five: a sine, a hinge, a line, a peak, a parabola"),
    "copies": (copies, "three, each with a noisy copy"),
    "xor": (xor, "sign of a product of two, a tenth of the labels wrong"),
    "product": (product, "a product of two and one more, in blocks AR(0.3)"),
    "heavy": (heavy, "two; lognormal features, t₃ noise"),
    "mixed": (mixed, "three; binary, count and real features in blocks AR(0.6)"),
    "spread": (spread, "one, which also sets the spread of y and of four features"),
    "classes": (classes, "three, three classes, in blocks AR(0.5)"),
    "wide": (wide, "three of 150 features in 100 samples"),
}


def stairs(x: np.ndarray) -> np.ndarray:
    rounded: np.ndarray = np.round(1.5 * x)
    return rounded


# A step function of the first column, and the noise of its copy, the second column. From the copy
# in *jump*, one sample in two thousand does not show the sign: neither is needed beside the other.
STEPS = {"jump": (np.sign, 0.3), "noisy jump": (np.sign, 1.0), "stairs": (stairs, 0.3)}


def stepped(name: str, n: int, rng: Rng) -> Data:
    step, noise = STEPS[name]
    X = rng.standard_normal((n, D))
    X[:, 1] = step(X[:, 0]) + noise * X[:, 1]
    y = 2.0 * step(X[:, 0]) + 0.3 * rng.standard_normal(n)
    return X, y, [0], 2


def one_run(unit: Unit) -> dict[str, float | None]:
    """Shares of false ones among those called, shares of the needed found."""
    name, run, n = unit["design"], unit["run"], unit.get("n")
    seed = unit_seed(1, "verdicts", *(name, n, run) if n else (name, run))
    rng = np.random.default_rng(seed)
    X, y, true, n_related = stepped(name, n, rng) if n else DESIGNS[name][0](rng)
    with warnings.catch_warnings(action="ignore"):
        selector = VerdictSelector(fdr=FDR, random_state=run, verbose=0).fit(X, y)
    needed, relevant = selector.verdicts_ == "needed", selector.support_
    is_true = np.isin(np.arange(X.shape[1]), true)
    return {
        "false needed": float((needed & ~is_true).sum() / max(needed.sum(), 1)),
        "false relevant": float(relevant[n_related:].sum() / max(relevant.sum(), 1)),
        "needed found": float(needed[is_true].mean()) if true else None,
        "relevant found": float(relevant[is_true].mean()) if true else None,
    }


def page_designs() -> pd.DataFrame:
    measures = ["false needed", "false relevant", "needed found", "relevant found"]
    page = results("guarantees-verdicts").set_index("design").loc[list(DESIGNS), measures]
    page.insert(0, "what matters", [what for _, what in DESIGNS.values()])
    return page.reset_index()


def page_steps() -> pd.DataFrame:
    measures = ["false needed", "false needed, s.e.", "needed found", "relevant found", "runs"]
    return results("guarantees-steps")[["design", "n", *measures]]


CELLS = [{"design": name, "runs": N_RUNS} for name in DESIGNS]
_TWO: dict[str, Any] = {"cell": {"design": "two"}, "value": "false relevant"}
OF_STEPS = [{"design": name, "n": n, "runs": N_RUNS_STEPS} for n in (N, 1000) for name in STEPS]
STUDIES = [
    simulation("guarantees-verdicts", CELLS, one_run, "design", ("verdicts",), **_TWO),
    simulation("guarantees-steps", OF_STEPS, one_run, "design", ("verdicts",)),
]
TABLES = {"verdicts": (page_designs, 2), "steps": (page_steps, 2)}
