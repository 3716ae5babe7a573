"""Repeat one number of each table, and say whether it agrees: ``python -m experiments.quick``.

Ten minutes on one core (``make evidence-quick``). A number agrees when it is within two standard
errors of the one in the file, or within 0.02 where the file has no error. Exit status 1 when one of
them does not, unless its result is of earlier code, which is then said.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from benchmarks import grid
from benchmarks.tables import times

from experiments.pages import ROOT, outdated
from experiments.registry import STUDIES
from experiments.study import Study, results, rows_of

_CLOSE, _MOST_UNITS = 0.02, 20
# Seconds depend on the machine, ratios of them less so.
_CLOSE_RATIO = 0.5
Repeated = tuple[float, float, float]  # the number, the one in the file, and how far it may be off


def chosen(frame: pd.DataFrame, cell: Mapping[str, Any]) -> pd.DataFrame:
    for key in cell.keys() & set(frame.columns):
        frame = frame[frame[key] == cell[key]]
    return frame


def of_study(study: Study) -> Repeated:
    """The value of a study's cell, from its first units alone."""
    keys = study.cell.items()
    units = [u for u in study.units() if all(u.get(k, v) == v for k, v in keys)][:_MOST_UNITS]
    again = chosen(study.summary(rows_of(units, list(map(study.work, units)))), study.cell)
    before = chosen(results(study.name), study.cell)
    margins = [_CLOSE]
    for name in {"standard_error", f"{study.value}, s.e."} & set(again.columns):
        margins = [2 * again[name].mean(), 2 * before[name].mean()]
    return again[study.value].mean(), before[study.value].mean(), max(margins)


def speed() -> Repeated:
    cell = {"n": 1000, "d": 100, "task": "classes"}
    row = grid.timed(1000, 100, "classes", auto=False)
    before = chosen(times("grid"), cell)["ratio"].mean()
    return row["ratio"], before, _CLOSE_RATIO * before


def cells() -> dict[str, Callable[[], Repeated]]:
    """What is repeated, by the file of results it is in."""
    studies = [study for study in STUDIES.values() if study.cell]
    return {
        **{f"experiments/results/{s.name}.csv": lambda s=s: of_study(s) for s in studies},
        "benchmarks/results/grid.csv": speed,
    }


def main() -> int:
    wrong, old = 0, outdated()
    for file, repeat in cells().items():
        start = time.perf_counter()
        if not (ROOT / file).exists():
            print(f"{file}: not there")
            continue
        again, before, margin = repeat()
        agrees = abs(again - before) <= margin
        wrong += not agrees and file not in old
        said = "agrees" if agrees else "differs"
        earlier = ", which is of earlier code" if file in old else ""
        seconds = time.perf_counter() - start
        print(f"{file}: {said}: {again:.4g}, {before:.4g} in the file{earlier} ({seconds:.0f} s)")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
