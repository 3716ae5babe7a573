"""False selections of stability selection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from covmin import CCMSelector, StabilitySelector
from covmin.inference.error_control import false_selections
from covmin.runtime.seeds import unit_seed
from experiments.study import Unit, results

from .simulation import EFFECTS, design, gaussian_design, simulation, with_noise

THRESHOLDS = (0.6, 0.7, 0.8, 0.9)
N_RUNS, N_PAIRS = 60, 25
N, D, N_TRUE, N_KEPT = 100, 40, 4, 6


def work(unit: Unit) -> list[dict[str, Any]]:
    """False and true selections at each threshold."""
    seed = unit_seed(0, "stability", unit["rho"], unit["run"])
    rng = np.random.default_rng(seed)
    X = gaussian_design(rng, unit["rho"], N, D)
    chosen = rng.choice(D, N_TRUE, replace=False)
    y = with_noise(rng, sum(f(X[:, j]) for f, j in zip(EFFECTS, chosen, strict=False)))
    true = np.isin(np.arange(D), chosen)
    selector = StabilitySelector(CCMSelector(N_KEPT), n_pairs=N_PAIRS, random_state=seed)
    frequencies = selector.fit(X, y).frequencies_
    kept = {t: frequencies >= t - 1e-9 for t in THRESHOLDS}
    return [
        {"threshold": t, "false": int(mask[~true].sum()), "true": int(mask[true].sum())}
        for t, mask in kept.items()
    ]


def page() -> pd.DataFrame:
    frame = results("guarantees-stability")
    bounds = [false_selections(t, N_KEPT, D, N_PAIRS) for t in frame["threshold"]]
    for assumption, name in (("none", "worst_case"), ("r-concave", "r_concave")):
        frame[f"bound, {assumption}"] = [bound[name] for bound in bounds]
    frame.insert(0, "features", frame.pop("rho").map(design))
    frame["threshold"] = frame["threshold"].map("{:g}".format)
    frame = frame[frame["threshold"].isin(["0.6", "0.8"])]
    titles = {"false": "false selections", "true": f"true ones, of {N_TRUE}"}
    return frame.drop(columns=["runs", "false, s.e.", "true, s.e."], errors="ignore").rename(
        columns=titles
    )


CELLS = [{"rho": rho, "runs": N_RUNS} for rho in (0.0, 0.5)]
_CELL: dict[str, Any] = {"cell": {"rho": 0.5, "threshold": 0.8}, "value": "true"}
STUDIES = [
    simulation("guarantees-stability", CELLS, work, "rho", ("stability",), "threshold", **_CELL)
]
TABLES = {"stability": (page, 3)}
