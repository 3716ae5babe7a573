"""``covmin reproduce``: the paper's two experiments, each with one command."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import ExitCode

__all__ = ["app"]

app = typer.Typer(
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
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 uses every core.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
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
    jobs: Jobs = 1,
    quiet: Quiet = False,
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
    from covmin.evaluation.paper_synthetic import run_synthetic

    name = "synthetic-quick" if quick else "synthetic"
    given = {"selectors": only, "n_repeats": repeats, "n_samples": samples}
    result = _run(
        lambda log: run_synthetic(
            log,
            quick=quick,
            n_jobs=jobs,
            progress=not quiet,
            run=not no_run,
            **{key: value for key, value in given.items() if value},
        ),
        output / "results" / f"{name}.jsonl",
    )
    _draw(lambda: write_synthetic(result, output, name))


@app.command()
def real(
    quick: Quick = False,
    output: Output = Path("reproduce"),
    jobs: Jobs = 1,
    quiet: Quiet = False,
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
    from covmin.evaluation.paper_real import QUICK_SETS, SETS, available_sets, run_real

    name = "real-quick" if quick else "real"
    with _explained():
        available, missing = available_sets(dataset or (QUICK_SETS if quick else SETS))
    for set_name, reason in missing.items():
        typer.echo(f"Left out: {set_name}. {reason}", err=True)
    frame = _run(
        lambda log: run_real(
            log,
            quick=quick,
            datasets=available,
            selectors=only,
            protocols=protocol or ("paper", "nested"),
            n_jobs=jobs,
            progress=not quiet,
            run=not no_run,
        ),
        output / "results" / f"{name}.jsonl",
    )
    _draw(lambda: write_real(frame, output, name))


def _run(experiment: Callable[[Path], Any], log: Path) -> Any:
    """Run an experiment; a wrong setting ends it with a message, not a traceback."""
    if os.path.exists(log):
        typer.echo(f"Taking up the run in {log}", err=True)
    try:
        with _explained():
            result = experiment(log)
    except KeyboardInterrupt as error:
        typer.echo(f"Interrupted. The same command takes up the run in {log}.", err=True)
        raise typer.Exit(130) from error
    if len(result.frame if hasattr(result, "frame") else result) == 0:
        typer.echo(
            f"Error: {log} holds no results of this experiment.\nRun it without --no-run.", err=True
        )
        raise typer.Exit(int(ExitCode.INPUT))
    return result


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what a user can mend into a message and an exit code."""
    try:
        yield
    except (ValueError, ImportError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(int(ExitCode.USAGE)) from error
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        typer.echo(
            f"Error: {place}{error.strerror or error}.\nMake room, or name another place with "
            "--output; finished work is kept, and the same command takes it up.",
            err=True,
        )
        raise typer.Exit(int(ExitCode.OUTPUT)) from error


def _draw(write: Callable[[], list[Path]]) -> None:
    """Write tables and pictures, and say where; no window is opened."""
    import matplotlib

    matplotlib.use("Agg")
    with _explained():
        paths = write()
    for path in paths:
        typer.echo(path)


if __name__ == "__main__":
    app()
