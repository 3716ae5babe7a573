"""Fits beside forests, from small tables to large ones, for classes and numbers.

Run with ``python -m benchmarks.grid [--cells 1000x100 200x5000] [--tasks classes] [--no-auto]
[--seconds 600] [--processor]``. ``CCMSelector(10)`` takes turns with extremely randomised trees,
500 of them, in one process and with the threads that each takes by itself; then ``CCMSelector()``
chooses the number of features too. Of actions that take less than two seconds the fastest of three
counts.

Where fifty trees would take more than twenty seconds, 25 are grown and their time is multiplied
by twenty: trees are grown one by one, and each takes as long as the others. The column ``trees``
says how many were grown. ``found`` is the number of true features, of five, among the ten kept.

Cells go from small to large, and each is written as soon as it is done. With ``--seconds`` no new
cell is begun after that time. Cells that are not timed again stay in the file as they are.

Exit status 1 where a fit takes longer than a forest, half of the fits take more than half of
its time, or the choice of the number of features takes more than twice as long as a fit without.

On a machine that does other work, ``--processor`` counts seconds of a processor, with one thread
for all, and writes ``grid-processor`` in place of ``grid``.
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

from benchmarks.tables import RESULTS, in_words, machine, markdown, show, times, write
from covmin import CCMSelector

TASKS = ("classes", "numbers")
TRUE = 5  # true features, the first: two of them by their product alone
_ROWS = (200, 1000, 5000, 20_000, 100_000)
_COLUMNS = (20, 100, 500, 2000, 5000)
_MOST_NUMBERS = 2e7
_KEPT = 10
_TREES = 500
_FEWER_TREES = 25
# Trees that tell how long the others will take, and what a tenth of all may take.
_TRIED_TREES = 5
_LONG = 20.0
# Shorter actions are timed again.
_SHORT, _ROUNDS = 2.0, 3
# Limits: a fit against a forest, the median of these, and "auto" against a fixed number.
_SLOWEST, _MEDIAN, _AUTO = 1.0, 0.5, 2.0

Row = dict[str, Any]
Clock = Callable[[], float]


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


def forest(task: str, n_trees: int) -> Any:
    made = ExtraTreesClassifier if task == "classes" else ExtraTreesRegressor
    return made(n_trees, random_state=0)


def clocked(action: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    start = clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        action()
    return clock() - start


def trees_to_grow(task: str, X: np.ndarray, y: np.ndarray, clock: Clock) -> int:
    few = clocked(lambda: forest(task, _TRIED_TREES).fit(X, y), clock)
    return _FEWER_TREES if few * _TREES / 10 / _TRIED_TREES > _LONG else _TREES


def timed(n: int, d: int, task: str, *, auto: bool, clock: Clock = time.perf_counter) -> Row:
    """Seconds of all that is compared on one table, taking turns."""
    X, y = table(n, d, task)
    n_trees = trees_to_grow(task, X, y, clock)
    selector = CCMSelector(_KEPT)
    actions: dict[str, Callable[[], object]] = {
        "forest s": lambda: forest(task, n_trees).fit(X, y),
        "covmin s": lambda: selector.fit(X, y),
    }
    if auto:
        actions["auto s"] = lambda: CCMSelector().fit(X, y)
    best = dict.fromkeys(actions, math.inf)
    for turn in range(_ROUNDS):
        for name, action in actions.items():
            if turn == 0 or best[name] < _SHORT:
                best[name] = min(best[name], clocked(action, clock))
    row = row_of((n, d, task), best, n_trees)
    found = int(selector.support_[:TRUE].sum())
    return row | {"found": found, "trees": n_trees}


def row_of(cell: tuple[int, int, str], best: dict[str, float], n_trees: int) -> Row:
    """What is written of a table: a forest of fewer trees stands for one of all."""
    n, d, task = cell
    forest_s, covmin_s = best["forest s"] * _TREES / n_trees, best["covmin s"]
    auto_s = best.get("auto s", math.nan)
    return {
        "n": n,
        "d": d,
        "task": task,
        "forest s": forest_s,
        "covmin s": covmin_s,
        "ratio": covmin_s / forest_s,
        "auto s": auto_s,
        "auto/fixed": auto_s / covmin_s,
    }


def too_slow(rows: Sequence[Row]) -> list[str]:
    """What is not as fast as it should be, in words."""
    said = []
    for row in rows:
        where = f"{row['n']} x {row['d']}, {row['task']}"
        if row["ratio"] > _SLOWEST:
            said.append(f"{where}: {row['ratio']:.2f} times a forest")
        if row["auto/fixed"] > _AUTO:  # not where it was not timed
            said.append(f"{where}: auto takes {row['auto/fixed']:.2f} times a fixed number")
    if rows and (median := float(np.median([row["ratio"] for row in rows]))) > _MEDIAN:
        said.append(f"the median is {median:.2f} times a forest")
    return said


def kept_rows(name: str) -> list[Row]:
    """Rows of the file that is there."""
    return times(name).to_dict("records") if (RESULTS / f"{name}.csv").exists() else []


def merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """New rows in place of old ones of the same tables; rows of other columns are dropped."""

    def key(row: Row) -> tuple[int, int, str]:
        return row["n"], row["d"], row["task"]

    same = [row for row in old if set(row) == set(new[0])]
    rows = {key(row): row for row in [*same, *new]}
    return [rows[each] for each in sorted(rows)]


def pages(rows: Sequence[Row]) -> list[Row]:
    """A line for each shape, as the documentation shows it: seconds, classes and numbers."""
    shapes = sorted({(row["n"], row["d"]) for row in rows})
    by_key = {(row["n"], row["d"], row["task"]): row for row in rows}
    lines = []
    for n, d in shapes:
        line: Row = {"rows": f"{n:,}", "columns": f"{d:,}"}
        for task in TASKS:
            row = by_key.get((n, d, task), {})
            for title, name in (("m given", "covmin s"), ("auto", "auto s"), ("trees", "forest s")):
                about = name == "forest s" and row.get("trees") != _TREES
                line[f"{task}: {title}"] = in_words(row.get(name), about=about)
        lines.append(line)
    return lines


def fill(name: str, options: argparse.Namespace, clock: Clock) -> list[Row]:
    """Time cell after cell, and write each as soon as it is done."""
    start = time.perf_counter()
    for task in options.tasks:  # the first call pays for what it imports
        timed(50, _KEPT, task, auto=not options.no_auto)
    new: list[Row] = []
    for (n, d), task in product(options.cells, options.tasks):
        if time.perf_counter() - start > options.seconds:
            break
        new.append(timed(n, d, task, auto=not options.no_auto, clock=clock))
        show(new[-1:], head=len(new) == 1)
        rows = merged(kept_rows(name), new)
        write(name, rows)
        (RESULTS / f"{name}.md").write_text(report(name), encoding="utf-8")
    return new


def report(name: str) -> str:
    """The table of the page, from the file."""
    return "\n".join(markdown(pages(kept_rows(name)))) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--cells", nargs="+", type=shape_of, default=cells(), metavar="ROWSxCOLUMNS"
    )
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--no-auto", action="store_true", help="leave CCMSelector() out")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no cell after these")
    parser.add_argument("--processor", action="store_true", help="seconds of a processor")
    options = parser.parse_args()
    print(machine(), flush=True)
    if options.processor:
        with threadpool_limits(1):
            new = fill("grid-processor", options, time.process_time)
    else:
        new = fill("grid", options, time.perf_counter)
    said = too_slow(new)
    print("\n".join(said) or "never slower than a forest")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
