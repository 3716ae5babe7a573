"""False selections of stability selection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from covmin import CCMSelector, StabilitySelector
from covmin.inference.stability_bounds import ASSUMPTIONS, false_selections
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

THRESHOLDS = (0.6, 0.7, 0.8, 0.9)
N_RUNS_STABILITY = 200
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


PART = Part(
    "stability",
    stability_units,
    stability_run,
    stability_table,
    {"n": STABLE_N, "d": STABLE_D, "true": STABLE_TRUE, "q": STABLE_Q, "pairs": N_PAIRS},
    {"stability": (page_stability, 3)},
)
