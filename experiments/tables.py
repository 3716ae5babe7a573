"""Frames of results as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd


def markdown_table(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a frame, without its index, as a Markdown table; missing numbers are left empty.

    >>> print(markdown_table(pd.DataFrame({"set": ["wine"], "score": [0.98765]})))
    | set | score |
    | --- | ---: |
    | wine | 0.988 |
    """
    numeric = [frame[column].dtype.kind in "iuf" for column in frame.columns]
    lines = [list(map(str, frame.columns)), ["---:" if right else "---" for right in numeric]]
    lines += [[_cell(value, digits) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(value: object, digits: int) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.{digits}f}"
    return str(value)


def titled(tables: Mapping[str, str]) -> str:
    """Tables below their titles, which are no headings: a page may fold them away."""
    return "\n\n".join(f"**{title}**\n\n{text}" for title, text in tables.items())
