"""What the benchmarks share: clocks, tables on the screen and in files, figures, the machine."""

from __future__ import annotations

import csv
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
FIGURES = Path(__file__).parent / "figures"


def seconds(action: Callable[[], object], repeats: int = 1) -> float:
    """Shortest time of an action: what it takes when nothing else disturbs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def machine() -> str:
    """The machine in a line, without its name."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores ({platform.machine()}), Python {platform.python_version()}, " + (
        f"NumPy {np.__version__}"
    )


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a Markdown table."""
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("| " + " | ".join("---:" for _ in names) + " |")
    for row in rows:
        print("| " + " | ".join(_text(row[name]) for name in names) + " |", flush=True)


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write(name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows to ``results/name.csv``."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: _text(value) if isinstance(value, float) else value for key, value in row.items()}
            for row in rows
        )


def save(figure: Any, name: str) -> None:
    """Write a figure to ``figures/name.svg``, the same on every run."""
    FIGURES.mkdir(exist_ok=True)
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
