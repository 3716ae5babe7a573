"""Nested accuracy of variants of the selector and of its rivals, fold by fold.

Run as ``python -m experiments.accuracy --variants ccm rfe --sets TOX-171 --repeats 3``; writes
``experiments/results/accuracy.csv`` and ``.md`` from everything that has been run so far. With
``--other`` the sets are those of :mod:`experiments.other_sets`, and the files ``other.*``. Each
variant keeps a log of its own, so an interrupted run goes on where it stopped and several
variants can be run at once by several commands. Numbers as a response: see
:mod:`experiments.regression`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from covmin.evaluation.compare import make_splits
from covmin.evaluation.curves import CurveTask, curve_rows
from covmin.evaluation.runner import run_units
from covmin.evaluation.selectors import SelectorSpec
from experiments.other_sets import OTHER_SETS, load_other
from experiments.paper.data import load
from experiments.rivals import selectors
from experiments.tables import markdown_table

RESULTS = Path(__file__).parent / "results"
FIGURES = Path(__file__).parent / "figures"
SETS = (
    "ALLAML",
    "ORL",
    "orlraws10P",
    "pixraw10P",
    "TOX-171",
    "warpAR10P",
    "warpPIE10P",
    "Yale",
    "glass",
    "vowel",
    "wine",
)
OURS = ("ccm", "ccm-gaussian", "ccm-single")
# From the quickest to the slowest, so that an interrupted run has most of the picture.
RIVALS = (
    "anova",
    "rfe-sklearn",
    "rfe",
    "mrmr",
    "extra-trees",
    "bahsic",
    "hsic-lasso",
    "mi",
    "lassonet",
)
SIZES = (5, 10, 20, 30, 50, 75, 100)
# Folds of one repeat; with fewer, a set is not finished and left out of the tables.
_N_FOLDS = 5
# Differences in per cent that are called none.
_LEVEL = 0.1
FOLD = ["dataset", "selector", "repeat", "fold"]


@lru_cache(maxsize=4)
def samples(name: str, n_repeats: int) -> tuple[Any, ...]:
    """Samples, classes, sizes and splits of a set."""
    X, y = load_other(name) if name in OTHER_SETS else load(name, return_X_y=True)
    d = X.shape[1]
    sizes = SIZES if d > max(SIZES) else tuple(range(1, d + 1))
    return X, y, sizes, make_splits(X, y, cv=_N_FOLDS, n_repeats=n_repeats)


def curve_task(name: str, n_repeats: int, specs: Mapping[str, SelectorSpec]) -> CurveTask:
    """A set, ready to be scored: the same folds for every variant."""
    X, y, sizes, splits = samples(name, n_repeats)
    return CurveTask(X, y, specs, sizes, splits, classification=True, random_state=0)


def log_of(collection: str, variant: str) -> Path:
    """Where the folds of a variant are kept."""
    return RESULTS / f"{collection}-{variant}.jsonl"


def run_variant(
    spec: SelectorSpec,
    sets: Sequence[str],
    repeats: Iterable[int],
    *,
    collection: str = "accuracy",
    n_jobs: int | None = None,
    run: bool = True,
) -> pd.DataFrame:
    """Scores of one variant: dataset, selector, repeat, fold, n_features, score, fit_seconds."""
    repeats = list(repeats)
    units = [
        {"dataset": name, **unit}
        for repeat in repeats
        for name in sets
        for unit in curve_task(name, repeat + 1, {}).units([spec.name], "nested")
        if unit["repeat"] == repeat
    ]

    def work(unit: Mapping[str, Any]) -> dict[str, Any]:
        return curve_task(unit["dataset"], unit["repeat"] + 1, {spec.name: spec})(unit)

    results = run_units(
        units,
        work,
        log=log_of(collection, spec.name),
        settings={"selector": spec.describe(), "sizes": list(SIZES)},
        n_jobs=n_jobs,
        progress=run,
        description=spec.name,
        run=run,
    )
    rows = [
        {"dataset": unit["dataset"], **row}
        for unit, result in zip(units, results, strict=True)
        if result is not None
        for row in curve_rows(unit, result, samples(unit["dataset"], 1)[2])
    ]
    return pd.DataFrame(rows)


def fold_means(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean over the numbers of features, for each set, variant, repeat and fold."""
    columns = {"score": "mean", "fit_seconds": "first"}
    return frame.groupby(FOLD, sort=False).agg(columns).reset_index()


def summary(folds: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy and its standard error over folds, for each set and variant."""
    groups = folds.groupby(["dataset", "selector"], sort=False)
    return (
        groups.agg(
            accuracy=("score", "mean"),
            standard_error=("score", "sem"),
            fit_seconds=("fit_seconds", "mean"),
            n_folds=("score", "size"),
        )
        .reset_index()
        .query("n_folds >= @_N_FOLDS")
    )


def accuracy_table(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Sets against variants, in per cent with standard errors; the best of each set named."""
    shown = [name for name in names if name in set(table["selector"])]
    cells = table.assign(
        cell=[
            f"{100 * mean:.1f} ± {100 * error:.1f}"
            for mean, error in zip(table["accuracy"], table["standard_error"], strict=True)
        ]
    ).pivot(index="dataset", columns="selector", values="cell")
    means = table.pivot(index="dataset", columns="selector", values="accuracy")[shown]
    wide = cells[shown].fillna("")
    wide["best"] = means.idxmax(axis=1)
    everywhere = means.dropna(axis=1).mean()
    wide.loc["mean"] = [f"{100 * everywhere[n]:.1f}" if n in everywhere else "" for n in shown] + [
        everywhere.idxmax()
    ]
    counts = table.pivot(index="dataset", columns="selector", values="n_folds")[shown].min()
    wide.loc["folds, at least"] = [f"{count:.0f}" for count in counts] + [""]
    order = [name for name in (*SETS, *OTHER_SETS, "mean", "folds, at least") if name in wide.index]
    return wide.loc[order].reset_index().rename(columns={"dataset": "set"})


def differences(table: pd.DataFrame, name: str, rivals: Sequence[str]) -> pd.DataFrame:
    """What ``name`` gains over its hardest rival on each set, in points.

    The standard error is that of two independent means: the folds are the same for all, so that it
    is too large rather than too small.
    """
    mean = 100 * table.pivot(index="dataset", columns="selector", values="accuracy")
    error = 100 * table.pivot(index="dataset", columns="selector", values="standard_error")
    rows = []
    for dataset in [s for s in (*SETS, *OTHER_SETS) if s in mean.index]:
        hardest = mean.loc[dataset, [r for r in rivals if r in mean]].idxmax()
        rows.append(
            {
                "set": dataset,
                "hardest rival": hardest,
                "difference in points": mean.loc[dataset, name] - mean.loc[dataset, hardest],
                "standard error": np.hypot(*error.loc[dataset, [name, hardest]]),
            }
        )
    return pd.DataFrame(rows)


def standings(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """How often each of the rivals and ``name`` is first, and how often far from it."""
    means = 100 * table.pivot(index="dataset", columns="selector", values="accuracy")
    means = means[[n for n in (name, *RIVALS) if n in means]].dropna(axis=1)
    below = means.rsub(means.max(axis=1), axis=0)
    rows = {
        "mean": means.mean().round(1),
        "first, or within 0.1 point": (below <= _LEVEL).sum(),
        "more than 1 point below the first": (below > 1.0).sum(),
        "furthest below": below.max().round(1),
    }
    frame = pd.DataFrame(rows).sort_values("mean", ascending=False)
    return frame.rename_axis("selector").reset_index()


def draw(table: pd.DataFrame, path: Path, name: str = "ccm") -> None:
    """What ``name`` gains over each rival, a dot for each set, the mean as a bar."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    means = 100 * table.pivot(index="dataset", columns="selector", values="accuracy")
    rivals = [rival for rival in RIVALS if rival in means and means[rival].notna().all()]
    gains = means[rivals].rsub(means[name], axis=0)
    gains = gains[gains.mean().sort_values(ascending=False).index]
    figure = Figure(figsize=(7.2, 0.6 + 0.42 * gains.shape[1]), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.axvline(0.0, color="black", linewidth=0.8)
    for row, rival in enumerate(gains):
        axes.plot(gains[rival], np.full(len(gains), row), "o", color="#0072B2", alpha=0.45, ms=6)
        axes.plot([gains[rival].mean()] * 2, [row - 0.32, row + 0.32], color="#D55E00", lw=3)
    labels = [f"{rival}  ({gains[rival].mean():+.1f})" for rival in gains]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlabel(f"accuracy of {name} minus that of the other selector, in points (nested)")
    axes.set_title(
        f"{len(gains)} sets, a dot for each; bar and number: the mean", fontsize="medium"
    )
    axes.grid(axis="x", alpha=0.3)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def report(table: pd.DataFrame, name: str = "ccm") -> str:
    """The tables in Markdown."""
    names = [n for n in selectors() if n in set(table["selector"])]
    times = table.pivot(index="dataset", columns="selector", values="fit_seconds")[names]
    return "\n\n".join(
        [
            "## Nested accuracy in per cent, mean over the numbers of features (± standard error "
            "over folds)",
            markdown_table(accuracy_table(table, names)),
            f"## How the {table['dataset'].nunique()} sets add up",
            markdown_table(standings(table, name), 1),
            f"## {name} less its hardest rival on each set",
            markdown_table(differences(table, name, RIVALS), 2),
            "## Seconds of a fit",
            markdown_table(times.reset_index().rename(columns={"dataset": "set"}), 2),
        ]
    )


def summaries(collection: str, sets: Sequence[str], repeats: Iterable[int]) -> pd.DataFrame:
    """Summaries of all variants: by their logs, or else those that were written last."""
    logged = {name: spec for name, spec in selectors().items() if log_of(collection, name).exists()}
    frames = [
        run_variant(spec, sets, repeats, collection=collection, run=False)
        for spec in logged.values()
    ]
    known = pd.DataFrame()
    if (written := RESULTS / f"{collection}.csv").exists():
        known = pd.read_csv(written).query("selector not in @logged")
    found = [summary(fold_means(pd.concat(frames)))] if frames else []
    return pd.concat([*found, known], ignore_index=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variants", nargs="*", default=[*OURS, *RIVALS])
    parser.add_argument("--sets", nargs="*", help="default: all of the collection")
    parser.add_argument("--other", action="store_true", help="sets of other packages")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    options = parser.parse_args()
    collection, sets = ("other", tuple(OTHER_SETS)) if options.other else ("accuracy", SETS)
    specs, repeats = selectors(), range(options.repeats)
    if not options.tables:
        for name in options.variants:
            asked = options.sets or sets
            run_variant(specs[name], asked, repeats, collection=collection, n_jobs=options.jobs)
    table = summaries(collection, sets, repeats)
    path = RESULTS / f"{collection}.csv"
    table.to_csv(path, index=False, float_format="%.4f", lineterminator="\n")
    # Tables are those of the file, to the last digit.
    table = pd.read_csv(path)
    text = report(table)
    path.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    draw(table, FIGURES / f"{collection}.png")
    print(text)


if __name__ == "__main__":
    # By its own name: worker processes cannot be sent what lives in __main__.
    from experiments import accuracy

    accuracy.main()
