"""What the benchmarks share: tables on the screen and in files, the machine."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments import provenance
from experiments.tables import markdown_table

RESULTS = Path(__file__).parent / "results"


def times(name: str) -> pd.DataFrame:
    return provenance.read(RESULTS / f"{name}.csv")


def machine() -> str:
    """The machine in a line, without its name."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores ({platform.machine()}), Python {platform.python_version()}, " + (
        f"NumPy {np.__version__}"
    )


def show(rows: Sequence[dict[str, Any]], *, head: bool = True) -> None:
    """Print rows as a Markdown table, with or without its head; floats with three digits."""
    short = [
        {key: f"{x:.3g}" if isinstance(x, float) else x for key, x in row.items()} for row in rows
    ]
    lines = markdown_table(pd.DataFrame(short)).splitlines()
    print("\n".join(lines[0 if head else 2 :]), flush=True)


def write(name: str, rows: Sequence[dict[str, Any]], *, partly: bool = False) -> None:
    """Write rows to ``results/name.csv``, floats with three digits; see :mod:`.provenance`."""
    main = sys.modules["__main__"].__spec__
    command = " ".join(["python -m", main.name if main else "benchmarks", *sys.argv[1:]])
    path, parts = RESULTS / f"{name}.csv", provenance.TIMED
    kept = parts if partly else ()
    provenance.write(path, pd.DataFrame(rows), command, parts, digits="%.3g", kept=kept)


def in_words(seconds: float | None) -> str:
    """Seconds to two digits; what was not timed is a dash.

    >>> in_words(0.1234), in_words(17.6), in_words(None)
    ('0.12', '18', '–')
    """
    if seconds is None or np.isnan(seconds):
        return "–"
    return f"{float(f'{seconds:.2g}'):.10g}"
