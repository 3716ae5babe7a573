"""Tables and pictures of the documentation, made from the files of results.

``python -m experiments.pages`` makes all of them (``make evidence``), ``--check`` says which are
not those of the results (exit status 1), ``--runs`` lists the commands that make the results from
scratch with an estimate of their hours, and ``--run`` runs them too (``make evidence-full``).
What there is stands in :mod:`experiments.registry`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from covmin.evaluation.frames import markdown_table

ROOT = Path(__file__).resolve().parents[1]
# What each picture was drawn from: files of pictures differ between versions of Matplotlib.
CHECKSUMS = ROOT / "experiments" / "checksums.json"
# The tables of a page by their names: what makes each, and the decimals it is shown with.
Tables = Mapping[str, tuple[Callable[[], pd.DataFrame], int]]
_MARKED = r"(?P<start><!-- table: (?P<name>[\w-]+) -->)\n.*?(?P<end><!-- end -->)"


@dataclass(frozen=True)
class Made:
    """A file that is made from results: which one, by what (``module:name``), from which files."""

    file: str
    by: str
    results: tuple[str, ...]

    def __init__(self, file: str, by: str, *results: str) -> None:
        for name, value in (("file", file), ("by", by), ("results", results)):
            object.__setattr__(self, name, value)

    @property
    def path(self) -> Path:
        """Where it is."""
        return ROOT / self.file

    def maker(self) -> Any:
        """What makes it."""
        module, _, name = self.by.partition(":")
        return getattr(import_module(module), name)

    def is_ready(self) -> bool:
        """Whether its results are there."""
        return all((ROOT / name).exists() for name in self.results)

    def frames(self) -> list[pd.DataFrame]:
        """Its results."""
        return [pd.read_csv(ROOT / name) for name in self.results]


class MarkedTables(Made):
    """A page with tables between ``<!-- table: NAME -->`` and ``<!-- end -->``, made by a dict."""

    def text(self) -> str:
        """The page with its tables."""
        return filled(self.path.read_text(encoding="utf-8"), self.maker())


class Text(Made):
    """A file that pages include, made by a function of the frames of its results."""

    def text(self) -> str:
        """What is in the file."""
        return self.maker()(*self.frames()).rstrip("\n") + "\n"


class Picture(Made):
    """A picture, drawn by a function of the frames of its results and of the path to write."""

    def draw(self) -> None:
        """Write the picture."""
        self.maker()(*self.frames(), self.path)

    def checksums(self) -> dict[str, str]:
        """Of the picture and of the files it is drawn from."""
        return {name: checksum(ROOT / name) for name in (self.file, *self.results)}


@dataclass(frozen=True)
class Run:
    """A command that makes files of results from scratch.

    ``hours`` on one core are an estimate; None counts the seconds of fits that the results hold.
    """

    command: str
    results: tuple[str, ...]
    hours: float | None

    def __init__(self, command: str, *results: str, hours: float | None = None) -> None:
        for name, value in (("command", command), ("results", results), ("hours", hours)):
            object.__setattr__(self, name, value)

    def run(self) -> None:
        """Run it with this Python, from the root of the repository."""
        program, *rest = shlex.split(self.command)
        words = [sys.executable, *(["-m", program] if program != "python" else []), *rest]
        subprocess.run(words, cwd=ROOT, check=True)

    def estimate(self) -> float:
        """Hours."""
        if self.hours is not None:
            return self.hours
        known = [ROOT / name for name in self.results if (ROOT / name).exists()]
        frames = [pd.read_csv(path) for path in known if path.suffix == ".csv"]
        return sum(map(seconds_of_fits, frames)) / 3600.0


def seconds_of_fits(frame: pd.DataFrame) -> float:
    """Seconds of all fits behind a table of results, as far as it holds them.

    >>> seconds_of_fits(pd.DataFrame({"selector": ["a", "a"], "n_features": [1, 2],
    ...                               "fit_seconds": [3.0, 3.0], "n_folds": [10, 10]}))
    30.0
    """
    if "seconds" in frame:
        return float(frame["seconds"].sum())
    keys = [k for k in ("task", "dataset", "protocol", "selector", "n_samples") if k in frame]
    fits = frame.drop_duplicates(keys)  # one fit ranks for all numbers of features
    return float((fits["fit_seconds"] * fits.filter(regex="n_(folds|draws)").iloc[:, 0]).sum())


def filled(page: str, tables: Tables) -> str:
    """The page with every table between its markers made anew.

    A table whose results are not there yet says so; markers of other tables stay as they are.
    """

    def table(match: re.Match[str]) -> str:
        if match["name"] not in tables:
            return match[0]
        make, digits = tables[match["name"]]
        try:
            frame = make()
        except FileNotFoundError:
            frame = pd.DataFrame()
        text = "(Not run yet.)" if frame.empty else markdown_table(frame, digits)
        return f"{match['start']}\n\n{text}\n\n{match['end']}"

    return re.sub(_MARKED, table, page, flags=re.DOTALL)


def marked(page: str) -> list[str]:
    """Names of the tables that a page has markers for."""
    return [match["name"] for match in re.finditer(_MARKED, page, flags=re.DOTALL)]


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


def stale(entries: list[Made]) -> Iterator[str]:
    """Files that are not those of the results."""
    drawn = json.loads(CHECKSUMS.read_text(encoding="utf-8")) if CHECKSUMS.exists() else {}
    for each in entries:
        if not each.is_ready():
            continue
        if isinstance(each, Picture):
            if each.checksums() != drawn.get(each.file):
                yield each.file
        elif not each.path.exists() or each.path.read_text(encoding="utf-8") != each.text():
            yield each.file


def make_all(entries: list[Made]) -> None:
    """Write every table and draw every picture whose results are there."""
    drawn = {}
    for each in entries:
        ready = each.is_ready()
        if ready and isinstance(each, Picture):
            each.draw()
            drawn[each.file] = each.checksums()
        elif ready:
            each.path.write_text(each.text(), encoding="utf-8")
        print(f"{each.file}: {', '.join(each.results) if ready else 'not run yet'}", flush=True)
    CHECKSUMS.write_text(json.dumps(drawn, indent=1) + "\n", encoding="utf-8")


def show(runs: list[Run]) -> None:
    """The commands with their hours, and the sum."""
    for run in runs:
        print(f"{run.estimate():6.1f} h  {run.command}")
    print(f"{sum(run.estimate() for run in runs):6.1f} h  in all, on one core")


def main() -> int:
    from experiments.registry import MADE, RUNS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where something is stale")
    parser.add_argument("--runs", action="store_true", help="list what makes the results")
    parser.add_argument("--run", action="store_true", help="make the results from scratch")
    options = parser.parse_args()
    if options.check:
        found = list(stale(MADE))
        print("\n".join(f"stale: {name}" for name in found) or "as in the results")
        return int(bool(found))
    if options.runs or options.run:
        show(RUNS)
    for run in RUNS if options.run else ():
        print(f"== {run.command}", flush=True)
        run.run()
    if not options.runs:
        make_all(MADE)
    return 0


if __name__ == "__main__":
    # By its own name: the registry imports its classes from there.
    from experiments import pages

    sys.exit(pages.main())
