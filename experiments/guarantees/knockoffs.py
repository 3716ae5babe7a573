"""False discoveries of the knockoff filter."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LassoCV

from covmin import KnockoffSelector
from covmin.runtime.seeds import unit_seed

from .simulation import (
    EFFECTS,
    SIGNAL_TO_NOISE,
    Part,
    Unit,
    design,
    gaussian_design,
    results_of,
    with_noise,
)

LEVELS = (0.1, 0.2)
N_RUNS_KNOCKOFFS = 200
N_SAMPLES, N_FEATURES, N_TRUE = 300, 40, 12


def knockoff_data(response: str, rho: float, run: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples, response, and a mask of the features it depends on."""
    rng = np.random.default_rng(unit_seed(0, "knockoffs", response, rho, run))
    X = gaussian_design(rng, rho, N_SAMPLES, N_FEATURES)
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


PART = Part(
    "knockoffs",
    knockoff_units,
    knockoff_run,
    knockoff_table,
    {"n": N_SAMPLES, "d": N_FEATURES, "true": N_TRUE, "ratio": SIGNAL_TO_NOISE},
    {"knockoffs": (page_knockoffs, 3)},
)
