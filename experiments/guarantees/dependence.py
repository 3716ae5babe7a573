"""Level and power of the conditional dependence test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from covmin import conditional_dependence_test
from covmin.datasets import make_additive, make_xor
from covmin.runtime.seeds import unit_seed

from .simulation import Part, Unit, results_of

ALPHA = 0.05
N_RUNS_TYPE_1 = 150
N_RUNS_POWER = 20
N_RESAMPLES = 99
N_NULL = 60
Data = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def null_independent(rng: np.random.Generator, n: int) -> Data:
    return rng.standard_normal((n, 2)), rng.standard_normal(n), None


def null_linear(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 3))
    X = Z[:, [0]] + Z[:, [1]] + rng.standard_normal((n, 1))
    return X, Z[:, 0] - Z[:, 1] + Z[:, 2] + rng.standard_normal(n), Z


def null_sine(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 1))
    X = np.sin(2.0 * Z) + 0.5 * rng.standard_normal((n, 1))
    return X, np.sin(2.0 * Z[:, 0]) + 0.5 * rng.standard_normal(n), Z


def null_product(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 2))
    shared = Z[:, 0] * Z[:, 1]
    X = shared + 0.5 * rng.standard_normal(n)
    return X[:, None], shared + 0.5 * rng.standard_normal(n), Z


def null_skewed(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 5))
    shared = np.column_stack([np.abs(Z[:, 0]), np.maximum(Z[:, 1], 0.0)])
    return shared + rng.exponential(1.0, (n, 2)), shared.sum(axis=1) + rng.standard_t(3, n), Z


def null_classes(rng: np.random.Generator, n: int) -> Data:
    Z = rng.standard_normal((n, 3))
    X = Z[:, [0]] ** 2 + rng.standard_normal((n, 1))
    return X, (Z[:, 0] ** 2 + 0.5 * rng.standard_normal(n) > 1.0).astype(int), Z


def null_changing_spread(rng: np.random.Generator, n: int) -> Data:
    """Outside the assumption: what changes with Z is the spread of X and of y."""
    Z = rng.standard_normal((n, 1))
    spread = np.exp(0.7 * Z[:, 0])
    return (spread * rng.standard_normal(n))[:, None], spread * rng.standard_normal(n), Z


NULLS: dict[str, tuple[Callable[[np.random.Generator, int], Data], str]] = {
    "independent": (null_independent, "nothing given; two features, normal"),
    "linear": (null_linear, "x and y are sums of three given features"),
    "sine": (null_sine, "x and y are the same sine of the given feature"),
    "product": (null_product, "x and y are the same product of two given features"),
    "skewed": (null_skewed, "bent effects of two of five given features; skewed x, heavy-tailed y"),
    "classes": (null_classes, "two classes and x follow the same square"),
    "spread": (null_changing_spread, "outside the assumption: the spread of x and y follows z"),
}


def power_data(question: str, n: int, run: int) -> Data:
    seed = unit_seed(0, "power", question, n, run)
    if question.startswith("xor"):
        X, y = make_xor(n, random_state=seed, return_X_y=True)
        if question == "xor: x1 given x2, x3":
            return X[:, [0]], y, X[:, 1:3]
        return X[:, [0]], y, X[:, 1:]
    X, y = make_additive(n, random_state=seed, return_X_y=True)
    j = int(question[len("regression: x")]) - 1
    return X[:, [j]], y, np.delete(X, j, axis=1)


QUESTIONS = (
    "xor: x1 given x2, x3",
    "xor: x1 given the nine others",
    *(f"regression: x{j} given the nine others" for j in range(1, 5)),
)


def p_value_units() -> list[dict[str, Any]]:
    null = [
        {"question": name, "n": N_NULL, "run": run}
        for run in range(N_RUNS_TYPE_1)
        for name in NULLS
    ]
    power = [
        {"question": question, "n": n, "run": run}
        for run in range(N_RUNS_POWER)
        for n in (50, 100)
        for question in QUESTIONS
    ]
    return null + power


def p_value_run(unit: Unit) -> float:
    """p-value of one test."""
    question, n, run = unit["question"], unit["n"], unit["run"]
    if question in NULLS:
        rng = np.random.default_rng(unit_seed(0, "null", question, n, run))
        X, y, given = NULLS[question][0](rng, n)
    else:
        X, y, given = power_data(question, n, run)
    test = conditional_dependence_test(X, y, given=given, n_resamples=N_RESAMPLES, random_state=run)
    return test.p_value


def p_value_table(units: list[dict[str, Any]], results: list[Any]) -> pd.DataFrame:
    frame = pd.DataFrame(units).assign(rejected=[float(p <= ALPHA) for p in results])
    groups = frame.groupby(["question", "n"], sort=False)["rejected"]
    return groups.agg(runs="size", rejected="mean").reset_index()


def page_type_1() -> pd.DataFrame:
    frame = results_of("test").set_index("question").loc[list(NULLS)].reset_index()
    error = np.sqrt(ALPHA * (1.0 - ALPHA) / frame["runs"])
    return pd.DataFrame(
        {
            "null": frame["question"],
            "what": [NULLS[name][1] for name in frame["question"]],
            "n": frame["n"],
            "runs": frame["runs"],
            "rejected at 0.05": frame["rejected"],
            "standard error at 0.05": error,
            "within 2 s.e.": np.where(
                (frame["rejected"] - ALPHA).abs() <= 2.0 * error, "yes", "**no**"
            ),
        }
    )


def page_power() -> pd.DataFrame:
    frame = results_of("test").set_index("question").loc[list(QUESTIONS)].reset_index()
    wide = frame.pivot(index="question", columns="n", values="rejected")
    return wide.loc[list(QUESTIONS)].add_prefix("n=").reset_index()


PART = Part(
    "test",
    p_value_units,
    p_value_run,
    p_value_table,
    {"resamples": N_RESAMPLES},
    {"type-1": (page_type_1, 3), "power": (page_power, 2)},
)
