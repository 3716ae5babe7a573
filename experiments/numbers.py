"""Tables of README and documentation, each a function of files of results.

To add one, write a function without arguments, put its name into :data:`TABLES`, and put
``<!-- table: NAME -->`` and ``<!-- end -->`` into a page.
"""

from __future__ import annotations

from itertools import product

import pandas as pd

from experiments import guarantees
from experiments.paper.studies import OF_VARIANTS
from experiments.regression import JUDGES, N_PROBES, SETS
from experiments.sets import NUMBERS
from experiments.study import results
from experiments.tables import by_selector
from experiments.truth import JUDGES as TABLE_JUDGES
from experiments.truth import ROWS

OURS = ("ccm", "ccm-single")
RIVALS = ("mrmr", "bahsic", "mi")  # those in the paper's figure of the real sets
LEVEL = "level"
# For the README: a table, and titles of selectors.
TOGETHER = "three signs, wide"
TITLES = {"lightgbm": "LightGBM", "lightgbm-shap": "SHAP of LightGBM", "rfe": "RFE"}
TITLES |= {"mrmr": "mRMR", "hsic-lasso": "HSIC-Lasso", "permutation": "permutation importance"}
TITLES |= {"mi": "mutual information"}

# README and single pages ------------------------------------------------------------------------


def accuracies(name: str = "other") -> pd.Series:
    """Mean accuracy of each selector over the sets of a collection, in per cent."""
    return 100 * results(name).groupby("selector")["accuracy"].mean()


def r2(probes: int = N_PROBES, name: str = "regression") -> pd.Series:
    """Mean R² of each selector over the regression sets and over the judges."""
    frame = results(name).query("probes == @probes")
    means = frame.groupby(["selector", "dataset"], sort=False)[[*JUDGES]].mean().mean(axis=1)
    return means.unstack().dropna().mean(axis=1)


def rivals(means: pd.Series) -> pd.Series:
    """Without ours and its variants."""
    return means[[not name.startswith("ccm") for name in means.index]]


def why() -> pd.DataFrame:
    """The table of the README: covmin beside the three best of the others."""

    def row(what: str, means: pd.Series, cell: str, study: str) -> tuple[str, ...]:
        best = rivals(means).nlargest(3)
        others = [f"{cell.format(mean)} ({TITLES.get(k, k)})" for k, mean in best.items()]
        made = f"`python -m experiments {study}`"
        return what, cell.format(means["ccm"]), ", ".join(others), made

    n, d, n_true, *_ = ROWS[TOGETHER]
    together = results("truth").query("table == @TOGETHER").groupby("selector")["found"].mean()
    n_other, n_regression = (results(name)["dataset"].nunique() for name in ("other", "regression"))
    noise = f"R² with the chosen features among {N_PROBES} added noise columns"
    rows = [
        row(
            f"three columns that matter only together, found among {d} from {n} samples",
            *(n_true * together, f"{{:.1f}} of {n_true}", "truth"),
        ),
        row(
            f"accuracy with the chosen features, mean of {n_other} data sets",
            *(accuracies(), "{:.1f} %", "other"),
        ),
        row(f"{noise}, mean of {n_regression} data sets", r2(), "{:.3f}", "regression"),
    ]
    return pd.DataFrame(rows, columns=["", "covmin", "best of the others", "made by"])


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


def table_ranks() -> pd.DataFrame:
    parts = []
    for task in TASKS:
        wide = ranks(task).loc[[30, 100]].T
        order = [*OURS, *baselines(wide.index)]
        parts.append(wide.loc[order].add_prefix(f"{task}, n="))
    return pd.concat(parts, axis=1).rename_axis("selector").reset_index()


def table_variants() -> pd.DataFrame:
    """Mean rank over sizes of samples less that of the exact single solve."""
    families = {
        "soft, λ₁": "ccm-soft-",
        "inverse-free, λ₂": "ccm-free-",
        "Fourier, D": "ccm-fourier-",
    }
    names, rows = results("synthetic")["selector"].unique(), []
    for family, prefix in families.items():
        for name in [n for n in names if n.startswith(prefix)]:
            row: dict[str, object] = {"variant": f"{family} = {name.removeprefix(prefix)}"}
            wide = {task: ranks(task).loc[[*OF_VARIANTS]] for task in TASKS}
            rows.append(row | {t: (w[name] - w["ccm-single"]).mean() for t, w in wide.items()})
    return pd.DataFrame(rows)


def signed(gain: pd.Series, where: str) -> str:
    return f"{gain[where]:+.1f} ({where})"


def table_gains() -> pd.DataFrame:
    """What a path gains over the single solve, in points, over the wide sets."""
    rows = []
    for protocol, m in product(("paper", "nested"), (10, 100)):
        wide = scores(protocol, m)
        gain = 100 * (wide["ccm"] - wide["ccm-single"])
        row = {"protocol": protocol, "features": m}
        row["mean gain"] = f"{gain.mean():+.1f}"
        row["smallest"] = signed(gain, gain.idxmin())
        rows.append(row | {"largest": signed(gain, gain.idxmax())})
    return pd.DataFrame(rows)


def table_claims() -> pd.DataFrame:
    """Wins of the single solve over the paper's rivals at the largest m."""
    rows = []
    for protocol, rival in product(("paper", "nested"), RIVALS):
        wide = scores(protocol)
        gap = 100 * (wide["ccm-single"] - wide[rival])
        row = {"protocol": protocol, "rival": rival}
        row["better by more than a point"] = int((gap > 1).sum())
        row["within a point"] = int((gap.abs() <= 1).sum())
        row["worse by more than a point"] = int((gap < -1).sum())
        row["TOX-171 (points)"] = f"{gap['TOX-171']:+.1f}"
        rows.append(row | {"worst (points)": signed(gap, gap.idxmin())})
    return pd.DataFrame(rows)


# Times ------------------------------------------------------------------------------------------


def in_words(seconds: float) -> str:
    """Seconds to two digits.

    >>> in_words(0.1234), in_words(17.6)
    ('0.12', '18')
    """
    return f"{float(f'{seconds:.2g}'):.10g}"


def thousands(name: str) -> pd.DataFrame:
    """Times with commas in numbers of rows and columns."""
    frame = results(name)
    sizes = frame.columns.intersection(["rows", "columns"])
    return frame.assign(**{size: frame[size].map("{:,}".format) for size in sizes})


def grid() -> pd.DataFrame:
    """Seconds of a fit (in those of LightGBM; of a forest), and of one that chooses the number."""
    frame = results("grid")
    ratios = (frame["covmin s"], frame["ratio"], frame["covmin s"] / frame["forest s"])
    shown = zip(*(each.map(in_words) for each in ratios), strict=True)
    frame["cell"] = [f"{own} ({boosting}; {trees})" for own, boosting, trees in shown]
    wide = frame.pivot(index=["task", "n"], columns="d", values="cell").fillna("")
    auto = frame.groupby(["task", "n"])["auto/given"].median().map(in_words)
    wide = wide.add_suffix(" columns").assign(auto=auto)
    return wide.reset_index().rename(columns={"n": "rows"})


# Evidence ---------------------------------------------------------------------------------------


def classes() -> pd.DataFrame:
    """Mean accuracy over the sets of each collection, in per cent, best first."""
    columns = {}
    for name, title in (("other", "{} other sets"), ("accuracy", "{} sets of the paper")):
        columns[title.format(results(name)["dataset"].nunique())] = accuracies(name)
    columns["seconds of a fit"] = results("other").groupby("selector")["seconds"].mean()
    wide = pd.DataFrame(columns).dropna(how="all")
    return wide.sort_values(wide.columns[0], ascending=False).reset_index(names="selector")


def numbers() -> pd.DataFrame:
    """Mean R² on the sets as they are, with probes, and on other sets, best first."""
    frame, columns = results("regression"), {}
    columns[f"{len(SETS)} sets"] = r2(0)
    columns[f"with {N_PROBES} noise columns"] = r2()
    columns[f"{len(NUMBERS)} other sets"] = r2(0, "regression-other")
    columns["seconds of a fit"] = frame.query("probes == 0").groupby("selector")["seconds"].mean()
    wide = pd.DataFrame(columns)
    return wide.sort_values(wide.columns[0], ascending=False).reset_index(names="selector")


# Words in the names of tables with known features, and what the tables have in common.
_KINDS = {
    "large": "xor and threshold, 5,000 rows of 500 columns",
    "sin": "fast waves",
    "noise|errors|counts|weak": "heavy tails, gross errors, counts, weak effects",
    "signs|xor and|bits": "signs and thresholds of three and more",
    "x₀|product": "products of three, alone and in sums",
    "GAMETES": "GAMETES: pairs, three, two halves",
    "monk|parity5|corral|led24|Friedman": "monks, parity5+5, corral, led24, Friedman",
}


def losses_first(wide: pd.DataFrame) -> pd.DataFrame:
    """The rows where ours is furthest behind the best of the others first."""
    behind = wide["ccm"] - wide.drop(columns="ccm").max(axis=1)
    return wide.loc[behind.sort_values(kind="stable").index]


def found_first() -> pd.DataFrame:
    """Share of the true features among as many that come first, for each kind of table."""
    published = results("passemiers").rename(columns={"best p": "found"})
    sizes = published["n"].map(" ({:,} rows)".format)
    published["table"] = published["task"] + sizes
    frame = pd.concat([results("truth"), results("known"), published])
    wide = by_selector(frame, "found", ["table"])
    kinds = pd.Series(wide.index, wide.index)
    for words, kind in reversed(_KINDS.items()):  # the first that fits
        kinds = kinds.where(~wide.index.str.contains(words), kind)
    groups = wide.groupby(kinds.rename("tables"), sort=False)
    means = losses_first(groups.agg(lambda shares: shares.mean(skipna=False)))
    means = means.dropna(axis=1, thresh=len(means) // 2)  # those that ran on most
    means.loc["seconds of a fit, mean"] = frame.groupby("selector")["seconds"].mean()
    return means.reset_index()


def real_scores() -> pd.DataFrame:
    """R² or accuracy by three judges on the first columns: mean over their numbers."""
    long = results("truth-tables").melt(["table", "selector"], TABLE_JUDGES, "judge", "score")
    return losses_first(by_selector(long, "score", ["table", "judge"]))


def real_tables() -> pd.DataFrame:
    """Means over the judges, and for how many of them ours is level with the best."""
    scores = real_scores()
    level = scores["ccm"] >= scores.drop(columns="ccm").max(axis=1) - 0.005
    means = losses_first(scores.groupby("table").mean())
    means[LEVEL] = level.groupby("table").sum().map(f"{{}} of {len(TABLE_JUDGES)}".format)
    return means.reset_index()


TABLES = {
    "stated": (lambda: results("stated").drop(columns=["draws", "ratio_error"]), 2),
    "why": (why, 1),
    "found-first": (found_first, 2),
    "classes": (classes, 1),
    "numbers": (numbers, 3),
    "real-tables": (real_tables, 3),
    "real-scores": (lambda: real_scores().reset_index(), 3),
    "ranks": (table_ranks, 2),
    "variants": (table_variants, 2),
    "claims": (table_claims, 1),
    "gains": (table_gains, 1),
    "grid": (grid, 2),
    "large": (lambda: thousands("large"), 2),
    "gpu": (lambda: thousands("gpu"), 2),
    "triples": (lambda: thousands("triples"), 2),
    **guarantees.TABLES,
}
