"""How many threads BLAS may use."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from joblib import effective_n_jobs, parallel_config
from threadpoolctl import ThreadpoolController

__all__ = ["IN_THREADS", "blas_threads", "row_threads", "worker_threads"]

# Options that have joblib work in threads whatever a context around it asks for: the work is
# in BLAS, which releases the interpreter lock, and is not made to be sent to processes.
IN_THREADS = {"prefer": "threads", "require": "sharedmem"}

# Below this many samples the matrices are too small for a second thread to gain much, while
# on a busy machine threads that wait for each other can make a fit many times slower.
_WORTH_THREADS = 1000


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
    """One BLAS thread for small problems and for each of several workers, else as it was.

    Parameters
    ----------
    n_samples : int
    n_jobs : int, optional
        Workers that run at once.

    Returns
    -------
    context : context manager

    Examples
    --------
    >>> with blas_threads(100):
    ...     pass
    """
    if n_samples >= _WORTH_THREADS and n_jobs in (None, 1):
        return nullcontext()
    return _ONE_BLAS_THREAD


def worker_threads(n_jobs: int | None) -> int:
    """Threads that joblib will start for ``n_jobs``: a context around the call may say so too.

    Examples
    --------
    >>> with parallel_config(backend="threading", n_jobs=3):
    ...     worker_threads(None), worker_threads(2)
    (3, 2)
    """
    with parallel_config(**IN_THREADS):
        return int(effective_n_jobs(n_jobs))


def row_threads() -> int:
    """Threads that may visit blocks of rows at once: as many as BLAS was given.

    Examples
    --------
    >>> row_threads() >= 1
    True
    """
    blas = (info["num_threads"] for info in _controller().info() if info["user_api"] == "blas")
    return max(blas, default=1)
