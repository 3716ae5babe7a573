"""What the command line costs beyond reading a table with pandas and fitting.

``python -m benchmarks.cli`` writes a CSV of 100,000 rows and 200 columns to a temporary folder
and times ``covmin select`` on it in a process of its own, beside a process that reads it with
pandas and fits the same selector. Each is run a few times in turn; the fastest counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

BARE = """
import sys
import pandas as pd
from covmin import CCMSelector
table = pd.read_csv(sys.argv[1])
y = table.pop("y")
CCMSelector(int(sys.argv[2]), random_state=0, max_iter=int(sys.argv[3])).fit(table, y.to_numpy())
"""


def write_table(path: Path, n_samples: int, n_features: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features)).astype(np.float32)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_features)])
    table["y"] = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    table.to_csv(path, index=False, float_format="%.5f")


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("-m", type=int, default=5, help="features to keep")
    parser.add_argument("--max-iter", type=int, default=200, help="most steps of a solve")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_table(path, options.samples, options.features)
        m, steps = str(options.m), str(options.max_iter)
        select = [sys.executable, "-m", "covmin.cli.main", "select", str(path), "-t", "y"]
        select += ["-m", m, "--max-iter", steps]
        bare = [sys.executable, "-c", BARE, str(path), m, steps]
        pairs = [(seconds(bare), seconds(select)) for _ in range(options.repeats)]
        reported = seconds([*select, "--report", str(path.with_suffix(".html"))])
        size = path.with_suffix(".html").stat().st_size
    least_bare, least_select = (min(times) for times in zip(*pairs, strict=True))
    print(f"read and fit      {least_bare:8.1f} s")
    print(f"covmin select     {least_select:8.1f} s   {least_select / least_bare:.2f} times")
    print(f"  with a report   {reported:8.1f} s   {reported / least_bare:.2f} times, {size:,} bytes")


if __name__ == "__main__":
    main()
