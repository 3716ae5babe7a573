"""pandas, where it is needed: for frames and tables only."""

from __future__ import annotations

from typing import Any

__all__ = ["describe", "markdown_table", "require_pandas"]


def require_pandas() -> Any:
    """The module pandas, or an error that says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'Results as a frame need pandas: pip install pandas, or "covmin[cli]".'
        ) from error
    return pandas


def describe(result: Any, what: str) -> str:
    """What a result holds and where to look, in place of its thousand records."""
    names = ", ".join(dict.fromkeys(record["selector"] for record in result.records))
    return (
        f"<{type(result).__name__}: {len(result.records)} {what} of {names or 'no selector'}; "
        "see .summary(), .frame and .plot()>"
    )


def markdown_table(frame: Any, digits: int = 3) -> str:
    """A frame, without its index, as a table in Markdown.

    Parameters
    ----------
    frame : pandas.DataFrame
    digits : int, default=3
        Decimals of floating-point numbers; missing ones are left empty.

    Returns
    -------
    text : str

    Examples
    --------
    >>> import pandas as pd
    >>> from covmin.evaluation.frames import markdown_table
    >>> print(markdown_table(pd.DataFrame({"set": ["wine"], "score": [0.98765]})))
    | set | score |
    | --- | ---: |
    | wine | 0.988 |
    """
    numeric = [frame[column].dtype.kind in "iuf" for column in frame.columns]
    lines = [list(map(str, frame.columns)), ["---:" if right else "---" for right in numeric]]
    lines += [[_cell(value, digits) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.{digits}f}"
    return str(value)
