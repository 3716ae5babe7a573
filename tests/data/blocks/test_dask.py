"""Fits on Dask collections: the same answer, on the workers, whatever happens to them."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin import CCMSelector, Formulation, Fourier, LongRun

NEEDED = "pip install 'covmin[dask]'"
dask = pytest.importorskip("dask", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
dd = pytest.importorskip("dask.dataframe", reason=NEEDED)
distributed = pytest.importorskip("distributed", reason=NEEDED)

# Dask warns of its own slow scheduling and of workers that take long to stop.
pytestmark = pytest.mark.filterwarnings("default")

# More rows than the exact kernel takes.
N, D = 2200, 6
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D)) * np.arange(1.0, D + 1.0) + 5.0
Z = (X - 5.0) / np.arange(1.0, D + 1.0)
y = Z[:, 0] * Z[:, 1] + Z[:, 2] + 0.1 * RNG.standard_normal(N)


def selector(**options):
    options = {
        "approximation": Fourier(32),
        "epsilon": 0.01,
        "interactions": False,
    } | options
    return CCMSelector(3, task="regression", **options)


@pytest.fixture(scope="module")
def in_memory():
    return selector().fit(X, y)


def assert_same(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_allclose(one.weights_, other.weights_, atol=1e-6)
    assert_allclose(one.objective_, other.objective_, rtol=1e-6)
    assert_allclose(one.path_.bandwidth, other.path_.bandwidth, rtol=1e-6)


@pytest.mark.parametrize("chunks", [(N, 4), (700, 4)])
def test_an_array_gives_the_fit_in_memory(chunks, in_memory):
    lazy = da.from_array(X, chunks=chunks)
    fitted = selector().fit(lazy, da.from_array(y, chunks=1000))
    assert fitted.approximation_ == "fourier"
    assert_same(fitted, in_memory)
    assert_array_equal(fitted.get_support(indices=True), [0, 1, 2])
    selected = fitted.transform(lazy)
    assert isinstance(selected, da.Array)
    assert_array_equal(selected.compute(), X[:, :3])


def test_a_dataframe_gives_the_fit_in_memory(in_memory):
    names = [f"c{j}" for j in range(D)]
    frame = dd.from_pandas(pd.DataFrame(X, columns=names).assign(y=y), npartitions=3)
    fitted = selector().fit(frame[names], frame["y"])
    assert_same(fitted, in_memory)
    assert list(fitted.get_feature_names_out()) == ["c0", "c1", "c2"]
    assert list(fitted.transform(frame[names]).columns) == ["c0", "c1", "c2"]
    with pytest.raises(ValueError, match=r"should match those .* same order"):
        fitted.transform(frame[names[::-1]])
    with pytest.raises(ValueError, match=r"Unseen at fit time: 'y'.*now missing: 'c0'"):
        fitted.transform(frame[[*names[1:], "y"]])


def test_sums_over_features_weights_and_groups_work_on_partitions():
    weight = np.random.default_rng(1).uniform(0.0, 2.0, N)
    weight[:100] = 0.0
    options = {"feature_groups": [0, 0, 1, 2, 3, 4], "kernel": "mixed", "formulation": "paper"}
    fitted = selector(**options).fit(da.from_array(X, chunks=(900, D)), y, weight)
    assert fitted.kernel_ == "mixed"
    assert_same(fitted, selector(**options).fit(X, y, weight))


def test_few_rows_are_fitted_exactly():
    auto = {"approximation": "auto"}
    lazy = selector(**auto).fit(da.from_array(X[:120], chunks=(50, D)), y[:120])
    assert lazy.approximation_ is None
    assert_same(lazy, selector(**auto).fit(X[:120], y[:120]))


@pytest.mark.parametrize("approximation", ["auto", "fourier"])
def test_rows_of_weight_zero_are_no_rows(approximation):
    """A class of their own, a whole partition and part of another."""
    labels = (Z[:200, 0] * Z[:200, 1] > 0).astype(int)
    weight = np.ones(200)
    weight[:70], labels[:70] = 0.0, 2
    options = {"approximation": approximation}
    fitted = CCMSelector(2, **options).fit(da.from_array(X[:200], chunks=(50, D)), labels, weight)
    assert_array_equal(fitted.classes_, [0, 1])
    assert_same(fitted, CCMSelector(2, **options).fit(X[:200], labels, weight))


def test_a_partition_that_a_filter_left_empty():
    names = list("abcdef")
    table = pd.DataFrame(X[:90], columns=names).assign(row=range(90))
    frame = dd.from_pandas(table, npartitions=3)
    rest = frame[frame["row"] >= 40][names]
    options = {"approximation": "fourier", "formulation": "paper"}
    fitted = selector(**options).fit(rest, y[40:90])
    assert_same(fitted, selector(**options).fit(X[40:90], y[40:90]))


def test_nullable_columns():
    X = pd.DataFrame(np.random.default_rng(0).integers(-9, 9, (60, 4)), columns=list("abcd"))
    y = X["a"] * X["b"] > 0
    nullable = X.astype("Int64")
    fitted = CCMSelector(2).fit(dd.from_pandas(nullable, npartitions=2), y)
    assert_same(fitted, CCMSelector(2).fit(X, y))
    nullable.loc[3, "c"] = pd.NA
    fitted = CCMSelector(2).fit(dd.from_pandas(nullable, npartitions=2), y)
    assert_same(fitted, CCMSelector(2).fit(nullable, y))
    with pytest.raises(ValueError, match="values are missing in 'c'"):
        CCMSelector(2, column_types="strict").fit(dd.from_pandas(nullable, npartitions=2), y)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="two dimensions"):
        selector().fit(da.ones(10, chunks=5), np.arange(10))
    frame = dd.from_pandas(pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(ValueError, match="'a'"):
        selector().fit(frame, np.arange(2))
    with pytest.raises(ValueError, match="Encode these columns first"):
        selector(column_types={"b": "category"}).fit(frame[["b"]], np.arange(2))
    twins = dd.from_pandas(pd.DataFrame(np.eye(2), columns=["a", "a"]), npartitions=1)
    with pytest.raises(ValueError, match="two columns named 'a'"):
        selector().fit(twins, np.arange(2))
    with pytest.raises(ValueError, match="constant or empty"):
        selector().fit(da.full((N, 2), np.nan, chunks=(1000, 2)), np.arange(float(N)))


class AtTheSecondStep:
    """A callback that does something once."""

    def __init__(self, action):
        self.steps, self.action = 0, action

    def __call__(self, progress):
        self.steps += 1
        if self.steps == 2:
            self.action()


def made_on_a_worker(block, client_pid):
    assert os.getpid() != client_pid, "a partition was made on the client"
    return block


def peak():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
class TestWorkers:
    @pytest.fixture
    def client(self):
        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                memory_limit="1GiB",
                dashboard_address=None,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client

    def test_a_killed_one_changes_nothing(self, in_memory, client):
        lazy = da.from_array(X, chunks=(500, D)).map_blocks(
            made_on_a_worker, os.getpid(), dtype=float, meta=np.empty((0, 0))
        )
        workers = client.run(os.getpid)
        kill = AtTheSecondStep(lambda: os.kill(next(iter(workers.values())), signal.SIGKILL))
        fitted = selector(long_run=LongRun(callback=kill)).fit(lazy, y)
        assert kill.steps > 2
        assert_same(fitted, in_memory)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_the_components_of_all_rows_are_never_held(self, client):
        """They would take 160 MB on each worker; a block of them takes 4."""
        n, d = 80_000, 4
        X = da.random.default_rng(0).standard_normal((n, d), chunks=(10_000, d))
        y = (X[:, 0] * X[:, 1]).compute()
        client.run(lambda: __import__("covmin.selection.selector"))
        one_step = Formulation(strategy="single", max_iter=1, tol=0.5)
        few = CCMSelector(2, formulation=one_step, task="regression")
        few.fit(X[:5000], y[:5000])
        before = client.run(peak)
        few.fit(X, y)
        growth = [after - before[worker] for worker, after in client.run(peak).items()]
        assert max(growth) < 100e6


def started(module, *words):
    command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
class TestFaults:
    """A cluster stops, freezes or crawls: a fit ends with an answer or an error, but it ends."""

    @pytest.fixture(autouse=True)
    def _rows_stay_on_the_cluster(self, monkeypatch):
        """A table as small as this would be held in memory after the first passes."""
        monkeypatch.setattr("covmin.selection.assemble.held_rows", lambda *_: 300)

    @pytest.fixture
    def cluster(self, tmp_path):
        """A scheduler and a worker in processes of their own, and a client."""
        file = str(tmp_path / "scheduler.json")
        processes = [
            started(
                "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", file
            ),
            started("dask_worker", "--no-nanny", "--nthreads", "1", "--scheduler-file", file),
        ]
        try:
            with distributed.Client(scheduler_file=file, timeout=120) as client:
                client.wait_for_workers(1, timeout=120)
                yield processes
                for process in processes:
                    process.send_signal(signal.SIGCONT)
                    process.kill()
        finally:
            for process in processes:
                process.kill()
                process.wait()

    @staticmethod
    def fit(action=lambda: None, blocks=lambda X: X):
        callback = AtTheSecondStep(action)
        short = selector(
            approximation="fourier",
            formulation=Formulation(strategy="single", max_iter=10),
            long_run=LongRun(callback=callback),
        )
        return short, blocks(da.from_array(X, chunks=(800, D))), y

    def test_a_scheduler_that_is_gone_is_an_error(self, cluster):
        selector, *data = self.fit(cluster[0].kill)
        with pytest.raises(ConnectionError, match="abandoned the work"):
            selector.fit(*data)
        assert not hasattr(selector, "ranking_")

    @pytest.mark.parametrize("frozen", [0, 1], ids=["scheduler", "worker"])
    def test_a_frozen_cluster_is_an_error_after_a_while(self, frozen, cluster):
        selector, *data = self.fit(lambda: cluster[frozen].send_signal(signal.SIGSTOP))
        with (
            dask.config.set({"covmin.silence": "2s"}),
            pytest.raises(TimeoutError, match=r"covmin\.silence"),
        ):
            selector.fit(*data)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_a_slow_worker_is_waited_for(self, cluster):
        def slowly(block):
            time.sleep(4.0)  # what a slow worker does, not what anybody waits for
            return block

        quick, _, _ = self.fit()
        slow, *data = self.fit(blocks=lambda X: X.map_blocks(slowly, meta=np.empty((0, 0))))
        # Three blocks take longer than the patience; the worker is heard of all the while.
        with dask.config.set({"covmin.silence": "10s"}):
            slow.fit(*data)
        assert_array_equal(slow.ranking_, quick.fit(X, y).ranking_)
