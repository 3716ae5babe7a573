"""Detect text columns that are numbers with decimal commas."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_THOUSANDS = r"[+-]?[1-9]\d{0,2}(?:,\d{3})*(?:\.\d+)?|0(?:\.\d+)?"


def looks_like_decimal_commas(column: pd.Series) -> bool:
    """Tell whether a text column holds numbers such as 1,5."""
    if column.dtype.kind in "biufcMm":
        return False
    text = column.dropna().astype(str)
    number = r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*|\s*[+-]?\d+\s*"
    # Commas that could also be thousands separators do not count.
    with_comma = text[text.str.contains(",")].str.strip()
    return bool(text.str.fullmatch(number).all() and not with_comma.str.fullmatch(_THOUSANDS).all())
