"""What covmin and other selectors find among 100 columns, and the processor seconds they take.

Run with ``OMP_NUM_THREADS=1 python -m benchmarks.rivals``; every method is asked for ten
features of the tables of :mod:`benchmarks.grid`, in one process. Rows go to
``benchmarks/results/rivals.csv``.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

from experiments.rivals import selectors

from benchmarks.grid import TASKS, TRUE, clocked, shape_of, table
from benchmarks.tables import machine, show, write
from covmin.evaluation.curves import rank_features

METHODS = ("ccm", "lightgbm", "extra-trees", "permutation", "mi", "mrmr", "lasso", "rfe", "boruta")
SHAPES = ((1000, 100), (5000, 100))
_KEPT = 10


def measured(n: int, d: int, task: str, method: str) -> dict[str, Any]:
    """True features among those kept, and seconds of a processor."""
    X, y = table(n, d, task)
    found: list[Any] = []
    spec = selectors()[method]
    taken = clocked(lambda: found.extend(rank_features(spec, _KEPT, X, y, 0)))
    order, _, error = found
    if order is None:
        raise RuntimeError(f"{method}: {error}")
    row = {"method": method, "rows": n, "columns": d, "task": task}
    return row | {"found": int((order[:_KEPT] < TRUE).sum()), "processor seconds": taken}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs="+", type=shape_of, default=SHAPES, metavar="NxD")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    options = parser.parse_args()
    print(machine(), flush=True)
    measured(50, 10, "numbers", "ccm")  # the first call pays for what it imports
    rows = []
    for (n, d), task, method in product(options.cells, TASKS, options.methods):
        rows.append(measured(n, d, task, method))
        show(rows[-1:], head=len(rows) == 1)
        write("rivals", rows)


if __name__ == "__main__":
    main()
