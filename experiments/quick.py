"""Repeat one number of each table, and say whether it agrees: ``python -m experiments.quick``.

Ten minutes on one core (``make evidence-quick``). A number agrees when it is within three standard
errors of the one in the file, or as close as the study says. Exit status 1 when one of them does
not, unless its result is of earlier code, which is then said.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.registry import STUDIES
from experiments.study import Study, results, rows_of

_MOST_UNITS = 20
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
    margin = study.close
    for name in {"standard_error", f"{study.value}, s.e."} & set(before.columns):
        runs = before["runs"].mean() if "runs" in before else len(units)
        margin = max(margin, 3 * before[name].mean() * (1 + runs / len(units)) ** 0.5)
    return again[study.value].mean(), before[study.value].mean(), margin


def main() -> int:
    wrong = False
    for study in STUDIES.values():
        if study.cell and study.path.exists():
            start = time.perf_counter()
            again, before, margin = of_study(study)
            agrees = abs(again - before) <= margin
            wrong |= not (agrees or study.is_old)
            said = "agrees" if agrees else "differs"
            earlier = ", which is of earlier code" if study.is_old else ""
            seconds = time.perf_counter() - start
            numbers = f"{again:.4g}, {before:.4g} in the file{earlier}"
            print(f"{study.name}: {said}: {numbers} ({seconds:.0f} s)", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
