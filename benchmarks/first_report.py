"""How long a newcomer waits: from nothing to a report, in two commands.

``python -m benchmarks.first_report`` makes a fresh virtual environment, then times
``pip install ".[cli]"`` and ``covmin select wine.csv --target cultivar --report report.html``
in it, in seconds of the clock and of the processor. ``--make`` times ``make demo`` and ``make
test`` in a fresh clone instead, each from nothing, and writes the seconds of the processor to
``benchmarks/results/first-report.csv``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sklearn.datasets import load_wine

from benchmarks.tables import write

ROOT = Path(__file__).resolve().parents[1]


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    clock, before = time.perf_counter(), os.times()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, check=True, cwd=folder, env=env, stdout=subprocess.DEVNULL)
    after = os.times()
    used = sum(after[2:4]) - sum(before[2:4])
    return time.perf_counter() - clock, used


def show(title: str, clock: float, used: float) -> None:
    print(f"{title:10s} {clock:6.1f} s, of the processor {used:6.1f} s", flush=True)


def two_commands() -> None:
    """The two commands of the README, in a clone without an environment."""
    rows = []
    for target in ("demo", "test"):
        with tempfile.TemporaryDirectory() as name:
            clone = ["git", "clone", "--quiet", str(ROOT), name]
            subprocess.run(clone, check=True)
            clock, used = timed(["make", target], Path(name))
        show(f"make {target}", clock, used)
        rows.append({"command": f"make {target}", "processor seconds": used})
    write("first-report", rows)


def install_and_select() -> None:
    """An installation with pip, and a report of the wines."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X, y = load_wine(return_X_y=True, as_frame=True)
        X.assign(cultivar=y).to_csv(folder / "wine.csv", index=False)
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        commands = {
            "install": ["venv/bin/python", "-m", "pip", "install", "--quiet", f"{ROOT}[cli]"],
            "select": ["venv/bin/covmin", "select", "wine.csv", "-t", "cultivar", "-r", "r.html"],
        }
        for title, command in commands.items():
            show(title, *timed(command, folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make", action="store_true", help="time make demo and make test")
    two_commands() if parser.parse_args().make else install_and_select()


if __name__ == "__main__":
    main()
