"""Tables and numbers that README and pages take from several files of results."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pandas as pd

from experiments import migration, missing, regression_tables
from experiments import survival_responses as responses
from experiments.pages import Tables

RESULTS = Path(__file__).parent / "results"
N_PROBES = 100


def results(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"{name}.csv")


# README and migration -------------------------------------------------------------------------


def lassonet_cost() -> str:
    """Processor time of LassoNet in that of covmin, to two digits."""
    seconds = results("migration").groupby("method")["seconds"].mean()
    ratio = seconds["LassoNet"] / seconds["covmin, m given"]
    return f"{float(f'{ratio:.2g}'):.0f}"


def found_together() -> tuple[str, str]:
    """True features of XOR that covmin and others keep, on average."""
    rows = results("migration").query("task == 'XOR'")
    n_true = migration.TASKS["XOR"][1]
    found, draws = rows.groupby("method")["true"].mean(), rows.groupby("method").size()
    most = draws.max()

    def kept(method: str) -> str:
        return f"{float(f'{found[method]:.1f}'):g} of {n_true}"

    others = {
        "mRMR": "mRMR",
        "HSIC-Lasso": "HSIC-Lasso",
        "SelectKBest, F test": "F test",
        "Boruta": "Boruta",
        "LassoNet": f"LassoNet, at {lassonet_cost()} times the cost",
    }
    words = []
    for count, methods in groupby(others, kept):
        names = [others[m] + (f" ({draws[m]} draws)" if draws[m] < most else "") for m in methods]
        words.append(f"{count}: {', '.join(names)}")
    return kept("covmin, m given"), "; ".join(words)


def accuracies(name: str = "other") -> pd.Series:
    """Mean accuracy of each selector over the sets of a collection, in per cent."""
    return 100 * results(name).groupby("selector")["accuracy"].mean()


def r2(judge: str = "kernel ridge", probes: int = N_PROBES, name: str = "regression") -> pd.Series:
    """Mean R² of each selector over the regression sets."""
    frame = regression_tables.done_everywhere(results(name))
    wide = regression_tables.by_split(frame, judge, probes)
    return regression_tables.mean_and_error(wide, list(frame["dataset"].unique()))[0]


def best_first(means: pd.Series, titles: dict[str, str], cell: str) -> str:
    """Some of the means with their titles, in one line."""
    some = means[list(titles)].sort_values(ascending=False)
    return ", ".join(cell.format(mean, titles[name]) for name, mean in some.items())


def why() -> pd.DataFrame:
    """The table of the README."""
    scores, shares = accuracies(), r2()
    others_too = {"extra-trees": "extra-trees", "mrmr": "mRMR"}
    ours, others = found_together()
    n_other, n_regression = (results(n)["dataset"].nunique() for n in ("other", "regression"))
    rows = [
        (
            f"three columns that matter only together, found among {migration.N_FEATURES} from "
            f"{migration.N_SAMPLES} samples",
            ours,
            others,
            "`python -m experiments.migration`",
        ),
        (
            f"accuracy with the chosen features, mean of {n_other} data sets",
            f"{scores['ccm']:.1f} %",
            best_first(scores, {"rfe": "RFE"} | others_too, "{:.1f} % ({})"),
            "`python -m experiments.accuracy --other`",
        ),
        (
            f"R² with the chosen features among {N_PROBES} added noise columns, mean of "
            f"{n_regression} data sets",
            f"{shares['ccm']:.3f}",
            best_first(
                shares, {"permutation": "permutation importance"} | others_too, "{:.3f} ({})"
            ),
            "`python -m experiments.regression`",
        ),
    ]
    return pd.DataFrame(rows, columns=["", "covmin", "others", "made by"])


# Single pages ---------------------------------------------------------------------------------


def ranks_of_ten() -> str:
    """Mean ranks with ten samples, in the order of the tasks."""
    rows = results("synthetic").query("selector == 'ccm' and n_samples == 10")
    *first, last = rows["mean_rank"].map("{:.1f}".format)
    return f"{', '.join(first)} and {last}"


def fuzz() -> pd.DataFrame:
    """What became of random input."""
    counts = results("fuzz").set_index("what")["count"]

    def number(what: str) -> str:
        return f"{counts[what]:,.0f}"

    commands = ("select", "compare", "reproduce", "demo")
    outcomes = {
        "done": "done",
        "wrong usage (exit 2)": "usage",
        "input cannot be read (3)": "input",
        "unknown column (4)": "column",
        "data unfit (5)": "data",
        "output cannot be written (6)": "output",
    }
    rows = {
        "in all": number("inputs"),
        "… by a reader alone": number("kind reader"),
        f"… by {' / '.join(f'`{c}`' for c in commands)}": " / ".join(
            number(f"kind {c}") for c in commands
        ),
        **{title: number(f"outcome {name}") for title, name in outcomes.items()},
        "tracebacks, crashes, hangs, files half written": number("findings"),
        "slowest, in seconds": f"{counts['slowest_seconds']:.1f}",
    }
    return pd.DataFrame(rows.items(), columns=["inputs", "number"])


def kills() -> pd.DataFrame:
    """Kills of each job; a job that loses work ends with an error, so none is lost here."""
    frame = results("kills").drop(columns=["left behind", "seconds undisturbed"], errors="ignore")
    jobs = {
        "experiment": "the synthetic experiment, 6 tasks and sizes × 3 methods × 20 draws",
        "fit": "a fit with a checkpoint that chooses m",
        "file": "a report of 1 MB, replaced 60 times",
    }
    frame["job"] = frame["job"].map(jobs)
    titles = {"with work kept": "with finished work on the disk", "whole runs": "runs to the end"}
    return frame.rename(columns=titles).assign(**{"lost or corrupt": 0})


def pairs() -> pd.DataFrame:
    """Ranks with and without a look at pairs."""
    names = ["task", "noise", "n", "without pairs", "ccm"]
    frame = results("pairs").dropna(subset=["ccm"]).query("n in (100, 200)")
    return frame[names].rename(columns={"without pairs": "without", "ccm": "with"})


def survival_responses() -> pd.DataFrame:
    """Share of the true features found with each response."""
    titles = {"mean": "share of the true features found"}
    found = responses.table(results("survival-responses"))
    return found[["response", "mean", "standard error"]].rename(columns=titles)


TABLES: Tables = {
    "why": (why, 1),
    "lassonet-cost": (lassonet_cost, 0),
    "ranks-of-ten": (ranks_of_ten, 1),
    "missing-classes": (lambda: missing.overview(results("missing"), missing.CLASSES), 1),
    "missing-numbers": (lambda: missing.overview(results("missing"), missing.NUMBERS), 1),
    "fuzz": (fuzz, 0),
    "kills": (kills, 0),
    "pairs": (pairs, 1),
    "survival-responses": (survival_responses, 3),
}
