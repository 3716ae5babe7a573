"""Simulate, and put the tables into docs/guarantees.md.

``python -m experiments.guarantees`` simulates what is not done yet (finished runs are kept, so an
interrupted one goes on where it stopped), writes ``experiments/results/guarantees-*.csv`` and puts
the tables into the page. ``--parts knockoffs`` runs one part only. ``make evidence`` puts the
tables into the page without a simulation.
"""

import argparse

from experiments.pages import Marked

from . import PARTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--seconds", type=float, help="for each part: the rest is left for later")
    arguments = parser.parse_args()
    for part in arguments.parts:
        PARTS[part].simulate(arguments.jobs, arguments.seconds)
    page = Marked("docs/guarantees.md", "experiments.guarantees:TABLES")
    page.path.write_text(page.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
