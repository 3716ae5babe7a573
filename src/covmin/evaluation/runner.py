"""Run units of work in parallel, save each as soon as it is finished, and stop in time."""

import os
import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky.backend import get_context
from joblib.externals.loky.backend.reduction import dumps
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
    with nullcontext() if log is None else ResultLog(log, settings) as kept:
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


def run_within(
    seconds: float, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_jobs: int = 1
) -> Iterator[Any]:
    """Yield the results of ``work`` on each task as they come, until the time is up.

    Tasks start in order, in separate processes: there is no other way to stop the code of another
    library. An error stops all of them.
    """
    end = time.monotonic() + seconds
    waiting = list(reversed(tasks))
    packed = bytes(dumps(work))  # also handles functions defined in an interactive session
    processes: dict[Any, Any] = {}
    try:
        for _ in range(min(n_jobs, len(waiting))):
            connection, process = _started(packed)
            processes[connection] = process
            connection.send(waiting.pop())
        while processes and (ready := wait(list(processes), max(0.0, end - time.monotonic()))):
            for connection in list[Any](ready):
                yield _received(connection)
                if waiting:
                    connection.send(waiting.pop())
                else:
                    _end(connection, processes.pop(connection))
    finally:
        for connection, process in processes.items():
            _end(connection, process)


def _started(packed: bytes) -> tuple[Connection, Any]:
    context = get_context("loky")  # does not run the user's script again
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(packed, theirs), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def _serve(packed: bytes, connection: Connection) -> None:
    """Process one task after another and send each result."""
    work = pickle.loads(packed)
    while True:
        task = connection.recv()
        outcome: tuple[Any, Exception | None]
        try:
            outcome = work(*task), None
        except Exception as error:
            outcome = None, error
        connection.send(outcome)


def _received(connection: Any) -> Any:
    try:
        result, error = connection.recv()
    except (EOFError, ConnectionError):  # Linux resets a pipe that was not read to its end
        raise RuntimeError("A worker process of the comparison ended unexpectedly.") from None
    if error is not None:
        raise error
    return result


def _end(connection: Any, process: Any) -> None:
    process.terminate()
    process.join()
    connection.close()
