"""Run the paper's experiments: ``python -m experiments.paper {synthetic,real}``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib

from .figures import write_real, write_synthetic
from .protocols import QUICK_SETS, SETS, available_sets, run_real, run_synthetic

_DEFAULT_OUTPUT = Path("reproduce")


def arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.paper", description=__doc__)
    commands = parser.add_subparsers(dest="experiment", required=True)
    synthetic = commands.add_parser("synthetic", help="ranks of the true features")
    real = commands.add_parser("real", help="accuracy of a kernel SVM on real sets")
    for command in (synthetic, real):
        command.add_argument("--quick", action="store_true", help="minutes instead of hours")
        command.add_argument("-o", "--output", type=Path, default=_DEFAULT_OUTPUT)
        command.add_argument("--jobs", type=int, default=1, help="processes")
        command.add_argument("--quiet", action="store_true", help="no progress bar")
        command.add_argument("--no-run", action="store_true", help="only tables and figures")
        command.add_argument("--only", action="append", help="a method to run; repeatable")
    synthetic.add_argument("--repeats", type=int, help="draws per size")
    synthetic.add_argument("--samples", type=int, action="append", help="samples; repeatable")
    real.add_argument("--dataset", action="append", help="a set to use; repeatable")
    real.add_argument("--protocol", action="append", help="paper or nested; repeatable")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Run or resume an experiment, write its tables and figures, and print their paths."""
    options = arguments(words)
    name = options.experiment + ("-quick" if options.quick else "")
    log = options.output / "results" / f"{name}.jsonl"
    shared = {"quick": options.quick, "n_jobs": options.jobs, "run": not options.no_run}
    shared |= {"progress": not options.quiet, "selectors": options.only}
    if log.exists():
        print(f"Resuming the run in {log}", file=sys.stderr)
    matplotlib.use("Agg")  # without a display
    try:
        if options.experiment == "synthetic":
            chosen = {"n_repeats": options.repeats, "n_samples": options.samples}
            result = run_synthetic(log, **shared, **{k: v for k, v in chosen.items() if v})
            _check(len(result), log)
            paths = write_synthetic(result, options.output, name)
        else:
            wanted = options.dataset or (QUICK_SETS if options.quick else SETS)
            available, missing = available_sets(wanted)
            for dataset, reason in missing.items():
                print(f"Skipped: {dataset}. {reason}", file=sys.stderr)
            protocols = options.protocol or ("paper", "nested")
            frame = run_real(log, datasets=available, protocols=protocols, **shared)
            _check(len(frame), log)
            paths = write_real(frame, options.output, name)
    except ValueError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"Interrupted. The same command resumes the run in {log}.", file=sys.stderr)
        return 130
    print("\n".join(map(str, paths)))
    return 0


def _check(n_results: int, log: Path) -> None:
    if n_results == 0:
        raise ValueError(f"{log} contains no results of this experiment; run without --no-run.")


if __name__ == "__main__":
    sys.exit(main())
