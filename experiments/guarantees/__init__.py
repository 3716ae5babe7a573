"""Do the guarantees hold? Simulated error rates of the tools around the ranking.

One module for each tool, with its ``STUDIES`` and the ``TABLES`` that ``docs/guarantees.md`` shows.
"""

from __future__ import annotations

import pandas as pd

from experiments.study import results

from . import attacks, dependence, fresh, interactions, knockoffs, stability, verdicts

MODULES = (verdicts, knockoffs, dependence, stability, interactions, attacks, fresh)
STUDIES = [study for module in MODULES for study in module.STUDIES]
_SHARE, _ALPHA, _RUNS = attacks.LEVEL, dependence.ALPHA, ["runs", "tables"]
_AT_LEVEL = f"level == {_SHARE}"
_NULLS = f"question not in {[*dependence.QUESTIONS]}"
# Tool, nominal rate, results, which of their rows, what names a design, and the rate.
RATES = [
    ("verdicts: needed", _SHARE, "verdicts", "runs > 0", "design", "false needed"),
    ("verdicts: relevant", _SHARE, "verdicts", "runs > 0", "design", "false relevant"),
    ("verdicts, steps", _SHARE, "steps", "runs > 0", "design", "false needed"),
    ("knockoffs", _SHARE, "knockoffs", _AT_LEVEL, "response", "fdr"),
    ("knockoffs, other columns", _SHARE, "columns", _AT_LEVEL, "design", "fdr"),
    ("test", _ALPHA, "test", _NULLS, "question", "rejected"),
    ("interactions", _ALPHA, "interactions", "found >= 0", "features", "found"),
    ("test, second look", _ALPHA, "attacks", "tool == 'test'", "design", "false"),
    ("verdicts, second look", _SHARE, "attacks", "tool == 'verdicts'", "design", "false"),
    ("knockoffs, second look", 0.2, "attacks", "tool == 'knockoffs 0.2'", "design", "false"),
    ("test, third look", _ALPHA, "fresh", "tool == 'test'", "design", "false"),
    ("verdicts, third look", _SHARE, "fresh", "tool == 'verdicts'", "design", "false"),
    ("knockoffs, third look", 0.2, "fresh", "tool == 'knockoffs 0.2'", "design", "false"),
]


def page_errors() -> pd.DataFrame:
    """For each tool, how many rates are above the level, and the highest; those above first."""
    rows = []
    for tool, level, name, which, design, rate in RATES:
        frame = results(f"guarantees-{name}").query(which)
        # Of tests at a fixed level, the error of the level.
        of_level = (level * (1 - level) / frame.filter(_RUNS).iloc[:, 0]) ** 0.5
        error = frame.get(f"{rate}, s.e.", of_level).fillna(of_level)
        worst = frame.loc[frame[rate].idxmax()]
        row = {"tool": tool, "nominal": f"{level:g}", "rates": len(frame)}
        row["above by 2 s.e."] = int((frame[rate] > level + 2 * error).sum())
        rows.append(row | {"highest": worst[rate], "at": worst[design]})
    return pd.DataFrame(rows).sort_values("above by 2 s.e.", ascending=False, kind="stable")


SHOWN = (verdicts, knockoffs, dependence, stability, interactions)  # in tables of their own
TABLES = {name: table for module in SHOWN for name, table in module.TABLES.items()}
TABLES["errors"] = (page_errors, 3)
