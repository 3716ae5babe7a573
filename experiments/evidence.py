"""The tables of ``docs/evidence.md`` and ``docs/formulations.md``, from ``experiments/results``.

Run as ``python -m experiments.evidence`` to print them; ``make evidence`` puts them into the
pages.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import pandas as pd

from experiments.pages import Tables
from experiments.tables import markdown_table

ROOT = Path(__file__).parent
OURS = ("ccm", "ccm-single")
GAUSSIAN = "ccm-gaussian"
# The path with the kernel and ε of the single solve: what the path alone changes.
PATH = "ccm-path"
RIVALS = ("mrmr", "bahsic", "mi")  # those in the paper's figure of the real sets
VARIANTS = {"soft, λ₁": "ccm-soft-", "inverse-free, λ₂": "ccm-free-", "Fourier, D": "ccm-fourier-"}
LEAKY = {"glass": "glass-no-id", "vowel": "vowel-speakers"}
NEAR = 0.05
POINT = 0.01
_ROUNDING = 1e-9


@cache
def synthetic() -> pd.DataFrame:
    return pd.read_csv(ROOT / "results" / "synthetic.csv")


@cache
def real() -> pd.DataFrame:
    frame = pd.read_csv(ROOT / "results" / "real.csv")
    frame["largest"] = frame.groupby("dataset")["n_features"].transform("max")
    return frame


def ranks(task: str) -> pd.DataFrame:
    """Mean ranks: a row for each number of samples, a column for each selector."""
    rows = synthetic()[synthetic()["task"] == task]
    return rows.pivot(index="n_samples", columns="selector", values="mean_rank")


def tasks() -> list[str]:
    return list(dict.fromkeys(synthetic()["task"]))


def baselines(columns: pd.Index) -> list[str]:
    return [name for name in columns if not name.startswith("ccm")]


def scores(protocol: str, n_features: int | None = None) -> pd.DataFrame:
    """Mean scores at the largest number of features, or at a given one on the wide sets.

    Methods that have not been run on every set are left out.
    """
    rows = real()[real()["protocol"] == protocol]
    if n_features is None:
        rows = rows[rows["n_features"] == rows["largest"]]
    else:
        rows = rows[(rows["n_features"] == n_features) & (rows["largest"] == 100)]
    wide = rows.pivot(index="dataset", columns="selector", values="mean_score")
    order = [n for n in dict.fromkeys(rows["selector"]) if wide[n].notna().all()]
    return wide.loc[list(dict.fromkeys(rows["dataset"])), order]


def paper_sets(wide: pd.DataFrame) -> pd.DataFrame:
    return wide.drop(index=[name for name in LEAKY.values() if name in wide.index])


def table_ranks() -> pd.DataFrame:
    parts = []
    for task in tasks():
        wide = ranks(task).loc[[30, 50, 100]].T
        order = [n for n in (*OURS, GAUSSIAN, *baselines(wide.index)) if n in wide.index]
        wide = wide.loc[order].add_prefix(f"{task}, n=")
        parts.append(wide)
    return pd.concat(parts, axis=1).rename_axis("selector").reset_index()


def table_reach() -> pd.DataFrame:
    """Smallest number of samples from which the mean rank stays close to the optimum."""
    rows = []
    for task in tasks():
        optimal = synthetic().loc[synthetic()["task"] == task, "optimal"].iloc[0]
        for name, column in ranks(task).items():
            if name in OURS or not name.startswith("ccm"):
                far = column.index[column > optimal + NEAR]
                first = column.index[column.index > far.max()] if len(far) else column.index
                text = str(first.min()) if len(first) else "more than 100"
                rows.append({"selector": name, "task": task, "n": text})
    wide = pd.DataFrame(rows).pivot(index="selector", columns="task", values="n")[tasks()]
    order = [*OURS, *baselines(wide.index)]
    return wide.loc[order].reset_index()


def table_gaps() -> pd.DataFrame:
    """The worst case of ours against the best baseline, over all n ≥ 30."""
    rows = []
    for task in tasks():
        wide = ranks(task).loc[30:]
        best = wide[baselines(wide.columns)]
        for name in OURS:
            gap = wide[name] - best.min(axis=1)
            n = int(gap.idxmax())
            rows.append(
                {
                    "task": task,
                    "selector": name,
                    "largest gap to the best baseline": gap.max(),
                    "at n": n,
                    "best baseline there": best.loc[n].idxmin(),
                }
            )
    return pd.DataFrame(rows)


def table_variants() -> pd.DataFrame:
    """Mean rank over n ≥ 30 less that of the exact single solve."""
    rows = []
    for family, prefix in VARIANTS.items():
        counts = synthetic().groupby("selector", sort=False)["n_draws"].sum()
        names = [n for n in counts.index[counts == counts.max()] if n.startswith(prefix)]
        for name in names:
            row: dict[str, object] = {"variant": f"{family} = {name.removeprefix(prefix)}"}
            for task in tasks():
                wide = ranks(task).loc[30:]
                row[task] = (wide[name] - wide["ccm-single"]).mean()
            rows.append(row)
    return pd.DataFrame(rows)


def table_bahsic() -> pd.DataFrame:
    frame = pd.read_csv(ROOT / "results" / "bahsic-xor.csv")
    wide = frame.pivot(index=["classes", "bandwidth"], columns="n_samples", values="mean_rank")
    wide = wide.add_prefix("n=").reset_index()
    return wide.sort_values(["classes", "n=100"], ascending=[False, True])


def table_largest(protocol: str) -> pd.DataFrame:
    return _with_best(scores(protocol))


def table_ten(protocol: str) -> pd.DataFrame:
    return _with_best(scores(protocol, 10))


def _with_best(wide: pd.DataFrame) -> pd.DataFrame:
    wide = wide.dropna(axis=1)  # a method whose run is not finished has no column
    return wide.assign(best=wide.round(3).apply(_names_of_best, axis=1)).reset_index()


def _names_of_best(row: pd.Series) -> str:
    """All methods at the top, or a word where it is all of them."""
    names = row.index[row == row.max()]
    return "all" if names.size == row.size else ", ".join(names)


def table_optimism() -> pd.DataFrame:
    """Paper's protocol less the nested one, in points, averaged over the wide sets."""
    rows = []
    for n_features in (10, 50, 100):
        gap = (scores("paper", n_features) - scores("nested", n_features)).mean() * 100
        rows.append({"number of features": n_features, **gap.to_dict()})
    return pd.DataFrame(rows).dropna(axis=1, how="all")


def table_leaks() -> pd.DataFrame:
    rows = []
    for protocol in ("paper", "nested"):
        wide = scores(protocol)
        for leaky, honest in LEAKY.items():
            for name in (leaky, honest):
                row = wide.loc[name, [n for n in (*OURS, *RIVALS) if n in wide.columns]]
                rows.append({"dataset": name, "protocol": protocol, **row.to_dict()})
    return pd.DataFrame(rows)


def table_average(protocol: str = "nested") -> pd.DataFrame:
    """Mean over all numbers of features on the wide sets."""
    rows = real()[(real()["protocol"] == protocol) & (real()["largest"] == 100)]
    wide = rows.groupby(["dataset", "selector"], sort=False)["mean_score"].mean().unstack()
    return _with_best(wide)


def _within(wide: pd.DataFrame, name: str) -> pd.Series:
    return wide[name] >= wide.max(axis=1) - POINT - _ROUNDING


def table_near() -> pd.DataFrame:
    """On how many sets ours are within a point of the best, at the largest m."""
    rows = []
    for protocol, name in product(("paper", "nested"), OURS):
        wide = paper_sets(scores(protocol))
        others = baselines(wide.columns)
        rivals = [n for n in RIVALS if n in others]
        for label, compared in (("mrmr, bahsic, mi", rivals), ("all eight", others)):
            near = _within(wide[[name, *compared]], name)
            rows.append(
                {
                    "protocol": protocol,
                    "selector": name,
                    "compared with": label,
                    "within a point of the best": f"{near.sum()} of {len(wide)}",
                    "further behind on": ", ".join(near.index[~near]) or "none",
                }
            )
    return pd.DataFrame(rows)


def table_gains() -> pd.DataFrame:
    """What a path gains over the single solve, in points, over the wide sets."""
    rows = []
    for protocol, n_features, name in product(("paper", "nested"), (10, 100), ("ccm", PATH)):
        wide = paper_sets(scores(protocol, n_features))
        gain = 100 * (wide[name] - wide["ccm-single"])
        rows.append(
            {
                "protocol": protocol,
                "features": n_features,
                "selector": name,
                "mean gain": f"{gain.mean():+.1f}",
                "smallest": f"{gain.min():+.1f} ({gain.idxmin()})",
                "largest": f"{gain.max():+.1f} ({gain.idxmax()})",
            }
        )
    return pd.DataFrame(rows)


def table_claims() -> pd.DataFrame:
    """Wins of the single solve over the paper's rivals, largest m and mean over m."""
    rows = []
    for protocol in ("paper", "nested"):
        wide = paper_sets(scores(protocol))
        for rival in (n for n in RIVALS if n in wide.columns):
            gap = 100 * (wide["ccm-single"] - wide[rival])
            rows.append(
                {
                    "protocol": protocol,
                    "rival": rival,
                    "better by more than a point": int((gap > 1).sum()),
                    "within a point": int((gap.abs() <= 1).sum()),
                    "worse by more than a point": int((gap < -1).sum()),
                    "TOX-171 (points)": f"{gap['TOX-171']:+.1f}",
                    "worst (points)": f"{gap.min():+.1f} ({gap.idxmin()})",
                }
            )
    return pd.DataFrame(rows)


TABLES: Tables = {
    "ranks": (table_ranks, 2),
    "reach": (table_reach, 2),
    "gaps": (table_gaps, 3),
    "bahsic": (table_bahsic, 2),
    "variants": (table_variants, 2),
    "claims": (table_claims, 1),
    "near": (table_near, 0),
    "gains": (table_gains, 1),
    "largest-paper": (lambda: table_largest("paper"), 3),
    "largest-nested": (lambda: table_largest("nested"), 3),
    "ten-paper": (lambda: table_ten("paper"), 3),
    "ten-nested": (lambda: table_ten("nested"), 3),
    "average-nested": (table_average, 3),
    "optimism": (table_optimism, 1),
    "leaks": (table_leaks, 3),
}


def main() -> None:
    for name, (make, digits) in TABLES.items():
        print(f"\n{name}\n\n{markdown_table(make(), digits)}")


if __name__ == "__main__":
    main()
