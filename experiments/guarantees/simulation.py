"""What the simulations have in common: designs, the log of finished runs, results on file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from covmin.evaluation.runner import run_units
from experiments.pages import Tables

RESULTS = Path(__file__).parent.parent / "results"
Unit = Mapping[str, Any]
SIGNAL_TO_NOISE = 2.0
EFFECTS = (
    lambda x: -2.0 * np.sin(2.0 * x),
    lambda x: 2.0 * np.maximum(x, 0.0),
    lambda x: x,
    lambda x: 3.0 * np.exp(-np.abs(x)),
    lambda x: x**2 - 1.0,
)


def gaussian_design(rng: np.random.Generator, rho: float, n: int, d: int) -> np.ndarray:
    """Standard normal columns, each correlated with the last by rho."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    return X


def with_noise(rng: np.random.Generator, signal: np.ndarray, ratio: float) -> np.ndarray:
    return signal / signal.std() + rng.standard_normal(signal.size) / np.sqrt(ratio)


def design(rho: float) -> str:
    return "independent" if rho == 0.0 else f"AR({rho:g})"


@dataclass(frozen=True)
class Part:
    """A simulation with its own results file, and the tables that the page shows of it."""

    name: str
    units: Callable[[], list[dict[str, Any]]]  # one dict for each run
    work: Callable[[Unit], Any]  # one run, to something that JSON can hold
    table: Callable[[list[dict[str, Any]], list[Any]], pd.DataFrame]  # what is kept of all runs
    settings: dict[str, Any]  # runs under other settings are simulated again
    tables: Tables = field(default_factory=dict)

    def simulate(self, n_jobs: int, seconds: float | None = None) -> None:
        """Run what is missing, or as much of it as there is time for, and write the results."""
        units = self.units()
        results = run_units(
            units,
            self.work,
            log=RESULTS / f"guarantees-{self.name}.jsonl",
            settings=self.settings,
            n_jobs=n_jobs,
            progress=True,
            description=self.name,
            seconds=seconds,
        )
        frame = self.table(units, results)
        frame.to_csv(RESULTS / f"guarantees-{self.name}.csv", index=False, float_format="%.4f")


def results_of(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"guarantees-{name}.csv")
