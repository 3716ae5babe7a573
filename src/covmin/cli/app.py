"""The commands of ``covmin`` and their help."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .errors import CommandError, ExitCode

__all__ = ["app", "run"]

_EPILOG = (
    "Exit codes: 0 done · 1 unexpected failure · 2 wrong usage · 3 input cannot be read · "
    "4 unknown column · 5 data unfit (text, missing values, constant response) · "
    "6 output cannot be written · 130 interrupted"
)


class LazyGroup(TyperGroup):
    """A group that imports ``covmin reproduce`` when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands, those imported on demand last."""
        names = list(super().list_commands(ctx))
        return names if self._reproduce() is None else [*names, "reproduce"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name."""
        return self._reproduce() if cmd_name == "reproduce" else super().get_command(ctx, cmd_name)

    def _reproduce(self) -> Any:
        try:
            from .reproduce import app as reproduce
        except ModuleNotFoundError:
            return None
        command = typer.main.get_command(reproduce)
        command.name = "reproduce"
        return command


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column of the response: a name, or an index (0 is the first, -1 the last). "
        "May be left out where a column is called y, target, label or class.",
        show_default=False,
    ),
]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Feather, .npz or .mat file, also as .gz, .bz2 or .xz; "
        "- reads standard input.",
        show_default=False,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", "-d", help="Column to leave out; may be given again.", metavar="COL"),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", help="csv, tsv, parquet, feather, npz or mat, where the name does "
        "not say.", show_default=False,
    ),
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line of a text table holds values.")
]
Missing = Annotated[
    str,
    typer.Option("--missing", help="Missing values: error, or leave out their rows or columns."),
]
Task = Annotated[str, typer.Option("--task", help="auto, classification or regression.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]


def _version(value: bool) -> None:
    if value:
        from covmin import __version__

        typer.echo(f"covmin {__version__}")
        raise typer.Exit()


@app.callback()
def _covmin(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find the features that explain a response, interactions included.

    **Start here**

    - `covmin demo` – a ranking and a report on bundled data
    - `covmin select data.csv --target price --report report.html` – on yours
    - `covmin compare data.csv --target price` – against other methods

    `covmin COMMAND --help` explains a command with examples.
    """


@app.command(epilog=_EPILOG)
def select(
    data: Data,
    target: Target = None,
    m: Annotated[
        str,
        typer.Option(
            "-m", "--features", metavar="N|auto",
            help="Features to keep: a count, a fraction (0.2, 20%) or auto, which takes the "
            "smallest set within one standard error of the best cross-fitted error.",
        ),
    ] = "auto",
    task: Task = "auto",
    drop: Drop = None,
    epsilon: Annotated[
        str, typer.Option(help="Ridge: auto, a number, or several to choose from (0.01,0.1).")
    ] = "auto",
    seed: Seed = 0,
    missing: Missing = "error",
    report: Annotated[
        Path | None, typer.Option("--report", "-r", help="Write an HTML report here.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the selected columns and the target here, in "
                     "any of the formats that are read."),
    ] = None,
    fmt: Format = None,
    no_header: NoHeader = False,
    top: Annotated[int, typer.Option(help="Most rows of the ranking to print.")] = 20,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rank the features of a table and keep the best.

    **Examples**

    - `covmin select wine.csv --target cultivar`
    - `covmin select wine.csv -t cultivar -m 5 --report wine.html`
    - `covmin select genes.parquet -t -1 -m 20 --output genes20.parquet`
    - `covmin select glass.csv -t type --drop id --missing rows`
    - `zcat big.csv.gz | covmin select - -t y --json | jq .selected`
    """
    from .select import SelectRequest, run_select

    run_select(
        SelectRequest(
            data=data, target=target, m=m, task=task, drop=tuple(drop or ()), epsilon=epsilon,
            seed=seed, missing=missing, report=report, output=output, fmt=fmt,
            header=not no_header, top=top, json=json, quiet=quiet,
        )
    )


@app.command(epilog=_EPILOG)
def demo(
    report: Annotated[Path, typer.Option("--report", "-r", help="Where to write the report.")] = (
        Path("report.html")
    ),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Select among the 13 measurements of 178 wines, and write a report.

    Needs no file and no network.

    **Examples**

    - `covmin demo`
    - `covmin demo --report wine.html`
    """
    from .select import run_demo

    run_demo(report, seed=seed, quiet=quiet)


def run(args: list[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    args : list of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    code : int
        Exit status, one of `ExitCode`.

    Examples
    --------
    >>> from covmin.cli.app import run
    >>> run(["--version"])
    covmin 0...
    0
    """
    try:
        code = app(args, prog_name="covmin", standalone_mode=True)
    except SystemExit as exit_:
        code = exit_.code
    except CommandError as error:
        from .display import show_error

        show_error(error)
        return int(error.code)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    return int(code or 0)
