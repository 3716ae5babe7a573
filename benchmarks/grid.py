"""Fits beside boosted trees and forests, from small tables to large ones, classes and numbers.

Run with ``python -m benchmarks.grid [--cells 1000x100 200x2000] [--tasks classes] [--no-auto]
[--seconds 600]``. ``CCMSelector(10)`` takes turns with LightGBM (200 rounds) and extremely
randomised trees (500) in one process, each with one thread, and seconds of the processor count;
then ``CCMSelector()`` chooses the number of features too. Of actions that take less than two
seconds the fastest of three counts. Trees are grown one by one, and each takes as long as the
others: 25 are grown, and stand for all.

``found`` is the number of true features, of five, among the ten kept. Cells go from small to large,
and each is written as soon as it is done. With ``--seconds`` no new cell is begun after that time.
Cells that are not timed again stay in the file as they are.

Exit status 1 where a fit takes longer than LightGBM or the forest, half of the fits take more than
0.6 of LightGBM's time, or the choice of the number takes too many times as long as a fit without.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from threadpoolctl import threadpool_limits

from benchmarks.tables import RESULTS, machine, show, times, write
from covmin import CCMSelector

TASKS = ("classes", "numbers")
TRUE = 5  # true features, the first: two of them by their product alone
_ROWS = (200, 1000, 5000, 20_000, 100_000)
_COLUMNS = (20, 100, 500, 2000)
_MOST_NUMBERS = 5e7  # 400 MB
_KEPT, _ROUNDS_OF_BOOSTING, _TREES, _GROWN = 10, 200, 500, 25
# Shorter actions are timed again.
_SHORT, _TURNS = 2.0, 3
# Limits: a fit against LightGBM and the forest, the median, and "auto" against a given number.
_SLOWEST, _MEDIAN, _AUTO, _AUTO_OF_FEW_ROWS = 1.0, 0.6, 2.0, 4.0

Row = dict[str, Any]


def cells() -> list[tuple[int, int]]:
    """Rows and columns of all tables, from small to large."""
    every = ((n, d) for n, d in product(_ROWS, _COLUMNS) if n * d <= _MOST_NUMBERS)
    return sorted(every, key=lambda cell: (math.prod(cell), cell))


def table(n: int, d: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) of normal values and a response, as numbers or as two classes of equal size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    f = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 3] + 0.5 * X[:, 4] ** 2
    f += 0.5 * rng.standard_normal(n)
    return X, (f > np.median(f)).astype(int) if task == "classes" else f


def shape_of(text: str) -> tuple[int, int]:
    """Rows and columns, written as 1000x100."""
    n, d = (int(part) for part in text.split("x"))
    return n, d


def clocked(action: Callable[[], object]) -> float:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        action()
    return time.process_time() - start


def timed(n: int, d: int, task: str, *, auto: bool) -> Row:
    """Seconds of all that is compared on one table, taking turns."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    X, y = table(n, d, task)
    boosted = LGBMClassifier if task == "classes" else LGBMRegressor
    trees = ExtraTreesClassifier if task == "classes" else ExtraTreesRegressor
    boosting = {"n_jobs": 1, "verbose": -1, "importance_type": "gain", "random_state": 0}
    selector = CCMSelector(_KEPT)
    actions: dict[str, Callable[[], object]] = {
        "lightgbm s": lambda: boosted(n_estimators=_ROUNDS_OF_BOOSTING, **boosting).fit(X, y),
        "forest s": lambda: trees(_GROWN, random_state=0).fit(X, y),
        "covmin s": lambda: selector.fit(X, y),
    }
    if auto:
        actions["auto s"] = lambda: CCMSelector().fit(X, y)
    best = dict.fromkeys(actions, math.inf)
    for turn, (name, action) in product(range(_TURNS), actions.items()):
        if turn == 0 or best[name] < _SHORT:
            best[name] = min(best[name], clocked(action))
    best["forest s"] *= _TREES / _GROWN
    auto_s = best.setdefault("auto s", math.nan)
    row = {"n": n, "d": d, "task": task, **best, "ratio": best["covmin s"] / best["lightgbm s"]}
    row["auto/given"] = auto_s / best["covmin s"]
    return row | {"found": int(selector.support_[:TRUE].sum())}


def too_slow(rows: Sequence[Row]) -> list[str]:
    """What is not as fast as it should be, in words."""
    said = []
    for row in rows:
        where = f"{row['n']} x {row['d']}, {row['task']}"
        if row["ratio"] > _SLOWEST:
            said.append(f"{where}: {row['ratio']:.2f} times LightGBM")
        if row["covmin s"] > row["forest s"]:
            said.append(f"{where}: {row['covmin s'] / row['forest s']:.2f} times a forest")
        if row["auto/given"] > (_AUTO_OF_FEW_ROWS if row["n"] <= 200 else _AUTO):
            said.append(f"{where}: auto takes {row['auto/given']:.2f} times a given number")
    if rows and (median := float(np.median([row["ratio"] for row in rows]))) > _MEDIAN:
        said.append(f"the median is {median:.2f} times LightGBM")
    return said


def merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """New rows in place of old ones of the same tables; rows of other columns are dropped."""
    same = [row for row in old if set(row) == set(new[0])]
    rows = {(row["n"], row["d"], row["task"]): row for row in [*same, *new]}
    return [rows[each] for each in sorted(rows)]


def fill(options: argparse.Namespace) -> list[Row]:
    """Time cell after cell, and write each as soon as it is done."""
    start = time.perf_counter()
    old = times("grid").to_dict("records") if (RESULTS / "grid.csv").exists() else []
    for task in options.tasks:  # the first call pays for what it imports
        timed(50, _KEPT, task, auto=not options.no_auto)
    new: list[Row] = []
    for (n, d), task in product(options.cells, options.tasks):
        if time.perf_counter() - start > options.seconds:
            break
        new.append(timed(n, d, task, auto=not options.no_auto))
        show(new[-1:], head=len(new) == 1)
        rows = merged(old, new)
        write("grid", rows, partly=len(rows) > len(new))
    return new


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", nargs="+", type=shape_of, default=cells(), metavar="NxD")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--no-auto", action="store_true", help="leave CCMSelector() out")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no cell after these")
    options = parser.parse_args()
    print(machine(), flush=True)
    with threadpool_limits(1):
        said = too_slow(fill(options))
    print("\n".join(said) or "never slower than boosted trees")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
