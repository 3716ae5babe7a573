"""How many threads BLAS may use."""

import threading
import time
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from timeit import timeit
from typing import Any

import numpy as np
from joblib import effective_n_jobs, parallel_config
from scipy.linalg import cholesky
from threadpoolctl import ThreadpoolController

# Options that have joblib work in threads whatever a context around it asks for: the work is
# in BLAS, which releases the interpreter lock, and is not made to be sent to processes.
IN_THREADS = {"prefer": "threads", "require": "sharedmem"}

# Below this many samples the matrices are too small for a second thread to gain much.
_WORTH_THREADS = 1000
# Beyond, threads are used where they are clearly faster: on a busy machine they wait for each
# other, and a fit takes many times longer. A few factorisations of so many rows are timed.
_TIMED_ROWS = 500
_N_TIMED = 5
_CLEARLY_FASTER = 0.85


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes longer than a small fit, so it is done once.
    return ThreadpoolController()


class _OneBlasThread:
    """BLAS at one thread until the last of those who asked for it has left.

    The limit is one for the whole process: of fits that overlap, a later one finds what an
    earlier one has set, and must not go back to that.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
                _hand_over_control()
            self._n_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.restore_original_limits()
                _hand_over_control()


def _hand_over_control() -> None:
    """Let another thread lift the limit: since threadpoolctl 3.8 only who set it may."""
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


_ONE_BLAS_THREAD = _OneBlasThread()


def blas_threads(n_samples: int, n_jobs: int | None = None) -> AbstractContextManager[Any]:
    """One BLAS thread for small problems, for each of several workers and on a busy machine."""
    large = n_samples >= _WORTH_THREADS and n_jobs in (None, 1)
    return nullcontext() if large and _threads_pay() else _ONE_BLAS_THREAD


def _threads_pay() -> bool:
    """Whether all threads factorise matrices clearly faster than one does, just now."""
    if row_threads() == 1:
        return False
    M = np.full((_TIMED_ROWS, _TIMED_ROWS), 0.5) + 0.5 * np.eye(_TIMED_ROWS)
    with _ONE_BLAS_THREAD:
        cholesky(M)
        enough = _CLEARLY_FASTER * timeit(lambda: cholesky(M), number=_N_TIMED)
    cholesky(M)  # wakes the threads up
    start = time.perf_counter()
    for _ in range(_N_TIMED):
        cholesky(M)
        if time.perf_counter() - start > enough:  # no need to wait for threads that wait
            return False
    return True


def worker_threads(n_jobs: int | None) -> int:
    """Threads that joblib will start for ``n_jobs``: a context around the call may say so too."""
    with parallel_config(**IN_THREADS):
        return int(effective_n_jobs(n_jobs))


def row_threads() -> int:
    """Threads that may visit blocks of rows at once: as many as BLAS was given."""
    blas = (info["num_threads"] for info in _controller().info() if info["user_api"] == "blas")
    return max(blas, default=1)
