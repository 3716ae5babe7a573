"""Fit and show the verdicts of --verdicts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from covmin.text import p_value, printable, shortened

from .display import BARE
from .errors import CommandError, ExitCode
from .problem import Dataset

if TYPE_CHECKING:
    from covmin import VerdictSelector

# Parameters that both selectors share.
_SHARED = (
    *("given", "feature_groups", "column_types"),
    *("task", "n_jobs", "random_state"),
)
_STYLES = {"needed": "bold green", "relevant": "green", "given": "cyan"}
_NAME = 60


def check_rate(fdr: float | None) -> None:
    """Raise an error if the rate is not between 0 and 1."""
    if fdr is not None and not 0.0 < fdr < 1.0:
        raise CommandError(
            f"--fdr {fdr:g} is not between 0 and 1.",
            ExitCode.USAGE,
            "It is the fraction of false discoveries to allow, such as --fdr 0.1.",
        )


def fit_verdicts(
    dataset: Dataset, fdr: float, arguments: Mapping[str, Any], *, quiet: bool
) -> VerdictSelector:
    """Test every feature, with the table read as for the ranking."""
    from covmin import VerdictSelector

    shared = {name: arguments[name] for name in _SHARED if name in arguments}
    selector = VerdictSelector(fdr=fdr, verbose=0 if quiet else "auto", **shared)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # already issued with the ranking
        return selector.fit(*(dataset.stored or (dataset.X, dataset.response)))


def verdict_rows(
    selector: VerdictSelector | None, names: Sequence[str]
) -> list[dict[str, Any]] | None:
    """Return the verdicts for --json, needed features first; None without --verdicts."""
    if selector is None:
        return None
    return [
        {
            "feature": names[j],
            "verdict": str(selector.verdicts_[j]),
            "needed_p_value": _number(selector.needed_pvalues_[j]),
            "relevant_p_value": _number(selector.relevant_pvalues_[j]),
            "substitutes": [names[k] for k in selector.substitutes_[j]],
        }
        for j in np.argsort(selector.ranking_, kind="stable")
    ]


def verdict_table(selector: VerdictSelector, names: Sequence[str], top: int) -> Group:
    """Return the first verdicts as a table, with an explanation."""
    table = Table(**BARE)
    for title in ("feature", "verdict"):
        table.add_column(title, overflow="fold")
    for title in ("p, needed", "p, relevant"):
        table.add_column(title, justify="right")
    table.add_column("substitutes", overflow="fold")
    rows = verdict_rows(selector, [shortened(printable(name), _NAME) for name in names]) or []
    for row in rows[:top]:
        verdict = row["verdict"]
        p_values = [p_value(row[f"{kind}_p_value"]) for kind in ("needed", "relevant")]
        styled = Text(verdict, _STYLES.get(verdict, "dim"))
        table.add_row(row["feature"], styled, *p_values, ", ".join(row["substitutes"]))
    counts = {word: int((selector.verdicts_ == word).sum()) for word in ("needed", "relevant")}
    found = f"{counts['needed']} needed, {counts['relevant']} relevant, of {len(rows)}."
    legend = (
        "needed: explains the target beyond all others; relevant: explains it, but has "
        "substitutes. The expected fraction of false ones, among the needed and among all, is at "
        f"most {selector.fdr:g}."
    )
    hidden = [Text(f"… and {len(rows) - top} more", "dim")] if len(rows) > top else []
    return Group("", Text(f"Verdicts: {found}", "bold"), table, *hidden, Text(legend, "dim"))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
