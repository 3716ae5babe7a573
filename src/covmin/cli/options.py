"""The options that commands share, with their help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Decimal", "Format", "Missing", "Protocol", "Task"]


class Task(StrEnum):
    """How to read the response."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Missing(StrEnum):
    """What to do about missing values."""

    error = "error"
    rows = "rows"
    columns = "columns"


class Format(StrEnum):
    """Formats of tables."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    feather = "feather"
    npz = "npz"
    mat = "mat"


class Decimal(StrEnum):
    """Marks between a number and its fraction in text tables."""

    point = "."
    comma = ","


class Protocol(StrEnum):
    """On which rows features are ranked before a model is scored."""

    nested = "nested"
    paper = "paper"


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the text table on the command line, for shell completion.

    Parameters
    ----------
    ctx : typer.Context
    incomplete : str

    Returns
    -------
    list of str
    """
    import csv

    # While an option still lacks its value, the argument before it counts as left over.
    data = ctx.params.get("data") or next(iter(ctx.args), None)
    try:
        with open(str(data), newline="", encoding="utf-8") as file:
            line = file.readline()
        names = next(csv.reader([line], delimiter=max(",;\t|", key=line.count)))
    except (OSError, ValueError, StopIteration):
        return []
    return [name for name in names if name.startswith(incomplete)]


DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Feather, .npz or .mat file, also as .gz, .bz2, .xz or .zip; "
        "- reads standard input.",
        show_default=False,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COL",
        help="Column of the response: a name, or an index (0 is the first, -1 the last). "
        "May be left out where a column is called y, target, label or class.",
        show_default=False,
        autocompletion=complete_column,
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        "-d",
        metavar="COL",
        help="Column to leave out; may be given again.",
        autocompletion=complete_column,
    ),
]
GivenOption = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        metavar="COL",
        help="Column that is known to matter: always kept, not counted; the others are ranked "
        "by what they add. May be given again.",
        autocompletion=complete_column,
    ),
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        "-c",
        metavar="COL",
        help="Column that holds categories, such as text; may be given again.",
        autocompletion=complete_column,
    ),
]
SizeOption = Annotated[
    str,
    typer.Option(
        "-m",
        "--n-features",
        "--features",
        metavar="N|auto",
        help="Features to keep: a count, a fraction (0.2, 20%) or auto, which takes the smallest "
        "set within one standard error of the best cross-fitted error.",
    ),
]
EpsilonOption = Annotated[
    str, typer.Option(help="Ridge: auto, a number, or several to choose from (0.01,0.1).")
]
TaskOption = Annotated[
    Task,
    typer.Option(
        "--task", help="auto takes labels and few whole numbers as classes, other numbers as such."
    ),
]
MissingOption = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="Missing values are an error, unless their rows or columns are to be left out.",
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format", "-f", help="Format of DATA, where its name does not say.", show_default=False
    ),
]
DecimalOption = Annotated[
    Decimal | None,
    typer.Option(
        "--decimal",
        help="Decimal mark of a text table. A comma is noticed by itself where another mark "
        "separates the columns.",
        show_default=False,
    ),
]
NoHeaderOption = Annotated[
    bool,
    typer.Option("--no-header", help="The first line of a text table holds values, not names."),
]
StepsOption = Annotated[
    int, typer.Option("--max-iter", help="Most steps of the solver at each stage.", min=1)
]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of everything random.", min=0)]
ReportOption = Annotated[
    Path | None, typer.Option("--report", "-r", help="Write an HTML report here.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the selected columns and the target here, as .csv, .tsv, .parquet, .feather, "
        ".npz or .mat.",
    ),
]
TopOption = Annotated[int, typer.Option("--top", help="Most rows of the ranking to print.", min=1)]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of tables.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        help="Methods, separated by commas, such as ccm,anova,mrmr,rfe; or given again.",
        show_default="ccm and five quick others",
    ),
]
SizesOption = Annotated[
    str | None,
    typer.Option(
        "-m",
        "--n-features",
        "--features",
        metavar="N,N,…",
        help="Numbers of features to score.",
        show_default="1 … all, or 5, 10, … 100",
    ),
]
ProtocolOption = Annotated[
    Protocol,
    typer.Option(
        "--protocol",
        help="nested ranks on training folds alone; paper ranks on all rows, as is often "
        "published, and flatters the method.",
    ),
]
FoldsOption = Annotated[int, typer.Option("--cv", help="Folds.", min=2)]
RepeatsOption = Annotated[int, typer.Option("--repeats", help="Times to split anew.", min=1)]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 uses every core.")]
PictureOption = Annotated[
    Path | None,
    typer.Option("--picture", "-p", help="Draw the curves here (.png, .svg or .pdf)."),
]
ScoresOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the score of every fold here.")
]
