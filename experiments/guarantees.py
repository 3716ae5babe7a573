"""Do the guarantees hold? Simulated error rates of the tools around the ranking.

Run as ``python -m experiments.guarantees`` to simulate what is not done yet (about forty
minutes on one core; finished pieces are kept, so an interrupted run goes on where it
stopped), to write ``experiments/results/guarantees-*.csv`` and to put the tables into
``docs/guarantees.md``. ``--parts knockoffs`` runs one part only, ``--check`` says whether the
page has the tables of the results (exit status 1 if not).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LassoCV

from covmin import (
    CCMSelector,
    KnockoffSelector,
    StabilitySelector,
    conditional_dependence_test,
)
from covmin.datasets import make_additive, make_xor
from covmin.evaluation.runner import run_units
from covmin.inference.stability_bounds import ASSUMPTIONS, false_selections
from covmin.runtime.seeds import unit_seed
from experiments.evidence import Tables, filled

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "guarantees.md"
Unit = Mapping[str, Any]

# --- knockoffs ------------------------------------------------------------------------------------

LEVELS = (0.1, 0.2)
N_RUNS_KNOCKOFFS = 200
N_SAMPLES, N_FEATURES, N_TRUE = 300, 40, 12
SIGNAL_TO_NOISE = 2.0
EFFECTS = (
    lambda x: -2.0 * np.sin(2.0 * x),
    lambda x: 2.0 * np.maximum(x, 0.0),
    lambda x: x,
    lambda x: 3.0 * np.exp(-np.abs(x)),
    lambda x: x**2 - 1.0,
)


def gaussian_design(
    rng: np.random.Generator, rho: float, n: int = N_SAMPLES, d: int = N_FEATURES
) -> np.ndarray:
    """Standard normal columns, each correlated with the last by rho."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    return X


def with_noise(rng: np.random.Generator, signal: np.ndarray, ratio: float) -> np.ndarray:
    return signal / signal.std() + rng.standard_normal(signal.size) / np.sqrt(ratio)


def knockoff_data(response: str, rho: float, run: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, response, and a mask of the features it depends on."""
    rng = np.random.default_rng(unit_seed(0, "knockoffs", response, rho, run))
    X = gaussian_design(rng, rho)
    chosen = rng.choice(N_FEATURES, N_TRUE, replace=False)
    if response == "linear":
        signal = X[:, chosen] @ rng.choice([-1.0, 1.0], N_TRUE)
    else:
        effects = [EFFECTS[i % len(EFFECTS)] for i in range(N_TRUE)]
        signal = sum(effect(X[:, j]) for effect, j in zip(effects, chosen, strict=True))
    y = with_noise(rng, signal, SIGNAL_TO_NOISE)
    return X, y, np.isin(np.arange(N_FEATURES), chosen)


def absolute_coefficients(model: Any) -> np.ndarray:
    return np.abs(model.coef_)


def knockoff_run(unit: Unit) -> dict[str, Any]:
    """Share of false discoveries and of true features found, by method and level."""
    X, y, true = knockoff_data(unit["response"], unit["rho"], unit["run"])
    methods = {
        "ccm": KnockoffSelector(random_state=unit["run"]),
        "lasso": KnockoffSelector(
            LassoCV(), importance=absolute_coefficients, random_state=unit["run"]
        ),
    }
    rows: dict[str, Any] = {}
    for name, selector in methods.items():
        start = time.perf_counter()
        q = selector.fit(X, y).q_values_
        rows[name] = {"seconds": time.perf_counter() - start}
        for level in LEVELS:
            kept = q <= level
            false_share = (kept & ~true).sum() / max(kept.sum(), 1)
            rows[name][str(level)] = [float(false_share), float(kept[true].mean())]
    return rows


def knockoff_units() -> list[dict[str, Any]]:
    return [
        {"response": response, "rho": rho, "run": run}
        for run in range(N_RUNS_KNOCKOFFS)
        for response in ("linear", "nonlinear")
        for rho in (0.0, 0.5)
    ]


def knockoff_table(units: list[dict[str, Any]], results: list[Any]) -> pd.DataFrame:
    rows = [
        {
            **unit,
            "method": name,
            "level": level,
            "fdp": run[str(level)][0],
            "power": run[str(level)][1],
        }
        for unit, result in zip(units, results, strict=True)
        for name, run in result.items()
        for level in LEVELS
    ]
    keys = ["response", "rho", "level", "method"]
    groups = pd.DataFrame(rows).groupby(keys, sort=False)
    table = groups.agg(
        runs=("fdp", "size"), fdr=("fdp", "mean"), fdr_se=("fdp", "sem"), power=("power", "mean")
    )
    return table.reset_index().sort_values(keys, ignore_index=True)


# --- the test -------------------------------------------------------------------------------------

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


# --- stability ------------------------------------------------------------------------------------

THRESHOLDS = (0.6, 0.7, 0.8, 0.9)
N_RUNS_STABILITY = 20
N_PAIRS = 25
STABLE_N, STABLE_D, STABLE_TRUE, STABLE_Q = 100, 40, 4, 6


def stability_units() -> list[dict[str, Any]]:
    return [{"rho": rho, "run": run} for run in range(N_RUNS_STABILITY) for rho in (0.0, 0.5)]


def stability_run(unit: Unit) -> dict[str, Any]:
    """False selections, true ones and bounds at each threshold."""
    seed = unit_seed(0, "stability", unit["rho"], unit["run"])
    rng = np.random.default_rng(seed)
    X = gaussian_design(rng, unit["rho"], STABLE_N, STABLE_D)
    chosen = rng.choice(STABLE_D, STABLE_TRUE, replace=False)
    signal = sum(f(X[:, j]) for f, j in zip(EFFECTS, chosen, strict=False))
    y = with_noise(rng, signal, SIGNAL_TO_NOISE)
    true = np.isin(np.arange(STABLE_D), chosen)
    selector = StabilitySelector(CCMSelector(STABLE_Q), n_pairs=N_PAIRS, random_state=seed)
    selector.fit(X, y)
    kept = [selector.frequencies_ >= threshold - 1e-9 for threshold in THRESHOLDS]
    return {
        "false": [int(mask[~true].sum()) for mask in kept],
        "true": [int(mask[true].sum()) for mask in kept],
    }


def stability_table(units: list[dict[str, Any]], results: list[Any]) -> pd.DataFrame:
    rows = [
        {"rho": unit["rho"], "threshold": t, "false": result["false"][i], "true": result["true"][i]}
        for unit, result in zip(units, results, strict=True)
        for i, t in enumerate(THRESHOLDS)
    ]
    groups = pd.DataFrame(rows).groupby(["rho", "threshold"])
    table = groups.agg(
        runs=("false", "size"), false=("false", "mean"), se=("false", "sem"), true=("true", "mean")
    ).reset_index()
    for assumption in ASSUMPTIONS:
        table[f"bound, {assumption}"] = [
            false_selections(t, STABLE_Q, STABLE_D, N_PAIRS, assumption) for t in table["threshold"]
        ]
    return table


# --- files and the page ---------------------------------------------------------------------------

PARTS: dict[str, tuple[Callable[..., Any], Callable[[Unit], Any], Callable[..., Any], dict]] = {
    "knockoffs": (
        knockoff_units,
        knockoff_run,
        knockoff_table,
        {"n": N_SAMPLES, "d": N_FEATURES, "true": N_TRUE, "ratio": SIGNAL_TO_NOISE},
    ),
    "test": (p_value_units, p_value_run, p_value_table, {"resamples": N_RESAMPLES}),
    "stability": (
        stability_units,
        stability_run,
        stability_table,
        {"n": STABLE_N, "d": STABLE_D, "true": STABLE_TRUE, "q": STABLE_Q, "pairs": N_PAIRS},
    ),
}


def simulate(part: str, n_jobs: int) -> None:
    """Run what is missing of a part and write its table."""
    make_units, work, table, settings = PARTS[part]
    units = make_units()
    log = RESULTS / f"guarantees-{part}.jsonl"
    results = run_units(
        units, work, log=log, settings=settings, n_jobs=n_jobs, progress=True, description=part
    )
    frame = table(units, results)
    frame.to_csv(RESULTS / f"guarantees-{part}.csv", index=False, float_format="%.4f")


def results_of(part: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"guarantees-{part}.csv")


def design(rho: float) -> str:
    return "independent" if rho == 0.0 else f"AR({rho:g})"


def page_knockoffs() -> pd.DataFrame:
    frame = results_of("knockoffs")
    wide = frame.pivot(index=["response", "rho", "level"], columns="method").reset_index()
    return pd.DataFrame(
        {
            "response": wide["response"],
            "features": wide["rho"].map(design),
            "nominal": wide["level"].map("{:g}".format),
            "FDR, ccm": wide["fdr", "ccm"],
            "standard error": wide["fdr_se", "ccm"],
            "within 2 s.e.": np.where(
                wide["fdr", "ccm"] <= wide["level"] + 2.0 * wide["fdr_se", "ccm"], "yes", "**no**"
            ),
            "FDR, Lasso": wide["fdr", "lasso"],
            "power, ccm": wide["power", "ccm"],
            "power, Lasso": wide["power", "lasso"],
            "runs": wide["runs", "ccm"],
        }
    )


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


def page_stability() -> pd.DataFrame:
    frame = results_of("stability")
    frame.insert(0, "features", frame.pop("rho").map(design))
    frame["threshold"] = frame["threshold"].map("{:g}".format)
    return frame.rename(
        columns={
            "false": "false selections",
            "se": "standard error",
            "true": f"true ones, of {STABLE_TRUE}",
        }
    )


TABLES: Tables = {
    "knockoffs": (page_knockoffs, 3),
    "type-1": (page_type_1, 3),
    "power": (page_power, 2),
    "stability": (page_stability, 3),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--check", action="store_true", help="fail if the page has other tables")
    arguments = parser.parse_args()
    if not arguments.check:
        for part in arguments.parts:
            simulate(part, arguments.jobs)
    page = PAGE.read_text(encoding="utf-8")
    new = filled(page, TABLES)
    if not arguments.check:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    print("as in the results" if page == new else "stale: run without --check", file=sys.stderr)
    return int(page != new)


if __name__ == "__main__":
    sys.exit(main())
