"""Tables, numbers and pictures of the documentation, made from the files of results.

``python -m experiments.pages`` makes all of them (``make evidence``) and names the sentences that
the results no longer bear out. ``--check`` says what is not as in the results (exit status 1),
``--runs`` lists the commands that make the results from scratch with their hours, and ``--run``
runs them too (``make evidence-full``). What there is stands in :mod:`experiments.registry`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.tables import markdown_table

ROOT = Path(__file__).resolve().parents[1]
# Columns that say how often a fit was run, and those that one fit has several values of.
_TIMES = ("n_folds", "n_draws", "runs")
_NOT_OF_A_FIT = ("n_features", "mean_score", "standard_deviation", "m", "judge", "score")
# What each picture was drawn from: files of pictures differ between versions of Matplotlib.
CHECKSUMS = ROOT / "experiments" / "checksums.json"
# Tables and numbers of a page by their names: what makes each, and the decimals it is shown with.
Tables = Mapping[str, tuple[Callable[[], "pd.DataFrame | float | str"], int]]
_MARKED = r"(?P<start><!-- (?P<kind>table|number): (?P<name>[\w-]+) -->).*?(?P<end><!-- end -->)"


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
        return named(self.by)

    def is_ready(self) -> bool:
        """Whether its results are there."""
        return all((ROOT / name).exists() for name in self.results)

    def frames(self) -> list[pd.DataFrame]:
        """Its results."""
        return [pd.read_csv(ROOT / name) for name in self.results]


class Marked(Made):
    """A page with tables and numbers between ``<!-- table: NAME -->`` and ``<!-- end -->``.

    Numbers stand within a line, between ``<!-- number: NAME -->`` and ``<!-- end -->``. A dict
    makes both.
    """

    def text(self) -> str:
        """The page with its tables and numbers."""
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
class Claim:
    """A sentence of a page; ``holds`` (``module:name``) asks the results whether it is so."""

    file: str
    sentence: str
    holds: str

    def is_stale(self) -> bool:
        """Whether the results say otherwise, or the page no longer says so."""
        page = " ".join((ROOT / self.file).read_text(encoding="utf-8").split())
        return self.sentence not in page or not named(self.holds)()


@dataclass(frozen=True)
class Run:
    """A command that makes files of results from scratch.

    Its hours on one core are the ``seconds`` of fits that the results hold, in these columns, or
    else ``hours``, a rough figure.
    """

    command: str
    results: tuple[str, ...]
    hours: float | None
    seconds: tuple[str, ...]

    def __init__(
        self,
        command: str,
        *results: str,
        hours: float | None = None,
        seconds: tuple[str, ...] = ("seconds", "fit_seconds", "processor seconds"),
    ) -> None:
        given = {"command": command, "results": results, "hours": hours, "seconds": seconds}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def run(self) -> bool:
        """Run it with this Python, from the root of the repository; whether all went well."""
        program, *rest = shlex.split(self.command)
        words = [sys.executable, *(["-m", program] if program != "python" else []), *rest]
        return subprocess.run(words, cwd=ROOT).returncode == 0

    def measured(self) -> float | None:
        """Hours of the fits, if the results hold their seconds."""
        if self.hours is not None:
            return None
        known = [ROOT / name for name in self.results if (ROOT / name).exists()]
        frames = [pd.read_csv(path) for path in known]
        return sum(seconds_of_fits(frame, self.seconds) for frame in frames) / 3600.0

    def estimate(self) -> float:
        """Hours, measured or roughly."""
        return self.measured() or self.hours or 0.0


def seconds_of_fits(frame: pd.DataFrame, columns: Sequence[str]) -> float:
    """Seconds of all fits behind a table of results, which are in some of the columns.

    >>> frame = pd.DataFrame({"selector": ["a", "a"], "n_features": [1, 2],
    ...                       "fit_seconds": [3.0, 3.0], "n_folds": [10, 10]})
    >>> seconds_of_fits(frame, ["fit_seconds"])
    30.0
    """
    fits = frame.drop_duplicates([name for name in frame if name not in _NOT_OF_A_FIT])
    times = fits[[name for name in _TIMES if name in frame]].prod(axis=1)
    if "protocol" in fits:
        times[fits["protocol"] == "paper"] = 1  # which ranks on all samples at once
    seconds = fits[[name for name in columns if name in frame]].sum(axis=1)
    return float((seconds * times).sum())


def named(what: str) -> Any:
    """What ``module:name`` stands for."""
    module, _, name = what.partition(":")
    return getattr(import_module(module), name)


def filled(page: str, tables: Tables) -> str:
    """The page with every table and number between its markers made anew.

    One whose results are not there yet says so; markers of other tables stay as they are.
    """

    def made(match: re.Match[str]) -> str:
        if match["name"] not in tables:
            return match[0]
        make, digits = tables[match["name"]]
        try:
            text = as_text(make(), digits)
        except FileNotFoundError:
            text = "(Not run yet.)"
        gap = "\n\n" if match["kind"] == "table" else ""
        return f"{match['start']}{gap}{text}{gap}{match['end']}"

    return re.sub(_MARKED, made, page, flags=re.DOTALL)


def as_text(found: pd.DataFrame | float | str, digits: int) -> str:
    """A table in Markdown, a number with its decimals, or words as they are."""
    if isinstance(found, pd.DataFrame):
        return "(Not run yet.)" if found.empty else markdown_table(found, digits)
    return found if isinstance(found, str) else f"{found:,.{digits}f}"


def marked(page: str) -> list[str]:
    """Names of the tables and numbers that a page has markers for."""
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


def unfounded(claims: list[Claim]) -> Iterator[str]:
    """Sentences that the results do not bear out."""
    for claim in claims:
        if claim.is_stale():
            yield f"{claim.file}: “{claim.sentence}”"


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
        source = ", ".join(each.results) or each.by
        print(f"{each.file}: {source if ready else 'not run yet'}", flush=True)
    CHECKSUMS.write_text(json.dumps(drawn, indent=1) + "\n", encoding="utf-8")


def show(runs: list[Run]) -> None:
    """The commands with their hours, and the sum."""
    print("Hours on one core. Measured: the fits alone, by the results. Rough: a guess.")
    for run in runs:
        kind = "rough" if run.measured() is None else "measured"
        print(f"{run.estimate():6.1f} h  {kind:8}  {run.command}")
    print(f"{sum(run.estimate() for run in runs):6.1f} h  in all")


def main() -> int:
    from experiments.registry import CLAIMS, MADE, RUNS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where something is stale")
    parser.add_argument("--runs", action="store_true", help="list what makes the results")
    parser.add_argument("--run", action="store_true", help="make the results from scratch")
    options = parser.parse_args()
    if options.check:
        found = [*stale(MADE), *unfounded(CLAIMS)]
        print("\n".join(f"stale: {name}" for name in found) or "as in the results")
        return int(bool(found))
    if options.runs or options.run:
        show(RUNS)
    for run in RUNS if options.run else ():
        print(f"== {run.command}", flush=True)
        if not run.run():  # it may need a GPU, or have missed a limit of its own
            print(f"== failed: {run.command}", flush=True)
    if not options.runs:
        make_all(MADE)
        for claim in unfounded(CLAIMS):
            print(f"to be rewritten by hand: {claim}")
    return 0


if __name__ == "__main__":
    # By its own name: the registry imports its classes from there.
    from experiments import pages

    sys.exit(pages.main())
