"""Set the number of BLAS threads, and of folds, draws or blocks of rows processed in parallel.

BLAS threads spin while they wait for each other: on a busy machine they slow a fit down many
times over. Threads that process blocks of rows, folds or draws do not wait for each other and are
safe on a busy machine. BLAS then uses one thread.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import scipy.linalg  # noqa: F401 (loads its BLAS, which is then limited too)
from joblib import cpu_count, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

# Options that make joblib use threads, whatever the surrounding context asks for: the work is in
# BLAS, which releases the interpreter lock, and cannot be sent to other processes.
_IN_THREADS = {"prefer": "threads", "require": "sharedmem"}

# Kernel matrices with fewer rows use one thread. On two busy cores a step with all threads takes
# 2 to 5 times as long at 1000 rows, and 1.1 to 1.6 times as long at 4000: from there on, a machine
# that gets busy during the fit costs little.
_WORTH_THREADS = 4000

Item = TypeVar("Item")
Result = TypeVar("Result")

# Threads for blocks of rows that each worker of a surrounding parallel loop may use.
_LEFT_TO_A_WORKER: ContextVar[int | None] = ContextVar("left_to_a_worker", default=None)


class _Blas:
    """The BLAS libraries, held to the fewest threads that any active block asks for.

    Their number of threads applies to the whole process. If fits overlap, a later one finds the
    limit set by an earlier one, and must not restore that.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._asked: list[int] = []
        self._given: list[int] = []  # by library, before the first active block

    @cached_property
    def _libraries(self) -> list[Any]:
        # Finding the libraries takes longer than a small fit, so do it once.
        return list(ThreadpoolController().select(user_api="blas").lib_controllers)

    def given(self) -> list[int]:
        """Return the number of threads that each library uses without our limit."""
        with self._lock:
            if self._asked:
                return self._given
            return [library.num_threads for library in self._libraries]

    @contextmanager
    def held_to(self, n_threads: int) -> Iterator[None]:
        """Use at most this many threads during the block."""
        with self._lock:
            self._given = self.given()
            self._asked.append(n_threads)
            self._set()
        try:
            yield
        finally:
            with self._lock:
                self._asked.remove(n_threads)
                self._set()

    def _set(self) -> None:
        for library, given in zip(self._libraries, self._given, strict=True):
            library.set_num_threads(min(self._asked, default=given))
            # Another thread may lift the limit; since threadpoolctl 3.8 only its owner could.
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread()


_BLAS = _Blas()


def one_blas_thread() -> AbstractContextManager[None]:
    """Use one BLAS thread during the block; blocks of rows may still run in parallel."""
    return _BLAS.held_to(1)


def blas_threads(n_samples: int, n_jobs: int | None = None) -> AbstractContextManager[None]:
    """Use one BLAS thread, or the idle processors for a large kernel matrix.

    ``n_samples`` is the number of rows of the kernel matrix, ``n_jobs`` the number of workers.
    """
    if n_samples < _WORTH_THREADS or n_jobs not in (None, 1):
        return _BLAS.held_to(1)
    return _BLAS.held_to(max(1, min(row_threads(), int(cpu_count()) - _n_running())))


def _n_running() -> int:
    """Return the number of other threads that run on this machine; 0 if the system does not tell.

    Beside a busy loop on every processor, BLAS then has one thread.
    """
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].split("/")[0]) - 1
    except (OSError, ValueError, IndexError):
        return round(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0


def worker_threads(n_jobs: int | None) -> int:
    """Return the number of threads joblib will start for ``n_jobs`` in the current context."""
    with parallel_config(**_IN_THREADS):
        return int(effective_n_jobs(n_jobs))


def row_threads() -> int:
    """Return the number of threads that may process blocks of rows in parallel.

    It is the number of BLAS threads, set by ``OMP_NUM_THREADS`` or by joblib for each of its
    processes, but at most the number of available processors. Inside a parallel loop of threads
    it is the share that the loop leaves to each worker.
    """
    left = _LEFT_TO_A_WORKER.get()
    if left is not None:
        return left
    # In a loop of the user's threads; a joblib worker process has a main thread of its own.
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main and get_active_backend()[0].nesting_level > 0:
        return 1
    return min(max(_BLAS.given(), default=1), int(cpu_count()))


@contextmanager
def in_threads(
    work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None
) -> Iterator[Iterator[Result]]:
    """Iterate over the results for each item, in order; leaving the block drops the rest.

    The workers share the threads for blocks of rows.
    """
    from sklearn.utils.parallel import Parallel, delayed  # threads that have its configuration

    left = max(1, row_threads() // worker_threads(n_jobs))

    def of_a_worker(item: Item) -> Result:
        with _left_to_a_worker(left):
            return work(item)

    pool = Parallel(n_jobs=n_jobs, return_as="generator", **_IN_THREADS)
    results = pool(delayed(of_a_worker)(item) for item in items)
    try:
        yield results
    finally:
        # After an error or an early exit, joblib would warn about unfinished work. A warning
        # filter cannot help: threads share the filters of the process.
        pool.return_generator = False
        results.close()


@contextmanager
def _left_to_a_worker(n_threads: int) -> Iterator[None]:
    token = _LEFT_TO_A_WORKER.set(n_threads)
    try:
        yield
    finally:
        _LEFT_TO_A_WORKER.reset(token)


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread for everything during the block: BLAS, OpenMP and blocks of rows."""
    # Not threadpool_limits: on exit it would also restore the BLAS limit that it found.
    openmp = ThreadpoolController().select(user_api="openmp")
    with openmp.limit(limits=1), one_blas_thread(), _left_to_a_worker(1):
        yield
