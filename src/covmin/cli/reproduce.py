"""``covmin reproduce``: run the paper's two experiments."""

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
    help="Rerun the paper's experiments. Writes tables and figures; an interrupted run resumes "
    "from its log.",
)

Quick = Annotated[bool, typer.Option("--quick", help="A few minutes instead of hours.")]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="Folder for tables (results/) and figures (figures/). A run resumes from the .jsonl "
        "file in results/.",
    ),
]
NoRun = Annotated[
    bool, typer.Option("--no-run", help="Only write tables and figures of the results so far.")
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", help="Method to run; repeatable. Default: all.", metavar="NAME"),
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
        int | None, typer.Option(help="Draws per size. Default: 100, or 10 with --quick.", min=1)
    ] = None,
    samples: Annotated[
        list[int] | None,
        typer.Option("--samples", help="Number of samples per draw; repeatable.", min=4),
    ] = None,
) -> None:
    """Compute the median rank of the true features on the three synthetic tasks.

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
        typer.Option("--dataset", help="Data set to use; repeatable. Default: all available."),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option("--protocol", help="paper or nested; repeatable. Default: both."),
    ] = None,
) -> None:
    """Compute the accuracy of a kernel SVM on the paper's real data sets, under both protocols.

    "paper" ranks features on all samples, as published; "nested" ranks on each training fold.

    Example: covmin reproduce real --quick --jobs 2
    """
    from covmin.evaluation.outputs import write_real
    from covmin.evaluation.paper import QUICK_SETS, SETS, available_sets, run_real

    with _explained():
        available, missing = available_sets(dataset or (QUICK_SETS if quick else SETS))
    for set_name, reason in missing.items():
        typer.echo(f"Skipped: {set_name}. {reason}", err=True)
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
    """Run or resume an experiment, write tables and figures, and print their paths."""
    import matplotlib

    name += "-quick" if options["quick"] else ""
    log = output / "results" / f"{name}.jsonl"
    if os.path.exists(log):
        typer.echo(f"Resuming the run in {log}", err=True)
    try:
        with _explained():
            result = experiment(log, **options)
    except KeyboardInterrupt as error:
        typer.echo(f"Interrupted. The same command resumes the run in {log}.", err=True)
        raise typer.Exit(int(ExitCode.INTERRUPTED)) from error
    if len(result.frame if hasattr(result, "frame") else result) == 0:
        message = f"{log} contains no results of this experiment."
        raise CommandError(message, ExitCode.INPUT, "Run it without --no-run.")
    matplotlib.use("Agg")  # without a display
    with _explained():
        paths = write(result, output, name)
    for path in paths:
        typer.echo(path)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn errors that the user can fix into a message and an exit code."""
    try:
        yield
    except (ValueError, ImportError) as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise CommandError(
            f"{place}{error.strerror or error}.",
            ExitCode.OUTPUT,
            "Free some space, or choose another folder with --output. Finished work is kept, and "
            "the same command resumes.",
        ) from error
