"""What all experiments share: units of work, a log that an interrupted run resumes from, results.

``python -m experiments NAME`` runs one and writes ``experiments/results/NAME.csv``. Of that file
alone, ``make evidence`` makes the tables ``NAME.md`` that pages include.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from covmin import __version__
from covmin.evaluation.compare import finished
from covmin.runtime.resume import ResultLog
from experiments import provenance
from experiments.rivals import missing

# Rivals depend on nothing of covmin but baselines and scores.
RIVALS, OURS = ("evaluation",), "ours"
RESULTS = Path(__file__).parent / "results"
Unit = Mapping[str, Any]


def every(**choices: Iterable[Any]) -> list[dict[str, Any]]:
    """A unit for each combination; the first choice changes slowest."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def results(name: str) -> pd.DataFrame:
    return provenance.read(RESULTS / f"{name}.csv")


@dataclass(frozen=True)
class Study:
    """An experiment.

    ``units`` lists what is to be run, ``work`` turns a unit into a row or several, ``summary`` all
    rows into what is kept, and ``report`` that into Markdown. ``by`` is the key of a unit that
    ``--only`` chooses by; ``hours`` is about what all units take on one core; ``parts`` are those
    of covmin that results depend on (see :mod:`experiments.provenance`). Without the ``folder`` of
    its data nothing is run. ``cell`` and ``value`` name one number that :mod:`experiments.quick`
    repeats; without a standard error it agrees if it is as ``close``.
    """

    name: str
    units: Callable[[], list[dict[str, Any]]]
    work: Callable[[Unit], Any]
    hours: float
    summary: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
    report: Callable[[pd.DataFrame], str] | None = None
    by: str = "selector"
    digits: str = "%.4f"
    folder: Path | None = None
    parts: tuple[str, ...] = provenance.COMPARED
    cell: Mapping[str, Any] = field(default_factory=dict)
    value: str = ""
    close: float = 0.02

    @property
    def path(self) -> Path:
        """The file of its results."""
        return RESULTS / f"{self.name}.csv"

    @property
    def is_old(self) -> bool:
        """Whether its results were made by other code than there is."""
        return self.path.exists() and not provenance.is_current(self.path, self.parts)

    def run(self, only: Sequence[str] = (), n_jobs: int = 1, seconds: float | None = None) -> None:
        """Run what is not in the log yet, and write the results.

        Results of units that are not chosen stay as they are in the file.
        """
        if self.folder is not None and not self.folder.is_dir():
            print(f"{self.name}: skipped, {self.folder} is not there.")
            return
        chosen = {unit[self.by] for unit in self.units()}
        if only:
            ours = {name for name in chosen if self.is_ours(name)} if OURS in only else set()
            chosen &= {*only, *ours}
        if absent := {name for name in chosen if missing(name)}:
            print(f"{self.name}: not installed, left out: {', '.join(sorted(absent))}.")
        units = [unit for unit in self.units() if unit[self.by] in chosen - absent]
        provenance.commit()  # that of the code that runs, whatever is checked out meanwhile
        # What other code has logged is not resumed; covmin is no part of what its rivals do.
        ran = self.parts_of(unit[self.by] for unit in units)
        versions = "-".join(map(provenance.version, ran))
        log = self.path.with_name(f"{self.name}-{versions}.jsonl")
        options: dict[str, Any] = {"n_jobs": n_jobs, "seconds": seconds, "description": self.name}
        with ResultLog(log, {"covmin": __version__}) as logged:
            todo = [unit for unit in units if unit not in logged]
            for number, result in finished(todo, self.work, progress=True, **options):
                logged.append(todo[number], result)
        done = [unit for unit in units if unit in logged]
        frame, kept = self.summary(rows_of(done, [logged[unit] for unit in done])), ()
        if only and self.path.exists():
            before = provenance.read(self.path)
            before = before[~before[self.by].isin(chosen - absent)]
            kept = self.parts_of(before[self.by])
            frame = pd.concat([before, frame], ignore_index=True)
        command, how = f"python -m experiments {self.name}", {"digits": self.digits}
        provenance.write(self.path, frame, command, self.parts, ran=ran, kept=kept, **how)

    def is_ours(self, name: str) -> bool:
        """Whether rows depend on more of the package than the baselines."""
        return self.by != "selector" or name.startswith("ccm")

    def parts_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """The parts that rows of some selectors depend on."""
        names = set(names)
        if any(map(self.is_ours, names)):
            return self.parts
        return tuple(part for part in self.parts if names and part in RIVALS)

    def tables(self) -> str:
        """The tables in Markdown, from the file, so that they have its digits."""
        assert self.report is not None
        return self.report(provenance.read(self.path)).rstrip("\n") + "\n"


def rows_of(units: Sequence[Unit], found: Sequence[Any]) -> pd.DataFrame:
    """A row or several for each unit that was done."""
    rows = [
        {**unit, **row}
        for unit, result in zip(units, found, strict=True)
        if result is not None
        for row in (result if isinstance(result, list) else [result])
    ]
    return pd.DataFrame(rows)
