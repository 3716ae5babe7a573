"""Set the number of BLAS threads, and of blocks of rows that are processed in parallel.

BLAS threads spin while they wait for each other: on a busy machine they slow a fit down many
times over. Threads that process blocks of rows, folds or draws do not wait for each other and are
safe on a busy machine. BLAS then uses one thread.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from scipy.linalg import cholesky
from threadpoolctl import ThreadpoolController

# Options that make joblib use threads, whatever the surrounding context asks for: the work is in
# BLAS, which releases the interpreter lock, and cannot be sent to other processes.
IN_THREADS = {"prefer": "threads", "require": "sharedmem"}

# Kernel matrices with fewer rows use one thread. On two busy cores a step with all threads takes
# 2 to 5 times as long at 1000 rows, and 1.1 to 1.6 times as long at 4000: from there on, a machine
# that gets busy after the measurement costs little.
_WORTH_THREADS = 4000
# For larger matrices, time steps of this size alternately with one thread and with all threads.
_TIMED_ROWS = 2000
_TIMED_COLUMNS = 100
_N_ROUNDS = 3
# Use all threads if they are faster by this factor in every round.
_CLEARLY_FASTER = 1.4

Item = TypeVar("Item")
Result = TypeVar("Result")

# Threads for blocks of rows that each worker of a surrounding parallel loop may use.
_LEFT_TO_A_WORKER: ContextVar[int | None] = ContextVar("left_to_a_worker", default=None)


@cache
def _blas() -> ThreadpoolController:
    # Finding the libraries takes longer than a small fit, so do it once.
    return ThreadpoolController().select(user_api="blas")


def _threads_of_blas() -> int:
    return max((library["num_threads"] for library in _blas().info()), default=1)


class _BlasLimit:
    """Limits BLAS to the smallest number of threads that any active block asks for.

    The limit applies to the whole process. If fits overlap, a later one finds the limit set by an
    earlier one, and must not restore that.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[int] = []
        self._given = 1
        self._before: Any = None

    @property
    def given(self) -> int:
        """Number of threads that BLAS uses without our limit."""
        with self._lock:
            return self._given if self._asked else _threads_of_blas()

    @property
    def is_one(self) -> bool:
        """Whether an active block asks for one thread."""
        return 1 in self._asked

    @contextmanager
    def held_to(self, n_threads: int) -> Iterator[None]:
        """Limit BLAS to this many threads during the block."""
        with self._lock:
            if not self._asked:
                self._given = _threads_of_blas()
            self._asked.append(n_threads)
            self._set()
        try:
            yield
        finally:
            with self._lock:
                self._asked.remove(n_threads)
                self._set()

    def _set(self) -> None:
        if not self._asked:
            self._before.restore_original_limits()
            self._before = None
        else:
            limit = _blas().limit(limits=min(self._asked))
            self._before = self._before or limit
        _hand_over_control()


def _hand_over_control() -> None:
    """Let another thread lift the limit; since threadpoolctl 3.8 only its owner may."""
    for library in _blas().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


_BLAS = _BlasLimit()


def one_blas_thread() -> AbstractContextManager[None]:
    """Use one BLAS thread during the block; blocks of rows may still run in parallel."""
    return _BLAS.held_to(1)


def blas_threads(n_samples: int, n_jobs: int | None = None) -> AbstractContextManager[None]:
    """Use one BLAS thread, or all for a large kernel matrix if they are clearly faster now.

    ``n_samples`` is the number of rows of the kernel matrix, ``n_jobs`` the number of workers.
    """
    n_threads = row_threads()
    large = n_samples >= _WORTH_THREADS and n_jobs in (None, 1)
    pay = large and n_threads > 1 and not _BLAS.is_one and _threads_pay(n_threads)
    return _BLAS.held_to(n_threads if pay else 1)


def _threads_pay(n_threads: int) -> bool:
    """Tell whether this many threads are clearly faster than one in every round."""
    step = _timed_step()
    step()  # the first run is slower, because its memory is new
    rounds = (_seconds(step, 1) / _seconds(step, n_threads) for _ in range(_N_ROUNDS))
    return all(gain >= _CLEARLY_FASTER for gain in rounds)


def _timed_step() -> Callable[[], None]:
    """Return a typical step: a symmetric product, passes over it, and a factorisation.

    Product and factorisation may come from two libraries with separate threads.
    """
    Z = np.random.default_rng(0).standard_normal((_TIMED_ROWS, _TIMED_COLUMNS))

    def step() -> None:
        K = Z @ Z.T
        K /= _TIMED_COLUMNS
        np.exp(K, out=K)
        K[np.diag_indices_from(K)] += K.sum(axis=0)  # makes K positive definite
        cholesky(K, lower=True, overwrite_a=True, check_finite=False)

    return step


def _seconds(step: Callable[[], None], n_threads: int) -> float:
    with _BLAS.held_to(n_threads):
        start = time.perf_counter()
        step()
        return time.perf_counter() - start


def worker_threads(n_jobs: int | None) -> int:
    """Return the number of threads joblib will start for ``n_jobs`` in the current context."""
    with parallel_config(**IN_THREADS):
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
    if _in_a_loop_of_threads():
        return 1
    return min(_BLAS.given, int(cpu_count()))


def _in_a_loop_of_threads() -> bool:
    # A joblib worker process has a main thread of its own.
    in_main = threading.current_thread() is threading.main_thread()
    return not in_main and get_active_backend()[0].nesting_level > 0


def sharing_rows(work: Callable[[Item], Result], n_workers: int) -> Callable[[Item], Result]:
    """Wrap ``work`` for parallel workers that share the threads for blocks of rows."""
    left = max(1, row_threads() // n_workers)

    def of_a_worker(item: Item) -> Result:
        with _left_to_a_worker(left):
            return work(item)

    return of_a_worker


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
