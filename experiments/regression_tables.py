"""Tables of what selected features predict on regression sets: see :mod:`experiments.regression`.

A figure is a mean over splits and sets, with its standard error over splits. Errors of a mean over
sets are those of the sets, drawn apart from each other; differences are taken split by split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from experiments.tables import markdown_table

# Every other set by name: variants of the selector are chosen on the first half alone.
EXPLORE = ("autos", "concrete", "energy", "kin40k", "pumadyn32nm", "stock")
JUDGE = ("bike", "elevators", "housing", "parkinsons", "skillcraft")
HALVES = {"explored": EXPLORE, "judged": JUDGE}
JUDGES = ("kernel ridge", "extra-trees")
OURS = "ccm"
# A set that is shown by itself.
FAST_SET = "pumadyn32nm"


def done_everywhere(frame: pd.DataFrame) -> pd.DataFrame:
    """The splits that a selector has done on all its sets: means are of the same splits."""
    runs = ["selector", "probes"]
    n_sets = frame.groupby(runs)["dataset"].transform("nunique")
    done = frame.groupby([*runs, "split"])["dataset"].transform("nunique")
    return frame[done == n_sets]


def by_split(frame: pd.DataFrame, value: str, probes: int) -> pd.DataFrame:
    """A value for every set and split (rows) and selector (columns), in the order of the frame."""
    part = frame[frame["probes"] == probes]
    wide = part.pivot(index=["dataset", "split"], columns="selector", values=value)
    return wide.loc[:, part["selector"].unique()]


def mean_and_error(wide: pd.DataFrame, sets: Sequence[str]) -> tuple[pd.Series, pd.Series]:
    """Mean over sets of the means over splits, and its error; missing where a set is missing."""
    groups = wide.groupby("dataset")
    means, errors = groups.mean().reindex(sets), groups.sem().reindex(sets)
    error = np.sqrt((errors**2).sum(skipna=False)) / len(sets)
    return means.mean(skipna=False), error


def cells(means: pd.Series, errors: pd.Series, digits: int = 3) -> pd.Series:
    """Means with their errors, as text; empty where there is no mean."""
    text = [
        "" if np.isnan(mean) else f"{mean:.{digits}f} ± {error:.{digits}f}"
        for mean, error in zip(means, errors, strict=True)
    ]
    return pd.Series(text, index=means.index)


def settings(frame: pd.DataFrame) -> Iterator[tuple[str, str, int]]:
    """Title, judge and number of probes of every column of figures."""
    for probes in sorted(frame["probes"].unique()):
        for judge in JUDGES:
            yield f"{judge}, {probes} probes" if probes else judge, judge, int(probes)


def selector_column(columns: dict[str, pd.Series], selectors: Sequence[str]) -> pd.DataFrame:
    """Columns of text side by side, a selector in each row."""
    frame = pd.DataFrame(columns).reindex(selectors).fillna("")
    return frame.rename_axis("selector").reset_index()


def figures(frame: pd.DataFrame, sets: Sequence[str]) -> pd.DataFrame:
    """R² of every selector by both judges, mean over sets."""
    columns = {
        title: cells(*mean_and_error(by_split(frame, judge, probes), sets))
        for title, judge, probes in settings(frame)
    }
    return selector_column(columns, frame["selector"].unique())


def gains(frame: pd.DataFrame, sets: Sequence[str], ours: str = OURS) -> pd.DataFrame:
    """R² of ``ours`` less that of each other selector, on the splits of both."""
    columns = {}
    for title, judge, probes in settings(frame):
        wide = by_split(frame, judge, probes)
        if ours in wide:
            differences = wide.drop(columns=ours).rsub(wide[ours], axis=0)
            columns[title] = cells(*mean_and_error(differences, sets))
    return selector_column(columns, [n for n in frame["selector"].unique() if n != ours])


def costs(frame: pd.DataFrame, sets: Sequence[str]) -> pd.DataFrame:
    """Probes among the first five features, seconds of a fit, and splits of every selector."""
    columns = {}
    for probes in sorted(frame["probes"].unique()):
        suffix = f", {probes} probes" if probes else ""
        if probes:
            found = mean_and_error(by_split(frame, "probes found", probes), sets)
            columns["probes among the first five"] = cells(*found, digits=2)
        seconds = by_split(frame, "seconds", probes)
        mean = mean_and_error(seconds, sets)[0]
        columns[f"seconds{suffix}"] = mean.map("{:.2f}".format, na_action="ignore")
        counts = seconds.groupby("dataset").count().reindex(sets).fillna(0).min()
        columns[f"splits{suffix}"] = counts.astype(int).astype(str)
    return selector_column(columns, frame["selector"].unique())


def by_set(frame: pd.DataFrame, judge: str, probes: int, sets: Sequence[str]) -> pd.DataFrame:
    """R² of one judge: sets against selectors, with the means of both halves and of all."""
    wide = by_split(frame, judge, probes)
    groups = wide.groupby("dataset")
    means, errors = groups.mean(), groups.sem()
    rows = {name: cells(means.loc[name], errors.loc[name]) for name in sets if name in means.index}
    halves = {f"mean, {name}": half for name, half in HALVES.items() if set(half) <= set(sets)}
    for label, names in {**halves, "mean": sets}.items():
        rows[label] = cells(*mean_and_error(wide, names))
    return pd.DataFrame(rows).T.rename_axis("set").reset_index()


def report(frame: pd.DataFrame) -> str:
    """All tables in Markdown."""
    frame = done_everywhere(frame)
    present = list(frame["dataset"].unique())
    known = [name for name in (*EXPLORE, *JUDGE) if name in present]
    sets = known or present
    parts = [(f"R², mean over the {len(sets)} sets", figures(frame, sets))]
    if set(EXPLORE + JUDGE) <= set(sets):
        parts += [
            (f"R², mean over the {len(half)} {name} sets", figures(frame, half))
            for name, half in HALVES.items()
        ]
        parts.append((f"R² on {FAST_SET}", figures(frame, [FAST_SET])))
    if OURS in set(frame["selector"]):
        title = f"R² of {OURS} minus that of each other selector, on the same splits"
        parts.append((f"{title}, mean over the {len(sets)} sets", gains(frame, sets)))
        if set(JUDGE) <= set(sets):
            parts.append((f"{title}, mean over the judged sets", gains(frame, JUDGE)))
    parts.append(("Seconds of a fit, splits, and probes among the first five", costs(frame, sets)))
    parts += [
        (f"R² of {title} on each set", by_set(frame, judge, probes, sets))
        for title, judge, probes in settings(frame)
    ]
    note = "Mean ± standard error over splits."
    text = [f"## {title}\n\n{markdown_table(table)}" for title, table in parts]
    return "\n\n".join([note, *text]) + "\n"
