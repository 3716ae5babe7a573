"""The paper's experiments: ranks of the true features on synthetic data, accuracy on real data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from covmin.datasets import make_additive, make_shell, make_xor
from covmin.evaluation.compare import make_splits
from covmin.evaluation.curves import CurveTask, check_protocol, curve_rows, default_sizes
from covmin.evaluation.runner import run_units, warn_of_failures
from covmin.evaluation.selectors import ComparedTable, resolve_selectors

from .data import list_datasets, load
from .ranks import median_rank
from .selectors import paper_selectors

# In the order of the figure in the paper.
PAPER_SETS = tuple(list_datasets())
# The same sets without leakage: no row id; no speaker in both training and test rows.
HONEST_SETS = ("glass-no-id", "vowel-speakers")
SETS = (*PAPER_SETS, *HONEST_SETS)
QUICK_SETS = ("glass", "TOX-171", "warpAR10P", "wine", "Yale", "glass-no-id")

# Fastest first, so that an interrupted run has finished most of the methods.
BASELINES = ("pearson", "anova", "mrmr", "rfe", "bahsic", "extra-trees", "mi", "hsic-lasso")
METHODS = ("ccm", "ccm-gaussian", "ccm-path", "ccm-single", *BASELINES)
QUICK_METHODS = ("ccm", "ccm-single", *BASELINES[:5])
_QUICK_SIZES = (5, 10, 20, 50, 100)

# Number of repeated shuffles of the five folds; cheap if one ranking serves all of them.
_REPEATS = {"paper": 3, "nested": 1}
# The customary split of the vowel set: the first 8 of 15 speakers are for training.
_TRAINING_SPEAKERS = 8
_ROWS_OF_A_SPEAKER = 66

TASKS = {"binary": make_shell, "xor": make_xor, "regression": make_additive}
_FAMILIES = ("ccm-soft-", "ccm-free-", "ccm-fourier-")
VARIANTS = tuple(name for name in paper_selectors() if name.startswith(_FAMILIES))

_FULL_DRAWS = {"n_samples": range(10, 101, 10), "n_repeats": 100}
_QUICK_DRAWS = {"n_samples": (20, 40, 60, 100), "n_repeats": 10}
# Selectors that take a second or more per draw of ten features run only in the full experiment.
_SLOW = ("extra-trees", "ccm-fourier-400")


def run_synthetic(
    log: str | os.PathLike[str] | None = None, *, quick: bool = False, **overrides: Any
) -> pd.DataFrame:
    """Compute the median rank of the true features on the paper's three tasks, for all methods.

    With ``quick``, there are ten draws of four sizes and the slowest methods are skipped;
    otherwise a hundred draws of ten sizes. ``overrides`` are further parameters of
    :func:`.ranks.median_rank`.
    """
    left_out = {"ccm-path", *(_SLOW if quick else ())}
    selectors = overrides.pop("selectors", None)
    selectors = selectors or [name for name in (*METHODS, *VARIANTS) if name not in left_out]
    draws = _QUICK_DRAWS if quick else _FULL_DRAWS
    settings: dict[str, Any] = {"selectors": selectors, **draws, **overrides}
    return median_rank(TASKS, **settings, log=log)


@lru_cache(maxsize=16)
def curve_task(name: str, quick: bool = False, random_state: int = 0) -> CurveTask:
    """Return one of :data:`SETS` with its splits; ``quick`` scores five sizes on wide sets."""
    X, y = load("vowel" if name == "vowel-speakers" else name)
    cv: Any = 5
    repeats = max(_REPEATS.values())
    if name == "vowel-speakers":
        training = np.arange(len(y)) // _ROWS_OF_A_SPEAKER < _TRAINING_SPEAKERS
        cv, repeats = [(np.flatnonzero(training), np.flatnonzero(~training))], 1
    splits = make_splits(X, y, cv=cv, n_repeats=repeats, random_state=random_state)
    sizes = _QUICK_SIZES if quick and X.shape[1] > 100 else default_sizes(X.shape[1])
    specs = resolve_selectors(METHODS, known=paper_selectors())
    table = ComparedTable(X, {}, X, np.arange(X.shape[1]), X.shape[1])
    return CurveTask(table, y, specs, list(sizes), splits, True, random_state)


def _score(quick: bool, random_state: int, unit: Mapping[str, Any]) -> dict[str, Any]:
    return curve_task(unit["dataset"], quick, random_state)(unit)


def available_sets(names: Iterable[str] = SETS) -> tuple[list[str], dict[str, str]]:
    """Return the names of the sets that can be loaded, and the reasons why others cannot."""
    available, missing = [], {}
    for name in names:
        try:
            curve_task(name)
        except (OSError, ImportError) as error:
            missing[name] = str(error).splitlines()[0]
        else:
            available.append(name)
    return available, missing


def run_real(
    log: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    datasets: Sequence[str] | None = None,
    selectors: Sequence[str] | None = None,
    protocols: Sequence[str] = ("paper", "nested"),
    random_state: int = 0,
    **options: Any,
) -> pd.DataFrame:
    """Compute scores on the paper's real data sets under both protocols.

    As in the paper, CCM ranks for m = 100 if there are more than 100 features, and for a fifth of
    the features otherwise. It uses its default ε, which is the paper's 0.001 for a single solve.
    Under the paper's protocol, one ranking of all samples is scored on three shuffles of five
    folds. The nested protocol ranks on each of five training folds.

    ``quick`` means six sets, five sizes and the quick methods; otherwise all of :data:`SETS` that
    can be loaded, and all :data:`METHODS`. The other parameters, and the options n_jobs, progress
    and run, are those of :func:`.ranks.median_rank`. Returns a tidy frame: dataset,
    selector, protocol, repeat, fold, n_features, score, fit_seconds.
    """
    if datasets is None:
        datasets = available_sets(QUICK_SETS if quick else SETS)[0]
    for protocol in protocols:
        check_protocol(protocol)
    names = selectors or (QUICK_METHODS if quick else METHODS)
    tasks = {dataset: curve_task(dataset, quick, random_state) for dataset in datasets}
    units = [
        {"dataset": dataset, **unit}
        for name, protocol in product(names, protocols)
        for dataset, task in tasks.items()
        for unit in task.units([name], protocol, _REPEATS[protocol])
    ]
    settings = {"experiment": "real", "quick": quick, "random_state": random_state}
    work = partial(_score, quick, random_state)
    results = run_units(units, work, log=log, settings=settings, **options)
    done = [(unit, result) for unit, result in zip(units, results, strict=True) if result]
    warn_of_failures([(unit["selector"], result["error"]) for unit, result in done])
    rows = [
        {"dataset": unit["dataset"], **row}
        for unit, result in done
        for row in curve_rows(unit, result, tasks[unit["dataset"]].sizes)
    ]
    return pd.DataFrame(rows)
