"""Run units of work in parallel, save each as soon as it is finished, and stop in time."""

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from joblib import Parallel, delayed

from covmin.runtime import __version__
from covmin.runtime.machine import one_thread
from covmin.runtime.resume import ResultLog
from covmin.runtime.run import ProgressBar
from covmin.runtime.seeds import global_state_restored

Unit = Mapping[str, Any]
Work = Callable[[Unit], Any]


def run_units(
    units: Sequence[Unit],
    work: Work,
    *,
    log: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    description: str = "rankings",
    seconds: float | None = None,
) -> list[Any]:
    """Run all units of work that are not finished yet, in parallel, and return all results.

    ``work`` turns a unit, a mapping of plain values, into a plain value. It runs with one BLAS
    thread, and NumPy's global generator is restored afterwards.

    With a ``log``, results are saved there, and saved units are not run again. Units that have not
    begun after ``seconds`` give None.
    """
    with nullcontext() if log is None else ResultLog(log, {"covmin": __version__}) as kept:
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
