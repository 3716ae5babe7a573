"""``covmin reproduce``: the paper's two experiments, each with one command."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from covmin.cli import options as opt

from .errors import CommandError, CommandGroup, ExitCode

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="Rerun the paper's experiments: tables, figures, and a log that takes up where an "
    "interrupted run stopped.",
)

Quick = Annotated[bool, typer.Option("--quick", help="A few minutes instead of hours.")]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="Folder for tables (results/) and pictures (figures/). A run is taken up again "
        "from the .jsonl file in results/.",
    ),
]
NoRun = Annotated[
    bool, typer.Option("--no-run", help="Only tables and pictures of what the log holds so far.")
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", help="Method to run; may be given again. Default: all.", metavar="NAME"),
]


@app.command()
def synthetic(
    quick: Quick = False,
    output: Output = Path("reproduce"),
    jobs: opt.JobsOption = 1,
    quiet: opt.QuietOption = False,
    no_run: NoRun = False,
    only: Only = None,
    repeats: Annotated[
        int | None, typer.Option(help="Draws of each size. Default: 100, quick 10.", min=1)
    ] = None,
    samples: Annotated[
        list[int] | None,
        typer.Option("--samples", help="Size of the draws; may be given again.", min=4),
    ] = None,
) -> None:
    """Median rank of the true features on the three synthetic tasks.

    Example: covmin reproduce synthetic --quick --jobs 2
    """
    from covmin.evaluation.outputs import write_synthetic
    from covmin.evaluation.paper import run_synthetic

    options = {"selectors": only, "n_repeats": repeats, "n_samples": samples}
    given = {key: value for key, value in options.items() if value}
    shared = {"quick": quick, "n_jobs": jobs, "progress": not quiet, "run": not no_run}
    _reproduce(run_synthetic, write_synthetic, output, "synthetic", **shared, **given)


@app.command()
def real(
    quick: Quick = False,
    output: Output = Path("reproduce"),
    jobs: opt.JobsOption = 1,
    quiet: opt.QuietOption = False,
    no_run: NoRun = False,
    only: Only = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", help="Set to run on; may be given again. Default: all there."),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="paper or nested; may be given again. Default: both."),
    ] = None,
) -> None:
    """Accuracy of a kernel SVM on the paper's real sets, under both protocols.

    "paper" ranks features on all samples, as published; "nested" on each training fold.

    Example: covmin reproduce real --quick --jobs 2
    """
    from covmin.evaluation.outputs import write_real
    from covmin.evaluation.paper import QUICK_SETS, SETS, available_sets, run_real

    with _explained():
        available, missing = available_sets(dataset or (QUICK_SETS if quick else SETS))
    for set_name, reason in missing.items():
        typer.echo(f"Left out: {set_name}. {reason}", err=True)
    given = {"datasets": available, "selectors": only, "protocols": protocol or ("paper", "nested")}
    shared = {"quick": quick, "n_jobs": jobs, "progress": not quiet, "run": not no_run}
    _reproduce(run_real, write_real, output, "real", **shared, **given)


def _reproduce(
    experiment: Callable[..., Any],
    write: Callable[[Any, Path, str], list[Path]],
    output: Path,
    name: str,
    **options: Any,
) -> None:
    """Run an experiment, or take it up; write tables and pictures, and say where."""
    import matplotlib

    name += "-quick" if options["quick"] else ""
    log = output / "results" / f"{name}.jsonl"
    if os.path.exists(log):
        typer.echo(f"Taking up the run in {log}", err=True)
    try:
        with _explained():
            result = experiment(log, **options)
    except KeyboardInterrupt as error:
        typer.echo(f"Interrupted. The same command takes up the run in {log}.", err=True)
        raise typer.Exit(int(ExitCode.INTERRUPTED)) from error
    if len(result.frame if hasattr(result, "frame") else result) == 0:
        message = f"{log} holds no results of this experiment."
        raise CommandError(message, ExitCode.INPUT, "Run it without --no-run.")
    matplotlib.use("Agg")  # no window is opened
    with _explained():
        paths = write(result, output, name)
    for path in paths:
        typer.echo(path)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what a user can mend into a message and an exit code."""
    try:
        yield
    except (ValueError, ImportError) as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise CommandError(
            f"{place}{error.strerror or error}.",
            ExitCode.OUTPUT,
            "Make room, or name another place with --output; finished work is kept, and the same "
            "command takes it up.",
        ) from error
