"""Fits on a CUDA device, and one step against its bare matrix products.

Run with ``python -m benchmarks.gpu [--samples 10000 30000 50000]`` on a machine with torch and a
CUDA device. Times are medians over repeats between device synchronisations. Steps go to
``benchmarks/results/gpu.csv``, whole fits to ``gpu-fits.csv``, the search for triples to
``gpu-triples.csv``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from math import comb

import numpy as np
import torch

from benchmarks.tables import write
from covmin import CCMSelector
from covmin.core.grams import ExactGram, FourierGram
from covmin.core.kernels import Gaussian
from covmin.core.objectives import TraceObjective
from covmin.core.rows import Sample
from covmin.core.screening import Screening
from covmin.core.units import Units

Row = dict[str, object]


def seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """Median time of an action on the device, after one run to warm up."""
    times = []
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        action()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def step(objective: TraceObjective, w: np.ndarray) -> None:
    objective.at(w).gradient()


def samples(n: int, d: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    X = torch.randn(n, d, dtype=dtype, device="cuda")
    Y = X[:, :1] * X[:, 1:2]
    return X, Y - Y.mean(), torch.full((n,), 1.0 / n, dtype=dtype, device="cuda")


def bare_exact(X: torch.Tensor) -> None:
    """The Gram, the factorisation and the gradient's product, and nothing else."""
    K = X @ X.T
    K.diagonal().add_(X.shape[1] * 2.0)
    torch.linalg.cholesky_ex(K)
    K @ X


def bare_fourier(X: torch.Tensor, omega: torch.Tensor, U: torch.Tensor) -> None:
    """Three products with Ω and one UᵀU, block by block."""
    for start in range(0, X.shape[0], U.shape[0]):
        block = X[start : start + U.shape[0]]
        block @ omega
        block @ omega
        U.T @ U
        block.T @ U[: block.shape[0], : omega.shape[1]]


def exact_steps(sizes: list[int], d: int) -> list[Row]:
    rows: list[Row] = []
    for n in sizes:
        X, Y, p = samples(n, d, torch.float64)
        objective = TraceObjective(
            ExactGram(Gaussian(float(d) ** 0.5), X, Y, p), 0.001, units=Units.single(X.shape[1])
        )
        w = np.full(d, 0.5)
        ours = seconds(partial(step, objective, w))
        bare = seconds(partial(bare_exact, X))
        peak = torch.cuda.max_memory_allocated() / 2**30
        print(
            f"exact step n={n} d={d} float64: {ours:.3f} s, {ours / bare:.2f}× bare ({bare:.3f} s),"
            f" peak {peak:.0f} GiB"
        )
        what = f"exact, n={n:,}, d={d}, float64"
        rows.append({"step": what, "seconds": ours, "bare": bare, "peak GiB": peak})
        del X, Y, p, objective
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return rows


def fourier_step(n: int, d: int, n_components: int, block: int) -> list[Row]:
    X, Y, p = samples(n, d, torch.float32)
    kernel = Gaussian(float(d) ** 0.5)
    drawn = kernel.draw_frequencies(d, n_components, np.random.default_rng(0))
    components = kernel.components(drawn).like(X)
    assert components.moving is not None
    objective = TraceObjective(
        FourierGram(components, Sample(X, Y, p, block)), 0.001, units=Units.single(X.shape[1])
    )
    ours = seconds(partial(step, objective, np.full(d, 0.5)))
    U = torch.randn(block, n_components, device="cuda")
    omega = torch.randn(d, n_components, device="cuda")
    # A cosine and a sine for each frequency halve the products with Ω; against the products
    # of a map with a frequency for each component the same step looks better.
    rows: list[Row] = []
    for name, frequencies in (("D/2", components.moving.frequencies), ("D", omega)):
        bare = seconds(partial(bare_fourier, X, frequencies, U))
        print(
            f"fourier step n={n} d={d} D={n_components} float32: {ours:.3f} s, "
            f"{ours / bare:.2f}× bare products with {name} columns ({bare:.3f} s)"
        )
        what = f"Fourier, n={n:,}, d={d}, D={n_components}, float32, Ω with {name} columns"
        rows.append({"step": what, "seconds": ours, "bare": bare, "peak GiB": np.nan})
    return rows


def triples(n: int, d: int) -> list[Row]:
    """All triples of d columns: a product of three signs with a tenth of the labels wrong."""
    rng = np.random.default_rng(0)
    X = torch.as_tensor(rng.standard_normal((n, d), dtype=np.float32), device="cuda")
    labels = (X[:, 1] * X[:, d // 2] * X[:, d - 1] > 0).cpu().numpy() ^ (rng.random(n) < 0.1)
    p = torch.full((n,), 1.0 / n, dtype=torch.float64, device="cuda")
    Y = torch.as_tensor(labels[:, None] - labels.mean(), device="cuda")
    screening = Screening.of(X, Y, p, np.arange(d))
    taken = seconds(partial(screening.interactions, 3, 1), repeats=1)
    found = screening.interactions(3, 1).columns.tolist()
    rate = comb(d, 3) * n / taken
    print(f"all triples n={n} d={d}: {taken:.2f} s, {rate:.3g} triples × rows a second, {found}")
    return [{"rows": n, "columns": d, "seconds": taken, "triples × rows a second": rate}]


def whole_fits() -> list[Row]:
    """``CCMSelector(10)``, from a table in main memory to a ranking."""
    rows: list[Row] = []
    for n, d in (
        (1000, 50),
        (5000, 500),
        (10_000, 200),
        (100_000, 200),
        (1_000_000, 50),
        (3_000_000, 100),
    ):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d), dtype=np.float32)
        y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] + 0.5 * X[:, 4] ** 2
        y += 0.5 * rng.standard_normal(n)
        selector = CCMSelector(10, device="cuda")
        taken = seconds(partial(selector.fit, X, y), repeats=1)
        found = int((selector.ranking_[:5] <= 5).sum())
        print(f"fit n={n} d={d}: {taken:.1f} s, {found} of the 5 true features come first")
        rows.append({"rows": n, "columns": d, "seconds": taken, "true features first": found})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[10_000, 30_000, 50_000])
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--block", type=int, default=262_144)
    options = parser.parse_args()
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    steps = exact_steps(options.samples, options.features)
    write("gpu", steps + fourier_step(options.rows, 100, 1024, options.block))
    write("gpu-triples", triples(500, 5000) + triples(300, 10_000))
    write("gpu-fits", whole_fits())


if __name__ == "__main__":
    main()
