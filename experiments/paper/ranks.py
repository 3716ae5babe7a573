"""Median rank of the true features over repeated draws."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from covmin.evaluation.curves import rank_features
from covmin.evaluation.runner import run_units, warn_of_failures
from covmin.evaluation.selectors import SelectorSpec, resolve_selectors, selector_settings
from covmin.runtime.seeds import unit_seed

from .selectors import paper_selectors

# Draws per unit of work: enough to outweigh the overhead, few enough to lose in an interruption.
_BLOCK = 10
PROTOCOL = "median rank"
DEFAULT_SELECTORS = ("ccm", "ccm-single", "pearson", "mi", "rfe", "mrmr", "bahsic")

Generator = Callable[..., Any]


def _rank_draws(
    generators: Mapping[str, Generator],
    specs: Mapping[str, SelectorSpec],
    random_state: int,
    unit: Mapping[str, Any],
) -> dict[str, list[Any]]:
    """Rank the features of a block of draws."""
    task, n, rows = unit["task"], unit["n_samples"], []
    for repeat in range(unit["first"], unit["first"] + unit["count"]):
        # The seed does not depend on the selector: all selectors see the same draw.
        seed = unit_seed(random_state, task, n, repeat)
        data = generators[task](n, random_state=seed)
        # Ties are broken by position, so the true features must not always come first.
        columns = np.random.default_rng(seed).permutation(data.data.shape[1])
        true = np.flatnonzero(np.isin(columns, data.informative))
        X, spec = data.data[:, columns], specs[unit["selector"]]
        order, seconds, error = rank_features(spec, true.size, X, data.target, seed)
        rank = None if order is None else median_rank_of(order, true)
        rows.append((rank, round(seconds, 4), error))
    ranks, times, errors = map(list, zip(*rows, strict=True))
    return {"median_rank": ranks, "seconds": times, "error": errors}


def median_rank_of(order: np.ndarray, informative: Iterable[int]) -> float:
    """Return the median rank of m informative columns in an order (n_features,).

    The best possible value is (m + 1)/2.

    >>> median_rank_of([2, 0, 3, 1], informative=[0, 1])
    3.0
    """
    return float(np.median(np.flatnonzero(np.isin(order, list(informative))) + 1))


def summarised(records: pd.DataFrame) -> pd.DataFrame:
    """Means over draws for each task, selector and number of samples; failed draws apart."""
    keys = ["task", "protocol", "selector", "n_samples", "optimal"]
    summary = records.groupby(keys, sort=False).agg(
        mean_rank=("median_rank", "mean"),
        standard_error=("median_rank", "sem"),
        fit_seconds=("fit_seconds", "mean"),
        n_draws=("median_rank", "size"),
        n_failed=("median_rank", lambda ranks: int(ranks.isna().sum())),
    )
    return summary.reset_index()


def median_rank(
    generators: Mapping[str, Generator] | Generator,
    selectors: Iterable[str] | Mapping[str, Any] | None = None,
    *,
    n_samples: Iterable[int] = range(10, 101, 10),
    n_repeats: int = 100,
    n_jobs: int | None = None,
    random_state: int = 0,
    log: str | os.PathLike[str] | None = None,
    progress: bool = False,
    run: bool = True,
) -> pd.DataFrame:
    """Compute the median rank that selectors give to the features known to matter.

    Every selector ranks each draw and is told the number m of true features. Lower is better,
    and (m + 1)/2 is optimal. This is the paper's protocol for synthetic data, except that the
    columns are shuffled in every draw: a selector that breaks ties by position then gains nothing
    from the true features coming first.

    ``generators`` names functions such as those of :mod:`covmin.datasets`; ``selectors`` are names
    of :func:`.selectors.paper_selectors`, or estimators by name. The other options are those of
    :func:`covmin.evaluation.runner.run_units`. A selector that fails on a draw has a missing rank
    there, and a warning is issued. Returns a row for each draw and selector; see
    :func:`summarised`.

    >>> from covmin.datasets import make_xor
    >>> from experiments.paper.ranks import median_rank, summarised
    >>> result = median_rank(make_xor, ["ccm", "pearson"], n_samples=[60], n_repeats=3)
    >>> table = summarised(result).set_index("selector")
    >>> float(table.mean_rank["ccm"]), bool(table.mean_rank["pearson"] > 3)
    (2.0, True)
    """
    if callable(generators):
        generators = {getattr(generators, "__name__", "task").removeprefix("make_"): generators}
    specs = resolve_selectors(selectors, DEFAULT_SELECTORS, paper_selectors())
    # Selector by selector, so that a table fills up column by column.
    units = [
        {"task": task, "n_samples": int(n), "selector": name, "first": first, "count": count}
        for name, task, n in product(specs, generators, n_samples)
        for first in range(0, n_repeats, _BLOCK)
        for count in [min(_BLOCK, n_repeats - first)]
    ]
    settings = {"protocol": PROTOCOL, "columns": "shuffled", "random_state": random_state}
    settings |= selector_settings(specs)
    work = partial(_rank_draws, generators, specs, random_state)
    options: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "run": run}
    results = run_units(
        units, work, log=log, settings=settings, description="blocks of draws", **options
    )
    n_true = {task: len(make(10, random_state=0).informative) for task, make in generators.items()}
    records = []
    for unit, result in zip(units, results, strict=True):
        head = {"task": unit["task"], "protocol": PROTOCOL, "selector": unit["selector"]}
        head |= {"n_samples": unit["n_samples"], "optimal": (n_true[unit["task"]] + 1) / 2}
        columns = result.values() if result else ([], [], [])
        for repeat, (rank, seconds, error) in enumerate(zip(*columns, strict=True), unit["first"]):
            rank = np.nan if rank is None else rank
            row = {"repeat": repeat, "median_rank": rank, "fit_seconds": seconds, "error": error}
            records.append(head | row)
    warn_of_failures([(r["selector"], r["error"]) for r in records])
    return pd.DataFrame(records)
