"""A fit of many rows, in memory and from disk: features found, time, passes and peak of memory.

Run with ``python -m benchmarks.large [--rows 1000000]`` (Linux). The response depends on
five of 50 columns, four of them only through interactions. Each fit runs in a process of its
own, so that its peak of memory is its own; exit status 1 when a fit misses a true feature,
or one from disk takes more than 1.5 GB. Rows go to ``benchmarks/results/large.csv``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import show
from benchmarks.tables import write as write_results

_CHUNK = 100_000
_TRUE = {0, 1, 2, 3, 4}
_MOST_GB = 1.5
KINDS = ("array", "memmap", "parquet")


def samples(
    rng: np.random.Generator, n: int, d: int, dtype: str = "float64"
) -> tuple[np.ndarray, np.ndarray]:
    """``y = x₀x₁ + x₂ sign(x₃) + x₄²/2 + noise``."""
    X = rng.standard_normal((n, d), dtype=np.dtype(dtype))
    y = X[:, 0] * X[:, 1] + X[:, 2] * np.sign(X[:, 3]) + 0.5 * X[:, 4] ** 2
    return X, y + 0.5 * rng.standard_normal(n, dtype=np.dtype(dtype))


def write(folder: Path, n: int, d: int) -> None:
    """The same rows as a mapped array and as a folder of Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(0)
    mapped = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=float, shape=(n, d))
    response = np.empty(n)
    (folder / "parquet").mkdir()
    for start in range(0, n, _CHUNK):
        X, y = samples(rng, min(_CHUNK, n - start), d)
        stop = start + X.shape[0]
        mapped[start:stop], response[start:stop] = X, y
        table = pa.table({f"x{j}": X[:, j] for j in range(d)} | {"y": y})
        parquet.write_table(table, folder / "parquet" / f"{start:012d}.parquet")
    mapped.flush()
    np.save(folder / "y.npy", response)


def fit(kind: str, folder: Path) -> None:
    """Fit once, and print what happened as JSON."""
    from covmin import CCMSelector, open_parquet
    from covmin.data.blocks.array import LocalBlocks

    y = np.load(folder / "y.npy")
    if kind == "parquet":
        X, y = open_parquet(folder / "parquet", target="y")
    else:
        X = np.load(folder / "X.npy", mmap_mode="r" if kind == "memmap" else None)
    passes: list[int] = []
    counted = LocalBlocks.reduce

    def reduce(source: LocalBlocks, *arguments: Any, **options: Any) -> Any:
        passes.append(1)
        return counted(source, *arguments, **options)

    LocalBlocks.reduce = reduce  # type: ignore[method-assign]
    worked = time.process_time()
    selector = CCMSelector(len(_TRUE), task="regression").fit(X, y)
    answer = {
        "processor seconds": time.process_time() - worked,
        "passes": len(passes),
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
        "found": len(_TRUE & set(np.flatnonzero(selector.support_).tolist())),
    }
    print(json.dumps(answer))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--fit", nargs=2, metavar=("KIND", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        fit(options.fit[0], Path(options.fit[1]))
        return 0
    is_fine, rows = True, []
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), options.rows, options.columns)
        for kind in options.kinds:
            command = [sys.executable, "-m", "benchmarks.large", "--fit", kind, name]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found = json.loads(output.splitlines()[-1])
            size = {"from": kind, "rows": options.rows, "columns": options.columns}
            rows.append(size | found)
            show(rows[-1:], head=len(rows) == 1)
            is_fine &= found["found"] == len(_TRUE)
            is_fine &= kind == "array" or found["peak GB"] <= _MOST_GB
    write_results("large", rows)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
