"""What the simulations have in common: designs, runs, and rates of false discoveries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from experiments.study import Study, Unit

SIGNAL_TO_NOISE = 2.0
LEVELS = (0.1, 0.2)
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


def with_noise(rng: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    return signal / signal.std() + rng.standard_normal(signal.size) / np.sqrt(SIGNAL_TO_NOISE)


def design(rho: float) -> str:
    return "independent" if rho == 0.0 else f"AR({rho:g})"


def discoveries(q: np.ndarray, true: np.ndarray) -> list[dict[str, Any]]:
    """Share of false discoveries and of true features found, at each level."""
    rows = []
    for level in LEVELS:
        kept = q <= level
        false_share = float((kept & ~true).sum() / max(kept.sum(), 1))
        rows.append({"level": level, "fdr": false_share, "power": float(kept[true].mean())})
    return rows


def simulation(
    name: str,
    cells: list[dict[str, Any]],
    work: Callable[[Unit], Any],
    by: str,
    parts: tuple[str, ...],
    *more: str,
    **repeated: Any,
) -> Study:
    """A study that runs each cell as often as its ``runs`` says, and keeps means with errors.

    ``more`` are keys that the rows of ``work`` add to those of a cell, such as a level; ``by``,
    ``parts`` and ``repeated``, the cell and the value, are those of the study.
    """
    keys = [*(key for key in cells[0] if key != "runs"), *more]

    def units() -> list[dict[str, Any]]:
        most = max(cell["runs"] for cell in cells)
        each = [(run, cell) for run in range(most) for cell in cells if run < cell["runs"]]
        return [{**{k: cell[k] for k in cell if k != "runs"}, "run": run} for run, cell in each]

    def summary(frame: pd.DataFrame) -> pd.DataFrame:
        measures = frame.columns.difference([*keys, "run"], sort=False)
        groups = frame.astype(dict.fromkeys(measures, float)).groupby(keys, sort=False)
        found = {"runs": groups.size()}
        for measure in measures:
            values = groups[measure]
            found |= {measure: values.mean(), f"{measure}, s.e.": values.sem()}
        return pd.DataFrame(found).reset_index()

    return Study(name, units, work, 0.1, summary, by=by, parts=parts, **repeated)
