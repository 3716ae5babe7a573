"""Frames of results as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable

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


def by_selector(frame: pd.DataFrame, value: str, keys: list[str]) -> pd.DataFrame:
    """Means of a value, a column for each selector, ours first."""
    wide = frame.pivot_table(value, keys, "selector", sort=False)
    return wide[["ccm", *wide.columns.drop("ccm")]]


def each(value: str, *keys: str, digits: int = 2) -> Callable[[pd.DataFrame], str]:
    """A report of a study: means for each value of the keys, and mean seconds."""

    def report(frame: pd.DataFrame) -> str:
        wide = by_selector(frame.astype(dict.fromkeys(keys, str)), value, list(keys)).reset_index()
        first = {keys[0]: "seconds of a fit, mean"} | dict.fromkeys(keys[1:], "")
        seconds = frame.groupby("selector")["seconds"].mean().to_dict()
        wide.loc[len(wide)] = first | seconds
        return markdown_table(wide, digits)

    return report
