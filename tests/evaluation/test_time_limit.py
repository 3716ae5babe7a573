"""Work that ends in time."""

import os
import time

import pytest

from covmin.evaluation.runner import run_within


@pytest.mark.slow
def test_results_come_until_the_time_is_over():
    def work(x, seconds):
        time.sleep(seconds)
        return x

    tasks = [(0, 0.0), (1, 0.0), (2, 600.0), (3, 0.0), (4, 600.0), (5, 0.0)]
    start = time.monotonic()
    assert sorted(run_within(40.0, work, tasks, 2)) == [0, 1, 3]
    assert time.monotonic() - start < 150.0


def test_all_of_it_where_there_is_time():
    assert sorted(run_within(600.0, lambda x: x**2, [(x,) for x in range(7)], 3)) == [
        x**2 for x in range(7)
    ]
    assert list(run_within(600.0, lambda: 1, [])) == []


def test_errors_and_dead_processes_end_it():
    with pytest.raises(ZeroDivisionError):
        list(run_within(600.0, lambda x: 1 / x, [(0,)]))
    with pytest.raises(RuntimeError, match="ended unexpectedly"):
        list(run_within(600.0, lambda: os._exit(3), [()]))


def test_what_has_not_begun_is_ended_too():
    start = time.monotonic()
    assert list(run_within(0.01, time.sleep, [(600.0,)] * 3, 2)) == []
    assert time.monotonic() - start < 60.0
