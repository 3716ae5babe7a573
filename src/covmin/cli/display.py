"""What the command line prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .errors import CommandError

__all__ = ["ranking_table", "selection_summary", "show_error", "sparkline"]

_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], low: float | None = None, high: float | None = None) -> str:
    """Numbers as a line of blocks.

    Parameters
    ----------
    values : sequence of float
    low, high : float, optional
        Values of the lowest and the highest block; the extremes by default.

    Returns
    -------
    str

    Examples
    --------
    >>> sparkline([1.0, 0.5, 0.25, 0.25])
    '█▃▁▁'
    """
    numbers = np.asarray(values, dtype=float)
    if numbers.size == 0:
        return ""
    low = float(numbers.min()) if low is None else low
    high = float(numbers.max()) if high is None else high
    share = (numbers - low) / ((high - low) or 1.0)
    return "".join(_BLOCKS[int(level)] for level in np.clip(np.rint(share * 7), 0, 7))


def ranking_table(selector: Any, names: Sequence[str], top: int) -> Table:
    """The first rows of a ranking, with weights and how they fare along the path.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    names : sequence of str
    top : int
        Most rows.

    Returns
    -------
    rich.table.Table
    """
    sizes = selector.path_.n_features
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold")
    table.add_column("weight", justify="right")
    table.add_column("", min_width=10)
    staged = len(sizes) > 1
    if staged:
        table.add_column(f"path {sizes[0]}→{sizes[-1]}", no_wrap=True)
    table.add_column("")
    order = np.argsort(selector.ranking_, kind="stable")
    for j in order[: max(top, 1)]:
        weight, chosen = selector.weights_[j], bool(selector.support_[j])
        table.add_row(
            str(selector.ranking_[j] or "given"),
            escape(names[j]),
            f"{weight:.2f}",
            Text("━" * round(10 * weight), style="cyan" if chosen else "dim"),
            *([sparkline(selector.path_.weights[:, j], 0.0, 1.0)] if staged else []),
            Text("kept", style="green") if chosen else "",
            style="" if chosen else "dim",
        )
    return table


def selection_summary(selector: Any, names: Sequence[str], title: str, top: int) -> Group:
    """The whole answer: what was asked, the ranking, the choice and why.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    names : sequence of str
    title : str
        What was asked.
    top : int
        Most rows of the ranking.

    Returns
    -------
    rich.console.Group
    """
    from covmin.report import error_curve, explain_choice

    parts: list[Any] = [Text(title, style="bold"), "", ranking_table(selector, names, top)]
    hidden = selector.n_features_in_ - top
    if hidden > 0:
        parts.append(Text(f"… and {hidden} more (--top, --json or --report show them)", "dim"))
    parts.append(Text(_legend(selector), "dim"))
    curve = error_curve(selector)
    parts.append("")
    if curve is not None:
        parts.append(_curve_line(curve, selector.n_features_))
    parts.append(Text(explain_choice(selector)))
    parts += [Text(line) for line in _interactions(selector, names)]
    return Group(*parts)


def _interactions(selector: Any, names: Sequence[str]) -> list[str]:
    """The pairs that were found, if any, in a line."""
    from covmin.report._choice import chance

    found = selector.interactions_
    pairs = [
        f"{names[a]} × {names[b]} ({chance(p_value)})"
        for (a, b), p_value in zip(found.features, found.p_value, strict=True)
    ]
    return [f"Pairs that say more together: {', '.join(pairs)}."] if pairs else []


def _legend(selector: Any) -> str:
    m, sizes = selector.n_features_, selector.path_.n_features
    text = f"weight: how much of a feature is used with {m} kept, from 0 (not) to 1 (fully)"
    if len(sizes) == 1:
        return text
    return f"{text}\npath: its weight as fewer and fewer are kept; who stays longest ranks first"


def _curve_line(curve: dict[str, Any], m: int) -> Text:
    sizes = curve["n_features"]
    line = Text("Cross-fitted error  ")
    spark = Text(sparkline(curve["error"]))
    if m in sizes:
        spark.stylize("bold cyan reverse", sizes.index(m), sizes.index(m) + 1)
    line.append(spark)
    return line.append(f"  {sizes[0]} … {sizes[-1]} features", "dim")


def show_error(error: CommandError) -> None:
    """Print a failure and what to do about it on standard error.

    Parameters
    ----------
    error : CommandError
    """
    console = Console(stderr=True)
    console.print(Text.assemble(("Error: ", "bold red"), error.message))
    if error.hint:
        console.print(Text(error.hint))
