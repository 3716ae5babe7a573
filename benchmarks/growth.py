"""How the cost grows with n, d, D and k.

Run with ``python -m benchmarks.growth``. A step is the criterion and its gradient. Each curve is
printed, written to ``benchmarks/results`` and drawn in ``benchmarks/figures``, beside the power of
the size that fits its last two points.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.tables import FIGURES, machine, save, seconds, show, write
from covmin.core.grams import ExactGram, FourierGram, Gram
from covmin.core.kernels import Gaussian
from covmin.core.objectives import TraceObjective
from covmin.core.rows import Sample
from covmin.core.units import Units
from covmin.runtime.machine import blas_threads, row_threads

_EXACT = {"n": 1000, "d": 200, "k": 1}
_FOURIER = {"n": 40_000, "d": 50, "D": 512, "k": 1}
_GROW: dict[str, dict[str, list[int]]] = {
    "exact": {"n": [250, 500, 1000, 2000], "d": [50, 200, 800, 3200], "k": [1, 4, 16]},
    "Fourier": {
        "n": [10_000, 20_000, 40_000, 80_000],
        "d": [10, 50, 250],
        "D": [128, 256, 512, 1024],
        "k": [1, 4, 16],
    },
}


def exact_gram(n: int, d: int, k: int) -> Gram:
    X, Y, p = _data(n, d, k)
    return ExactGram(Gaussian(float(d) ** 0.5), X, Y, p)


def fourier_gram(n: int, d: int, D: int, k: int) -> Gram:
    X, Y, p = _data(n, d, k)
    kernel = Gaussian(float(d) ** 0.5)
    frequencies = kernel.draw_frequencies(d, D, np.random.default_rng(0))
    components = kernel.components(frequencies)
    return FourierGram(components, Sample(X, Y, p, n_threads=row_threads()))


def _data(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Y = rng.standard_normal((n, k))
    return X, Y - Y.mean(axis=0), np.full(n, 1.0 / n)


def step_time(gram: Gram, d: int, n: int, threads: int | None) -> float:
    objective = TraceObjective(gram, 0.001, units=Units.single(d))
    w = np.full(d, 0.5)
    with blas_threads(n, threads):
        return seconds(lambda: objective.at(w).gradient(), repeats=5)


def steps() -> None:
    """Curves of the time of a step in each size, the others held."""
    rows: list[dict[str, Any]] = []
    for kind, sizes in _GROW.items():
        base = _EXACT if kind == "exact" else _FOURIER
        make: Callable[..., Gram] = exact_gram if kind == "exact" else fourier_gram
        for size, values in sizes.items():
            for value in values:
                arguments = base | {size: value}
                threads = None if kind == "exact" else row_threads()
                took = step_time(make(**arguments), arguments["d"], arguments["n"], threads)
                rows.append({"step": kind, "size": size, "value": value, "seconds": took})
    show(rows)
    write("growth", rows)
    draw(pd.DataFrame(rows), FIGURES / "growth.svg")


def draw(frame: pd.DataFrame, path: Path) -> None:
    import matplotlib.pyplot as plt

    rows = frame.to_dict("records")
    figure, axes = plt.subplots(1, len(_GROW), figsize=(8, 3.2), sharey=True)
    for panel, (kind, sizes) in zip(axes, _GROW.items(), strict=True):
        for size in sizes:
            curve = [r for r in rows if r["step"] == kind and r["size"] == size]
            x = np.array([r["value"] for r in curve], dtype=float)
            y = np.array([r["seconds"] for r in curve])
            power = np.log(y[-1] / y[-2]) / np.log(x[-1] / x[-2])
            panel.plot(x / x[0], y, marker="o", label=f"{size}: power {power:.1f}")
        panel.set(xscale="log", yscale="log", title=f"{kind} step", xlabel="times the first size")
        panel.legend(fontsize="small")
    axes[0].set_ylabel("seconds")
    save(figure, path.stem)


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print(machine())
    steps()


if __name__ == "__main__":
    main()
