"""Share the threads and the memory of this machine.

BLAS threads spin while they wait for each other: on a busy machine they slow a fit down many
times over. Threads that process blocks of rows, folds or draws do not; BLAS then uses one thread.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
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
# 2 to 5 times as long at 1000 rows, and 1.1 to 1.6 times as long at 4000.
_WORTH_THREADS = 4000

# Fraction of the free memory to use: leaves room for other programs and for rounding.
_USABLE = 0.8
# n×n matrices held at the same time: kernel, Cholesky factor, derivative, a work array for sums;
# with an additive part also its own matrix and derivative. And copies of the samples: standardised,
# centred, weighted, and their product with a matrix.
_MATRICES, _MIXED_MATRICES, _COPIES = 4, 6, 4
# Cosines and sines per feature that the additive part stores, and the most numbers in total.
_WAVES, _MOST_NUMBERS = 16, 2**28

Item = TypeVar("Item")
Result = TypeVar("Result")

# Threads for blocks of rows that each worker of a surrounding parallel loop may use.
_LEFT_TO_A_WORKER: ContextVar[int | None] = ContextVar("left_to_a_worker", default=None)


class _Blas:
    """The BLAS libraries, held to the fewest threads that any active block asks for.

    The limit is that of the process: a fit that overlaps an earlier one must not restore its limit.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._asked: list[int] = []
        self._given: list[int] = []  # by library, before the first active block
        self._libraries: list[Any] = []

    def given(self) -> list[int]:
        """Return the number of threads that each library uses without our limit."""
        with self._lock:
            if not self._libraries:
                # Finding the libraries takes longer than a small fit, so do it once.
                self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
            if not self._asked:
                self._given = [library.num_threads for library in self._libraries]
            return self._given

    @contextmanager
    def threads(self, n_samples: int = 0, n_jobs: int | None = None) -> Iterator[None]:
        """Use one BLAS thread in the block, or the idle processors for a large kernel matrix.

        ``n_samples`` is the number of rows of the kernel matrix, ``n_jobs`` the number of workers.
        """
        n_threads = 1
        if n_samples >= _WORTH_THREADS and n_jobs in (None, 1):
            n_threads = max(1, min(row_threads(), int(cpu_count()) - _n_running()))
        with self._lock:
            self.given()  # noted before there is a limit
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
blas_threads = _BLAS.threads
#: Use one BLAS thread during the block; blocks of rows may still run in parallel.
one_blas_thread = partial(blas_threads, 0)


def _n_running() -> int:
    """Return how many other threads run on this machine; 0 if the system does not tell."""
    found = re.search(r" (\d+)/", _text("/proc/loadavg"))
    return int(found[1]) - 1 if found else 0


def worker_threads(n_jobs: int | None) -> int:
    """Return the number of threads joblib will start for ``n_jobs`` in the current context."""
    with parallel_config(**_IN_THREADS):
        return int(effective_n_jobs(n_jobs))


def row_threads() -> int:
    """Return the number of threads that may process blocks of rows in parallel.

    It is the number of BLAS threads, set by ``OMP_NUM_THREADS`` or by joblib, but at most that of
    the processors. Inside a parallel loop of threads it is what the loop leaves to each worker.
    """
    if (left := _LEFT_TO_A_WORKER.get()) is not None:
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
    """Iterate over the results for each item, in order; leaving the block drops the rest."""
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


def exact_bytes(n_samples: int, n_features: int, itemsize: int = 8, *, mixed: bool = False) -> int:
    """Return the peak memory of the exact kernel in bytes, beyond the input."""
    matrices = _MIXED_MATRICES if mixed else _MATRICES
    cells = n_samples * n_features
    waves = min(_WAVES * cells, _MOST_NUMBERS) if mixed else 0
    return itemsize * (matrices * n_samples**2 + _COPIES * cells + waves)


def available_bytes() -> int | None:
    """Return the memory this process can still allocate; None if the system does not tell."""
    known = []
    if found := re.search(r"MemAvailable:\s+(\d+)", _text("/proc/meminfo")):
        known.append(1024 * int(found[1]))
    limit, used, details = (_text(f"/sys/fs/cgroup/memory.{k}") for k in ("max", "current", "stat"))
    if limit.isdigit() and used.isdigit():
        # What a container may still allocate; reclaimable file cache counts as free.
        cache = re.search(r"inactive_file (\d+)", details)
        known.append(int(limit) - int(used) + (int(cache[1]) if cache else 0))
    return max(min(known), 1) if known else None


def _text(path: str) -> str:
    """Return the content of a system file; empty if there is none."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Raise an error with the sizes and a remedy if the memory does not suffice, with a margin."""
    available = available_bytes()
    if available is not None and needed > _USABLE * available:
        sizes = needed, available
        needs, free = (f"{n / 1e9:.1f} GB" if n >= 1e9 else f"{n / 1e6:.0f} MB" for n in sizes)
        raise MemoryError(f"{what} needs about {needs} of memory, but {free} is free. {remedy}")
