"""Memory is asked for before it is taken."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import covmin.runtime.memory as memory
from covmin import CCMSelector
from covmin.plan.formulation import choose_approximation


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(400)


def test_the_exact_estimate_bounds_what_a_step_takes(data):
    """Measured, with every array that a step allocates."""
    import tracemalloc

    from covmin.core.grams import ExactGram
    from covmin.core.objectives import TraceObjective
    from covmin.core.problem import Formulation

    def step(kernel, X, Y):
        n, d = X.shape
        gram = ExactGram(kernel, X.copy(), Y, np.full(n, 1.0 / n))
        TraceObjective(gram, 0.1).at(np.ones(d)).gradient()

    n, d = 500, 60
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Y = X[:, :1] - X[:, :1].mean()
    for mixing, mixed in ((0.0, False), (0.3, True)):
        kernel = Formulation(0.1).mixed_kernel(3.0, mixing, d, d)
        step(kernel, X[:20], Y[:20])  # what is imported on first use does not count
        tracemalloc.start()
        step(kernel, X, Y)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        estimate = memory.exact_bytes(n, d, mixed=mixed)
        assert peak <= 1.1 * estimate
        assert estimate <= 3 * peak


def test_auto_turns_to_features_where_the_matrix_does_not_fit(monkeypatch, data, capsys):
    monkeypatch.setattr(memory, "available_bytes", lambda: 4_000_000)
    monkeypatch.setattr("covmin.plan.formulation.fourier_bytes", lambda *_, **__: 1000)
    fitted = CCMSelector(2, n_components=50, verbose=1).fit(*data)
    assert fitted.approximation_ == "fourier"
    assert set(fitted.get_support(indices=True)) == {0, 1}
    assert "random Fourier features" in capsys.readouterr().err


def test_every_thread_takes_memory(monkeypatch):
    shape = (10_000, 50)
    enough = memory.fourier_bytes(*shape, 512, n_threads=2) / 0.8
    monkeypatch.setattr(memory, "available_bytes", lambda: int(enough) + 1)
    monkeypatch.setattr("covmin.plan.formulation.row_threads", lambda: 2)
    assert choose_approximation("fourier", "gaussian", shape) == "fourier"
    monkeypatch.setattr("covmin.plan.formulation.row_threads", lambda: 3)
    with pytest.raises(MemoryError, match="random features"):
        choose_approximation("fourier", "gaussian", shape)


def test_auto_is_exact_where_there_is_room(data):
    fitted = CCMSelector(2).fit(*data)
    assert fitted.approximation_ is None
    assert fitted.approximation_error_ == 0.0


@pytest.mark.parametrize(
    ("approximation", "kernel", "remedy"),
    [
        (None, "gaussian", "fourier"),
        (None, "polynomial", "gaussian"),
        ("fourier", "gaussian", "disk"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_way_out(monkeypatch, approximation, kernel, remedy):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_000_000)
    with pytest.raises(MemoryError, match=f"(?s)B of memory, and 1 MB are free.*{remedy}"):
        choose_approximation(approximation, kernel, (10**7, 50))


def test_a_kernel_without_random_features_stays_exact_at_any_size(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert choose_approximation("auto", "polynomial", (10**6, 10)) is None
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_000_000)
    with pytest.raises(MemoryError, match='kernel="gaussian"'):
        choose_approximation("auto", "polynomial", (3000, 10))


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2000, 50), None),
        ((2001, 50), "fourier"),
        ((2000, 5000), None),
        ((2001, 5000), "fourier"),
    ],
)
def test_where_random_features_take_over(monkeypatch, shape, expected):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert choose_approximation("auto", "auto", shape) == expected


def test_a_sum_over_many_features_takes_memory(monkeypatch):
    """Two waves for each of 2000 columns, beside 512 random features."""
    enough = memory.fourier_bytes(5000, 2000, 512 + 4000) / 0.8
    monkeypatch.setattr("covmin.plan.formulation.row_threads", lambda: 1)
    monkeypatch.setattr(memory, "available_bytes", lambda: int(enough) + 1)
    assert choose_approximation("fourier", "auto", (5000, 2000)) == "fourier"
    monkeypatch.setattr(memory, "available_bytes", lambda: int(enough) - 1)
    with pytest.raises(MemoryError, match='kernel="gaussian"'):
        choose_approximation("fourier", "auto", (5000, 2000))
    assert choose_approximation("fourier", "gaussian", (5000, 2000)) == "fourier"


def test_a_sample_of_the_rows_takes_memory_where_columns_are_too_many(monkeypatch):
    monkeypatch.setattr("covmin.plan.formulation.row_threads", lambda: 1)
    d = 20_000
    enough = memory.fourier_bytes(5000, d, 512 + 2 * 2048) + memory.exact_bytes(632, d, mixed=True)
    monkeypatch.setattr(memory, "available_bytes", lambda: int(enough / 0.8) + 1)
    assert choose_approximation("auto", "auto", (5000, d)) == "fourier"
    monkeypatch.setattr(memory, "available_bytes", lambda: int(enough / 0.8) - 1)
    with pytest.raises(MemoryError, match='kernel="gaussian"'):
        choose_approximation("auto", "auto", (5000, d))


def test_unknown_memory_stops_nobody(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert choose_approximation(None, "gaussian", (10**6, 10)) is None


def test_a_refused_fit_leaves_the_estimator_as_it_was(monkeypatch, data):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    selector = CCMSelector(2, approximation=None)
    with pytest.raises(MemoryError):
        selector.fit(*data)
    assert not hasattr(selector, "approximation_")


LIMITED = """
    import os, resource
    os.environ["OMP_NUM_THREADS"] = "1"
    import numpy as np
    from covmin import CCMSelector
    from pathlib import Path

    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 5))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(6000)
    CCMSelector(2).fit(X[:100], y[:100])
    now = 1024 * int(Path("/proc/self/status").read_text().split("VmSize:")[1].split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (now + 500_000_000,) * 2)
    try:
        CCMSelector(2, approximation=None).fit(X, y)
    except MemoryError as error:
        print("refused:", error)
    # 3900 samples would be exact if there were room.
    fitted = CCMSelector(2, n_components=64).fit(X[:3900], y[:3900])
    print(fitted.approximation_, fitted.get_support(indices=True))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are read from /proc")
def test_under_a_real_limit():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    refused, fitted = done.stdout.splitlines()
    assert "refused: The exact kernel of 6000 samples and 5 columns needs about 1.7 GB" in refused
    assert 'approximation="fourier"' in refused
    assert fitted == "fourier [0 1]"
