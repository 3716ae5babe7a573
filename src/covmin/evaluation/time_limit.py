"""Run tasks with a time limit that also stops running work."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

from joblib.externals.loky.backend import get_context
from joblib.externals.loky.backend.reduction import dumps


def run_within(
    seconds: float, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_jobs: int = 1
) -> Iterator[Any]:
    """Yield the results of ``work`` on each task as they come, until the time is up.

    Tasks start in order, in separate processes: there is no other way to stop the code of another
    library. An error stops all of them.
    """
    end = monotonic() + seconds
    waiting = list(reversed(tasks))
    packed = bytes(dumps(work))  # also handles functions defined in an interactive session
    processes: dict[Any, Any] = {}
    try:
        for _ in range(min(n_jobs, len(waiting))):
            connection, process = _started(packed)
            processes[connection] = process
            connection.send(waiting.pop())
        while processes and (ready := wait(list(processes), max(0.0, end - monotonic()))):
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
    except EOFError:
        raise RuntimeError("A worker process of the comparison ended unexpectedly.") from None
    if error is not None:
        raise error
    return result


def _end(connection: Any, process: Any) -> None:
    process.terminate()
    process.join()
    connection.close()
