"""Do the guarantees hold? Simulated error rates of the tools around the ranking.

One module for each tool, with its ``STUDIES`` and the ``TABLES`` that ``docs/guarantees.md`` shows.
"""

from __future__ import annotations

import pandas as pd

from experiments.study import results

from . import attacks, dependence, interactions, knockoffs, stability, verdicts

MODULES = (verdicts, knockoffs, dependence, stability, interactions, attacks)
STUDIES = [study for module in MODULES for study in module.STUDIES]


def error_rates() -> list[tuple[str, float, pd.DataFrame]]:
    """Of each tool and level, rates of errors (false) with their error (s.e.), by design."""
    called = results("guarantees-verdicts").query("method == 'covmin' and runs >= 100")
    rates = [
        (
            f"verdicts: {kind}",
            verdicts.FDR,
            called[["design", f"false {kind}", f"false {kind}, s.e."]],
        )
        for kind in ("needed", "relevant")
    ]
    known = results("guarantees-knockoffs").query("method == 'ccm'")
    known["design"] = known["response"] + ", " + known["rho"].map(knockoffs.design)
    columns = ["design", "level", "fdr", "fdr, s.e."]
    both = pd.concat([known[columns], results("guarantees-columns")[columns]], ignore_index=True)
    rates += [
        ("knockoffs", level, part.drop(columns="level")) for level, part in both.groupby("level")
    ]
    tests = results("guarantees-test")
    tests = tests[~tests["question"].isin(list(dependence.QUESTIONS))]
    found = results("guarantees-interactions")
    for tool, frame, design, rate, runs in (
        ("test", tests, tests["question"] + ", n = " + tests["n"].astype(str), "rejected", "runs"),
        ("interactions", found, found["features"] + ": " + found["response"], "found", "tables"),
    ):
        error = (dependence.ALPHA * (1.0 - dependence.ALPHA) / frame[runs]) ** 0.5
        rates.append((tool, dependence.ALPHA, pd.DataFrame([design, frame[rate], error]).T))
    again = results("guarantees-attacks")
    again["design"] += ", n = " + again["n"].astype(str)
    levels = {"test": dependence.ALPHA, "verdicts": attacks.LEVEL, "knockoffs 0.2": 0.2}
    for tool, level in levels.items():
        part = again.loc[again["tool"] == tool, ["design", "false", "false, s.e."]]
        rates.append((f"{tool.split()[0]}, second look", level, part))
    return [
        (tool, level, part.set_axis(["design", "false", "s.e."], axis=1))
        for tool, level, part in rates
    ]


def page_errors() -> pd.DataFrame:
    """For each tool, the design with the highest rate, and how many are above the level."""
    rows = []
    for tool, level, part in error_rates():
        worst = part.loc[part["false"].astype(float).idxmax()]
        above = (part["false"] > level + 2.0 * part["s.e."]).sum()
        row = {
            "tool": tool,
            "nominal": f"{level:g}",
            "designs": len(part),
            "above by 2 s.e.": above,
        }
        row |= {"highest rate": float(worst["false"]), "at": worst["design"]}
        rows.append((above == 0, row))
    return pd.DataFrame([row for _, row in sorted(rows, key=lambda each: each[0])])


TABLES = {name: table for module in MODULES for name, table in module.TABLES.items()}
TABLES["errors"] = (page_errors, 3)
