"""Units of work in parallel."""

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from covmin.evaluation.compare import finished


def _most_threads(unit):
    np.ones((8, 8)) @ np.ones((8, 8))
    return max(library["num_threads"] for library in threadpool_info())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_thread_inside(n_jobs):
    found = dict(finished([{"x": 0}, {"x": 1}], _most_threads, n_jobs=n_jobs))
    assert found == {0: 1, 1: 1}


# Prints the threads of BLAS before and after; the first to come is not the last to go.
IN_THREADS = """
import time
from joblib import parallel_config
from covmin.evaluation.compare import finished
from threadpoolctl import threadpool_info

def threads_of_blas():
    return max(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")

print(threads_of_blas())
with parallel_config(backend="threading", n_jobs=3):
    units = [{"seconds": seconds} for seconds in (0.2, 0.1, 0.4, 0.3)]
    list(finished(units, lambda unit: time.sleep(unit["seconds"])))
print(threads_of_blas())
"""


def test_units_in_threads_leave_blas_as_it_was():
    done = subprocess.run(
        [sys.executable, "-c", IN_THREADS],
        env=os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["2", "2"]


def test_an_error_in_the_work_is_raised_after_what_is_finished():
    results = finished([{"x": 1}, {"x": 0}], lambda unit: 1 // unit["x"])
    assert next(results) == (0, 1)
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_progress(capsys):
    assert list(finished([{"x": 1}], dict, progress=True, description="things")) == [(0, {"x": 1})]
    assert "things" in capsys.readouterr().err
