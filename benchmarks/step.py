"""One step, value and gradient, against the bare matrix products of the same sizes.

Run with ``python -m benchmarks.step``. Step and products alternate in one process, and the fastest
of several rounds of each is compared, so that other work on the machine disturbs both alike; on a
busy machine, ``--processor`` counts seconds of a processor. Exit status 1 when a ratio is over its
limit. Times are written to ``benchmarks/results/step.csv``.

The bare Fourier products are three with Ω and one UᵀU, those of a map with a cosine for each of D
frequencies; one with a cosine and a sine for each of D/2 has half of the first three.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from benchmarks.tables import show, write
from covmin.core.grams import ExactGram, FourierGram
from covmin.core.kernels import Gaussian, Mixed, Scale, waves_for
from covmin.core.objectives import TraceObjective
from covmin.core.rows import Sample
from covmin.core.units import Units
from covmin.runtime.machine import blas_threads, row_threads

_BARE_BLOCK = 4096
_SHARE = 0.3  # of single effects in the default kernel
Clock = Callable[[], float]


def fastest(rounds: int, *actions: Callable[[], object], clock: Clock) -> list[float]:
    """Shortest time of each action over rounds in which they take turns."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds + 1):  # the first round warms up
        for record, action in zip(times, actions, strict=True):
            start = clock()
            action()
            record.append(clock() - start)
    return [min(record[1:]) for record in times]


def samples(n: int, d: int, dtype: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.dtype(dtype))
    Y = X[:, :1] * X[:, 1:2]
    return X, Y - Y.mean(), np.full(n, 1.0 / n, dtype=dtype)


def bare_exact(X: np.ndarray, K: np.ndarray, product: np.ndarray) -> None:
    """Syrk for the Gram, potrf for the factor, gemm for the gradient, nothing else."""
    (syrk,) = get_blas_funcs(("syrk",), (X,))
    (potrf,) = get_lapack_funcs(("potrf",), (X,))
    # X in C order is Xᵀ in the order of LAPACK: no copy.
    K = syrk(1.0, X.T, trans=1, c=K, overwrite_c=1, lower=1)
    K.ravel(order="K")[:: K.shape[0] + 1] += X.dtype.type(2 * X.shape[1])
    potrf(K, lower=1, overwrite_a=1, clean=0)
    np.matmul(K, X, out=product)


def exact(n: int, d: int, dtype: str, clock: Clock, rounds: int, mixed: bool) -> list[float]:
    """Times of a step and of its products."""
    X, Y, p = samples(n, d, dtype)
    kernel = Mixed(_SHARE) if mixed else Gaussian()
    scale = Scale(float(d) ** 0.5, d, d, waves_for(d, alone=True))
    objective = TraceObjective(
        ExactGram(kernel.at(scale), X, Y, p), 0.001, units=Units.single(X.shape[1])
    )
    w = np.full(d, 0.5)
    K = np.zeros((n, n), dtype=X.dtype, order="F")
    bare = partial(bare_exact, X, K, np.empty_like(X))
    with blas_threads(n):
        return fastest(rounds, lambda: objective.at(w).gradient(), bare, clock=clock)


def bare_fourier(X: np.ndarray, omega: np.ndarray, U: np.ndarray) -> None:
    """Three products with Ω and one UᵀU, block by block, with BLAS's own threads."""
    for start in range(0, X.shape[0], _BARE_BLOCK):
        block = X[start : start + _BARE_BLOCK]
        rows = block.shape[0]
        block @ omega
        block @ omega
        block.T @ U[:rows, : omega.shape[1]]
        U[:rows].T @ U[:rows]


def fourier(
    n: int, d: int, n_components: int, dtype: str, clock: Clock, rounds: int
) -> list[float]:
    """Times of a step and of its products, with an Ω of D columns."""
    X, Y, p = samples(n, d, dtype)
    kernel = Gaussian(float(d) ** 0.5)
    frequencies = kernel.draw_frequencies(d, n_components, np.random.default_rng(0))
    components = kernel.components(frequencies).like(X)
    U = np.random.default_rng(1).standard_normal((_BARE_BLOCK, n_components)).astype(dtype)
    w, threads = np.full(d, 0.5), row_threads()

    def step() -> None:
        with blas_threads(n, threads):
            gram = FourierGram(components, Sample(X, Y, p, n_threads=threads))
            TraceObjective(gram, 0.001, units=Units.single(X.shape[1])).at(w).gradient()

    omega = np.tile(frequencies.astype(dtype), (1, 2))
    return fastest(rounds, step, partial(bare_fourier, X, omega, U), clock=clock)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the Fourier step")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of the Fourier step")
    parser.add_argument("--processor", action="store_true", help="seconds of a processor")
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    rows: list[dict[str, object]] = []
    outside = []

    def add(what: str, ours: float, bare: float, limit: float | None = None) -> None:
        rows.append({"step": what, "seconds": ours, "bare": bare})
        show([rows[-1] | {"ratio": ours / bare, "limit": limit}], head=len(rows) == 1)
        if limit is not None and ours / bare > limit:
            outside.append(what)

    for dtype in ("float64", "float32"):
        times = fourier(options.rows, 50, 512, dtype, clock, options.rounds)
        add(f"Fourier, n={options.rows:,}, d=50, D=512, {dtype}", *times, 1.8)
    for n, d, limit, default, rounds in ((2000, 1000, 1.5, 2.5, 7), (200, 5000, 1.8, 3.0, 40)):
        for dtype in ("float64", "float32"):
            times = exact(n, d, dtype, clock, rounds, mixed=False)
            add(f"exact, n={n}, d={d}, {dtype}", *times, limit if dtype == "float64" else None)
        times = exact(n, d, "float32", clock, rounds, mixed=True)
        add(f"default kernel, n={n}, d={d}, float32", *times, default)
    write("step", rows)
    print("outside the limits: " + (", ".join(outside) or "none"))
    return int(bool(outside))


if __name__ == "__main__":
    sys.exit(main())
