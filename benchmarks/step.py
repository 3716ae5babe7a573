"""One step, value and gradient, against the bare matrix products of the same sizes.

Run with ``python -m benchmarks.step``. Step and products alternate in one process, and the
fastest of several rounds of each is compared, so that other work on the machine disturbs
both alike; on a busy machine, ``--processor`` counts seconds of a processor. The last line holds
the ratios; exit status 1 when one is over its limit. Times are written to
``benchmarks/results/step.csv``.

The bare Fourier products are three with Ω and one UᵀU. A map with a cosine for each frequency
has an Ω of D columns; one with a cosine and a sine has D/2. The limit refers to the former; the
ratio to the latter is printed below it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from benchmarks.tables import write
from covmin.core.grams import ExactGram, FourierGram
from covmin.core.kernels import Gaussian, Mixed, Scale
from covmin.core.kernels.additive import waves_for
from covmin.core.objectives import TraceObjective
from covmin.core.rows import ArrayRows
from covmin.plan.rules import mixing_share
from covmin.runtime.threads import blas_threads, row_threads

_BARE_BLOCK = 4096
Clock = Callable[[], float]


@dataclass(frozen=True)
class Result:
    """A measured ratio and its limit, which is a lower one with ``at_least``."""

    what: str
    ratio: float
    limit: float | None = None
    at_least: bool = False
    unit: str = "×"

    @property
    def is_within(self) -> bool:
        """Whether the ratio is within its limit."""
        if self.limit is None:
            return True
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


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


def step(objective: TraceObjective, w: np.ndarray) -> None:
    objective.at(w).gradient()


class BareExact:
    """syrk for the Gram, potrf for the factor, gemm for the gradient, nothing else."""

    def __init__(self, X: np.ndarray) -> None:
        n = X.shape[0]
        self.X = X
        self.K = np.zeros((n, n), dtype=X.dtype, order="F")
        self.product = np.empty_like(X)
        (self.syrk,) = get_blas_funcs(("syrk",), (X,))
        (self.potrf,) = get_lapack_funcs(("potrf",), (X,))
        self.ridge = X.dtype.type(2 * X.shape[1])

    def __call__(self) -> None:
        """Do the three."""
        # X in C order is Xᵀ in the order of LAPACK: no copy.
        K = self.syrk(1.0, self.X.T, trans=1, c=self.K, overwrite_c=1, lower=1)
        K.ravel(order="K")[:: K.shape[0] + 1] += self.ridge
        _, info = self.potrf(K, lower=1, overwrite_a=1, clean=0)
        assert info == 0
        np.matmul(self.K, self.X, out=self.product)


def exact(
    n: int, d: int, dtype: str, clock: Clock, kernel: str = "gaussian", rounds: int = 7
) -> list[float]:
    """Times of a step and of its products."""
    X, Y, p = samples(n, d, dtype)
    named = Gaussian() if kernel == "gaussian" else Mixed(mixing_share(n, d))
    scale = Scale(float(d) ** 0.5, d, d, waves_for(d, alone=True))
    gram = ExactGram(named.at(scale), X, Y, p)
    objective = TraceObjective(gram, 0.001)
    with blas_threads(n):
        ours = partial(step, objective, np.full(d, 0.5))
        return fastest(rounds, ours, BareExact(X), clock=clock)


def bare_fourier(X: np.ndarray, omega: np.ndarray, U: np.ndarray) -> None:
    """Three products with Ω and one UᵀU, block by block, with BLAS's own threads."""
    slopes = U[:, : omega.shape[1]]
    for start in range(0, X.shape[0], _BARE_BLOCK):
        block = X[start : start + _BARE_BLOCK]
        rows = block.shape[0]
        block @ omega
        block @ omega
        block.T @ slopes[:rows]
        U[:rows].T @ U[:rows]


def reset_peak() -> int:
    """Forget the peak of memory so far; return what the process holds now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    """Most memory the process has held since the last reset (Linux)."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def fourier(
    n: int, d: int, n_components: int, dtype: str, clock: Clock, rounds: int = 2
) -> tuple[list[float], int]:
    """Times of a step and of its products with either Ω, and the step's memory beyond X."""
    X, Y, p = samples(n, d, dtype)
    kernel = Gaussian(float(d) ** 0.5)
    frequencies = kernel.draw_frequencies(d, n_components, np.random.default_rng(0))
    components = kernel.components(frequencies).like(X)
    U = np.random.default_rng(1).standard_normal((_BARE_BLOCK, n_components)).astype(dtype)
    w = np.full(d, 0.5)
    threads = row_threads()

    def ours() -> None:
        with blas_threads(n, threads):
            objective = TraceObjective(
                FourierGram(components, ArrayRows(X, Y, p, n_threads=threads)), 0.001
            )
            step(objective, w)

    before = reset_peak()
    ours()
    memory = peak_bytes() - before
    half = frequencies.astype(dtype)
    whole = np.concatenate([half, half], axis=1)
    bare = (partial(bare_fourier, X, omega, U) for omega in (whole, half))
    return fastest(rounds, ours, *bare, clock=clock), memory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the Fourier step")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of the Fourier step")
    parser.add_argument("--processor", action="store_true", help="seconds of a processor")
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    results: list[Result] = []
    rows: list[dict[str, object]] = []
    print("| step | time | bare | ratio |\n| --- | ---: | ---: | ---: |")

    def show(what: str, times: list[float]) -> float:
        ratio = times[0] / times[1]
        rows.append({"step": what, "seconds": times[0], "bare": times[1]})
        print(f"| {what} | {times[0]:.4f} s | {times[1]:.4f} s | {ratio:.2f}× |", flush=True)
        return ratio

    # The Fourier step comes first: its peak of memory must not hide behind another's.
    size = f"n={options.rows:,}, d=50, D=512"
    for dtype in ("float64", "float32"):
        times, memory = fourier(options.rows, 50, 512, dtype, clock, options.rounds)
        what = f"Fourier, {size}, {dtype}"
        results.append(Result(what, show(what, times), 1.8))
        halved = f"{what}, Ω with D/2 columns"
        results.append(Result(halved, show(halved, [times[0], times[2]])))
        if dtype == "float64":
            results.append(Result("memory beyond X, MB", memory / 1e6, 600.0, unit=""))
    single = {}
    for n, d, limit, default, rounds in ((2000, 1000, 1.5, 2.5, 7), (200, 5000, 1.8, 3.0, 40)):
        for dtype in ("float64", "float32"):
            times = exact(n, d, dtype, clock, rounds=rounds)
            single[n, dtype] = times[0]
            what = f"exact, n={n}, d={d}, {dtype}"
            results.append(Result(what, show(what, times), limit if dtype == "float64" else None))
        gain = single[n, "float64"] / single[n, "float32"]
        results.append(Result(f"float32 faster, n={n}, d={d}", gain, 1.6, at_least=True))
        what = f"default kernel, n={n}, d={d}, float32"
        results.append(
            Result(what, show(what, exact(n, d, "float32", clock, "mixed", rounds)), default)
        )
    write("step", rows)
    for result in results:
        limit = "" if result.limit is None else f" (limit {result.limit:g})"
        verdict = "" if result.is_within else ": outside"
        print(f"{result.what}: {result.ratio:.2f}{result.unit}{limit}{verdict}")
    print("ratios: " + ", ".join(f"{r.ratio:.2f}" for r in results if r.limit is not None))
    return 0 if all(result.is_within for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
