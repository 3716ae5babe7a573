"""Times of fits: beside boosted trees and forests, of a million rows, on a GPU.

``python -m experiments grid``: ``CCMSelector(10)`` takes turns with LightGBM (200 rounds) and
extremely randomised trees (500) in one process, each with one thread, and seconds of the processor
count; then ``CCMSelector()`` chooses the number of features too. Of actions that take less than two
seconds the fastest of three counts. Trees are grown one by one, and each takes as long as the
others: 25 are grown, and stand for all. ``found`` is the number of true features, of five, among
the ten kept.

``python -m experiments large`` (Linux): features found, time and peak of memory of a fit in memory
and from disk. Four of five true columns act only through interactions. Each fit runs in a
process of its own, so that its peak of memory is its own.

``python -m experiments gpu``: whole fits on a CUDA device, from a table in main memory to a
ranking. The second of two fits is timed, between synchronisations of the device. ``as on the CPU``
says whether the same ten features are kept there, where that takes no longer than a minute.

``python -m experiments triples``: all products of three columns, one of which makes the classes, on
the processor, two threads, and on a CUDA device. The second of two searches is timed.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import betainccinv
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from covmin import CCMSelector, open_parquet
from experiments.provenance import TIMED
from experiments.study import Study, Unit, every

TRUE = 5  # true features, the first: two of them by their product alone
_KEPT = 10

# Beside boosted trees and forests ---------------------------------------------------------------

GRID = {"n": (200, 1000, 5000, 20_000, 100_000), "d": (20, 100, 500, 2000)}
_MOST_NUMBERS = 2.5e6
_ROUNDS_OF_BOOSTING, _TREES, _GROWN = 200, 500, 25
# Shorter actions are timed again.
_SHORT, _TURNS = 2.0, 3


def table(n: int, d: int, task: str) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) of normal values and a response, as numbers or as two classes of equal size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    f = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 3] + 0.5 * X[:, 4] ** 2
    f += 0.5 * rng.standard_normal(n)
    return X, (f > np.median(f)).astype(int) if task == "classes" else f


def clocked(action: Callable[[], object]) -> float:
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        action()
    return time.process_time() - start


def timed(n: int, d: int, task: str) -> dict[str, Any]:
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
        "auto s": lambda: CCMSelector().fit(X, y),
    }
    best = dict.fromkeys(actions, math.inf)
    for turn, (name, action) in product(range(_TURNS), actions.items()):
        if turn == 0 or best[name] < _SHORT:
            best[name] = min(best[name], clocked(action))
    best["forest s"] *= _TREES / _GROWN
    ratios = {"ratio": best["covmin s"] / best["lightgbm s"]}
    ratios["auto/given"] = best["auto s"] / best["covmin s"]
    return best | ratios | {"found": int(selector.support_[:TRUE].sum())}


@cache
def warm_up() -> None:
    """The first call pays for what it imports."""
    for task in ("classes", "numbers"):
        timed(50, _KEPT, task)


def beside_trees(unit: Unit) -> dict[str, Any]:
    warm_up()
    return timed(unit["n"], unit["d"], unit["task"])


# Many rows, in memory and from disk -------------------------------------------------------------

_SHAPE, _CHUNK = {"rows": 1_000_000, "columns": 50}, 100_000
LARGE = [{"from": kind, **_SHAPE} for kind in ("array", "memmap", "parquet")]


def write(folder: Path, n: int, d: int) -> None:
    """Rows of ``y = x₀x₁ + x₂ sign(x₃) + x₄²/2 + noise``, as an array and as Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(0)
    mapped = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=float, shape=(n, d))
    response = np.empty(n)
    (folder / "parquet").mkdir()
    for start in range(0, n, _CHUNK):
        X = rng.standard_normal((min(_CHUNK, n - start), d))
        y = X[:, 0] * X[:, 1] + X[:, 2] * np.sign(X[:, 3]) + 0.5 * X[:, 4] ** 2
        y += 0.5 * rng.standard_normal(len(X))
        mapped[start : start + len(X)], response[start : start + len(X)] = X, y
        columns = pa.table({f"x{j}": X[:, j] for j in range(d)} | {"y": y})
        parquet.write_table(columns, folder / "parquet" / f"{start:012d}.parquet")
    mapped.flush()
    np.save(folder / "y.npy", response)


def fit(kind: str, folder: Path) -> None:
    """Fit once, and print what happened as JSON."""
    y = np.load(folder / "y.npy")
    if kind == "parquet":
        X, y = open_parquet(folder / "parquet", target="y")
    else:
        X = np.load(folder / "X.npy", mmap_mode="r" if kind == "memmap" else None)
    selector = CCMSelector(TRUE, task="regression")
    answer = {
        "processor seconds": clocked(lambda: selector.fit(X, y)),
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "found": int(selector.support_[:TRUE].sum()),
    }
    print(json.dumps(answer))


def large(unit: Unit) -> dict[str, Any]:
    """A fit in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), unit["rows"], unit["columns"])
        program = f"from experiments.speed import *; fit({unit['from']!r}, Path({folder!r}))"
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


# On a GPU ---------------------------------------------------------------------------------------

GPU_SHAPES = ((1000, 50), (5000, 500), (100_000, 200), (1_000_000, 50), (3_000_000, 100))
ON_GPU = [{"rows": n, "columns": d} for n, d in GPU_SHAPES]
_MOST_NUMBERS_ON_CPU = 2.5e6


def seconds(selector: CCMSelector, X: np.ndarray, y: np.ndarray) -> float:
    """Time of a fit on a device that is warm."""
    import torch

    selector.fit(X[:1000], y[:1000])
    torch.cuda.synchronize()
    start = time.perf_counter()
    selector.fit(X, y)
    torch.cuda.synchronize()
    return time.perf_counter() - start


def on_gpu(unit: Unit) -> dict[str, Any]:
    import torch

    n, d = unit["rows"], unit["columns"]
    X, y = table(n, d, "numbers")
    X = X.astype(np.float32)
    given, auto = (CCMSelector(m, device="cuda") for m in (_KEPT, "auto"))
    row: dict[str, Any] = {"seconds": seconds(given, X, y)}
    row["auto/given"] = seconds(auto, X, y) / row["seconds"]
    row["true features first"] = int((given.ranking_[:TRUE] <= TRUE).sum())
    if n * d <= _MOST_NUMBERS_ON_CPU:
        kept = CCMSelector(_KEPT).fit(X, y).support_
        row["as on the CPU"] = "yes" if (kept == given.support_).all() else "no"
    return row | {"peak GiB": torch.cuda.max_memory_allocated() / 2**30}


# All sets of three -------------------------------------------------------------------------------

_TRIPLES = (("cpu", 500, 500), ("cuda", 500, 2000), ("cuda", 500, 5000), ("cuda", 300, 10_000))
TRIPLES = [{"device": device, "rows": n, "columns": d} for device, n, d in _TRIPLES]
_WRONG = 0.05  # share of wrong labels


def triples(unit: Unit) -> dict[str, Any]:
    from covmin.core.arrays import to_device
    from covmin.core.screening.products import by_chance, outstanding
    from covmin.core.screening.screening import Screening

    n, d, device = unit["rows"], unit["columns"], unit["device"]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] * X[:, d // 2] * X[:, -1]) * np.where(rng.random(n) < _WRONG, -1.0, 1.0)
    X = X if device == "cpu" else to_device(X, device)
    screening = Screening.of(X, y[:, None], np.full(n, 1.0 / n), np.arange(d))
    level = screening.search.level / math.comb(d, 3)
    least = np.full((1, 1, 1), betainccinv(*by_chance(n, 1), level))
    alone = screening.shares.sum(axis=0)
    for _ in range(2):
        start = time.perf_counter()  # the answer is on the host
        found = outstanding(screening.ranked, screening.codes, np.arange(d), alone, least, 0.5)[0]
        taken = time.perf_counter() - start
    first = "yes" if found[0].tolist() == [0, d // 2, d - 1] else "no"
    rate = math.comb(d, 3) * n / taken / 1e12
    return {"seconds": taken, "10¹² triples × rows / s": rate, "true triple first": first}


def grid_units() -> list[dict[str, Any]]:
    units = every(**GRID, task=("classes", "numbers"))
    return [unit for unit in units if unit["n"] * unit["d"] <= _MOST_NUMBERS]


_TIMES: dict[str, Any] = {"parts": TIMED, "digits": "%.3g"}
_CELL = {"n": 200, "d": 100, "task": "classes"}
STUDIES = [
    Study(
        *("grid", grid_units, beside_trees, 0.5),
        by="task",
        cell=_CELL,
        value="ratio",
        close=1.0,  # the ratio differs between machines
        **_TIMES,
    ),
    Study("large", LARGE.copy, large, 0.1, by="from", **_TIMES),
    Study("gpu", ON_GPU.copy, on_gpu, 0.1, by="rows", **_TIMES),
    Study("triples", TRIPLES.copy, triples, 0.1, by="device", **_TIMES),
]
