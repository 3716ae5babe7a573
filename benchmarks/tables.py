"""What the benchmarks share: clocks, tables on the screen and in files, figures, the machine."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"
FIGURES = Path(__file__).parent / "figures"


def times(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"{name}.csv")


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


def show(rows: Sequence[dict[str, Any]], *, head: bool = True) -> None:
    """Print rows as a Markdown table, with or without its head."""
    print("\n".join(markdown(rows)[0 if head else 2 :]), flush=True)


def markdown(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Lines of a Markdown table: its head, a rule, and the rows."""
    names = list(rows[0])
    table = [names, ["---:" for _ in names], *([_text(row[n]) for n in names] for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in table]


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write(name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows to ``results/name.csv``, floats with three digits."""
    frame = pd.DataFrame(rows)
    frame.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.3g", lineterminator="\n")


def in_words(seconds: float | None, *, about: bool = False) -> str:
    """Seconds to two digits; what was not timed is a dash.

    >>> in_words(0.1234), in_words(17.6), in_words(1234.0, about=True), in_words(None)
    ('0.12', '18', '≈ 1200', '–')
    """
    if seconds is None or np.isnan(seconds):
        return "–"
    digits = f"{float(f'{seconds:.2g}'):.10g}"
    return f"≈ {digits}" if about else digits


def save(figure: Any, name: str) -> None:
    """Write a figure to ``figures/name.svg``, the same on every run."""
    from matplotlib import rc_context

    FIGURES.mkdir(exist_ok=True)
    with rc_context({"svg.hashsalt": "covmin"}):
        figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
