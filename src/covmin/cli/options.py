"""The options of the commands, with their help, and what their values stand for."""

import codecs
import csv
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import CommandError, ExitCode
from .selector_option import SelectorOption

# Models are scored on classes or on numbers, whatever their order.
Scoring = StrEnum("Scoring", ["auto", "classification", "regression"])
Missing = StrEnum("Missing", ["keep", "rows", "columns", "error"])
Format = StrEnum(
    "Format", ["csv", "tsv", "json", "excel", "parquet", "feather", "sqlite", "npz", "mat"]
)
Decimal = StrEnum("Decimal", {"point": ".", "comma": ","})
Protocol = StrEnum("Protocol", ["nested", "paper"])

_READING = "Reading the table"
_METHOD = "Method"
_SWITCHES = "The paper's switches"
_RUNNING = "Time and machine"


def parse_size(text: str) -> int | float | str:
    """Number of features asked for: "auto", a count, a fraction or a percentage."""
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
        "Give a count (-m 10), a fraction (-m 0.2), or -m auto to have it chosen.",
    )


def parse_sizes(text: str | None, n_features: int) -> list[int] | None:
    """Numbers of features to score, separated by commas."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 1 <= int(part) <= n_features for part in parts):
        raise CommandError(
            f"-m {text} is not a list of numbers of features within reach.",
            ExitCode.USAGE,
            f"Give numbers from 1 to {n_features}, separated by commas, such as -m 1,2,5.",
        )
    return [int(part) for part in parts]


def parse_epsilon(text: str) -> Any:
    """Ridge: "auto", a number, or several of them separated by commas."""
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
            "Give a number (0.01), several to choose from (0.001,0.01,0.1), or auto.",
        )
    return values[0] if len(values) == 1 else values


def parse_encoding(text: str) -> str:
    """Name of an encoding that Python knows."""
    try:
        "".encode(text)  # names of other codecs are known too
        return codecs.lookup(text).name
    except LookupError:
        raise CommandError(
            f"--encoding {text} is not known.",
            ExitCode.USAGE,
            "Usual ones are utf-8, utf-16, cp1252, latin-1, shift_jis and gb18030.",
        ) from None


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the text table on the command line, for shell completion."""
    # While an option still lacks its value, the argument before it counts as left over.
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
    help="CSV, TSV, JSON, Excel, Parquet, Feather, SQLite, .npz or .mat file, also as .gz, .bz2, "
    ".xz, .zst or .zip; - reads standard input.")]
TargetOption = Annotated[str | None, _column_option("--target", "-t",
    help="Column of the response: a name, or an index (0 is the first, -1 the last). May be left "
    "out where a column is called y, target, label or class.")]
EventOption = Annotated[str | None, _column_option("--event",
    help="Column that says whether the event was seen at the time of the target (1 or true) or had "
    "not come until then; or, such as status=2, with the value that says so.")]
DropOption = Annotated[list[str] | None, _column_option("--drop", "-d",
    help="Columns to leave out, separated by commas; may be given again.")]
_CATEGORICAL = "Columns of categories, such as text, separated by commas; may be given again."
CategoricalOption = Annotated[list[str] | None,
    _column_option("--categorical", "-c", help=_CATEGORICAL)]
_KINDS = ("What a column is to be read as, where covmin takes it for something else: number, "
    "category, date or drop, such as --as zip=category; may be given again.")
KindsOption = Annotated[list[str] | None, typer.Option("--as", metavar="COL=KIND", help=_KINDS,
    show_default=False, autocompletion=complete_column)]
StrictOption = Annotated[bool, typer.Option("--strict", rich_help_panel=_READING,
    help="Refuse columns that hold neither numbers nor categories named as such.")]
_TASK_HELP = "auto takes labels and few whole numbers as classes, other numbers as such"
ScoringOption = Annotated[Scoring, typer.Option("--task", help=f"{_TASK_HELP}.")]
MissingOption = Annotated[Missing, typer.Option("--missing", rich_help_panel=_READING,
    help="Missing values count as such; or their rows or columns are left out; or they are an "
    "error.")]
FormatOption = Annotated[Format | None, typer.Option("--format", "-f", rich_help_panel=_READING,
    help="Format of DATA, where its name does not say.", show_default=False)]
DecimalOption = Annotated[Decimal | None, typer.Option("--decimal", rich_help_panel=_READING,
    help="Decimal mark of a text table. A comma is noticed by itself where another mark separates "
    "the columns.", show_default=False)]
NoHeaderOption = Annotated[bool, typer.Option("--no-header", rich_help_panel=_READING,
    help="The first line of a text table holds values, not names.")]
EncodingOption = Annotated[str | None, typer.Option("--encoding", rich_help_panel=_READING,
    metavar="NAME", help="Encoding of a text table, such as utf-16 or cp1252. It is noticed by "
    "itself where it is UTF-8 or UTF-16; other text is taken for Windows-1252.",
    show_default=False, parser=parse_encoding)]
TableOption = Annotated[str | None, typer.Option("--table", "--sheet", rich_help_panel=_READING,
    metavar="NAME", help="Which table, where a file holds several: a sheet of a spreadsheet, a "
    "table of a database, a file in a .zip.", show_default="the first sheet, the only table")]
QueryOption = Annotated[str | None, typer.Option("--query", rich_help_panel=_READING,
    metavar="SQL", help="Question to a SQLite file, whose answer is the table.",
    show_default=False)]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of everything random.", min=0)]
ReportOption = Annotated[Path | None,
    typer.Option("--report", "-r", metavar="FILE", help="Write an HTML report here.")]
DemoReportOption = Annotated[Path,
    typer.Option("--report", "-r", help="Where to write the report.")]
OutputOption = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE",
    help="Write the selected columns and the target here, as .csv, .tsv, .parquet, .feather, .npz "
    "or .mat.")]
TopOption = Annotated[int,
    typer.Option("--top", metavar="N", help="Most rows of the ranking to print.", min=1)]
JsonOption = Annotated[bool,
    typer.Option("--json", help="Print one JSON object instead of tables.")]
EstimateOption = Annotated[bool, typer.Option("--estimate",
    help="Only say what would be done, and about how long it would take.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
MethodsOption = Annotated[list[str] | None, typer.Option("--methods",
    help="Methods, separated by commas, such as ccm,anova,mrmr,rfe; or given again.",
    show_default="ccm and five quick others")]
SizesOption = Annotated[str | None, typer.Option("-m", "--n-features", "--features",
    metavar="N,N,…", help="Numbers of features to score.",
    show_default="1 … all, or 5, 10, … 100")]
ProtocolOption = Annotated[Protocol, typer.Option("--protocol",
    help="nested ranks on training folds alone; paper ranks on all rows, as is often published, "
    "and flatters the method.")]
ScoreOption = Annotated[str | None, typer.Option("--scoring", metavar="NAME",
    help="Score by a name of scikit-learn, such as balanced_accuracy, roc_auc or "
    "neg_mean_absolute_error.", show_default="accuracy, or R²")]
SecondsOption = Annotated[float | None, typer.Option("--seconds", metavar="NUMBER",
    help="Time for the comparison, which then ends with the folds done so far.",
    show_default=False)]
FoldsOption = Annotated[int, typer.Option("--cv", help="Folds.", min=2)]
RepeatsOption = Annotated[int, typer.Option("--repeats", help="Times to split anew.", min=1)]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 uses every core.")]
PictureOption = Annotated[Path | None,
    typer.Option("--picture", "-p", help="Draw the curves here (.png, .svg or .pdf).")]
ScoresOption = Annotated[Path | None,
    typer.Option("--output", "-o", help="Write the score of every fold here.")]

# What `covmin select` sets of the selector: an option is one entry, and its type, default and
# choices are those of the parameter.
SELECTOR_OPTIONS = [
    SelectorOption("-m --n-features --features", "n_features_to_select", "Features to keep: a "
        "count, a fraction (0.2, 20%) or auto, which takes the smallest set within one standard "
        "error of the best cross-fitted error.", parse=parse_size, metavar="N|auto"),
    SelectorOption("--task", "task", f"{_TASK_HELP}; ordinal is for classes that have an order, "
        "survival for times to an event (with --event).", metavar="TASK"),
    SelectorOption("--given", "given", "Columns that are known to matter, separated by commas: "
        "always kept, not counted; the others are ranked by what they add. May be given again.",
        complete=complete_column, metavar="COL"),
    SelectorOption("--categorical -c", "categorical_features", _CATEGORICAL,
        complete=complete_column, metavar="COL"),
    SelectorOption("--as", "column_types", _KINDS, complete=complete_column, metavar="COL=KIND"),
    SelectorOption("--groups", "groups", "Columns that are kept or left as one, such as "
        "size=width,height; may be given again.", complete=complete_column, metavar="LABEL=COL,…"),
    SelectorOption("--substitutes", "n_substitutes", "Stand-ins to name for each feature kept."),
    SelectorOption("--kernel", "kernel", "what counts as similar. Of additive and linear, features "
        "count one by one; the others see interactions.", _METHOD, metavar="KERNEL"),
    SelectorOption("--bandwidth", "kernel__bandwidth", "How near is similar.", _METHOD),
    SelectorOption("--alpha", "kernel__alpha", "Power: the smaller, the more scales are seen at "
        "once.", _METHOD),
    SelectorOption("--degree", "kernel__degree", "Power.", _METHOD),
    SelectorOption("--coef0", "kernel__coef0", "Constant under the power.", _METHOD),
    SelectorOption("--mixing", "kernel__mixing", "Share of single effects, 0 to 1.", _METHOD),
    SelectorOption("--epsilon", "epsilon", "Ridge: auto, a number, or several to choose from "
        "(0.01,0.1). The larger, the smoother the effects that count.", _METHOD,
        parse=parse_epsilon, metavar="EPS"),
    SelectorOption("--formulation", "formulation", "path keeps fewer and fewer features; paper "
        "solves once, as published.", _METHOD),
    SelectorOption("--response-kernel", "response_kernel", "What features are to change of a "
        "numeric target: its mean (linear), or anything (gaussian).", _METHOD),
    SelectorOption("--class-weight", "class_weight", "Count every class the same.", _METHOD),
    SelectorOption("--standardize", "standardize", "Columns are scaled by mean and deviation "
        "(yes), by ranks, which far values do not change (rank), or keep their units (no).",
        _METHOD, stands_for={"yes": True, "no": False}),
    SelectorOption("--no-interactions", "interactions", "Do not look for pairs.", _METHOD),
    SelectorOption("--strategy", "formulation__strategy", "path, or single: --formulation paper.",
        _SWITCHES),
    SelectorOption("--constraint", "formulation__constraint", "The number of features is a limit "
        "(hard) or has a price (soft).", _SWITCHES),
    SelectorOption("--lambda1", "formulation__lambda1", "The price, else chosen by itself.",
        _SWITCHES, needs="--constraint soft"),
    SelectorOption("--inverse", "formulation__inverse", "Linear systems are solved (exact) or "
        "minimised over (free).", _SWITCHES),
    SelectorOption("--lambda2", "formulation__lambda2", "Penalty on what is left of the system, "
        "else chosen by itself.", _SWITCHES, needs="--inverse free"),
    SelectorOption("--approximation", "approximation", "The kernel itself (exact), random "
        "components for it (fourier), or what the samples allow (auto).", _SWITCHES),
    SelectorOption("--n-components", "n_components", "Random components; 512 unless given.",
        _SWITCHES, needs="--approximation auto|fourier"),
    SelectorOption("--max-iter", "formulation__max_iter", "Most steps of a solve.", _SWITCHES),
    SelectorOption("--tol", "formulation__tol", "A solve stops at this gain.", _SWITCHES),
    SelectorOption("--max-step", "formulation__max_step", "Most a weight moves.", _SWITCHES),
    SelectorOption("--seed", "random_state", "Seed of everything random.", _RUNNING, default=0),
    SelectorOption("--jobs -j", "n_jobs", "Folds at once; -1 uses every core.", _RUNNING),
    SelectorOption("--device", "device", "Where torch computes: cpu, cuda.", _RUNNING,
        metavar="DEVICE"),
    SelectorOption("--seconds", "long_run__seconds", "Time for the fit, which then ends with the "
        "best so far.", _RUNNING),
    SelectorOption("--checkpoint", "long_run__checkpoint", "Keeps what a fit of more than 60 s has "
        "done; the same command goes on from there.", _RUNNING),
    SelectorOption("--interrupt", "long_run__interrupt", "What Ctrl-C leaves: nothing (raise) or "
        "the ranking so far (keep).", _RUNNING, choices=("raise", "keep")),
]
# fmt: on
