"""The options of the commands, with their help texts and parsers."""

import ast
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import UsageError

Task = StrEnum("Task", ["auto", "classification", "ordinal", "regression", "survival"])
ScoredTask = StrEnum("ScoredTask", ["auto", "classification", "regression"])
Format = StrEnum("Format", ["csv", "tsv", "json", "excel", "parquet", "feather"])

#: The option for each parameter of the selector that has one. Others are reached by --set.
OPTION_OF: dict[str, str] = {}
_WORDS = {"yes": True, "no": False}
_READING, _METHOD, _RUNNING = "Reading the table", "Method", "Running"


def parse_value(text: str) -> Any:
    """Parse a value of Python, a percentage, yes or no; other words are text.

    >>> parse_value("0.5"), parse_value("0.01,0.1"), parse_value("no"), parse_value("soft")
    (0.5, [0.01, 0.1], False, 'soft')
    """
    if text in _WORDS:
        return _WORDS[text]
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return list(value) if isinstance(value, tuple) else value


def parse_size(text: str) -> Any:
    """Parse a number of features, or a range of them such as 2-20."""
    fewest, dash, most = text.partition("-")
    if dash and fewest.isdigit() and most.isdigit():
        return int(fewest), int(most)
    value = parse_value(text)
    limit = {int: float("inf"), float: 1.0}.get(type(value), 0.0)
    if value == "auto" or (limit and 0 < value <= limit):
        return value
    hint = "Use a count from 1, a fraction such as 0.2 or 20%, a range such as 2-20, or auto."
    raise UsageError(f"-m {text} is not a number of features.", hint)


def assignments(
    texts: Iterable[str] | None, option: str, form: str, example: str
) -> Iterator[tuple[str, str]]:
    """Return the name and the value in each text of the form NAME=VALUE."""
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            said = f"{option} {text} is not of the form {form}."
            raise UsageError(said, f"For example {option} {example}.")
        yield name.strip(), value.strip()


def parse_settings(texts: list[str] | None) -> dict[str, Any]:
    """Parse the NAME=VALUE of each --set."""
    example = "device=cuda or --set formulation__lambda1=0.5"
    pairs = assignments(texts, "--set", "NAME=VALUE", example)
    return {name: parse_value(value) for name, value in pairs}


def _option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


def _column(*names: str, help: str) -> Any:
    return _option(*names, help=help, metavar="COL")


def _setting(parameter: str, *names: str, **rest: Any) -> Any:
    """Return an option for a parameter of the selector."""
    OPTION_OF[parameter] = names[0]
    return _option(*names, **rest)


# fmt: off
Data = Annotated[str, typer.Argument(metavar="DATA", show_default=False,
    help="File with the table: CSV, TSV, JSON, Excel, Parquet or Feather, "
    "optionally compressed (.gz, .bz2, .xz, .zip); - reads standard input.")]
Target = Annotated[str | None, _column("--target", "-t",
    help="Column with the response: a name, or an index (0 is the first, -1 the last). Not needed "
    "if a column is called y, target, label or class.")]
Event = Annotated[str | None, _column("--event",
    help="For survival data, with the time as the target: column that tells whether the event was "
    "observed (1 or true) or censored; or column and value, such as status=2.")]
RowGroups = Annotated[str | None, _column("--row-groups",
    help="Column that says which rows belong together, such as a patient: all of them are in one "
    "fold of cross-validation. It is not used as a feature. none says that rows are independent.")]
Time = Annotated[str | None, _column("--time",
    help="Column with the time of each row: cross-validation predicts later rows from earlier "
    "ones. It is not used as a feature.")]
Drop = Annotated[list[str] | None, _column("--drop", "-d",
    help="Columns to exclude, separated by commas; repeatable.")]
Kinds = Annotated[list[str] | None, _setting("column_types", "--as", metavar="COL=KIND",
    help="Override how a column is read: number, category, date, text or drop, such as "
    "--as zip=category; repeatable.")]
Given = Annotated[list[str] | None, _setting("given", "--given", metavar="COL",
    help="Columns known to matter, separated by commas. They are always kept and not counted; "
    "the others are ranked by what they add. Repeatable.")]
FeatureGroups = Annotated[list[str] | None, _setting("feature_groups", "--feature-groups",
    metavar="LABEL=COL,…",
    help="Columns to keep or drop together, such as size=width,height; repeatable.")]
Size = Annotated[str, _setting("n_features_to_select", "-m", "--n-features",
    metavar="N|N-N|auto", parser=parse_size,
    help="Features to select: a count, a fraction (0.2, 20%), a range (2-20) or auto: the smallest "
    "set that is not clearly worse, in cross-validation, than the best.")]
TaskOption = Annotated[Task, _setting("task", "--task", metavar="TASK",
    help="classification, regression, ordinal (ordered classes), survival (times, with --event) "
    "or auto: labels and few integers are classes, other numbers are numbers.")]

FormatOption = Annotated[Format | None, _option("--format", "-f", panel=_READING, metavar="NAME",
    help=f"Format of DATA, if its name does not tell: {', '.join(Format)}.")]
Header = Annotated[bool | None, _option("--header/--no-header", panel=_READING,
    help="Whether the first line of a text table contains column names.",
    show_default="names, unless it holds numbers")]
Encoding = Annotated[str | None, _option("--encoding", panel=_READING, metavar="NAME",
    help="Encoding of a text table, such as utf-16 or cp1252. UTF-8 and "
    "byte order marks are detected; other text is read as Windows-1252.")]
TableName = Annotated[str | None, _option("--table", "--sheet", panel=_READING, metavar="NAME",
    help="Sheet of a spreadsheet.", show_default="the first sheet")]

Kernel = Annotated[str, _setting("kernel", "--kernel",
    panel=_METHOD, metavar="NAME",
    help="Similarity of samples: auto, gaussian, laplacian, rational-quadratic, polynomial or "
    "mixed find interactions; additive and linear use features one at a time.")]
Set = Annotated[list[str] | None, _option("--set", panel=_METHOD, metavar="NAME=VALUE",
    help="Set any other parameter of CCMSelector, such as standardize=rank, interactions=no, "
    "class_weight=balanced, device=cuda, kernel__degree=2 or long_run__checkpoint=FILE; "
    "repeatable.")]

Seed = Annotated[int, _setting("random_state", "--seed", panel=_RUNNING, min=0, metavar="N",
    help="Seed of all random draws.")]
Jobs = Annotated[int | None, _setting("n_jobs", "--jobs", "-j", panel=_RUNNING, metavar="N",
    help="Processes; -1 uses all cores.")]
Seconds = Annotated[float | None, _setting("long_run__seconds", "--seconds",
    panel=_RUNNING, metavar="NUMBER",
    help="Time limit; the command then returns its best result so far.")]
Quiet = Annotated[bool, _option("--quiet", "-q", panel=_RUNNING, help="Do not show progress.")]

Report = Annotated[Path | None, _option("--report", "-r", metavar="FILE",
    help="Write an HTML report to this file.")]
DemoReport = Annotated[Path, typer.Option("--report", "-r", help="File for the report.")]
Output = Annotated[Path | None, _option("--output", "-o", metavar="FILE",
    help="Write the selected columns and the target to this file: .csv, .tsv, .csv.gz, "
    ".parquet or .feather.")]
Json = Annotated[bool, _option("--json", help="Print one JSON object instead of tables.")]
Verdicts = Annotated[bool, _option("--verdicts",
    help="Also test every feature: needed, relevant, or not shown to matter, with p-values.")]
Fdr = Annotated[float | None, _option("--fdr", metavar="RATE",
    help="Bound on the false discovery rate of the needed, and of the relevant features; implies "
    "--verdicts.", show_default="0.1 with --verdicts")]

Methods = Annotated[list[str] | None, _option("--methods", metavar="NAME,…",
    help="Methods, separated by commas, such as ccm,anova,mrmr,rfe; repeatable.",
    show_default="ccm and five quick others")]
Sizes = Annotated[Any, _option("-m", "--n-features", metavar="N,N,…", parser=parse_value,
    help="Numbers of features to score.", show_default="1 … all, or 5, 10, … 100")]
ScoredTaskOption = Annotated[ScoredTask, typer.Option("--task",
    help="auto treats labels and few integers as classes, other numbers as numbers.")]
Scoring = Annotated[str | None, _option("--scoring", metavar="NAME",
    help="Name of a scikit-learn score, such as balanced_accuracy, roc_auc or "
    "neg_mean_absolute_error.", show_default="accuracy, or R²")]
Folds = Annotated[int, typer.Option("--cv", help="Number of folds.", min=2)]
Repeats = Annotated[int, typer.Option("--repeats", help="Number of random splits.", min=1)]
# fmt: on
