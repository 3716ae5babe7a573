"""Run experiments by name: ``python -m experiments accuracy --only ccm rfe --jobs 2``."""

from __future__ import annotations

import argparse

from experiments.registry import STUDIES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="+", choices=list(STUDIES), metavar="NAME")
    parser.add_argument(
        "--only", nargs="+", default=[], help="selectors or methods to run, or ours: all of covmin"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, help="stop after so many; a later run resumes")
    options = parser.parse_args()
    for name in options.names:
        STUDIES[name].run(options.only, options.jobs, options.seconds)


if __name__ == "__main__":
    main()
