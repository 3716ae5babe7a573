"""How many threads BLAS may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads", "row_threads"]

# Below this many samples the matrices are too small for a second thread to gain much, while
# on a busy machine threads that wait for each other can make a fit many times slower.
_WORTH_THREADS = 1000


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes longer than a small fit, so it is done once.
    return ThreadpoolController()


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
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


def row_threads() -> int:
    """Threads that may visit blocks of rows at once: as many as BLAS was given.

    Examples
    --------
    >>> row_threads() >= 1
    True
    """
    blas = (info["num_threads"] for info in _controller().info() if info["user_api"] == "blas")
    return max(blas, default=1)
