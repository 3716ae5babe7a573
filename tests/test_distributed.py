"""Fits on Dask collections: the same answer, on the workers, whatever happens to them."""

import os
import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from covmin import CCMSelector

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

# Dask warns of its own slow scheduling and of workers that take long to stop.
pytestmark = pytest.mark.filterwarnings("default")

N, D = 4500, 8


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * np.arange(1.0, D + 1.0) + 5.0
    Z = (X - 5.0) / np.arange(1.0, D + 1.0)
    return X, Z[:, 0] * Z[:, 1] + Z[:, 2] + 0.1 * rng.standard_normal(N)


def selector(**options):
    return CCMSelector(3, task="regression", n_components=64, random_state=0, **options)


@pytest.fixture(scope="module")
def in_memory(data):
    return selector().fit(*data)


@pytest.fixture
def cluster():
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


def assert_same(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_allclose(one.weights_, other.weights_, atol=1e-6)
    assert_allclose(one.objective_, other.objective_, rtol=1e-6)
    assert_allclose(one.path_.bandwidth, other.path_.bandwidth, rtol=1e-6)


@pytest.mark.parametrize("chunks", [(1000, 8), (4500, 3), (700, 5)])
def test_a_dask_array_gives_the_fit_in_memory(chunks, data, in_memory):
    X, y = data
    lazy = da.from_array(X, chunks=chunks)
    fitted = selector().fit(lazy, da.from_array(y, chunks=1000))
    assert_same(fitted, in_memory)
    assert_array_equal(fitted.get_support(indices=True), [0, 1, 2])
    selected = fitted.transform(lazy)
    assert isinstance(selected, da.Array)
    assert_array_equal(selected.compute(), X[:, :3])


def test_a_sum_over_features_works_on_partitions(data):
    X, y = data
    expected = selector(kernel="mixed").fit(X, y)
    assert expected.kernel_ == "mixed"
    parts = da.from_array(X, chunks=(1000, X.shape[1]))
    assert_same(selector(kernel="mixed").fit(parts, da.from_array(y, chunks=1000)), expected)


def test_a_dask_dataframe_gives_the_fit_in_memory(data, in_memory):
    import pandas as pd

    X, y = data
    names = [f"c{j}" for j in range(D)]
    frame = dd.from_pandas(pd.DataFrame(X, columns=names).assign(y=y), npartitions=3)
    fitted = selector().fit(frame[names], frame["y"])
    assert_same(fitted, in_memory)
    assert list(fitted.get_feature_names_out()) == ["c0", "c1", "c2"]
    assert list(fitted.transform(frame[names]).columns) == ["c0", "c1", "c2"]
    with pytest.raises(ValueError, match=r"should match those .* same order"):
        fitted.transform(frame[names[::-1]])
    with pytest.raises(ValueError, match=r"unseen at fit time: 'y'.*now missing: 'c0'"):
        fitted.transform(frame[[*names[1:], "y"]])


def test_few_rows_are_fitted_exactly(data):
    X, y = data
    lazy = selector().fit(da.from_array(X[:300], chunks=(100, 8)), y[:300])
    assert_same(lazy, selector().fit(X[:300], y[:300]))


def test_weights_and_groups_work_on_partitions(data):
    X, y = data
    weight = np.random.default_rng(1).uniform(0.0, 2.0, N)
    weight[:100] = 0.0
    options = {"groups": [0, 0, 1, 2, 3, 4, 5, 6]}
    fitted = selector(**options).fit(da.from_array(X, chunks=(900, 8)), y, weight)
    assert_array_equal(fitted.ranking_, selector(**options).fit(X, y, weight).ranking_)


@pytest.mark.parametrize("approximation", ["auto", "fourier"])
def test_rows_of_weight_zero_are_no_rows(approximation):
    """A class of their own, a whole partition and part of another."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    weight = np.ones(200)
    weight[:70], y[:70] = 0.0, 2
    options = {"approximation": approximation, "n_components": 64}
    fitted = CCMSelector(2, **options).fit(da.from_array(X, chunks=(50, 5)), y, weight)
    assert_array_equal(fitted.classes_, [0, 1])
    assert_same(fitted, CCMSelector(2, **options).fit(X, y, weight))


def test_a_partition_that_a_filter_left_empty():
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((90, 4)), columns=list("abcd")).assign(row=range(90))
    frame = dd.from_pandas(table, npartitions=3)
    X = frame[frame["row"] >= 40][list("abcd")]
    y = (table["a"] * table["b"] > 0).to_numpy()[40:]
    options = {"approximation": "fourier", "n_components": 64}
    fitted = CCMSelector(2, **options).fit(X, y)
    assert_same(fitted, CCMSelector(2, **options).fit(table[list("abcd")].to_numpy()[40:], y))


def test_nullable_columns():
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(-9, 9, (60, 4)), columns=list("abcd"))
    y = X["a"] * X["b"] > 0
    nullable = X.astype("Int64")
    fitted = CCMSelector(2).fit(dd.from_pandas(nullable, npartitions=2), y)
    assert_same(fitted, CCMSelector(2).fit(X, y))
    nullable.loc[3, "c"] = pd.NA
    with pytest.raises(ValueError, match=r"NaN or infinity in 1 column.*'c'"):
        CCMSelector(2, approximation="fourier").fit(dd.from_pandas(nullable, npartitions=2), y)


def test_bad_input_is_refused():
    import pandas as pd

    with pytest.raises(ValueError, match="two dimensions"):
        selector().fit(da.ones(10, chunks=5), np.arange(10))
    frame = dd.from_pandas(pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(ValueError, match="'a'"):
        selector().fit(frame, np.arange(2))
    with pytest.raises(ValueError, match="Encode these columns first"):
        selector(categorical_features=["b"]).fit(frame[["b"]], np.arange(2))
    twins = dd.from_pandas(pd.DataFrame(np.eye(2), columns=["a", "a"]), npartitions=1)
    with pytest.raises(ValueError, match="two columns named 'a'"):
        selector().fit(twins, np.arange(2))
    X = da.from_array(np.full((N, 2), np.nan), chunks=(1000, 2))
    with pytest.raises(ValueError, match="NaN"):
        selector().fit(X, np.arange(float(N)))


def made_on_a_worker(block, client_pid):
    assert os.getpid() != client_pid, "a partition was made on the client"
    return block


def test_a_killed_worker_changes_nothing(data, in_memory, cluster):
    X, y = data
    lazy = da.from_array(X, chunks=(500, 8)).map_blocks(
        made_on_a_worker, os.getpid(), dtype=float, meta=np.empty((0, 0))
    )
    killed = []

    def kill(progress):
        if progress.stage == 1 and not killed:
            killed.append(next(iter(cluster.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    fitted = selector(callback=kill).fit(lazy, y)
    assert killed
    assert_same(fitted, in_memory)


def peak():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_the_features_of_all_rows_are_never_held(cluster):
    """U would take 160 MB on each worker; a block of it takes 4."""
    n, d = 80_000, 4
    X = da.random.default_rng(0).standard_normal((n, d), chunks=(10_000, d))
    y = (X[:, 0] * X[:, 1]).compute()
    cluster.run(lambda: __import__("covmin.selection.selector"))
    few = CCMSelector(2, strategy="single", max_iter=1, tol=0.5, task="regression")
    few.fit(X[:5000], y[:5000])
    before = cluster.run(peak)
    few.fit(X, y)
    growth = [after - before[worker] for worker, after in cluster.run(peak).items()]
    assert max(growth) < 100e6
