"""Clusters that stop, freeze or crawl: a fit ends with an answer or an error, never not at all."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from covmin import CCMSelector

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]

N = 4200


def started(module, *words):
    command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def cluster(tmp_path):
    """A client with a scheduler and a worker in processes of their own."""
    file = tmp_path / "scheduler.json"
    scheduler = started(
        "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)
    )
    worker = started("dask_worker", "--no-nanny", "--nthreads", "1", "--scheduler-file", str(file))
    try:
        with distributed.Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            yield scheduler, worker
            for process in (scheduler, worker):
                process.send_signal(signal.SIGCONT)
                process.kill()
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


class AtTheSecondStep:
    def __init__(self, action):
        self.steps, self.action = 0, action

    def __call__(self, progress):
        self.steps += 1
        if self.steps == 2:
            self.action()


def fit(action, blocks=lambda X: X):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 4))
    lazy = blocks(da.from_array(X, chunks=(1400, 4)))
    selector = CCMSelector(
        2,
        task="regression",
        strategy="single",
        approximation="fourier",
        n_components=32,
        max_iter=10,
        random_state=0,
        callback=AtTheSecondStep(action),
    )
    return selector, lazy, X[:, 0] * X[:, 1]


def test_a_scheduler_that_is_gone_is_an_error(cluster):
    selector, X, y = fit(cluster[0].kill)
    with pytest.raises(ConnectionError, match="gave up the work"):
        selector.fit(X, y)
    assert not hasattr(selector, "ranking_")


@pytest.mark.parametrize("frozen", [0, 1], ids=["scheduler", "worker"])
def test_a_frozen_cluster_is_an_error_after_a_while(frozen, cluster):
    selector, X, y = fit(lambda: cluster[frozen].send_signal(signal.SIGSTOP))
    start = time.monotonic()
    with (
        dask.config.set({"covmin.silence": "2s"}),
        pytest.raises(TimeoutError, match=r"covmin\.silence"),
    ):
        selector.fit(X, y)
    assert time.monotonic() - start < 30


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_slow_worker_is_waited_for(cluster):
    def slowly(block):
        time.sleep(0.8)
        return block

    quick, X, y = fit(lambda: None)
    quick.fit(X.compute(), y)
    slow, X, y = fit(lambda: None, lambda X: X.map_blocks(slowly, meta=np.empty((0, 0))))
    # Three blocks of 0.8 s take longer than the patience; the worker is heard of all the while.
    with dask.config.set({"covmin.silence": "2s"}):
        slow.fit(X, y)
    assert_array_equal(slow.ranking_, quick.ranking_)
