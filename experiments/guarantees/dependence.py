"""Level and power of the conditional dependence test.

The test was designed on other nulls (a cosine, a product of two among ten columns, t₃ noise
throughout, a spread of its own for each of two columns, a rare class) than those shown here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from covmin import conditional_dependence_test
from covmin.datasets import make_additive, make_xor
from covmin.runtime.seeds import unit_seed
from experiments.study import Unit, results

from .simulation import simulation

ALPHA = 0.05
N_RUNS = 200
N_POWER = 100
SIZES = (50, N_POWER, 300, 1000)
N_RUNS_LARGE = 60  # at the largest
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def linear(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 3))
    x = Z[:, 0] + Z[:, 1] + rng.standard_normal(n)
    return x, Z[:, 0] - Z[:, 1] + Z[:, 2] + rng.standard_normal(n), Z


def many(rng: np.random.Generator, n: int, q: int) -> Data:
    """One of q given columns is a confounder."""
    Z = rng.standard_normal((n, q))
    x, y = Z[:, [0]].T + 0.5 * rng.standard_normal((2, n))
    return x, y, Z


def sine(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 1))
    shared = np.sin(2.0 * Z[:, 0])
    return shared + 0.5 * rng.standard_normal(n), shared + 0.5 * rng.standard_normal(n), Z


def product(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 2))
    shared = Z[:, 0] * Z[:, 1]
    return shared + 0.5 * rng.standard_normal(n), shared + 0.5 * rng.standard_normal(n), Z


def skewed(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 5))
    shared = np.abs(Z[:, 0]) + np.maximum(Z[:, 1], 0.0)
    return shared + rng.exponential(1.0, n), shared + rng.standard_t(3, n), Z


def classes(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 3))
    x = Z[:, 0] ** 2 + rng.standard_normal(n)
    return x, (Z[:, 0] ** 2 + 0.5 * rng.standard_normal(n) > 1.0).astype(float), Z


def spread(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 1))
    size = np.exp(0.7 * Z[:, 0])
    return size * rng.standard_normal(n), size * rng.standard_normal(n), Z


def spread_and_mean(rng: np.random.Generator, n: int) -> Data:
    Z = rng.uniform(-1.0, 1.0, (n, 2))
    size = np.where(Z[:, 0] > 0.0, 2.0, 0.3)
    mean = Z[:, 0] + Z[:, 1]
    return mean + size * rng.standard_normal(n), mean + size * rng.standard_normal(n), Z


def discrete(rng: np.random.Generator, n: int) -> Data:
    Z = rng.integers(0, 6, (n, 2)).astype(float)
    mean = np.array([0.0, 1.0, -1.0, 2.0, 0.5, -2.0])[Z[:, 0].astype(int)]
    likely = 1.0 / (1.0 + np.exp(-mean))
    return (rng.random(n) < likely).astype(float), mean + rng.standard_normal(n), Z


def counts(rng: np.random.Generator, n: int) -> Data:
    Z = rng.poisson(2.0, (n, 2)).astype(float)
    return rng.poisson(1.0 + Z[:, 0]).astype(float), rng.poisson(1.0 + Z[:, 0]).astype(float), Z


def heavy(rng: np.random.Generator, n: int) -> Data:
    Z = np.exp(rng.standard_normal((n, 3)))
    mean = np.log(Z[:, 0])
    return np.exp(mean + rng.standard_normal(n)), mean + rng.standard_t(2.5, n), Z


NULLS: dict[str, tuple[Callable[[np.random.Generator, int], Data], str]] = {
    "linear": (linear, "x and y are sums of three given features"),
    "sine": (sine, "x and y follow the same sine of the given feature"),
    "product": (product, "x and y follow the same product of two given features"),
    "skewed": (skewed, "bent effects of two of five given features; skewed x, t₃ noise in y"),
    "classes": (classes, "two classes and x follow the same square"),
    "spread": (spread, "the spread of x and of y follows the given feature"),
    "spread, mean": (spread_and_mean, "spread and mean of x and y follow given features"),
    "discrete": (discrete, "x is binary, given features take six values"),
    "counts": (counts, "x, y and given features are counts"),
    "heavy tails": (heavy, "lognormal x and given features; t₂.₅ noise in y"),
}


def alternative(question: str, n: int, run: int) -> Data:
    rng = np.random.default_rng(unit_seed(0, "power", question, n, run))
    if question == "xor":
        X, y = make_xor(n, random_state=rng.integers(2**31), return_X_y=True)
        return X[:, 0], y, X[:, 1:3]
    if question.startswith("regression"):
        X, y = make_additive(n, random_state=rng.integers(2**31), return_X_y=True)
        j = int(question[-1]) - 1
        return X[:, j], y, np.delete(X, j, axis=1)
    Z, e = rng.standard_normal((n, 3)), rng.standard_normal(n)
    x = Z[:, 0] + e
    effect = {"line": 0.5 * e, "square": 0.5 * x**2, "changing line": 0.8 * e * Z[:, 1]}[question]
    return x, Z[:, 0] + effect + rng.standard_normal(n), Z


QUESTIONS = {
    "line": "a line in x, which follows z",
    "square": "a square of x, which follows z",
    "changing line": "a line in x whose slope is a given feature",
    "xor": "sign of a product (paper's XOR): x₁ given x₂, x₃",
    **{f"regression {j}": f"paper's regression: x{j} given nine others" for j in range(1, 5)},
}


def one_test(unit: Unit) -> dict[str, Any]:
    """Whether one test rejects."""
    question, n, run = unit["question"], unit["n"], unit["run"]
    rng = np.random.default_rng(unit_seed(0, "null", question, n, run))
    if question in NULLS:
        x, y, Z = NULLS[question][0](rng, n)
    elif question.startswith("one of"):
        x, y, Z = many(rng, n, int(question.split()[2]))
    else:
        x, y, Z = alternative(question, n, run)
    # One table in some hundreds looks as if its rows depended on each other, and would be refused.
    options = {"given": Z, "groups": np.arange(n), "random_state": run}
    p_value = conditional_dependence_test(x[:, None], y, **options).p_value
    return {"rejected": float(p_value <= ALPHA)}


def page_level() -> pd.DataFrame:
    wide = results("guarantees-test").pivot(index="question", columns="n", values="rejected")
    rates = wide.loc[list(NULLS)].dropna(axis=1).add_prefix("n=").reset_index(names="null")
    return rates.assign(what=[NULLS[name][1] for name in NULLS])


def page_power() -> pd.DataFrame:
    frame = results("guarantees-test").set_index("question").loc[list(QUESTIONS)]
    shown = frame[["rejected", "runs"]].reset_index(names="design")
    return shown.assign(what=QUESTIONS.values())


_RUNS = {n: N_RUNS_LARGE if n == max(SIZES) else N_RUNS for n in SIZES}
CELLS = [{"question": q, "n": n, "runs": runs} for n, runs in _RUNS.items() for q in NULLS]
CELLS += [{"question": q, "n": N_POWER, "runs": N_RUNS} for q in QUESTIONS]
MANY = ((30, 60), (49, 60), (40, 100), (60, 100), (89, 100), (60, 200), (90, 200), (150, 200))
CELLS += [{"question": f"one of {q}", "n": n, "runs": N_RUNS} for q, n in MANY]
_SINE: dict[str, Any] = {"cell": {"question": "sine", "n": 100}, "value": "rejected"}
STUDIES = [simulation("guarantees-test", CELLS, one_test, "question", ("test",), **_SINE)]
TABLES = {"type-1": (page_level, 3), "power": (page_power, 2)}
