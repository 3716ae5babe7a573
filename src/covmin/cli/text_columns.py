"""Columns that are no numbers: what they hold instead, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from covmin.data.checks import listed, printable
from covmin.data.tables import encode_categories, is_category

from .columns import in_option
from .errors import CommandError, ExitCode

if TYPE_CHECKING:
    import pandas as pd

# Years first, or last, with or without a time after them.
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[T ]\d{1,2}:\d{2}.*)?"
_THOUSANDS = r"[+-]?[1-9]\d{0,2}(?:,\d{3})*(?:\.\d+)?|0(?:\.\d+)?"
_POINTS = r"[+-]?[1-9]\d{0,2}(?:\.\d{3})*(?:,\d+)?"
_PER_CENT = r"[+-]?[\d.,]+\s*%"
# A column is one of numbers where at most this share of its values are not.
_FEW_STRAYS = 0.5
_SHOWN = 8


def refuse_text(X: pd.DataFrame, columns: list[str]) -> None:
    """Refuse columns that are neither numbers nor categories; ``columns`` are all of the table."""
    from pandas.api.types import is_numeric_dtype

    text = [name for name in X if not (is_numeric_dtype(X[name]) or is_category(X[name].dtype))]
    commas = [name for name in text if looks_like_decimal_commas(X[name])]
    if commas:
        points = any(X[name].dtype.kind == "f" for name in X)
        raise CommandError(
            f"{len(commas)} column(s) hold numbers with a decimal comma: {listed(commas)}.",
            ExitCode.DATA,
            "Others have a decimal point: write all columns with points."
            if points
            else "Read them as numbers with --decimal ,",
        )
    if text:
        raise _not_numbers(X[text], columns, others=X.shape[1] > len(text))


def _not_numbers(X: pd.DataFrame, columns: list[str], others: bool) -> CommandError:
    """The error on columns of text; ``others`` are left where all of them are dropped."""
    held = {name: contents(X[name]) for name in X}
    told = "".join(f"\n  {printable(name)}: {held[name]}" for name in list(held)[:_SHOWN])
    more = f"\n  and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
    grouped = [name for name, what in held.items() if what.startswith("text") and _groups(X[name])]
    rest = [name for name in held if name not in grouped]
    ways = ["Correct the file"]
    if others:
        ways.append(f"leave these columns out:\n  {in_option('--drop', list(held), columns)}")
    if grouped:
        options = in_option("--categorical", grouped, columns)
        options += f" {in_option('--drop', rest, columns)}" if rest else ""
        ways.append(f"take categories as such:\n  {options}")
    hint = "\nor ".join([", or ".join(ways[:2]), *ways[2:]])
    return CommandError(
        f"{len(held)} column(s) do not hold numbers:{told}{more}", ExitCode.DATA, hint
    )


def _groups(column: pd.Series) -> bool:
    """Whether a fit takes the values as categories; those that tell rows apart it refuses."""
    try:
        encode_categories(column.dropna().to_frame(), np.array([True]))
    except ValueError:
        return False
    return True


def looks_like_decimal_commas(column: pd.Series) -> bool:
    """Whether a column of text holds numbers such as 1,5."""
    if column.dtype.kind in "biufcMm":
        return False
    text = column.dropna().astype(str)
    number = r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*|\s*[+-]?\d+\s*"
    # Commas that may as well stand between thousands say nothing.
    with_comma = text[text.str.contains(",")].str.strip()
    return bool(text.str.fullmatch(number).all() and not with_comma.str.fullmatch(_THOUSANDS).all())


def contents(column: pd.Series) -> str:
    """What a column that is not numbers holds, in words, with an example."""
    import pandas as pd

    present = column.notna().to_numpy()
    text = column[present].astype(str).str.strip().reset_index(drop=True)
    if text.empty:
        return "nothing, every cell is empty"
    first = repr(text[0])
    if column.dtype.kind in "Mm" or text.str.fullmatch(_DATE).all():
        return f"dates, such as {first}; turn them into numbers, such as days since the first"
    stray = pd.to_numeric(text, errors="coerce").isna().to_numpy()
    if not stray.any():
        return f"numbers stored as text, such as {first}; store them as numbers"
    if text.str.fullmatch(_THOUSANDS).all():
        example = repr(text[text.str.contains(",")].iloc[0])
        clear = text.str.count(",").max() > 1 or text.str.contains(".", regex=False).any()
        return f"numbers with commas between thousands, such as {example}; write them without" + (
            "" if clear else ", or use --decimal , if they are decimal commas"
        )
    if text.str.fullmatch(_POINTS).all():
        return (
            f"numbers with points between thousands, such as {first}; write them without, and use "
            "--decimal ,"
        )
    if text.str.fullmatch(_PER_CENT).all():
        return f"percentages, such as {first}; write them without the sign"
    if stray.mean() <= _FEW_STRAYS:
        strays = _with_rows(text, stray, present)
        return f"numbers, but for {strays}; leave cells without a value empty"
    return f"text, such as {first} ({text.nunique()} values)"


def _with_rows(text: pd.Series, stray: Any, present: Any) -> str:
    """The first values that are not numbers, with the rows they stand in."""
    places = np.flatnonzero(stray)
    rows = np.flatnonzero(present)[places] + 1
    told = [f"{text[i]!r} (row {row})" for i, row in zip(places[:3], rows[:3], strict=True)]
    more = f" and {places.size - 3} more" if places.size > 3 else ""
    return ", ".join(told) + more
