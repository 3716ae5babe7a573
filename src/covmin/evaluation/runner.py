"""Run units of work in parallel, save each as soon as it is finished, and stop in time."""

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from joblib import Parallel, delayed
from sklearn.exceptions import FitFailedWarning

from covmin.remarks import warn
from covmin.runtime import __version__
from covmin.runtime.machine import one_thread
from covmin.runtime.resume import ResultLog
from covmin.runtime.run import ProgressBar
from covmin.runtime.seeds import global_state_restored

Unit = Mapping[str, Any]
Work = Callable[[Unit], Any]
# The error message of a ranking stopped by the time limit.
UNFINISHED = "not finished in time"


def run_units(
    units: Sequence[Unit],
    work: Work,
    *,
    log: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    description: str = "rankings",
    seconds: float | None = None,
) -> list[Any]:
    """Run all units of work that are not finished yet, in parallel, and return all results.

    A unit is a mapping of plain values that says what to do. ``work`` turns a unit into a plain
    value; it runs with one BLAS thread, and NumPy's global generator is restored afterwards.

    With a ``log``, results are saved there, saved units are not run again, and a log with other
    ``settings`` is refused. Units that have not begun after ``seconds`` give None.
    """
    settings = {"covmin": __version__, **(settings or {})}
    with nullcontext() if log is None else ResultLog(log, settings) as kept:
        results = {i: kept[u] for i, u in enumerate(units) if kept is not None and u in kept}
        todo = [i for i in range(len(units)) if i not in results]
        end = time.monotonic() + (math.inf if seconds is None else seconds)
        pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        finished = pool(
            delayed(_guarded)(work, units[i], i) for i in todo if time.monotonic() < end
        )
        with ProgressBar.shown(progress) as bar:
            bar.show(description, "unit", 0, len(todo))
            for done, (index, result) in enumerate(finished, 1):
                if kept is not None:
                    kept.append(units[index], result)
                results[index] = result
                bar.show(description, "unit", done, len(todo))
    return [results.get(i) for i in range(len(units))]


def _guarded(work: Work, unit: Unit, index: int) -> tuple[int, Any]:
    # The workers already share the cores; more threads in each would only compete.
    with one_thread(), global_state_restored(), ProgressBar.shown(0):
        return index, work(unit)


def warn_of_failures(errors: Sequence[tuple[str, str | None]]) -> None:
    """Issue one warning for all failed rankings, with the first message of each selector."""
    failed = [(name, error) for name, error in errors if error not in (None, UNFINISHED)]
    if not failed:
        return
    first = dict(reversed(failed))
    counts = Counter(name for name, _ in failed)
    text = "; ".join(f"{name} {counts[name]} times, first: {first[name]}" for name in first)
    warn(
        "failed-rankings",
        f"{len(failed)} of {len(errors)} rankings failed and count as missing: {text}",
        category=FitFailedWarning,
    )
