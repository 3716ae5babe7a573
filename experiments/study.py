"""What all experiments share: units of work, a log that an interrupted run resumes from, results.

``python -m experiments NAME`` runs one. It writes ``experiments/results/NAME.csv`` and, of that
file alone, the tables ``NAME.md`` that pages include.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from covmin.evaluation.runner import run_units

RESULTS = Path(__file__).parent / "results"
Unit = Mapping[str, Any]


def results(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"{name}.csv")


@dataclass(frozen=True)
class Study:
    """An experiment.

    ``units`` lists what is to be run, ``work`` turns a unit into a row or several, ``summary`` all
    rows into what is kept, and ``report`` that into Markdown. ``by`` is the key of a unit that
    ``--only`` chooses by; ``hours`` is about what all units take on one core; without the
    ``folder`` of its data nothing is run.
    """

    name: str
    units: Callable[[], list[dict[str, Any]]]
    work: Callable[[Unit], Any]
    hours: float
    summary: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
    report: Callable[[pd.DataFrame], str] | None = None
    by: str = "selector"
    digits: int = 4
    folder: Path | None = None

    @property
    def path(self) -> Path:
        """The file of its results."""
        return RESULTS / f"{self.name}.csv"

    def run(self, only: Sequence[str] = (), n_jobs: int = 1, seconds: float | None = None) -> None:
        """Run what is not in the log yet, and write results and tables.

        Results of units that are not chosen stay as they are in the file.
        """
        if self.folder is not None and not self.folder.is_dir():
            print(f"{self.name}: skipped, {self.folder} is not there.")
            return
        units = [unit for unit in self.units() if not only or unit[self.by] in only]
        log = self.path.with_suffix(".jsonl")
        done = run_units(
            units,
            self.work,
            log=log,
            n_jobs=n_jobs,
            seconds=seconds,
            progress=True,
            description=self.name,
        )
        rows = [
            {**unit, **row}
            for unit, found in zip(units, done, strict=True)
            if found is not None
            for row in (found if isinstance(found, list) else [found])
        ]
        frame = self.summary(pd.DataFrame(rows))
        if only and self.path.exists():
            before = pd.read_csv(self.path)
            frame = pd.concat([before[~before[self.by].isin(only)], frame], ignore_index=True)
        text = f"%.{self.digits}f"
        frame.to_csv(self.path, index=False, float_format=text, lineterminator="\n")
        if self.report is not None:
            self.path.with_suffix(".md").write_text(self.tables(), encoding="utf-8")

    def tables(self) -> str:
        """The tables in Markdown, from the file, so that they have its digits."""
        assert self.report is not None
        return self.report(pd.read_csv(self.path)).rstrip("\n") + "\n"
