"""Experiments, fits and files, killed at random moments until the last run is let through.

    python -m experiments.kills

Each job runs in a process that is ended with SIGKILL after a random time, and is started again
from what it left. Finished work may never be lost, no file may be corrupt, and the answer in
the end must be that of a run which nobody killed. Counts go to ``experiments/results/kills.csv``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from covmin.evaluation.paper import run_synthetic

from covmin import CCMSelector, LongRun
from covmin.datasets import make_shell
from covmin.runtime.resume import replace_file

RESULTS = Path(__file__).parent / "results"
# Forked, a job begins at once: most kills meet work, not imports.
PROCESSES = multiprocessing.get_context("fork")


class Lost(AssertionError):
    """Something was lost or damaged."""


class Job(Protocol):
    """Work in a folder that can be taken up again."""

    def run(self, folder: Path) -> Any:
        """Do what is left, and return the answer."""

    def kept(self, folder: Path) -> list[Any]:
        """Finished work on the disk; raises where it is corrupt."""


def _whole_lines(path: Path) -> list[Any]:
    """Records of a log; only what follows the last end of a line may be torn."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


class Experiment:
    """The paper's synthetic experiment on fewer draws, through the runner that all of them use."""

    def run(self, folder: Path) -> Any:
        """Median ranks of every draw."""
        result = run_synthetic(
            folder / "log.jsonl",
            n_samples=[10, 15],
            n_repeats=20,
            selectors=["pearson", "anova", "ccm-single"],
        )
        columns = ["task", "selector", "n_samples", "repeat", "median_rank"]
        return result.frame[columns].to_numpy().tolist()

    def kept(self, folder: Path) -> list[Any]:
        """Lines of the log."""
        return _whole_lines(folder / "log.jsonl")


class Fit:
    """A fit with a checkpoint that chooses the number of features itself."""

    def run(self, folder: Path) -> Any:
        """Ranking and weights."""
        X, y = make_shell(100, n_noise=40, random_state=0, return_X_y=True)
        path = folder / "fit.jsonl"
        fitted = CCMSelector(long_run=LongRun(path, checkpoint_after=0.0)).fit(X, y)
        return [fitted.ranking_.tolist(), fitted.weights_.tolist()]

    def kept(self, folder: Path) -> list[Any]:
        """Lines of the checkpoint."""
        return _whole_lines(folder / "fit.jsonl")


class Replacing:
    """A file of a megabyte that is replaced by its next version, 60 times."""

    versions = 60

    def run(self, folder: Path) -> Any:
        """The last version."""
        for version in range(len(self.kept(folder)), self.versions):
            body = random.Random(version).randbytes(1 << 20)
            header = b"%d %d\n" % (version, zlib.crc32(body))
            replace_file(folder / "report.html", header + body)
        return self.kept(folder)

    def kept(self, folder: Path) -> list[Any]:
        """Versions so far, known by that of a whole file."""
        if not (folder / "report.html").exists():
            return []
        header, _, body = (folder / "report.html").read_bytes().partition(b"\n")
        version, check = map(int, header.split())
        if zlib.crc32(body) != check:
            raise Lost(f"version {version} is not whole")
        return list(range(version + 1))


JOBS: dict[str, Callable[[], Job]] = {
    "experiment": Experiment,
    "fit": Fit,
    "file": Replacing,
}


def _quietly(job: Job, folder: Path) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    job.run(folder)


def _killed_after(job: Job, folder: Path, seconds: float) -> bool:
    """Whether the process had to be killed; an end by itself must be a good one."""
    process = PROCESSES.Process(target=_quietly, args=(job, folder))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
    process.join()
    if process.exitcode not in (0, -signal.SIGKILL):
        raise Lost(f"a run ended with {process.exitcode}")
    return process.exitcode != 0


def survive(job: Job, kills: int, seed: int = 0) -> dict[str, Any]:
    """Kill a job so many times, and compare what it comes to in the end.

    Parameters
    ----------
    job : Job
    kills : int
    seed : int, default=0
        Of the moments.

    Returns
    -------
    counts : dict
        Kills, those that came between finished pieces of work, runs that came to their end
        nevertheless, and the seconds of an undisturbed run.
    """
    moments = random.Random(seed)
    counts: dict[str, Any] = {"kills": 0, "with work kept": 0, "whole runs": 0, "left behind": 0}
    with tempfile.TemporaryDirectory() as calm:
        start = time.perf_counter()
        expected = job.run(Path(calm))
        counts["seconds undisturbed"] = round(time.perf_counter() - start, 2)
    longest = counts["seconds undisturbed"] / 3.0
    while counts["kills"] < kills:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _disturb(job, folder, kills, moments, longest, counts)
            if job.run(folder) != expected:
                raise Lost("the answer is not that of an undisturbed run")
            counts["whole runs"] += 1
            counts["left behind"] += len(list(folder.glob(".*.part")))
    return counts


def _disturb(
    job: Job,
    folder: Path,
    kills: int,
    moments: random.Random,
    longest: float,
    counts: dict[str, Any],
) -> None:
    """Kill until the job ends by itself or there were kills enough."""
    kept: list[Any] = []
    while counts["kills"] < kills:
        killed = _killed_after(job, folder, moments.uniform(0.0, longest))
        if not killed:
            return
        counts["kills"] += 1
        now = job.kept(folder)
        if now[: len(kept)] != kept and now:
            raise Lost(f"{len(kept)} pieces were kept before, and not all are there")
        # A fit that ends takes its checkpoint away; anything else may only grow.
        if len(now) < len(kept) and not isinstance(job, Fit):
            raise Lost(f"of {len(kept)} pieces {len(now)} are left")
        counts["with work kept"] += bool(now)
        kept = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = []
    for name, job in JOBS.items():
        rows.append({"job": name} | survive(job(), given.kills, given.seed))
        print(json.dumps(rows[-1]), flush=True)
    pd.DataFrame(rows).to_csv(RESULTS / "kills.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
