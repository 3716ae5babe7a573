"""Threads of BLAS: one for small problems, for several workers, and where more would wait."""

import os
import subprocess
import sys

import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from covmin import CCMSelector, LongRun
from covmin.datasets import make_xor
from covmin.runtime import threads
from covmin.runtime.repeats import repeat
from covmin.runtime.threads import blas_threads, row_threads, worker_threads

LARGE = 10_000


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def threads_inside(n_samples, n_jobs=None):
    with blas_threads(n_samples, n_jobs):
        return row_threads()


@pytest.mark.parametrize(("pays", "expected"), [(True, 2), (False, 1)])
def test_a_large_problem_has_all_threads_where_they_pay(two_threads, monkeypatch, pays, expected):
    monkeypatch.setattr(threads, "_threads_pay", lambda: pays)
    assert threads_inside(LARGE) == expected
    assert threads_inside(LARGE, n_jobs=2) == 1
    assert threads_inside(100) == 1
    assert row_threads() == 2


def test_a_single_thread_needs_no_measurement():
    with threadpool_limits(1, user_api="blas"):
        assert not threads._threads_pay()


def test_what_is_measured_leaves_the_threads_as_they_were(two_threads):
    threads._threads_pay()
    assert row_threads() == 2


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({}, 2),
        ({"backend": "threading", "n_jobs": 2}, 1),
        ({"backend": "multiprocessing", "n_jobs": 2}, 2),  # which joblib takes as one thread
        ({"prefer": "processes"}, 2),
    ],
)
def test_workers_that_a_joblib_context_asks_for(two_threads, monkeypatch, context, expected):
    monkeypatch.setattr(threads, "_threads_pay", lambda: True)
    with parallel_config(**context):
        seen = repeat(lambda _: row_threads(), range(3), "threads", "run", LARGE, None, 0)
    assert seen == [expected] * 3


def test_workers_are_counted():
    with parallel_config(backend="threading", n_jobs=3):
        assert (worker_threads(None), worker_threads(2)) == (3, 2)


class ThreadsSeen:
    """Notes the threads of BLAS after each fold."""

    def __init__(self):
        self.seen = []

    def __call__(self, progress):
        pass

    def fold(self, done, total):
        self.seen.append(row_threads())


def test_a_small_fit_has_one_thread_from_beginning_to_end(two_threads):
    seen = ThreadsSeen()
    CCMSelector(long_run=LongRun(callback=seen)).fit(*make_xor(60, return_X_y=True))
    assert seen.seen == [1] * 5


FIT = """
import time
import numpy as np
from covmin import CCMSelector

X = np.random.default_rng(0).standard_normal((1000, 50))
y = X[:, 0] * X[:, 1] + X[:, 2]
CCMSelector(3).fit(X[:60], y[:60])
start = time.process_time()
CCMSelector(3).fit(X, y)
print(time.process_time() - start)
"""


@pytest.mark.slow
def test_threads_do_not_wait_for_each_other_on_a_busy_machine():
    """Threads that wait for each other spin: processor time grows severalfold."""
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}

    def seconds(**changes):
        command = [sys.executable, "-c", FIT]
        done = subprocess.run(
            command, env=environment | changes, capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    one_thread = seconds(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        beside_busy = seconds()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert beside_busy < 2.5 * one_thread
