"""The options of the commands, with their help texts and parsers."""

import codecs
import csv
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import CommandError, ExitCode
from .selector_option import SelectorOption

# Models are scored on classes or on numbers, whether or not the classes are ordered.
Scoring = StrEnum("Scoring", ["auto", "classification", "regression"])
Missing = StrEnum("Missing", ["keep", "rows", "columns", "error"])
Format = StrEnum(
    "Format", ["csv", "tsv", "json", "excel", "parquet", "feather", "sqlite", "npz", "mat"]
)
Decimal = StrEnum("Decimal", {"point": ".", "comma": ","})
Protocol = StrEnum("Protocol", ["nested", "paper"])

_READING = "Reading the table"
_METHOD = "Method"
_SWITCHES = "Options of the paper"
_RUNNING = "Running"


def parse_size(text: str) -> int | float | str:
    """Parse the number of features: "auto", a count, a fraction or a percentage."""
    if text == "auto":
        return text
    with suppress(ValueError):
        if text.isdecimal() and int(text) > 0:
            return int(text)
        fraction = float(text[:-1]) / 100 if text.endswith("%") else float(text)
        if 0.0 < fraction <= 1.0:
            return fraction
    raise CommandError(
        f"-m {text} is not a number of features.",
        ExitCode.USAGE,
        "Use a count (-m 10), a fraction (-m 0.2), or -m auto to choose it by cross-validation.",
    )


def parse_sizes(text: str | None, n_features: int) -> list[int] | None:
    """Parse a comma-separated list of numbers of features."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= n_features for part in parts):
        raise CommandError(
            f"-m {text} is not a valid list of numbers of features.",
            ExitCode.USAGE,
            f"Use numbers from 1 to {n_features}, separated by commas, such as -m 1,2,5.",
        )
    return [int(part) for part in parts]


def parse_epsilon(text: str) -> Any:
    """Parse ε: "auto", a number, or several numbers separated by commas."""
    if text == "auto":
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [0.0]
    if not all(0.0 < value < float("inf") for value in values):
        raise CommandError(
            f"--epsilon {text} is not a positive number.",
            ExitCode.USAGE,
            "Use a number (0.01), several to choose from (0.001,0.01,0.1), or auto.",
        )
    return values[0] if len(values) == 1 else values


def parse_encoding(text: str) -> str:
    """Return the normalised name of an encoding."""
    try:
        "".encode(text)  # names of other codecs are known too
        return codecs.lookup(text).name
    except LookupError:
        raise CommandError(
            f"--encoding {text} is unknown.",
            ExitCode.USAGE,
            "Common encodings are utf-8, utf-16, cp1252, latin-1, shift_jis and gb18030.",
        ) from None


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return matching column names of the text table on the command line, for completion."""
    # While an option lacks its value, click treats the preceding argument as left over.
    data = ctx.params.get("data") or next(iter(ctx.args), None)
    try:
        with open(str(data), newline="", encoding="utf-8") as file:
            line = file.readline()
        names = next(csv.reader([line], delimiter=max(",;\t|", key=line.count)))
    except (OSError, ValueError, StopIteration):
        return []
    return [name for name in names if name.startswith(incomplete) and name.isprintable()]


def _column_option(*names: str, help: str) -> Any:
    return typer.Option(
        *names, metavar="COL", help=help, show_default=False, autocompletion=complete_column
    )


# fmt: off
DataArgument = Annotated[str, typer.Argument(metavar="DATA", show_default=False,
    help="File with the table: CSV, TSV, JSON, Excel, Parquet, Feather, SQLite, .npz or .mat, "
    "optionally compressed (.gz, .bz2, .xz, .zst, .zip); - reads standard input.")]
TargetOption = Annotated[str | None, _column_option("--target", "-t",
    help="Column with the response: a name, or an index (0 is the first, -1 the last). Not needed "
    "if a column is called y, target, label or class.")]
EventOption = Annotated[str | None, _column_option("--event",
    help="For survival data, with the time as the target: column that tells whether the event was "
    "observed (1 or true) or censored; or column and value, such as status=2.")]
DropOption = Annotated[list[str] | None, _column_option("--drop", "-d",
    help="Columns to exclude, separated by commas; repeatable.")]
_CATEGORICAL = "Categorical columns, separated by commas; repeatable."
CategoricalOption = Annotated[list[str] | None,
    _column_option("--categorical", "-c", help=_CATEGORICAL)]
_KINDS = ("Override how a column is read: number, category, date or drop, such as "
    "--as zip=category; repeatable.")
KindsOption = Annotated[list[str] | None, typer.Option("--as", metavar="COL=KIND", help=_KINDS,
    show_default=False, autocompletion=complete_column)]
StrictOption = Annotated[bool, typer.Option("--strict", rich_help_panel=_READING,
    help="Accept only numbers and declared categories; do not interpret text or dates.")]
_TASK_HELP = "auto treats labels and few integers as classes, other numbers as numbers"
ScoringOption = Annotated[Scoring, typer.Option("--task", help=f"{_TASK_HELP}.")]
MissingOption = Annotated[Missing, typer.Option("--missing", rich_help_panel=_READING,
    help="Missing values: keep uses them as information; rows or columns drops the rows or columns "
    "that have any; error stops.")]
FormatOption = Annotated[Format | None, typer.Option("--format", "-f", rich_help_panel=_READING,
    help="Format of DATA, if its name does not tell.", show_default=False)]
DecimalOption = Annotated[Decimal | None, typer.Option("--decimal", rich_help_panel=_READING,
    help="Decimal mark of a text table. A comma is detected if another character separates the "
    "columns.", show_default=False)]
NoHeaderOption = Annotated[bool, typer.Option("--no-header", rich_help_panel=_READING,
    help="The first line of a text table contains values, not column names.")]
EncodingOption = Annotated[str | None, typer.Option("--encoding", rich_help_panel=_READING,
    metavar="NAME", help="Encoding of a text table, such as utf-16 or cp1252. UTF-8 and UTF-16 are "
    "detected; other text is read as Windows-1252.",
    show_default=False, parser=parse_encoding)]
TableOption = Annotated[str | None, typer.Option("--table", "--sheet", rich_help_panel=_READING,
    metavar="NAME", help="Table to read if a file contains several: a sheet of a spreadsheet, "
    "a table of a database, a file in a .zip.", show_default="the first sheet, the only table")]
QueryOption = Annotated[str | None, typer.Option("--query", rich_help_panel=_READING,
    metavar="SQL", help="SQL query on a SQLite file; its result is the table.",
    show_default=False)]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of all random draws.", min=0)]
ReportOption = Annotated[Path | None,
    typer.Option("--report", "-r", metavar="FILE", help="Write an HTML report to this file.")]
DemoReportOption = Annotated[Path,
    typer.Option("--report", "-r", help="File for the report.")]
OutputOption = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE",
    help="Write the selected columns and the target to this file: .csv, .tsv, .parquet, .feather, "
    ".npz or .mat.")]
TopOption = Annotated[int,
    typer.Option("--top", metavar="N", help="Number of ranked features to print.", min=1)]
JsonOption = Annotated[bool,
    typer.Option("--json", help="Print one JSON object instead of tables.")]
VerdictsOption = Annotated[bool, typer.Option("--verdicts",
    help="Also test every feature: needed, relevant, or not shown to matter, with p-values.")]
FdrOption = Annotated[float | None, typer.Option("--fdr", metavar="RATE", min=0.0, max=1.0,
    help="Bound on the false discovery rate of the needed, and of the relevant features; implies "
    "--verdicts.", show_default="0.1 with --verdicts")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]
MethodsOption = Annotated[list[str] | None, typer.Option("--methods",
    help="Methods, separated by commas, such as ccm,anova,mrmr,rfe; repeatable.",
    show_default="ccm and five quick others")]
SizesOption = Annotated[str | None, typer.Option("-m", "--n-features", "--features",
    metavar="N,N,…", help="Numbers of features to score.",
    show_default="1 … all, or 5, 10, … 100")]
ProtocolOption = Annotated[Protocol, typer.Option("--protocol",
    help="nested ranks features on the training folds only; paper ranks them on all rows, as often "
    "published, which makes scores too high.")]
ScoreOption = Annotated[str | None, typer.Option("--scoring", metavar="NAME",
    help="Name of a scikit-learn score, such as balanced_accuracy, roc_auc or "
    "neg_mean_absolute_error.", show_default="accuracy, or R²")]
SecondsOption = Annotated[float | None, typer.Option("--seconds", metavar="NUMBER",
    help="Time limit; the comparison then uses the folds finished so far.",
    show_default=False)]
FoldsOption = Annotated[int, typer.Option("--cv", help="Number of folds.", min=2)]
RepeatsOption = Annotated[int, typer.Option("--repeats", help="Number of random splits.", min=1)]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 uses all cores.")]
PictureOption = Annotated[Path | None,
    typer.Option("--picture", "-p", help="Plot the curves to this file (.png, .svg or .pdf).")]
ScoresOption = Annotated[Path | None,
    typer.Option("--output", "-o", help="Write the score of every fold to this file.")]

# Options of `covmin select` that set parameters of the selector. Their types, defaults and choices
# are those of the parameters.
SELECTOR_OPTIONS = [
    SelectorOption("-m --n-features --features", "n_features_to_select", "Features to select: a "
        "count, a fraction (0.2, 20%) or auto: the smallest set within one standard error of the "
        "lowest cross-validated error.", parse=parse_size, metavar="N|auto"),
    SelectorOption("--task", "task", f"{_TASK_HELP}; ordinal is for ordered classes, survival for "
        "survival times (with --event).", metavar="TASK"),
    SelectorOption("--given", "given", "Columns known to matter, separated by commas. They are "
        "always kept and do not count; the others are ranked by what they add. Repeatable.",
        complete=complete_column, metavar="COL"),
    SelectorOption("--as", "column_types", _KINDS, complete=complete_column, metavar="COL=KIND"),
    SelectorOption("--groups", "feature_groups", "Columns to keep or drop together, such as "
        "size=width,height; repeatable.", complete=complete_column, metavar="LABEL=COL,…"),
    SelectorOption("--kernel", "kernel", "similarity of samples. additive and linear use features "
        "one at a time; the others also find interactions.", _METHOD, metavar="KERNEL"),
    SelectorOption("--bandwidth", "kernel__bandwidth", "Length scale of the kernel.", _METHOD),
    SelectorOption("--alpha", "kernel__alpha", "Power; a smaller one covers more scales.", _METHOD),
    SelectorOption("--degree", "kernel__degree", "Degree of the polynomial.", _METHOD),
    SelectorOption("--coef0", "kernel__coef0", "Constant term of the polynomial.", _METHOD),
    SelectorOption("--mixing", "kernel__mixing", "Additive share, 0 to 1.", _METHOD),
    SelectorOption("--epsilon", "epsilon", "Regularisation: auto, a number, or several to choose "
        "from (0.01,0.1). Larger values mean smoother effects.", _METHOD,
        parse=parse_epsilon, metavar="EPS"),
    SelectorOption("--formulation", "formulation", "path solves for fewer and fewer features; "
        "paper solves once, as published.", _METHOD),
    SelectorOption("--response-kernel", "formulation__response_kernel", "Find features that "
        "affect the mean of a numeric target (linear), or its whole distribution (gaussian).",
        _METHOD),
    SelectorOption("--class-weight", "class_weight", "Give all classes the same weight.", _METHOD),
    SelectorOption("--standardize", "standardize", "Scale columns by mean and standard deviation "
        "(yes), by ranks, robust to outliers (rank), or not at all (no).",
        _METHOD, stands_for={"yes": True, "no": False}),
    SelectorOption("--no-interactions", "interactions", "Skip the search for interacting pairs.",
        _METHOD),
    SelectorOption("--strategy", "formulation__strategy", "path, or single for a single solve.",
        _SWITCHES),
    SelectorOption("--constraint", "formulation__constraint", "Budget of features as a constraint "
        "(hard) or as a penalty (soft).", _SWITCHES),
    SelectorOption("--lambda1", "formulation__lambda1", "Penalty on the weights; automatic by "
        "default.", _SWITCHES, needs="--constraint soft"),
    SelectorOption("--inverse", "formulation__inverse", "Solve the linear systems (exact), or "
        "optimise over their solution (free).", _SWITCHES),
    SelectorOption("--lambda2", "formulation__lambda2", "Penalty on the residual of the systems; "
        "automatic by default.", _SWITCHES, needs="--inverse free"),
    SelectorOption("--approximation", "approximation", "Exact kernel (exact), random Fourier "
        "features (fourier), or by the number of samples (auto).", _SWITCHES),
    SelectorOption("--max-iter", "formulation__max_iter", "Maximum steps per solve.", _SWITCHES),
    SelectorOption("--tol", "formulation__tol", "Tolerance of a solve.", _SWITCHES),
    SelectorOption("--max-step", "formulation__max_step", "Largest change of a weight per step.",
        _SWITCHES),
    SelectorOption("--seed", "random_state", "Seed of all random draws.", _RUNNING, default=0),
    SelectorOption("--jobs -j", "n_jobs", "Folds to run in parallel; -1 uses all cores.", _RUNNING),
    SelectorOption("--device", "device", "Torch device: cpu, cuda.", _RUNNING,
        metavar="DEVICE"),
    SelectorOption("--seconds", "long_run__seconds", "Time limit; the fit then returns its best "
        "result so far.", _RUNNING),
    SelectorOption("--checkpoint", "long_run__checkpoint", "Save the progress of a fit that takes "
        "more than 60 s; the same command resumes it.", _RUNNING),
    SelectorOption("--interrupt", "long_run__interrupt", "What Ctrl-C does: stop without a result "
        "(raise), or keep the ranking so far (keep).", _RUNNING, choices=("raise", "keep")),
]
# fmt: on
