"""Memory is asked for before it is taken."""

import tracemalloc

import numpy as np
import pytest
from single import trace_objective

from covmin import CCMSelector
from covmin.core.grams import ExactGram
from covmin.core.kernels.base import Scale
from covmin.kernels import Gaussian, Mixed
from covmin.runtime import machine


@pytest.mark.parametrize("kernel", [Gaussian(), Mixed(mixing=0.3)], ids=lambda k: k.name)
def test_the_exact_estimate_bounds_what_a_step_takes(kernel):
    """Measured, with every array that a step allocates."""
    n, d = 500, 60
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Y = X[:, :1] - X[:, :1].mean()
    scaled = kernel.at(Scale(3.0, n_features=d, budget=d))

    def step(n):
        gram = ExactGram(scaled, scaled.prepare(X[:n].copy()), Y[:n], np.full(n, 1.0 / n))
        trace_objective(gram, 0.1).at(np.ones(d)).gradient()

    step(20)  # what is imported on first use does not count
    tracemalloc.start()
    step(n)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    estimate = machine.exact_bytes(n, d, mixed=kernel.sums_features)
    assert peak <= 1.1 * estimate
    assert estimate <= 3 * peak


def test_a_refused_fit_leaves_the_estimator_as_it_was(monkeypatch):
    monkeypatch.setattr(machine, "available_bytes", lambda: 1000)
    selector = CCMSelector(2, approximation="exact")
    before = dict(vars(selector))
    X = np.random.default_rng(0).standard_normal((40, 5))
    with pytest.raises(MemoryError):
        selector.fit(X, X[:, 0])
    assert vars(selector) == before


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"meminfo": "MemTotal: 9 kB\nMemAvailable:    5 kB\n"}, 5 * 1024),
        ({"memory.max": "max\n", "memory.current": "70\n"}, None),
        ({"memory.max": "90\n", "memory.current": "70\n", "memory.stat": "inactive_file 5"}, 25),
        ({"memory.max": "90", "memory.current": "95", "meminfo": "MemAvailable: 5 kB"}, 1),
    ],
)
def test_what_the_system_tells(monkeypatch, files, expected):
    monkeypatch.setattr(machine, "_text", lambda path: files.get(path.split("/")[-1], "").strip())
    assert machine.available_bytes() == expected
