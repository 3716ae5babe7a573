"""Units of work: in parallel, kept as they come, taken up again."""

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from covmin import __version__
from covmin.evaluation.runner import run_units
from covmin.runtime.resume import ResultLog


def _most_threads(unit):
    np.ones((8, 8)) @ np.ones((8, 8))
    return max(library["num_threads"] for library in threadpool_info())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_thread_inside(n_jobs):
    assert run_units([{"x": 0}, {"x": 1}], _most_threads, n_jobs=n_jobs) == [1, 1]


# Prints the threads of BLAS before and after; the first to come is not the last to go.
IN_THREADS = """
import time
from joblib import parallel_config
from covmin.evaluation.runner import run_units
from threadpoolctl import threadpool_info

def threads_of_blas():
    return max(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")

print(threads_of_blas())
with parallel_config(backend="threading", n_jobs=3):
    units = [{"seconds": seconds} for seconds in (0.2, 0.1, 0.4, 0.3)]
    run_units(units, lambda unit: time.sleep(unit["seconds"]))
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


def test_results_in_order_of_units():
    units = [{"x": x} for x in range(20)]
    assert run_units(units, lambda unit: unit["x"], n_jobs=2) == list(range(20))


def test_an_error_in_the_work_is_raised_and_the_rest_is_kept(tmp_path):
    def work(unit):
        return 1 // unit["x"]

    path = tmp_path / "log.jsonl"
    with pytest.raises(ZeroDivisionError):
        run_units([{"x": 1}, {"x": 0}], work, log=path)
    with ResultLog(path, {"covmin": __version__}) as log:
        assert {"x": 1} in log


def test_progress(capsys):
    run_units([{"x": 1}], lambda unit: 1, progress=True, description="things")
    assert "things" in capsys.readouterr().err
