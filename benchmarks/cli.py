"""What the command line costs beyond reading a table with pandas and fitting.

``python -m benchmarks.cli`` writes a CSV of 100,000 rows and 200 columns to a temporary folder
and times ``covmin select`` on it in a process of its own, beside a process that reads it with
pandas and fits the same selector; each by the processor, so that other work does not count.

``--fit-rows 500`` fits on the first rows alone, in both. The rest then shows by itself: the ratio
is the largest that a fit of any length can have. Times go to ``benchmarks/results/cli.csv``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.tables import write

SHORT_FIT = """
import sys
from covmin import CCMSelector
whole, rows = CCMSelector.fit, int(sys.argv.pop())
CCMSelector.fit = lambda self, X, y, **options: whole(self, X[:rows], y[:rows], **options)
"""
BARE = """
import pandas as pd
path, m = sys.argv[1:]
table = pd.read_csv(path)
y = table.pop("y")
CCMSelector(int(m), random_state=0).fit(table, y.to_numpy())
"""
SELECT = """
from covmin.cli.main import main
path, m = sys.argv[1:3]
sys.argv[1:3] = ["select", path, "--target", "y", "-m", m]
main()
"""


def write_table(path: Path, n_samples: int, n_features: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features)).astype(np.float32)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_features)])
    table["y"] = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    table.to_csv(path, index=False, float_format="%.5f")


def seconds(code: str, *words: str) -> float:
    """Processor time of a process."""
    before = os.times()
    subprocess.run([sys.executable, "-c", code, *words], check=True, stdout=subprocess.DEVNULL)
    return sum(os.times()[2:4]) - sum(before[2:4])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--fit-rows", type=int, help="rows to fit on; all by default")
    parser.add_argument("-m", type=int, default=5, help="features to keep")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = str(options.fit_rows or options.samples)
    with tempfile.TemporaryDirectory() as folder:
        path, report = Path(folder) / "table.csv", Path(folder) / "report.html"
        write_table(path, options.samples, options.features)
        runs = {
            "read with pandas and fit": (BARE, []),
            "covmin select": (SELECT, []),
            "covmin select --report": (SELECT, ["--report", str(report)]),
        }
        least = {
            title: min(
                seconds(SHORT_FIT + code, str(path), str(options.m), *words, rows)
                for _ in range(options.repeats)
            )
            for title, (code, words) in runs.items()
        }
        size = report.stat().st_size
    base = least["read with pandas and fit"]
    for title, used in least.items():
        print(f"{title:26s} {used:7.1f} s   {used / base:.2f} times")
    print(f"report: {size:,} bytes")
    write("cli", [{"run": title, "processor seconds": used} for title, used in least.items()])


if __name__ == "__main__":
    main()
