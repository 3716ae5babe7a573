"""Work that ends when its time is over, whatever it is doing then."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

from joblib.externals.loky.backend import get_context
from joblib.externals.loky.backend.reduction import dumps


def within(
    seconds: float, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_jobs: int = 1
) -> Iterator[Any]:
    """Results of some work on each of the tasks as they come, as long as there is time.

    Tasks are begun in their order, in processes of their own: what another library does can be
    ended in no other way. An error ends them all.
    """
    end = monotonic() + seconds
    waiting = list(reversed(tasks))
    packed = bytes(dumps(work))  # takes functions of a session too
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
    context = get_context("loky")  # does not run the script of the user again
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(packed, theirs), daemon=True)
    process.start()
    theirs.close()
    return ours, process


def _serve(packed: bytes, connection: Connection) -> None:
    """Do one task after the other, and send what comes of it."""
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
        raise RuntimeError("A process that compared selectors has ended by itself.") from None
    if error is not None:
        raise error
    return result


def _end(connection: Any, process: Any) -> None:
    process.terminate()
    process.join()
    connection.close()
