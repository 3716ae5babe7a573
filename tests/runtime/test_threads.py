"""Threads of BLAS: one, or those of idle processors for a large problem; threads for rows."""

import importlib
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from covmin import (
    CCMSelector,
    KnockoffSelector,
    LongRun,
    StabilitySelector,
    VerdictSelector,
    conditional_covariance_trace,
    conditional_dependence_test,
    unexplained_variance,
)
from covmin.datasets import make_xor
from covmin.report import build_report
from covmin.runtime import machine
from covmin.runtime.machine import blas_threads, one_blas_thread, row_threads, worker_threads
from covmin.runtime.run import repeat

LARGE = 10_000


def threads_of_blas():
    return max(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")


@pytest.fixture
def two_threads(monkeypatch):
    monkeypatch.setattr(machine, "cpu_count", lambda: 2)
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.fixture
def running(monkeypatch):
    """Number of other threads that the machine runs, as the system tells it."""
    now = [0]
    monkeypatch.setattr(machine, "_n_running", lambda: now[0])
    return now


def threads_inside(n_samples, n_jobs=None):
    with blas_threads(n_samples, n_jobs):
        return threads_of_blas()


class TestTheRule:
    @pytest.mark.parametrize(("others", "expected"), [(0, 2), (1, 1), (5, 1)])
    def test_a_large_problem_has_the_idle_processors(self, two_threads, running, others, expected):
        running[0] = others
        assert threads_inside(LARGE) == expected
        assert threads_of_blas() == 2

    @pytest.mark.parametrize(("n_samples", "n_jobs"), [(3999, None), (LARGE, 2)])
    def test_small_problems_and_several_workers_have_one_thread(
        self, two_threads, running, n_samples, n_jobs
    ):
        assert threads_inside(n_samples, n_jobs) == 1

    def test_all_within_one_thread(self, two_threads, running):
        with one_blas_thread():
            assert threads_inside(LARGE) == 1

    def test_one_thread_within_all(self, two_threads, running):
        with blas_threads(LARGE):
            assert threads_inside(100) == 1
            assert threads_of_blas() == 2

    def test_no_more_threads_than_processors(self, monkeypatch, running):
        monkeypatch.setattr(machine, "cpu_count", lambda: 3)
        with threadpool_limits(4, user_api="blas"):
            assert threads_inside(LARGE) == 3

    @pytest.mark.skipif(not Path("/proc/loadavg").exists(), reason="Linux tells it")
    def test_a_busy_loop_is_noticed(self, busy_machine):
        assert any(machine._n_running() >= (os.cpu_count() or 1) for _ in range(50))


# The first question about threads comes before the modules that bring a BLAS of their own.
EARLY = """
from covmin.runtime.machine import one_blas_thread, row_threads
row_threads()
from covmin import CCMSelector
CCMSelector
from threadpoolctl import threadpool_info
with one_blas_thread():
    print(*{info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"})
"""


def test_libraries_that_are_loaded_later_are_limited_too():
    assert printed_by(EARLY, OPENBLAS_NUM_THREADS="2") == [1]


class TestRows:
    def test_as_many_as_blas_was_given(self, two_threads):
        assert row_threads() == 2
        with one_blas_thread():
            assert row_threads() == 2

    def test_no_more_than_processors(self, monkeypatch):
        monkeypatch.setattr(machine, "cpu_count", lambda: 1)
        with threadpool_limits(2, user_api="blas"):
            assert row_threads() == 1

    @pytest.mark.parametrize(
        ("context", "expected"),
        [
            ({}, 2),
            ({"backend": "threading", "n_jobs": 2}, 1),
            ({"backend": "multiprocessing", "n_jobs": 2}, 2),  # which joblib takes as one thread
            ({"prefer": "processes"}, 2),
        ],
    )
    def test_workers_that_a_joblib_context_asks_for(self, two_threads, context, expected):
        with parallel_config(**context):
            seen = repeat(
                lambda _: (threads_of_blas(), row_threads()), range(3), "threads", "run", None, 0
            )
        assert seen == [(1, expected)] * 3
        assert row_threads() == 2

    def test_one_in_a_loop_of_threads_of_the_user(self, two_threads):
        loop = Parallel(n_jobs=2, backend="threading")
        assert loop(delayed(row_threads)() for _ in range(3)) == [1] * 3

    def test_all_in_a_thread_of_the_user(self, two_threads):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(row_threads).result() == 2

    def test_processes_of_joblib_share_them(self):
        assert printed_by(SHARED) == [1, 1]

    def test_workers_are_counted(self):
        with parallel_config(backend="threading", n_jobs=3):
            assert (worker_threads(None), worker_threads(2)) == (3, 2)


SHARED = """
from joblib import Parallel, cpu_count, delayed

def threads():
    from covmin.runtime.machine import row_threads
    return row_threads()

print(*set(Parallel(cpu_count())(delayed(threads)() for _ in range(4))), threads() // cpu_count())
"""


def printed_by(code, **changes):
    """Numbers that a new process prints, with the threads as they come but for ``changes``."""
    kept = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], env=kept | changes, capture_output=True, text=True, check=True
    )
    return [float(number) for number in done.stdout.split()]


X, y = make_xor(60, return_X_y=True)

# Every entry that computes, and the parts of it that work with BLAS.
ENTRIES = {
    "fit": (lambda: CCMSelector(3).fit(X, y), ["selection.fit.run_path"]),
    "cross-fit": (lambda: CCMSelector().fit(X, y), ["selection.crossval._measured"]),
    "criterion": (
        lambda: conditional_covariance_trace(X, y),
        ["selection.criterion.problem_of"],
    ),
    "unexplained": (lambda: unexplained_variance(X, y), ["selection.criterion.regress_on_sets"]),
    "test": (
        lambda: conditional_dependence_test(X[:, :1], y, given=X[:, 1:3], n_resamples=2),
        ["inference.dependence.residual_product_test"],
    ),
    "permutation test": (
        lambda: conditional_dependence_test(X[:, :1], y, n_resamples=2),
        ["inference.dependence.ExplainedShare"],
    ),
    "verdicts": (
        lambda: VerdictSelector().fit(X, y),
        ["inference.feature_tests.regress_on_sets"],
    ),
    "knockoffs": (
        lambda: KnockoffSelector(fdr=0.5).fit(X, y),
        [
            "inference.copula.GaussianKnockoffs",
            "inference.knockoffs.swap_statistics",
        ],
    ),
    "stability": (
        lambda: StabilitySelector(CCMSelector(3), n_pairs=1).fit(X, y),
        ["inference.stability._choose"],
    ),
    "report": (
        lambda: build_report(CCMSelector(3).fit(X, y), X, y),
        ["selection.summary.regress_on_sets"],
    ),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_computes_with_one_thread(two_threads, monkeypatch, entry):
    call, parts = ENTRIES[entry]
    seen = {}

    def watched(part, function):
        def noting(*args, **kwargs):
            seen.setdefault(part, set()).add(threads_of_blas())
            return function(*args, **kwargs)

        return noting

    for part in parts:
        module, name = f"covmin.{part}".rsplit(".", 1)
        function = getattr(importlib.import_module(module), name)
        monkeypatch.setattr(f"{module}.{name}", watched(part, function))
    call()
    assert seen == {part: {1} for part in parts}
    assert threads_of_blas() == 2


class ThreadsSeen:
    """Notes the threads of BLAS after each fold."""

    def __init__(self):
        self.seen = []

    def __call__(self, progress):
        pass

    def fold(self, done, total):
        self.seen.append(threads_of_blas())


def test_a_small_fit_has_one_thread_from_beginning_to_end(two_threads):
    seen = ThreadsSeen()
    CCMSelector(long_run=LongRun(callback=seen)).fit(X, y)
    assert seen.seen == [1] * 5


# Prints the seconds of a fit and of a test.
TIMED = """
import time
import numpy as np
from covmin import CCMSelector, conditional_dependence_test

X = np.random.default_rng(0).standard_normal((1000, 20))
y = X[:, 0] * X[:, 1] + X[:, 2]
CCMSelector(3).fit(X[:60], y[:60])

def fit():
    CCMSelector(3, epsilon=0.01).fit(X, y)

def test():
    some = slice(500)
    conditional_dependence_test(X[some, :1], y[some], given=X[some, 1:3], n_resamples=10)

for call in (fit, test):
    start = time.perf_counter()
    call()
    print(time.perf_counter() - start)
"""


@pytest.fixture
def busy_machine():
    """A process that never rests for every processor."""
    processes = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    time.sleep(0.2)
    yield
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_threads_do_not_wait_for_each_other_on_a_busy_machine(busy_machine):
    """Seconds with the threads as they come against one thread, in turn beside the same load."""
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for _ in range(3):  # what else goes on here may hit one of the two
        both = zip(printed_by(TIMED), printed_by(TIMED, **one), strict=True)
        ratios = [as_they_come / alone for as_they_come, alone in both]
        if max(ratios) <= 2.5:
            return
    raise AssertionError(f"times with the threads as they come, to one thread: {ratios}")


def test_a_fit_needs_no_threads_of_its_own(monkeypatch):
    """As in a browser, where Python can start neither threads nor processes."""

    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(BaseProcess, "start", refuse)
    X = np.random.default_rng(0).standard_normal((2100, 4))
    selector = CCMSelector().fit(X, X[:, 0] * X[:, 1])
    assert selector.get_support(indices=True).tolist() == [0, 1]
