"""False discoveries of the knockoff filter, on Gaussian and on other columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata

from covmin import CCMSelector, KnockoffSelector
from covmin.remarks import CovminWarning
from covmin.runtime.seeds import unit_seed
from experiments.study import Unit, results

from .simulation import (
    EFFECTS,
    LEVELS,
    design,
    discoveries,
    gaussian_design,
    simulation,
    with_noise,
)

N_RUNS = 200
N_SAMPLES, N_FEATURES, N_TRUE = 300, 40, 12
N_COLUMNS_SAMPLES = 200
_RHO = 0.5


def knockoff_run(unit: Unit) -> list[dict[str, Any]]:
    response, rho, run = unit["response"], unit["rho"], unit["run"]
    rng = np.random.default_rng(unit_seed(0, "knockoffs", response, rho, run))
    X = gaussian_design(rng, rho, N_SAMPLES, N_FEATURES)
    chosen = rng.choice(N_FEATURES, N_TRUE, replace=False)
    if response == "linear":
        signal = X[:, chosen] @ rng.choice([-1.0, 1.0], N_TRUE)
    else:
        signal = sum(EFFECTS[i % len(EFFECTS)](X[:, j]) for i, j in enumerate(chosen))
    y = with_noise(rng, signal)
    q = KnockoffSelector(random_state=run).fit(X, y).q_values_
    return discoveries(q, np.isin(np.arange(N_FEATURES), chosen))


def page_knockoffs() -> pd.DataFrame:
    """At the level of 0.1."""
    frame = results("guarantees-knockoffs").query("level == 0.1")
    frame = frame.assign(features=frame["rho"].map(design)).rename(columns={"fdr": "FDR"})
    return frame[["response", "features", "FDR", "power"]]


# Columns that are not Gaussian, or not numbers --------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A table with what the response may depend on: one column of scores for each unit."""

    X: Any
    scores: np.ndarray  # (n_samples, n_units), mean 0 and variance 1
    is_discrete: np.ndarray  # (n_units,), whether effects are lines
    groups: list[int] | None = None  # of the columns of X, which are chosen as one


def _scores(x: np.ndarray) -> np.ndarray:
    return ndtri((rankdata(x) - 0.5) / x.size)


def _of_numbers(X: np.ndarray, is_discrete: np.ndarray | None = None) -> Table:
    is_discrete = np.zeros(X.shape[1], dtype=bool) if is_discrete is None else is_discrete
    scores = np.apply_along_axis(_scores, 0, X)
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    return Table(X, scores, is_discrete)


def lognormal(rng: np.random.Generator) -> Table:
    return _of_numbers(np.exp(gaussian_design(rng, _RHO, N_COLUMNS_SAMPLES, N_FEATURES)))


def t3(rng: np.random.Generator) -> Table:
    """One scale for all columns of a row: their far values come together."""
    Z = gaussian_design(rng, _RHO, N_COLUMNS_SAMPLES, N_FEATURES)
    return _of_numbers(Z / np.sqrt(rng.chisquare(3, (N_COLUMNS_SAMPLES, 1)) / 3.0))


def blocks(rng: np.random.Generator) -> Table:
    """Blocks of four columns, any two of a block correlated by 0.8."""
    shared = np.repeat(rng.standard_normal((N_COLUMNS_SAMPLES, N_FEATURES // 4)), 4, axis=1)
    own = rng.standard_normal((N_COLUMNS_SAMPLES, N_FEATURES))
    return _of_numbers(np.sqrt(0.8) * shared + np.sqrt(0.2) * own)


def copied(rng: np.random.Generator) -> Table:
    """Half of the columns are noisy copies of the others."""
    X = rng.standard_normal((N_COLUMNS_SAMPLES, N_FEATURES // 2))
    return _of_numbers(np.hstack([X, X + 0.3 * rng.standard_normal(X.shape)]))


def rounded(rng: np.random.Generator) -> Table:
    """The same in whole numbers."""
    return _of_numbers(np.round(copied(rng).X), np.ones(N_FEATURES, dtype=bool))


def mixed(rng: np.random.Generator) -> Table:
    """Numbers, skewed numbers, binary columns and counts in turn, each following the last one."""
    X = np.empty((N_COLUMNS_SAMPLES, N_FEATURES))
    last = np.zeros(N_COLUMNS_SAMPLES)
    for j in range(N_FEATURES):
        noise = rng.standard_normal(N_COLUMNS_SAMPLES)
        if j % 4 == 0:
            x = 0.6 * last + 0.8 * noise
        elif j % 4 == 1:
            x = np.exp(0.5 * last + 0.7 * noise)
        elif j % 4 == 2:
            x = (rng.random(N_COLUMNS_SAMPLES) < 1.0 / (1.0 + np.exp(-1.5 * last))).astype(float)
        else:
            x = rng.poisson(np.exp(0.4 * last)).astype(float)
        X[:, j] = x
        last = (x - x.mean()) / x.std()
    return _of_numbers(X, np.arange(N_FEATURES) % 4 >= 2)


def grouped(rng: np.random.Generator) -> Table:
    """Pairs of columns that are correlated by 0.7 and chosen as one; effects are of their sum."""
    Z = gaussian_design(rng, _RHO, N_COLUMNS_SAMPLES, N_FEATURES)
    noise = rng.standard_normal((2, N_COLUMNS_SAMPLES, N_FEATURES))
    X = np.hstack(np.sqrt(0.7) * Z + np.sqrt(0.3) * noise)
    scores = X[:, :N_FEATURES] + X[:, N_FEATURES:]
    scores /= scores.std(axis=0)
    linear = np.zeros(N_FEATURES, dtype=bool)
    return Table(X, scores, linear, np.tile(np.arange(N_FEATURES), 2).tolist())


def bent(rng: np.random.Generator) -> Table:
    """Every second column is the square of the one before, and noise."""
    X = rng.standard_normal((N_COLUMNS_SAMPLES, N_FEATURES))
    X[:, 1::2] = X[:, ::2] ** 2 + 0.5 * X[:, 1::2]
    return _of_numbers(X)


DESIGNS: dict[str, tuple[Callable[[np.random.Generator], Table], str]] = {
    "lognormal": (lognormal, "exponentials of AR(0.5)"),
    "t3": (t3, "multivariate t with 3 degrees of freedom: no Gaussian copula"),
    "blocks": (blocks, "blocks of four columns, correlated by 0.8"),
    "copies": (copied, "20 columns, and noisy copies of them"),
    "rounded": (rounded, "the same in whole numbers"),
    "mixed": (mixed, "numbers, skewed numbers, binary columns and counts: no Gaussian copula"),
    "groups": (grouped, "40 groups of two columns, correlated by 0.7 and more"),
    "bent": (bent, "every second column is a square of another: none can be judged"),
}


def columns_run(unit: Unit) -> list[dict[str, Any]]:
    """False discoveries and true units found at each level, and whether it warned."""
    rng = np.random.default_rng(unit_seed(0, "columns", unit["design"], unit["run"]))
    table = DESIGNS[unit["design"]][0](rng)
    chosen = rng.choice(N_FEATURES, N_TRUE, replace=False)
    signal = np.zeros(N_COLUMNS_SAMPLES)
    for i, u in enumerate(chosen):
        x = table.scores[:, u]
        effect = x if table.is_discrete[u] else EFFECTS[i % len(EFFECTS)](x)
        signal += effect / effect.std()
    y = with_noise(rng, signal)
    estimator = CCMSelector(feature_groups=table.groups)
    selector = KnockoffSelector(estimator, random_state=unit["run"])
    with warnings.catch_warnings(record=True, action="always") as said:
        q = selector.fit(table.X, y).q_values_[:N_FEATURES]
    codes = [each.message.remark.code for each in said if isinstance(each.message, CovminWarning)]
    warned = float("not-gaussian" in codes)
    true = np.isin(np.arange(N_FEATURES), chosen)
    return [{**row, "warned": warned} for row in discoveries(q, true)]


def page_columns() -> pd.DataFrame:
    """At the level of 0.1."""
    found = results("guarantees-columns")
    found = found[found["level"] == LEVELS[0]]
    what = [DESIGNS[name][1] for name in found["design"]]
    shown = found[["design", "fdr", "power", "warned"]]
    return shown.rename(columns={"fdr": "FDR", "warned": "warned of"}).assign(what=what)


KNOCKOFFS = [
    {"response": response, "rho": rho, "runs": N_RUNS}
    for response, rho in product(("linear", "nonlinear"), (0.0, 0.5))
]
COLUMNS = [{"design": name, "runs": N_RUNS} for name in DESIGNS]
_LINEAR: dict[str, Any] = {"response": "linear", "rho": 0.5, "level": 0.1}
_MIXED: dict[str, Any] = {"design": "mixed", "level": 0.1}
_PARTS = ("knockoffs",)
STUDIES = [
    simulation(
        *("guarantees-knockoffs", KNOCKOFFS, knockoff_run, "response", _PARTS, "level"),
        cell=_LINEAR,
        value="power",
    ),
    simulation(
        *("guarantees-columns", COLUMNS, columns_run, "design", _PARTS, "level"),
        cell=_MIXED,
        value="power",
    ),
]
TABLES = {"knockoffs": (page_knockoffs, 3), "columns": (page_columns, 3)}
