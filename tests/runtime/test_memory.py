"""Memory is asked for before it is taken."""

import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
from single import trace_objective

from covmin import CCMSelector
from covmin.core.grams import ExactGram
from covmin.core.kernels import Scale
from covmin.kernels import Gaussian, Mixed
from covmin.runtime import memory


@pytest.mark.parametrize("kernel", [Gaussian(), Mixed(mixing=0.3)], ids=lambda k: k.name)
def test_the_exact_estimate_bounds_what_a_step_takes(kernel):
    """Measured, with every array that a step allocates."""
    n, d = 500, 60
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Y = X[:, :1] - X[:, :1].mean()
    scaled = kernel.at(Scale(3.0, n_features=d, budget=d))

    def step(n):
        gram = ExactGram(scaled, X[:n].copy(), Y[:n], np.full(n, 1.0 / n))
        trace_objective(gram, 0.1).at(np.ones(d)).gradient()

    step(20)  # what is imported on first use does not count
    tracemalloc.start()
    step(n)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    estimate = memory.exact_bytes(n, d, mixed=kernel.sums_features)
    assert peak <= 1.1 * estimate
    assert estimate <= 3 * peak


def test_a_refused_fit_leaves_the_estimator_as_it_was(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    selector = CCMSelector(2, approximation="exact")
    before = dict(vars(selector))
    X = np.random.default_rng(0).standard_normal((40, 5))
    with pytest.raises(MemoryError):
        selector.fit(X, X[:, 0])
    assert vars(selector) == before


# 1200 samples are few enough for the kernel matrix, which takes 69 MB.
LIMITED = """
    import resource
    import numpy as np
    from pathlib import Path
    from covmin import CCMSelector, Formulation

    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 5))
    y = X[:, 0] + 0.1 * rng.standard_normal(1200)
    short = {"formulation": Formulation(strategy="single", tol=0.1)}
    short |= {"kernel": "mixed", "interactions": False}
    print(CCMSelector(1, **short).fit(X, y).approximation_)
    now = 1024 * int(Path("/proc/self/status").read_text().split("VmSize:")[1].split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (now + 80_000_000,) * 2)
    try:
        CCMSelector(1, approximation="exact", **short).fit(X, y)
    except MemoryError as error:
        print("refused:", error)
    fitted = CCMSelector(1, **short).fit(X, y)
    print(fitted.approximation_, fitted.get_support(indices=True))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are read from /proc")
def test_under_a_real_limit():
    """The same fit is exact where there is room, and by components where there is not."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    with_room, refused, without = done.stdout.splitlines()
    assert with_room == "None"
    assert "refused: The exact kernel of 1200 samples and 5 columns needs about 70 MB" in refused
    assert 'approximation="fourier"' in refused
    assert without == "fourier [0]"
