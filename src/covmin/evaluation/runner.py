"""Run units of work in parallel and save each one as soon as it is finished."""

import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.exceptions import FitFailedWarning

from covmin.runtime.log import ResultLog
from covmin.runtime.progress import ProgressBar
from covmin.runtime.seeds import global_state_restored
from covmin.runtime.threads import one_thread
from covmin.runtime.version import __version__

from .encoded import ComparedTable, order_of_features
from .selectors import SelectorSpec
from .time_limit import run_within

Unit = Mapping[str, Any]
Work = Callable[[Unit], Any]
# Columns from best to worst (None if the selector failed), seconds, and the error message.
Ranked = tuple[np.ndarray | None, float, str | None]
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
    run: bool = True,
    seconds: float | None = None,
) -> list[Any]:
    """Run all units of work that are not finished yet, in parallel, and return all results.

    A unit is a mapping of plain values that says what to do. ``work`` turns a unit into a plain
    value; it runs with one BLAS thread, and NumPy's global generator is restored afterwards.
    Results are returned in the order of the units.

    With a ``log``, results are saved there, saved units are not run again, and a log with other
    ``settings`` is refused. ``run=False`` only reads the log, even while another run writes it;
    units without a result give None. The same holds for units that a time limit of ``seconds``
    cuts off: units start in the given order, and those still running are stopped.
    """
    settings = {"covmin": __version__, **(settings or {})}
    with nullcontext() if log is None else ResultLog(log, settings, writable=run) as kept:
        results = {i: kept[u] for i, u in enumerate(units) if kept is not None and u in kept}
        todo = [i for i in range(len(units)) if run and i not in results]
        tasks = [(units[i], i) for i in todo]
        if seconds is None:
            pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
            finished = pool(delayed(_guarded)(work, *task) for task in tasks)
        else:
            guarded = partial(_guarded, work)
            finished = run_within(seconds, guarded, tasks, effective_n_jobs(n_jobs))
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
    with one_thread(), global_state_restored(), ProgressBar.part_of_other_work():
        return index, work(unit)


def rank_features(
    spec: SelectorSpec, m: int, X: Any, y: Any, seed: int, table: ComparedTable | None = None
) -> Ranked:
    """Fit a selector for m features of X (n, d); an error is recorded and does not stop the run."""
    selector, start = spec.make(m, seed), time.perf_counter()
    order, failure = None, None
    try:
        # Warnings, for example about constant columns, would repeat thousands of times.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            order = order_of_features(selector, X, y, table)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"[:300]
    return order, time.perf_counter() - start, failure


def warn_of_failures(errors: Sequence[tuple[str, str | None]]) -> None:
    """Issue one warning for all failed rankings, with the first message of each selector."""
    failed = [(name, error) for name, error in errors if error not in (None, UNFINISHED)]
    if not failed:
        return
    first = dict(reversed(failed))
    counts = Counter(name for name, _ in failed)
    text = "; ".join(f"{name} {counts[name]} times, first: {first[name]}" for name in first)
    warnings.warn(
        f"{len(failed)} of {len(errors)} rankings failed and count as missing: {text}",
        FitFailedWarning,
        stacklevel=3,
    )
