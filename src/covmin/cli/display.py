"""Output of the command line."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from covmin.selection.summary import beside_the_rank, measure_text
from covmin.text import count_of, p_value, printable, shortened, with_p_value

from .errors import CommandError

# A table without lines.
BARE: Any = {"box": None, "header_style": "dim", "pad_edge": False, "padding": (0, 2, 0, 0)}
_STYLES = {"needed": "bold green", "relevant": "green", "given": "cyan"}
_LONGEST_NAME = 60
# Most features in a table, and most pairs and the like in a line.
_TOP, _LISTED = 20, 10


def sparkline(values: Sequence[float]) -> str:
    """Draw numbers as a line of block characters, scaled to their range."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return "".join("▁▂▃▄▅▆▇█"[round(7 * (x - low) / ((high - low) or 1.0))] for x in values)


def say(text: str, style: str = "") -> None:
    """Print text that is made safe, line by line."""
    Console().print(Text(_safe(text), style))


def show_selection(found: dict[str, Any], source: str, fdr: float | None = None) -> None:
    """Print a summary: headline, leading features, choice and its reason, remarks."""
    features, classes = found["features"], found["classes"]
    kind = found["task"] if classes is None else count_of(len(classes), "class", "classes")
    size = f"{count_of(found['n_samples'], 'sample')}, {count_of(found['n_features'], 'feature')}"
    say(f"{_name(source)}: {size}, target {_name(found['target'])} ({kind})", "dim")
    say(found["headline"], "bold")
    print()
    title, said, beside = beside_the_rank(features)
    Console().print(_ranking(features[:_TOP], title, beside))
    if len(features) > _TOP:
        say(f"… and {len(features) - _TOP} more (--json or --report show them)", "dim")
    say(f"{said}\n", "dim")
    if found["cv_results"] is not None:
        Console().print(_curve(found["cv_results"], found["n_selected"]))
    lines = [found["why"], *_measures(found), *_effects("Interactions", found["interactions"])]
    lines += _effects("Features that affect the spread", found["spread"])
    for line in lines:
        say(line)
    if found["verdicts"] is not None:
        _show_verdicts(found["verdicts"], fdr)
    show_remarks("Warning", found["warnings"], "yellow")
    show_remarks("Note", found["notes"], "dim")


def _name(name: str) -> str:
    """Return a name that is short and safe to print."""
    return shortened(printable(name), _LONGEST_NAME)


def _wrapped(name: str, width: int) -> str:
    """Break a name into lines after its separators."""
    return "\n".join(re.findall(rf".{{1,{max(width, 9)}}}(?:(?<=[-_./:|])|$)|.+", name))


def _ranking(features: list[dict[str, Any]], title: str, beside: list[tuple[str, float]]) -> Table:
    """Return a table of features, with a number and a bar."""
    table, room = Table(**BARE), Console().width - len(title) - 32
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold")
    table.add_column(title, justify="right")
    table.add_column("", min_width=10)
    table.add_column("")
    for row, (value, bar) in zip(features, beside, strict=False):
        table.add_row(
            str(row["rank"] or "given"),
            Text(_wrapped(_name(row["name"]), room)),
            value,
            Text("━" * round(10 * bar), style="cyan" if row["kept"] else "dim"),
            Text("selected", style="green") if row["kept"] else "",
            style="" if row["kept"] else "dim",
        )
    return table


def _curve(curve: dict[str, Any], m: int) -> Text:
    sizes = curve["n_features"]
    drawn = Text(sparkline(curve["error"]))
    if m in sizes:
        drawn.stylize("bold cyan reverse", sizes.index(m), sizes.index(m) + 1)
    ends = (f"  {sizes[0]} … {sizes[-1]} features", "dim")
    return Text.assemble(f"Cross-validated {curve['measure']}  ", drawn, ends)


def _measures(found: dict[str, Any]) -> list[str]:
    """Describe how well the response is predicted, against a prediction without features."""
    told = [
        f"{row['title']} {measure_text(row['name'], row['value'])} "
        f"({measure_text(row['name'], row['without'])})"
        for row in found["measures"]
        if row["name"] not in ("error", "concordance") and row["without"] is not None
    ]
    if not told:
        return []
    line = f"Cross-validated (in brackets: without any features): {', '.join(told)}."
    return [line, found["imbalance"]] if found["imbalance"] else [line]


def _effects(title: str, rows: list[dict[str, Any]]) -> list[str]:
    """List sets of features with their p-values, if there are any."""
    named = [
        " × ".join(map(_name, row["features"]))
        + (f" ({with_p_value(row['p_value'])})" if row["p_value"] is not None else "")
        for row in rows[:_LISTED]
    ]
    more = f" and {len(rows) - _LISTED} more" if len(rows) > _LISTED else ""
    more += f" ({with_p_value(None)})" if rows and rows[0]["p_value"] is None else ""
    return [f"{title}: {', '.join(named)}{more}."] if rows else []


def _show_verdicts(rows: list[dict[str, Any]], fdr: float | None) -> None:
    """Print the first verdicts as a table, with an explanation."""
    table = Table(**BARE)
    for title in ("feature", "verdict", "p, needed", "p, relevant", "substitutes"):
        is_p = title.startswith("p, ")
        table.add_column(title, overflow="fold", justify="right" if is_p else "left")
    for row in rows[:_TOP]:
        table.add_row(
            _name(row["name"]),
            Text(row["verdict"], _STYLES.get(row["verdict"], "dim")),
            p_value(row["needed_p"]),
            p_value(row["relevant_p"]),
            ", ".join(map(_name, row["substitutes"])),
        )
    counts = Counter(row["verdict"] for row in rows)
    said = f"{counts['needed']} needed, {counts['relevant']} relevant, of {len(rows)}."
    say(f"\nVerdicts: {said}", "bold")
    Console().print(table)
    if len(rows) > _TOP:
        say(f"… and {len(rows) - _TOP} more", "dim")
    said = "needed: explains the target beyond all others; relevant: explains it, but has"
    bound = "The expected fraction of false ones, among the needed and among all, is at most"
    say(f"{said} substitutes. {bound} {fdr:g}.", "dim")


def show_remarks(label: str, remarks: Iterable[str], style: str) -> None:
    """Print remarks, each with a label."""
    for remark in remarks:
        say(f"{label}: {remark}", style)


def show_files(**paths: Path | None) -> None:
    """Print the paths of the files written; ``_`` in a name is shown as a blank."""
    for name, path in paths.items():
        if path is not None:
            print(f"{name.replace('_', ' ')}: {printable(str(path))}")


def show_json(value: dict[str, Any]) -> None:
    """Print one JSON object, in ASCII."""
    print(json.dumps(value, allow_nan=False))


def show_error(error: CommandError) -> None:
    """Print an error and advice, without line breaks, so that it can be copied."""
    console = Console(stderr=True)
    console.print(Text.assemble(("Error: ", "bold red"), _safe(error.message)), soft_wrap=True)
    if error.hint:
        console.print(Text(_safe(error.hint)), soft_wrap=True)


def _safe(text: str) -> str:
    """Return text that is safe to print, line by line."""
    return "\n".join(map(printable, text.split("\n")))
