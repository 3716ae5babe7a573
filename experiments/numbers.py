"""Tables and numbers of README, documentation and paper, each a function of files of results.

To add one, write a function without arguments, put its name into :data:`TABLES`, and put
``<!-- table: NAME -->`` and ``<!-- end -->`` (``number`` within a line) into a page.
"""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pandas as pd
from benchmarks.tables import in_words, times

from experiments import guarantees, migration, missing, regression
from experiments.study import results

OURS = ("ccm", "ccm-single")
RIVALS = ("mrmr", "bahsic", "mi")  # those in the paper's figure of the real sets
N_PROBES = regression.N_PROBES

# README and single pages ------------------------------------------------------------------------


def lassonet_cost() -> str:
    """Processor time of LassoNet in that of covmin, to two digits."""
    seconds = results("migration").groupby("method")["seconds"].mean()
    ratio = seconds["LassoNet"] / seconds["covmin, m given"]
    return f"{float(f'{ratio:.2g}'):.0f}"


def found_together() -> tuple[str, str]:
    """True features of XOR that covmin and others keep, on average."""
    rows = results("migration").query("task == 'XOR'")
    found, draws = rows.groupby("method")["true"].mean(), rows.groupby("method").size()

    def kept(method: str) -> str:
        return f"{float(f'{found[method]:.1f}'):g} of {migration.TASKS['XOR'][1]}"

    others = {"mRMR": "mRMR", "HSIC-Lasso": "HSIC-Lasso", "SelectKBest, F test": "F test"}
    others |= {"Boruta": "Boruta", "LassoNet": f"LassoNet, at {lassonet_cost()} times the cost"}
    words = []
    for count, methods in groupby(others, kept):
        fewer = {m: f" ({draws[m]} draws)" if draws[m] < draws.max() else "" for m in others}
        words.append(f"{count}: {', '.join(others[m] + fewer[m] for m in methods)}")
    return kept("covmin, m given"), "; ".join(words)


def accuracies(name: str = "other") -> pd.Series:
    """Mean accuracy of each selector over the sets of a collection, in per cent."""
    return 100 * results(name).groupby("selector")["accuracy"].mean()


def r2(judge: str = "kernel ridge", probes: int = N_PROBES, name: str = "regression") -> pd.Series:
    """Mean R² of each selector over the regression sets."""
    frame = regression.done_everywhere(results(name))
    wide = regression.by_split(frame, judge, probes)
    return regression.mean_and_error(wide, list(frame["dataset"].unique()))[0]


def why() -> pd.DataFrame:
    """The table of the README."""

    def beside(means: pd.Series, cell: str, first: dict[str, str]) -> tuple[str, str]:
        titles = first | {"extra-trees": "extra-trees", "mrmr": "mRMR"}
        ordered = means[list(titles)].sort_values(ascending=False)
        others = [f"{cell.format(mean)} ({titles[name]})" for name, mean in ordered.items()]
        return cell.format(means["ccm"]), ", ".join(others)

    n_other, n_regression = (results(n)["dataset"].nunique() for n in ("other", "regression"))
    together = f"found among {migration.N_FEATURES} from {migration.N_SAMPLES} samples"
    noise = f"among {N_PROBES} added noise columns, mean of {n_regression} data sets"
    permuted = {"permutation": "permutation importance"}
    rows = [
        (f"three columns that matter only together, {together}", *found_together(), "migration"),
        (
            f"accuracy with the chosen features, mean of {n_other} data sets",
            *(*beside(accuracies(), "{:.1f} %", {"rfe": "RFE"}), "other"),
        ),
        (
            f"R² with the chosen features {noise}",
            *(*beside(r2(), "{:.3f}", permuted), "regression"),
        ),
    ]
    table = [(*row, f"`python -m experiments {by}`") for *row, by in rows]
    return pd.DataFrame(table, columns=["", "covmin", "others", "made by"])


def ranks_of_ten() -> str:
    """Mean ranks with ten samples, in the order of the tasks."""
    rows = results("synthetic").query("selector == 'ccm' and n_samples == 10")
    *first, last = rows["mean_rank"].map("{:.1f}".format)
    return f"{', '.join(first)} and {last}"


# The paper's claims -----------------------------------------------------------------------------


def ranks(task: str) -> pd.DataFrame:
    """Mean ranks: a row for each number of samples, a column for each selector."""
    rows = results("synthetic").query("task == @task")
    return rows.pivot(index="n_samples", columns="selector", values="mean_rank")


TASKS = {"binary": "shell", "xor": "XOR", "regression": "additive"}


def baselines(columns: pd.Index) -> list[str]:
    return [name for name in columns if not name.startswith("ccm")]


def scores(protocol: str, n_features: int | None = None) -> pd.DataFrame:
    """Mean scores at the largest number of features, or at a given one on the wide sets."""
    rows = results("real").query("protocol == @protocol")
    largest = rows.groupby("dataset")["n_features"].transform("max")
    if n_features is None:
        rows = rows[rows["n_features"] == largest]
    else:
        rows = rows[(rows["n_features"] == n_features) & (largest == 100)]
    wide = rows.pivot(index="dataset", columns="selector", values="mean_score")
    order = [n for n in dict.fromkeys(rows["selector"]) if wide[n].notna().all()]
    return wide.loc[list(dict.fromkeys(rows["dataset"])), order]


def paper_sets(protocol: str, n_features: int | None = None) -> pd.DataFrame:
    return scores(protocol, n_features).drop(["glass-no-id", "vowel-speakers"], errors="ignore")


def table_ranks() -> pd.DataFrame:
    parts = []
    for task in TASKS:
        wide = ranks(task).loc[[30, 50, 100]].T
        order = [*OURS, "ccm-gaussian", *baselines(wide.index)]
        parts.append(wide.loc[order].add_prefix(f"{task}, n="))
    return pd.concat(parts, axis=1).rename_axis("selector").reset_index()


def table_reach() -> pd.DataFrame:
    """Smallest number of samples from which the mean rank stays close to the optimum."""
    columns = {}
    for task in TASKS:
        optimal = results("synthetic").query("task == @task")["optimal"].iloc[0]
        # From the right: how many of the last sizes are close without a break.
        close = (ranks(task) <= optimal + 0.05)[::-1].cummin()
        columns[task] = {
            name: str(close.index[close[name]].min()) if close[name].any() else "more than 100"
            for name in close
        }
    wide = pd.DataFrame(columns)
    return wide.loc[[*OURS, *baselines(wide.index)]].rename_axis("selector").reset_index()


def table_variants() -> pd.DataFrame:
    """Mean rank over n ≥ 30 less that of the exact single solve."""
    families = {
        "soft, λ₁": "ccm-soft-",
        "inverse-free, λ₂": "ccm-free-",
        "Fourier, D": "ccm-fourier-",
    }
    draws = results("synthetic").groupby("selector", sort=False)["n_draws"].sum()
    rows = []
    for family, prefix in families.items():
        for name in [n for n in draws.index[draws == draws.max()] if n.startswith(prefix)]:
            row: dict[str, object] = {"variant": f"{family} = {name.removeprefix(prefix)}"}
            wide = {task: ranks(task).loc[30:] for task in TASKS}
            rows.append(row | {t: (w[name] - w["ccm-single"]).mean() for t, w in wide.items()})
    return pd.DataFrame(rows)


def table_largest() -> pd.DataFrame:
    """Nested scores at the largest number, and the best of each row or a word if all are."""
    wide = scores("nested")
    best = [row.index[row == row.max()] for _, row in wide.round(3).iterrows()]
    names = ["all" if b.size == wide.shape[1] else ", ".join(b) for b in best]
    return wide.assign(best=names).reset_index()


def table_optimism() -> pd.DataFrame:
    """Paper's protocol less the nested one, in points, averaged over the wide sets."""
    rows = []
    for m in (10, 50, 100):
        gap = (scores("paper", m) - scores("nested", m)).mean() * 100
        rows.append({"number of features": m, **gap.to_dict()})
    return pd.DataFrame(rows).dropna(axis=1, how="all")


def table_leaks() -> pd.DataFrame:
    names = ["glass", "glass-no-id", "vowel", "vowel-speakers"]
    parts = {kind: scores(kind).loc[names, [*OURS, *RIVALS]] for kind in ("paper", "nested")}
    return pd.concat(parts, names=["protocol"]).reset_index()


def signed(gain: pd.Series, where: str) -> str:
    return f"{gain[where]:+.1f} ({where})"


def table_gains() -> pd.DataFrame:
    """What a path gains over the single solve, in points, over the wide sets."""
    rows = []
    for protocol, m, name in product(("paper", "nested"), (10, 100), ("ccm", "ccm-path")):
        wide = paper_sets(protocol, m)
        gain = 100 * (wide[name] - wide["ccm-single"])
        row = {"protocol": protocol, "features": m, "selector": name}
        row["mean gain"] = f"{gain.mean():+.1f}"
        row["smallest"] = signed(gain, gain.idxmin())
        rows.append(row | {"largest": signed(gain, gain.idxmax())})
    return pd.DataFrame(rows)


def table_claims() -> pd.DataFrame:
    """Wins of the single solve over the paper's rivals at the largest m."""
    rows = []
    for protocol, rival in product(("paper", "nested"), RIVALS):
        wide = paper_sets(protocol)
        gap = 100 * (wide["ccm-single"] - wide[rival])
        row = {"protocol": protocol, "rival": rival}
        row["better by more than a point"] = int((gap > 1).sum())
        row["within a point"] = int((gap.abs() <= 1).sum())
        row["worse by more than a point"] = int((gap < -1).sum())
        row["TOX-171 (points)"] = f"{gap['TOX-171']:+.1f}"
        rows.append(row | {"worst (points)": signed(gap, gap.idxmin())})
    return pd.DataFrame(rows)


# The paper about covmin -------------------------------------------------------------------------

METHODS = {"ccm": "covmin", "ccm-single": "covmin, as published", "bahsic": "BAHSIC"}
METHODS |= {"extra-trees": "extra-trees", "hsic-lasso": "HSIC-Lasso", "mrmr": "mRMR"}
METHODS |= {"mi": "mutual information", "rfe": "RFE, linear SVM"}


def paper_ranks() -> pd.DataFrame:
    """Median rank of the true features at 30 and 50 samples."""
    wide = pd.DataFrame({f"{TASKS[t]}, {n}": ranks(t).loc[n] for t in TASKS for n in (30, 50)}).loc[
        list(METHODS)
    ]
    return wide.rename(index=METHODS).rename_axis("method").reset_index()


def paper_accuracy() -> pd.DataFrame:
    """Mean accuracy over the sets of each collection, in per cent."""
    columns = {}
    for name, title in (("accuracy", "{} sets of the paper"), ("other", "{} further sets")):
        columns[title.format(results(name)["dataset"].nunique())] = accuracies(name)
    wide = pd.DataFrame(columns).loc[[name for name in METHODS if name != "ccm-single"]]
    return wide.rename(index=METHODS).rename_axis("method").reset_index()


def paper_discoveries() -> pd.DataFrame:
    """Knockoffs at a nominal rate of 0.2: false discovery rate and power."""
    frame = results("guarantees-knockoffs").query("level == 0.2")
    wide = frame.pivot(index=["response", "rho"], columns="method", values=["fdr", "power"])
    names = {("fdr", "ccm"): "FDR, covmin", ("fdr", "lasso"): "FDR, Lasso"}
    names |= {("power", "ccm"): "power, covmin", ("power", "lasso"): "power, Lasso"}
    shown = {title: wide[key].to_numpy() for key, title in names.items()}
    response, rho = zip(*wide.index, strict=True)
    return pd.DataFrame({"response": response, "correlation": [f"{r:g}" for r in rho], **shown})


# Times ------------------------------------------------------------------------------------------


def steps(name: str) -> pd.DataFrame:
    """A step against its products; on a GPU with the peak of memory."""
    frame = times(name)
    frame["against bare"] = (frame["seconds"] / frame.pop("bare")).map("{:.2f}×".format)
    frame["seconds"] = frame["seconds"].map(in_words)
    if "peak GiB" in frame:
        frame["peak GiB"] = ["" if np.isnan(peak) else f"{peak:.0f}" for peak in frame["peak GiB"]]
    return frame


def thousands(name: str) -> pd.DataFrame:
    """Times with commas in numbers of rows and columns."""
    frame = times(name)
    sizes = frame.columns.intersection(["rows", "columns"])
    return frame.assign(**{size: frame[size].map("{:,}".format) for size in sizes})


def growth() -> pd.DataFrame:
    """Seconds of a step as a size grows, and the power of the last two points."""
    rows = []
    for (step, size), curve in times("growth").groupby(["step", "size"], sort=False):
        values, seconds = curve["value"].to_numpy(float), curve["seconds"].to_numpy()
        row = {"step": step, "grows": size, "from": f"{values[0]:,.0f}", "to": f"{values[-1]:,.0f}"}
        row["seconds"] = ", ".join(map(in_words, seconds))
        power = np.log(seconds[-1] / seconds[-2]) / np.log(values[-1] / values[-2])
        rows.append(row | {"power": power})
    return pd.DataFrame(rows)


def grid(what: str) -> str | float:
    """Of the time of a fit over that of a forest, on every table of the grid."""
    frame = times("grid")
    ratios = frame["ratio"]
    if what == "faster":
        return f"{(ratios < 1.0).sum()} of {len(ratios)}"
    if what == "auto":  # the number chosen over a given number, from 1000 rows on
        return float(frame.query("n >= 1000")["auto/fixed"].median())
    return float(getattr(ratios, what)())


TABLES = {
    "why": (why, 1),
    "lassonet-cost": (lassonet_cost, 0),
    "ranks-of-ten": (ranks_of_ten, 1),
    "missing-classes": (lambda: missing.overview(results("missing"), missing.CLASSES), 1),
    "missing-numbers": (lambda: missing.overview(results("missing"), missing.NUMBERS), 1),
    "ranks": (table_ranks, 2),
    "reach": (table_reach, 2),
    "variants": (table_variants, 2),
    "claims": (table_claims, 1),
    "gains": (table_gains, 1),
    "largest-nested": (table_largest, 3),
    "optimism": (table_optimism, 1),
    "leaks": (table_leaks, 3),
    "paper-ranks": (paper_ranks, 2),
    "paper-accuracy": (paper_accuracy, 1),
    "paper-discoveries": (paper_discoveries, 2),
    "step": (lambda: steps("step"), 2),
    "large": (lambda: thousands("large"), 2),
    "growth": (growth, 1),
    "grid-faster": (lambda: grid("faster"), 0),
    "grid-median": (lambda: grid("median"), 2),
    "grid-slowest": (lambda: grid("max"), 2),
    "grid-auto": (lambda: grid("auto"), 1),
    "gpu-steps": (lambda: steps("gpu"), 2),
    "gpu-fits": (lambda: thousands("gpu-fits"), 1),
    **guarantees.TABLES,
}
