"""Frames of results as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


def by_selector(frame: pd.DataFrame, value: str, keys: list[str]) -> pd.DataFrame:
    """Means of a value, a column for each selector, ours first."""
    wide = frame.pivot_table(value, keys, "selector", sort=False)
    return wide[["ccm", *wide.columns.drop("ccm")]]


def common(frame: pd.DataFrame, cell: list[str]) -> pd.DataFrame:
    """The rows of those cells that every selector has run."""
    counts = frame.groupby(cell)["selector"].transform("nunique")
    return frame[counts == frame["selector"].nunique()]


def each(
    value: str, *keys: str, same: bool = False, digits: int = 2
) -> Callable[[pd.DataFrame], str]:
    """A report of a study: means for each value of the keys, and mean seconds.

    ``same``: of those draws alone that every selector has run.
    """

    def report(frame: pd.DataFrame) -> str:
        frame = common(frame, [*keys, "draw"]) if same else frame
        names = frame.astype(dict.fromkeys(keys, str))
        wide = by_selector(names, value, list(keys)).reset_index()
        seconds = {keys[0]: "seconds of a fit, mean"} | dict.fromkeys(keys[1:], "")
        wide.loc[len(wide)] = frame.groupby("selector")["seconds"].mean()
        wide.loc[len(wide) - 1, list(seconds)] = list(seconds.values())
        return markdown_table(wide, digits)

    return report
