"""Median rank of the true features among many noise features, some of them look-alikes.

Run as ``python -m experiments.hard``; writes ``experiments/results/hard.csv`` and ``.md`` from all
that has been run so far, and takes up an interrupted run where it stopped. ``--find-xor`` looks
for the number of samples at which XOR is found among 97 noise features; ``--many`` has thousands of
samples, where random components take the place of the kernel matrix. ``--found`` counts the true
features that are kept on tables whose first steps need all rows: see :mod:`experiments.found`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from covmin.datasets import (
    make_additive,
    make_correlated_interaction,
    make_correlated_linear,
    make_shell,
    make_xor,
)
from experiments import found
from experiments.paper.ranks import median_rank
from experiments.tables import markdown_table

RESULTS = Path(__file__).parent / "results"
FAMILIES = {
    "binary": make_shell,
    "xor": make_xor,
    "regression": make_additive,
    "linear, correlated": make_correlated_linear,
    "interaction, correlated": make_correlated_interaction,
}
NOISE = (10, 100, 1000)
SIZES = (40, 100, 200, 400)
# From the quickest to the slowest.
SELECTORS = ("ccm", "anova", "rfe", "mrmr", "extra-trees", "ccm-gaussian", "hsic-lasso", "bahsic")
XOR_SIZES = (40, 60, 80, 100, 150, 200)
MANY_NOISE = (100, 500)
MANY_SIZES = (5000,)
MANY_SELECTORS = ("ccm", "anova", "mrmr", "extra-trees")
# The default is good enough when it is this close to the best.
_CLOSE = 0.15


def tasks_with(noise: Sequence[int]) -> dict[str, Callable[..., Any]]:
    """Every family with each number of noise features."""
    return {
        f"{name}, {count} noise": partial(make, n_noise=count)
        for count in noise
        for name, make in FAMILIES.items()
    }


def run(
    selectors: Sequence[str],
    noise: Sequence[int],
    sizes: Sequence[int],
    draws: int,
    *,
    work: bool,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Mean of the median rank for each task, number of samples and selector."""
    frames = []
    for name in selectors:
        log = RESULTS / f"hard-{name}.jsonl"
        if work or log.exists():
            result = median_rank(
                tasks_with(noise),
                [name],
                n_samples=sizes,
                n_repeats=draws,
                log=log,
                n_jobs=n_jobs,
                progress=work,
                run=work,
            )
            if result.records:
                frames.append(result.summary())
    return pd.concat(frames)


def many(
    selectors: Sequence[str],
    noise: Sequence[int],
    sizes: Sequence[int],
    draws: int,
    *,
    work: bool,
    n_jobs: int,
) -> pd.DataFrame:
    """The same with thousands of samples."""
    result = median_rank(
        tasks_with(noise),
        selectors,
        n_samples=sizes,
        n_repeats=draws,
        log=RESULTS / "hard-many.jsonl",
        n_jobs=n_jobs,
        progress=work,
        run=work,
    )
    return result.summary()


def find_xor(draws: int, n_jobs: int) -> pd.DataFrame:
    """Median rank of the three XOR features among a hundred, for more and more samples."""
    result = median_rank(
        {"xor, 97 noise": partial(make_xor, n_noise=97)},
        ["ccm", "extra-trees", "bahsic"],
        n_samples=XOR_SIZES,
        n_repeats=draws,
        log=RESULTS / "hard-xor97.jsonl",
        n_jobs=n_jobs,
        progress=True,
    )
    return result.summary()


def table(summary: pd.DataFrame) -> pd.DataFrame:
    """Tasks and sizes against selectors, with what the default is short of the best rival."""
    wide = summary.pivot_table(
        index=["task", "n_samples"], columns="selector", values="mean_rank", sort=False
    )
    rivals = [name for name in wide.columns if not name.startswith("ccm")]
    wide["short of the best"] = wide["ccm"] - wide[rivals].min(axis=1)
    wide["close"] = [_verdict(gap) for gap in wide["short of the best"]]
    return wide.reset_index()


def _verdict(gap: float) -> str:
    if pd.isna(gap):
        return ""  # not run
    return "yes" if gap <= _CLOSE else "no"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--selectors", nargs="*", default=SELECTORS)
    parser.add_argument("--noise", nargs="*", type=int, default=NOISE)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    parser.add_argument("--find-xor", action="store_true")
    parser.add_argument("--many", action="store_true", help="thousands of samples")
    parser.add_argument("--found", action="store_true", help="true features that are kept")
    options = parser.parse_args()
    if options.found:
        text = markdown_table(found.run(options.draws), 2)
        (RESULTS / "hard-found.md").write_text(text + "\n", encoding="utf-8")
        print(text)
        return
    if options.find_xor:
        xor = find_xor(options.draws, options.jobs)
        xor.to_csv(RESULTS / "hard-xor97.csv", index=False, float_format="%.4f")
        columns = ["selector", "n_samples", "mean_rank", "standard_error"]
        print(markdown_table(xor[columns], 2))
        return
    if options.many:
        if not options.tables:
            asked = (options.selectors, options.noise, options.sizes, options.draws)
            many(*asked, work=True, n_jobs=options.jobs)
        every = (MANY_SELECTORS, MANY_NOISE, MANY_SIZES, options.draws)
        write("hard-many", many(*every, work=False, n_jobs=1))
        return
    if not options.tables:
        asked = (options.selectors, options.noise, options.sizes, options.draws)
        run(*asked, work=True, n_jobs=options.jobs)
    summary = run(SELECTORS, NOISE, SIZES, options.draws, work=False)
    write("hard", summary)


def write(name: str, summary: pd.DataFrame) -> None:
    """A table for reading and one for computing."""
    path = RESULTS / f"{name}.csv"
    summary.to_csv(path, index=False, float_format="%.4f", lineterminator="\n")
    text = report(pd.read_csv(path))
    path.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    print(text)


def report(summary: pd.DataFrame) -> str:
    """The table in Markdown, with its title."""
    return (
        "## Mean of the median rank of the true features "
        f"({summary['n_draws'].max()} draws; 2.5 is optimal for binary, regression and linear, "
        f"else 2)\n\n{markdown_table(table(summary), 2)}"
    )


if __name__ == "__main__":
    main()
