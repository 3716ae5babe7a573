"""How long the two commands of the README take in a fresh clone.

``python -m benchmarks.fresh_clone`` clones the last commit to a temporary folder and times ``make
demo`` and then ``make test`` there, in seconds of the clock and of the processor. The first of
them makes the environment. ``--targets demo`` times one alone.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from benchmarks.first_report import ROOT, timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", nargs="+", default=["demo", "test"])
    targets = parser.parse_args().targets
    with tempfile.TemporaryDirectory() as name:
        clone = Path(name) / "covmin"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        for target in targets:
            clock, used = timed(["make", target], clone)
            print(f"make {target:6s} {clock:6.0f} s, of the processor {used:6.0f} s", flush=True)


if __name__ == "__main__":
    main()
