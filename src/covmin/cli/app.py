"""The commands of ``covmin`` and their help."""

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from covmin.cli import options as opt

from .errors import TYPED, CommandGroup

_EPILOG = (
    "Exit codes: 0 success · 1 unexpected error · 2 wrong usage · 3 input cannot be read · "
    "4 unknown column · 5 unsuitable data, such as a constant response · "
    "6 output cannot be written · 130 interrupted"
)

app = typer.Typer(
    cls=CommandGroup,
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


def _named(options: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command that are fields of its options."""
    return {each.name: given[each.name] for each in fields(options) if each.name in given}


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
    data: opt.Data,
    target: opt.Target = None,
    n_features_to_select: opt.Size = "auto",
    event: opt.Event = None,
    row_groups: opt.RowGroups = None,
    time: opt.Time = None,
    drop: opt.Drop = None,
    kinds: opt.Kinds = None,
    given: opt.Given = None,
    feature_groups: opt.FeatureGroups = None,
    task: opt.TaskOption = opt.Task.auto,
    report: opt.Report = None,
    output: opt.Output = None,
    verdicts: opt.Verdicts = False,
    fdr: opt.Fdr = None,
    json: opt.Json = False,
    kernel: opt.Kernel = "auto",
    settings: opt.Set = None,
    format: opt.FormatOption = None,
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    table: opt.TableName = None,
    random_state: opt.Seed = 0,
    n_jobs: opt.Jobs = None,
    long_run__seconds: opt.Seconds = None,
    quiet: opt.Quiet = False,
) -> None:
    """Rank the features of a table and select the best.

    Prints the ranking, the number of features chosen by cross-validation, and interacting pairs.
    Text, dates and missing values are handled automatically. With --report, writes an HTML report.

    **Examples**

    - `covmin select wine.csv --target cultivar`
    - `covmin select wine.csv -t cultivar -m 5 --report wine.html --output wine5.csv`
    - `covmin select houses.csv -t price --as district=category --given area`
    - `covmin select trial.csv -t days --event died`
    - `covmin select visits.csv -t outcome --row-groups patient`
    - `covmin select sales.csv -t units --time date`
    - `covmin select wine.csv -t cultivar --verdicts --fdr 0.05`
    - `covmin select genes.parquet -t -1 --kernel polynomial --set kernel__degree=2`
    - `zcat big.csv.gz | covmin select - -t y --json | jq .selected`
    """
    typed = locals()
    from .columns import ColumnOptions
    from .files import FileOptions
    from .select import run_select

    columns = _named(ColumnOptions, typed)
    named = [name for name in opt.OPTION_OF if name not in columns]
    parameters = {name: typed[name] for name in named if typed.get(name) is not None}
    parameters |= {"task": str(task), "verbose": 0 if quiet else "auto"}
    run_select(
        FileOptions(**_named(FileOptions, typed)),
        ColumnOptions(**columns),
        parameters | opt.parse_settings(settings),
        command=shlex.join(["covmin", *ctx.meta[TYPED]]),
        report=report,
        output=output,
        as_json=json,
        fdr=0.1 if verdicts and fdr is None else fdr,
    )


@app.command(epilog=_EPILOG)
def compare(
    data: opt.Data,
    target: opt.Target = None,
    methods: opt.Methods = None,
    m: opt.Sizes = None,
    task: opt.ScoredTaskOption = opt.ScoredTask.auto,
    scoring: opt.Scoring = None,
    cv: opt.Folds = 5,
    repeats: opt.Repeats = 1,
    row_groups: opt.RowGroups = None,
    time: opt.Time = None,
    drop: opt.Drop = None,
    kinds: opt.Kinds = None,
    json: opt.Json = False,
    format: opt.FormatOption = None,
    header: opt.Header = None,
    encoding: opt.Encoding = None,
    table: opt.TableName = None,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = None,
    seconds: opt.Seconds = None,
    quiet: opt.Quiet = False,
) -> None:
    """Compare selection methods by the score of a kernel SVM on the features they choose.

    Each method ranks the features on the training folds. A support vector machine on the first m
    features is then scored on the test fold: accuracy for classes, R² for numbers, or --scoring.

    **Examples**

    - `covmin compare wine.csv --target cultivar`
    - `covmin compare wine.csv -t cultivar --methods ccm,anova,rfe -m 2,5,10`
    - `covmin compare churn.xlsx -t left --scoring roc_auc --seconds 300`
    - `covmin compare genes.parquet -t -1 --repeats 5 --jobs -1`
    """
    from .columns import ColumnOptions
    from .compare import run_compare
    from .files import FileOptions

    run_compare(
        FileOptions(**_named(FileOptions, locals())),
        ColumnOptions(**_named(ColumnOptions, locals())),
        methods=methods,
        sizes=m,
        as_json=json,
        quiet=quiet,
        cv=cv,
        n_repeats=repeats,
        task=str(task),
        scoring=scoring,
        seconds=seconds,
        n_jobs=jobs,
        random_state=seed,
    )


@app.command(epilog=_EPILOG)
def demo(report: opt.DemoReport = Path("report.html"), quiet: opt.Quiet = False) -> None:
    """Select features of the wine data (178 samples, 13 features) and write a report.

    Needs no file and no network. For example: `covmin demo --report wine.html`
    """
    from .select import run_demo

    run_demo(report, quiet)
