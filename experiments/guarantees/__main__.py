"""Simulate, and put the tables into docs/guarantees.md.

``python -m experiments.guarantees`` simulates what is not done yet (finished runs are kept, so an
interrupted one goes on where it stopped), writes ``experiments/results/guarantees-*.csv`` and puts
the tables into the page. ``--parts knockoffs`` runs one part only, ``--check`` says whether the
page has the tables of the results (exit status 1 if not).
"""

import argparse
import sys
from pathlib import Path

from experiments.evidence import Tables, filled

from . import PARTS

PAGE = Path(__file__).parent.parent.parent / "docs" / "guarantees.md"
TABLES: Tables = {name: table for part in PARTS.values() for name, table in part.tables.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--check", action="store_true", help="fail if the page has other tables")
    arguments = parser.parse_args()
    if not arguments.check:
        for part in arguments.parts:
            PARTS[part].simulate(arguments.jobs)
    page = PAGE.read_text(encoding="utf-8")
    new = filled(page, TABLES)
    if not arguments.check:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    print("as in the results" if page == new else "stale: run without --check", file=sys.stderr)
    return int(page != new)


if __name__ == "__main__":
    sys.exit(main())
