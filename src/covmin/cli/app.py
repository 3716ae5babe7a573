"""The commands of ``covmin`` and their help."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from covmin.cli import options as opt

from .errors import CommandError, ExitCode

__all__ = ["app"]

_EPILOG = (
    "Exit codes: 0 done · 1 unexpected failure · 2 wrong usage · 3 input cannot be read · "
    "4 unknown column · 5 data unfit (text, missing values, constant response) · "
    "6 output cannot be written · 130 interrupted"
)


class CovminGroup(TyperGroup):
    """Imports ``covmin reproduce`` on demand, and turns failures into exit codes."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands, those imported on demand last."""
        return [*super().list_commands(ctx), "reproduce"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name."""
        if cmd_name != "reproduce":
            return super().get_command(ctx, cmd_name)
        from .reproduce import app as reproduce

        command = typer.main.get_group(reproduce)
        command.name = cmd_name
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run a command; say what to do where it fails."""
        try:
            return super().invoke(ctx)
        except CommandError as error:
            from .display import show_error

            show_error(error)
            raise typer.Exit(int(error.code)) from error
        except KeyboardInterrupt as error:
            typer.echo("Interrupted: nothing more was written.", err=True)
            raise typer.Exit(int(ExitCode.INTERRUPTED)) from error


app = typer.Typer(
    cls=CovminGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    epilog=_EPILOG,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    if value:
        from covmin import __version__

        typer.echo(f"covmin {__version__}")
        raise typer.Exit()


Version = Annotated[
    bool,
    typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
]


@app.callback()
def _covmin(version: Version = False) -> None:
    """Find the features that explain a response, interactions included.

    **Start here**

    - `covmin demo` – a ranking and a report on bundled data
    - `covmin select data.csv --target price --report report.html` – on yours
    - `covmin compare data.csv --target price` – against other methods

    `covmin COMMAND --help` explains a command with examples.
    """


@app.command(epilog=_EPILOG)
def select(
    data: opt.DataArgument,
    target: opt.TargetOption = None,
    m: opt.SizeOption = "auto",
    task: opt.TaskOption = opt.Task.auto,
    given: opt.GivenOption = None,
    categorical: opt.CategoricalOption = None,
    drop: opt.DropOption = None,
    epsilon: opt.EpsilonOption = "auto",
    seed: opt.SeedOption = 0,
    missing: opt.MissingOption = opt.Missing.error,
    report: opt.ReportOption = None,
    output: opt.OutputOption = None,
    fmt: opt.FormatOption = None,
    no_header: opt.NoHeaderOption = False,
    decimal: opt.DecimalOption = None,
    max_iter: opt.StepsOption = 200,
    top: opt.TopOption = 20,
    json: opt.JsonOption = False,
    quiet: opt.QuietOption = False,
) -> None:
    """Rank the features of a table and keep the best.

    **Examples**

    - `covmin select wine.csv --target cultivar`
    - `covmin select wine.csv -t cultivar -m 5 --report wine.html`
    - `covmin select genes.parquet -t -1 -m 20 --output genes20.parquet`
    - `covmin select glass.csv -t type --drop id --missing rows`
    - `covmin select houses.csv -t price --categorical district --given area`
    - `zcat big.csv.gz | covmin select - -t y --json | jq .selected`
    """
    from .select import SelectRequest, run_select
    from .tables import Source

    source = Source(data, fmt, not no_header, target, tuple(drop or ()), missing, decimal)
    run_select(
        SelectRequest(
            replace(source, categorical=tuple(categorical or ()), given=tuple(given or ())),
            m,
            task,
            epsilon,
            seed,
            report,
            output,
            top,
            max_iter=max_iter,
            as_json=json,
            quiet=quiet,
        )
    )


@app.command(epilog=_EPILOG)
def compare(
    data: opt.DataArgument,
    target: opt.TargetOption = None,
    methods: opt.MethodsOption = None,
    m: opt.SizesOption = None,
    task: opt.TaskOption = opt.Task.auto,
    protocol: opt.ProtocolOption = opt.Protocol.nested,
    drop: opt.DropOption = None,
    categorical: opt.CategoricalOption = None,
    cv: opt.FoldsOption = 5,
    repeats: opt.RepeatsOption = 1,
    jobs: opt.JobsOption = 1,
    seed: opt.SeedOption = 0,
    missing: opt.MissingOption = opt.Missing.error,
    picture: opt.PictureOption = None,
    output: opt.ScoresOption = None,
    fmt: opt.FormatOption = None,
    no_header: opt.NoHeaderOption = False,
    decimal: opt.DecimalOption = None,
    json: opt.JsonOption = False,
    quiet: opt.QuietOption = False,
) -> None:
    """Compare methods by what a kernel machine makes of the features they choose.

    Features are ranked on training folds, and a support vector machine on the first m of them is
    scored on the fold left out: accuracy for classes, R² for numbers.

    **Examples**

    - `covmin compare wine.csv --target cultivar`
    - `covmin compare wine.csv -t cultivar --methods ccm,anova,rfe -m 2,5,10`
    - `covmin compare houses.csv -t price --categorical district`
    - `covmin compare genes.parquet -t -1 --repeats 5 --jobs -1 --picture curves.png`
    """
    from .compare import CompareRequest, run_compare
    from .tables import Source

    source = Source(data, fmt, not no_header, target, tuple(drop or ()), missing, decimal)
    run_compare(
        CompareRequest(
            replace(source, categorical=tuple(categorical or ())),
            tuple(methods or ()),
            m,
            task,
            protocol,
            cv,
            repeats,
            jobs,
            seed,
            picture,
            output,
            as_json=json,
            quiet=quiet,
        )
    )


@app.command(epilog=_EPILOG)
def demo(
    report: Annotated[Path, typer.Option("--report", "-r", help="Where to write the report.")] = (
        Path("report.html")
    ),
    seed: opt.SeedOption = 0,
    quiet: opt.QuietOption = False,
) -> None:
    """Select among the 13 measurements of 178 wines, and write a report.

    Needs no file and no network.

    **Examples**

    - `covmin demo`
    - `covmin demo --report wine.html`
    """
    from .select import run_demo

    run_demo(report, seed=seed, quiet=quiet)
