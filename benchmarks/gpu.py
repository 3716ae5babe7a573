"""Whole fits on a CUDA device, from a table in main memory to a ranking.

Run with ``python -m benchmarks.gpu [--cells 1000000x50]`` where there is torch and a CUDA device.
Of five true features two act only through their product. The second of two fits is timed, between
synchronisations of the device; ``auto`` chooses the number of features too. ``as on the CPU`` says
whether the same ten features are kept there, where that takes no longer than a minute. Rows go to
``benchmarks/results/gpu.csv``.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch

from benchmarks.grid import shape_of, table
from benchmarks.tables import show, write
from covmin import CCMSelector

SHAPES = ((1000, 50), (5000, 500), (100_000, 200), (1_000_000, 50), (3_000_000, 100))
_KEPT, _TRUE = 10, 5
_MOST_NUMBERS_ON_CPU = 2.5e6


def seconds(selector: CCMSelector, X: np.ndarray, y: np.ndarray) -> float:
    """Time of a fit on a device that is warm."""
    selector.fit(X[:1000], y[:1000])
    torch.cuda.synchronize()
    start = time.perf_counter()
    selector.fit(X, y)
    torch.cuda.synchronize()
    return time.perf_counter() - start


def fits(n: int, d: int) -> dict[str, Any]:
    X, y = table(n, d, "numbers")
    X = X.astype(np.float32)
    given, auto = (CCMSelector(m, device="cuda") for m in (_KEPT, "auto"))
    row: dict[str, Any] = {"rows": n, "columns": d, "seconds": seconds(given, X, y)}
    row["auto/given"] = seconds(auto, X, y) / row["seconds"]
    row["true features first"] = int((given.ranking_[:_TRUE] <= _TRUE).sum())
    if n * d <= _MOST_NUMBERS_ON_CPU:
        kept = CCMSelector(_KEPT).fit(X, y).support_
        row["as on the CPU"] = "yes" if (kept == given.support_).all() else "no"
    return row | {"peak GiB": torch.cuda.max_memory_allocated() / 2**30}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs="+", type=shape_of, default=SHAPES, metavar="NxD")
    options = parser.parse_args()
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    rows = []
    for n, d in options.cells:
        rows.append(fits(n, d))
        show(rows[-1:])
        write("gpu", rows)


if __name__ == "__main__":
    main()
