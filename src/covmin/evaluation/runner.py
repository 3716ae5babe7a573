"""Units of work, in parallel, each kept as soon as it is finished."""

import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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

from .encoded import EncodedTable, order_of_features
from .selectors import SelectorSpec
from .within import within

Unit = Mapping[str, Any]
Work = Callable[[Unit], Any]
# Columns from best to worst (None where the selector failed), seconds, and what went wrong.
Ranked = tuple[np.ndarray | None, float, str | None]
# What goes wrong where the time is over.
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
    """Do every unit of work that is not done yet, in parallel.

    A unit is plain values that say what to do. The work, one for each unit, returns a plain
    value; it runs with one BLAS thread, and NumPy's global generator is put back after it.
    Results come in the order of the units, whichever finished first. With a log they are kept
    there, units found there are not done again, and one of other ``settings`` is refused;
    ``run=False`` only reads it, also that of a run under way, and leaves None for the rest. So
    does a run that is not done after some ``seconds``: units are begun in the order given, and
    those under way are ended.
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
            finished = within(seconds, guarded, tasks, effective_n_jobs(n_jobs))
        for index, result in _bar(finished, len(todo), progress, description):
            if kept is not None:
                kept.append(units[index], result)
            results[index] = result
    return [results.get(i) for i in range(len(units))]


def _guarded(work: Work, unit: Unit, index: int) -> tuple[int, Any]:
    # Workers share the cores already: more threads inside each would only get in the way.
    with one_thread(), global_state_restored(), ProgressBar.part_of_other_work():
        return index, work(unit)


def _bar(finished: Iterable[Any], total: int, progress: bool, description: str) -> Iterable[Any]:
    if not progress:
        return finished
    try:
        from tqdm.auto import tqdm
    except ImportError:
        print(f"[covmin] {total} {description} to do", file=sys.stderr)
        return finished
    return tqdm(finished, total=total, desc=description, mininterval=1.0)


def rank_features(
    spec: SelectorSpec, m: int, X: Any, y: Any, seed: int, table: EncodedTable | None = None
) -> Ranked:
    """Fit a selector for m features of X (n, d); an error is a result, not the end of the run."""
    selector, start = spec.make(m, seed), time.perf_counter()
    order, failure = None, None
    try:
        # Constant columns and the like are expected here, thousands of times over.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            order = order_of_features(selector, X, y, table)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"[:300]
    return order, time.perf_counter() - start, failure


def warn_of_failures(errors: Sequence[tuple[str, str | None]]) -> None:
    """Warn once of all rankings that failed, with the first message of each selector."""
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
