"""The commands of ``covmin`` and their help."""

from pathlib import Path
from typing import Annotated, Any

import typer

from covmin.cli import options as opt

from .errors import CommandGroup
from .selector_option import extended, typed_parameters

_EPILOG = (
    "Exit codes: 0 success · 1 unexpected error · 2 wrong usage · 3 input cannot be read · "
    "4 unknown column · 5 unsuitable data (text, missing values, constant response) · "
    "6 output cannot be written · 130 interrupted"
)


class CovminGroup(CommandGroup):
    """Adds the options of ``covmin select`` on demand."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is called; ``covmin --help`` lists it without its options."""
        name, command, rest = super().resolve_command(ctx, args)
        if name == "select":
            full = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            full.command(name, epilog=_EPILOG)(extended(select, opt.SELECTOR_OPTIONS))
            command = typer.main.get_command(full)
        return name, command, rest


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
    bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
]


@app.callback()
def _covmin(version: Version = False) -> None:
    """Find the features that explain a response, including interactions.

    **Get started**

    - `covmin demo` – a ranking and a report on built-in data
    - `covmin select data.csv --target price --report report.html` – the same for your table
    - `covmin compare data.csv --target price` – compare with other methods

    `covmin COMMAND --help` explains a command with examples.
    """


@app.command(epilog=_EPILOG)
def select(
    ctx: typer.Context,
    data: opt.DataArgument,
    target: opt.TargetOption = None,
    event: opt.EventOption = None,
    drop: opt.DropOption = None,
    report: opt.ReportOption = None,
    output: opt.OutputOption = None,
    top: opt.TopOption = 20,
    json: opt.JsonOption = False,
    quiet: opt.QuietOption = False,
    verdicts: opt.VerdictsOption = False,
    fdr: opt.FdrOption = None,
    missing: opt.MissingOption = opt.Missing.keep,
    fmt: opt.FormatOption = None,
    no_header: opt.NoHeaderOption = False,
    decimal: opt.DecimalOption = None,
    encoding: opt.EncodingOption = None,
    table: opt.TableOption = None,
    query: opt.QueryOption = None,
    strict: opt.StrictOption = False,
) -> None:
    """Rank the features of a table and select the best.

    Prints the ranking, the number of features chosen by cross-validation, and interacting pairs.
    Text, dates and missing values are handled automatically. With --report, writes an HTML report.

    **Examples**

    - `covmin select wine.csv --target cultivar`
    - `covmin select wine.csv -t cultivar -m 5 --report wine.html`
    - `covmin select genes.parquet -t -1 -m 20 --output genes20.parquet`
    - `covmin select glass.csv -t type --drop id,lab --missing rows`
    - `covmin select houses.csv -t price --as district=category --given area`
    - `covmin select trial.csv -t days --event died`
    - `covmin select wine.csv -t cultivar --verdicts --fdr 0.05`
    - `covmin select genes.parquet -t -1 --seconds 600`
    - `covmin select lab.xlsx -t yield --sheet Measurements`
    - `covmin select genes.parquet -t -1 --formulation paper --kernel laplacian`
    - `zcat big.csv.gz | covmin select - -t y --json | jq .selected`
    """
    from .select import SelectRequest, run_select
    from .tables import Source

    parameters = typed_parameters(ctx, opt.SELECTOR_OPTIONS)
    fields = {
        "given": "given",
        "feature_groups": "groups",
        "column_types": "kinds",
    }
    columns: dict[str, Any] = {fields[name]: parameters.pop(name, None) for name in fields}
    part: dict[str, Any] = {"encoding": encoding, "table": table, "query": query, "strict": strict}
    part["event"] = event
    source = Source(data, target, drop, missing, fmt, not no_header, decimal, **columns, **part)
    rate = 0.1 if verdicts and fdr is None else fdr
    request = SelectRequest(source, parameters, report, output, top, json, quiet, rate)
    run_select(request)


@app.command(epilog=_EPILOG)
def compare(
    data: opt.DataArgument,
    target: opt.TargetOption = None,
    methods: opt.MethodsOption = None,
    m: opt.SizesOption = None,
    task: opt.ScoringOption = opt.Scoring.auto,
    scoring: opt.ScoreOption = None,
    seconds: opt.SecondsOption = None,
    protocol: opt.ProtocolOption = opt.Protocol.nested,
    drop: opt.DropOption = None,
    categorical: opt.CategoricalOption = None,
    kinds: opt.KindsOption = None,
    cv: opt.FoldsOption = 5,
    repeats: opt.RepeatsOption = 1,
    jobs: opt.JobsOption = 1,
    seed: opt.SeedOption = 0,
    missing: opt.MissingOption = opt.Missing.keep,
    picture: opt.PictureOption = None,
    output: opt.ScoresOption = None,
    fmt: opt.FormatOption = None,
    no_header: opt.NoHeaderOption = False,
    decimal: opt.DecimalOption = None,
    encoding: opt.EncodingOption = None,
    table: opt.TableOption = None,
    query: opt.QueryOption = None,
    strict: opt.StrictOption = False,
    json: opt.JsonOption = False,
    quiet: opt.QuietOption = False,
) -> None:
    """Compare selection methods by the score of a kernel SVM on the features they choose.

    Each method ranks the features on the training folds. A support vector machine on the first m
    features is then scored on the test fold: accuracy for classes, R² for numbers, or --scoring.

    **Examples**

    - `covmin compare wine.csv --target cultivar`
    - `covmin compare wine.csv -t cultivar --methods ccm,anova,rfe -m 2,5,10`
    - `covmin compare houses.csv -t price --as district=category`
    - `covmin compare churn.xlsx -t left --scoring roc_auc --seconds 300`
    - `covmin compare genes.parquet -t -1 --repeats 5 --jobs -1 --picture curves.png`
    """
    from .compare import CompareRequest, run_compare
    from .tables import Source

    source = Source(
        data,
        target,
        drop,
        missing,
        fmt,
        not no_header,
        decimal,
        categorical,
        encoding=encoding,
        table=table,
        query=query,
        kinds=kinds,
        strict=strict,
    )
    where = (picture, output, json, quiet, scoring, seconds)
    request = CompareRequest(source, methods, m, task, protocol, cv, repeats, jobs, seed, *where)
    run_compare(request)


@app.command(epilog=_EPILOG)
def demo(
    report: opt.DemoReportOption = Path("report.html"),
    seed: opt.SeedOption = 0,
    quiet: opt.QuietOption = False,
) -> None:
    """Select features of the wine data (178 samples, 13 features) and write a report.

    Needs no file and no network.

    **Examples**

    - `covmin demo`
    - `covmin demo --report wine.html`
    """
    from .select import run_demo

    run_demo(report, seed=seed, quiet=quiet)
