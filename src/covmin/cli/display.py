"""Output of the command line."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from covmin.text import count_of, printable, shortened, with_p_value

from .errors import CommandError

# A table without lines.
BARE: Any = {"box": None, "header_style": "dim", "pad_edge": False, "padding": (0, 2, 0, 0)}
_BLOCKS = "▁▂▃▄▅▆▇█"
# Longest name to show, in characters.
_NAME = 60
# Most pairs and the like to list in a line.
_NAMED = 10


def sparkline(values: Sequence[float], low: float | None = None, high: float | None = None) -> str:
    """Draw numbers as a line of block characters, scaled to their range by default."""
    numbers = np.asarray(values, dtype=float)
    if numbers.size == 0:
        return ""
    low = float(numbers.min()) if low is None else low
    high = float(numbers.max()) if high is None else high
    share = (numbers - low) / ((high - low) or 1.0)
    return "".join(_BLOCKS[int(level)] for level in np.clip(np.rint(share * 7), 0, 7))


def show_selection(
    found: dict[str, Any], selector: Any, source: str, names: Sequence[str], top: int
) -> Group:
    """Return the whole summary: headline, first ``top`` features, choice and its reason."""
    names = [_name(name) for name in names]
    who, does, target, how = found["headline_parts"]
    parts: list[Any] = [
        Text(_title(found, source), "dim"),
        Text(" ".join(part for part in (who, does, _name(target), how) if part), "bold"),
        "",
        _ranking(selector, names, top),
    ]
    hidden = selector.n_features_in_ - top
    if hidden > 0:
        parts.append(Text(f"… and {hidden} more (--top, --json or --report show them)", "dim"))
    parts += [Text(_legend(selector), "dim"), ""]
    if found["cv_results"] is not None:
        parts.append(_curve_line(found["cv_results"], found["n_selected"]))
    parts.append(Text(found["why"]))
    parts += [Text(line) for line in _measures(found)]
    parts += [Text(line) for line in _interactions(found, names)]
    return Group(*parts)


def _name(name: str) -> str:
    """Return a name that is short and safe to print."""
    return shortened(printable(name), _NAME)


def _title(found: dict[str, Any], source: str) -> str:
    classes = found["classes"]
    kind = found["task"] if classes is None else count_of(len(classes), "class", "classes")
    samples = count_of(found["n_samples"], "sample")
    features = count_of(found["n_features"], "feature")
    return f"{_name(source)}: {samples}, {features}, target {_name(found['target'])} ({kind})"


def _measures(found: dict[str, Any]) -> list[str]:
    """Describe how well the response is predicted, against a prediction without features."""
    from covmin.selection.summary import measure_text

    measures = []
    for row in found["measures"]:
        name, value, without = row["name"], row["value"], row["without"]
        if name != "error" and without is not None:
            value, without = measure_text(name, value), measure_text(name, without)
            measures.append(f"{row['title']} {value} ({without})")
    if not measures:
        return []
    told = f"Cross-validated (in brackets: without any features): {', '.join(measures)}."
    return [told, found["imbalance"]] if found["imbalance"] else [told]


def _ranking(selector: Any, names: Sequence[str], top: int) -> Table:
    """Return the first rows of the ranking, with weights along the path."""
    sizes = selector.path_.n_features
    table = Table(**BARE)
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold")
    table.add_column("weight", justify="right")
    table.add_column("", min_width=10)
    staged = len(sizes) > 1
    if staged:
        table.add_column(f"path {sizes[0]}→{sizes[-1]}", no_wrap=True)
    table.add_column("")
    for j in np.argsort(selector.ranking_, kind="stable")[:top]:
        weight, chosen = selector.weights_[j], bool(selector.support_[j])
        table.add_row(
            str(selector.ranking_[j] or "given"),
            Text(names[j]),
            f"{weight:.2f}",
            Text("━" * round(10 * weight), style="cyan" if chosen else "dim"),
            *([sparkline(selector.path_.weights[:, j], 0.0, 1.0)] if staged else []),
            Text("selected", style="green") if chosen else "",
            style="" if chosen else "dim",
        )
    return table


def _interactions(found: dict[str, Any], names: Sequence[str]) -> list[str]:
    """List the interacting pairs, and the features that affect the spread."""
    pairs = [
        f"{' × '.join(names[j] for j in row['columns'])} ({with_p_value(row['p_value'])})"
        for row in found["interactions"]
    ]
    lines = [f"Interacting pairs: {_some(pairs)}."] if pairs else []
    spread = [f"{names[row['column']]} ({with_p_value(row['p_value'])})" for row in found["spread"]]
    return [*lines, f"Features that affect the spread: {_some(spread)}."] if spread else lines


def _some(items: Sequence[str]) -> str:
    more = len(items) - _NAMED
    return ", ".join(items[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _legend(selector: Any) -> str:
    m, sizes = selector.n_features_, selector.path_.n_features
    are = "is" if m == 1 else "are"
    text = f"weight: from 0 (not used) to 1 (fully used), when {m} {are} selected"
    path = "\npath: weight at each stage, with fewer features each time; the last ranks first"
    return text + path if len(sizes) > 1 else text


def _curve_line(curve: dict[str, Any], m: int) -> Text:
    sizes = curve["n_features"]
    spark = Text(sparkline(curve["error"]))
    if m in sizes:
        spark.stylize("bold cyan reverse", sizes.index(m), sizes.index(m) + 1)
    ends = (f"  {sizes[0]} … {sizes[-1]} features", "dim")
    return Text.assemble(f"Cross-validated {curve['measure']}  ", spark, ends)


def show_remarks(label: str, remarks: Iterable[str], style: str) -> None:
    """Print remarks, each with a label."""
    for remark in remarks:
        Console().print(Text(f"{label}: {_safe(remark)}", style))


def show_files(**paths: Path | None) -> None:
    """Print the paths of the files written; ``_`` in a name is shown as a blank."""
    for name, path in paths.items():
        if path is not None:
            print(f"{name.replace('_', ' ')}: {printable(str(path))}")


def show_json(value: dict[str, Any]) -> None:
    """Print one JSON object, in ASCII if a name contains control characters."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    print(text if text.isprintable() else json.dumps(value, allow_nan=False))


def show_error(error: CommandError) -> None:
    """Print an error and advice, without line breaks, so that it can be copied."""
    console = Console(stderr=True)
    console.print(Text.assemble(("Error: ", "bold red"), _safe(error.message)), soft_wrap=True)
    if error.hint:
        console.print(Text(_safe(error.hint)), soft_wrap=True)


def _safe(text: str) -> str:
    """Return text that is safe to print, line by line."""
    return "\n".join(map(printable, text.split("\n")))
