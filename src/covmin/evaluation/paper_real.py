"""The paper's experiment on real data: accuracy against the number of selected features."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from covmin.datasets import load

from .curves import PROTOCOLS, CurveTask, curve_rows, default_sizes
from .frames import require_pandas
from .runner import run_units, warn_of_failures
from .selectors import resolve_selectors
from .splits import make_splits

__all__ = ["METHODS", "PAPER_SETS", "QUICK_SETS", "SETS", "available_sets", "run_real"]

# In the order of the paper's figure.
PAPER_SETS = (
    "ALLAML",
    "CLL-SUB-111",
    "glass",
    "ORL",
    "orlraws10P",
    "pixraw10P",
    "TOX-171",
    "vowel",
    "warpAR10P",
    "warpPIE10P",
    "wine",
    "Yale",
)
# The same without what gives the class away: a row id; a speaker on both sides of a split.
HONEST_SETS = ("glass-no-id", "vowel-speakers")
SETS = (*PAPER_SETS, *HONEST_SETS)
QUICK_SETS = ("glass", "TOX-171", "warpAR10P", "wine", "Yale", "glass-no-id")

# Quick ones first, so that an interrupted run has most of the picture.
METHODS = (
    "ccm",
    "ccm-gaussian",
    "ccm-path",
    "ccm-single",
    "pearson",
    "anova",
    "mrmr",
    "rfe",
    "bahsic",
    "extra-trees",
    "mi",
    "hsic-lasso",
)
QUICK_METHODS = ("ccm", "ccm-single", "pearson", "anova", "mrmr", "rfe", "bahsic")
_QUICK_SIZES = (5, 10, 20, 50, 100)

# Shuffles of the five folds: cheap where one ranking serves them all.
_REPEATS = {"paper": 3, "nested": 1}
# The customary split of the vowel set: the first 8 of 15 speakers train.
_TRAINING_SPEAKERS = 8


@dataclass(frozen=True)
class _Work:
    """A unit of work on the set that the unit names."""

    quick: bool
    random_state: int

    def __call__(self, unit: Mapping[str, Any]) -> dict[str, Any]:
        return curve_task(unit["dataset"], self.quick, self.random_state)(unit)


@lru_cache(maxsize=16)
def curve_task(name: str, quick: bool = False, random_state: int = 0) -> CurveTask:
    """A set of the paper with its splits, ready to be scored.

    Parameters
    ----------
    name : str
        One of :data:`SETS`.
    quick : bool, default=False
        Whether to score five sizes of wide sets instead of twenty.
    random_state : int, default=0
        Seed of the splits and the selectors.

    Returns
    -------
    task : CurveTask

    Examples
    --------
    >>> from covmin.evaluation.paper_real import curve_task
    >>> task = curve_task("wine")
    >>> task.X.shape, len(task.splits), len(task.splits[0])
    ((178, 13), 3, 5)
    """
    data = load("vowel" if name == "vowel-speakers" else name)
    X, y = data.data, data.target
    cv: Any = 5
    if name == "vowel-speakers":
        training = data.groups < _TRAINING_SPEAKERS
        cv = [(np.flatnonzero(training), np.flatnonzero(~training))]
    repeats = 1 if name == "vowel-speakers" else max(_REPEATS.values())
    splits = make_splits(X, y, cv=cv, n_repeats=repeats, random_state=random_state)
    sizes = _QUICK_SIZES if quick and X.shape[1] > 100 else default_sizes(X.shape[1])
    return CurveTask(X, y, resolve_selectors(METHODS), list(sizes), splits, True, random_state)


def available_sets(names: Iterable[str] = SETS) -> tuple[list[str], dict[str, str]]:
    """Which sets can be loaded, and why the others cannot.

    Parameters
    ----------
    names : iterable of str, default=SETS

    Returns
    -------
    available : list of str
    missing : dict of str to str
        Names and reasons.

    Examples
    --------
    >>> from covmin.evaluation.paper_real import available_sets
    >>> available_sets(["wine"])
    (['wine'], {})
    """
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
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: bool = False,
    run: bool = True,
) -> Any:
    """Scores on the paper's real sets under both protocols.

    CCM ranks with its default ε, which is the paper's 0.001 for the single solve, and for m = 100
    of more than 100 features or a fifth of fewer, as in the paper. Under its protocol, one
    ranking of all samples is scored on three shuffles of five folds; the nested one ranks on
    each of five training folds.

    Parameters
    ----------
    log : path-like, optional
        File to keep finished work in, and to take it up from.
    quick : bool, default=False
        Six sets, five sizes and the quick methods.
    datasets : sequence of str, optional
        Some of :data:`SETS`; by default all that can be loaded.
    selectors : sequence of str, optional
        Some of :data:`METHODS`.
    protocols : sequence of {"paper", "nested"}
    n_jobs : int, optional
        Processes.
    random_state : int, default=0
    progress : bool, default=False
        Whether to show a bar.
    run : bool, default=True
        False gives what the log holds, and runs nothing.

    Returns
    -------
    frame : pandas.DataFrame
        Tidy: dataset, selector, protocol, repeat, fold, n_features, score, fit_seconds.

    Examples
    --------
    >>> from covmin.evaluation.paper_real import run_real
    >>> frame = run_real(datasets=["wine"], selectors=["pearson"], protocols=["nested"])
    >>> bool(frame[frame.n_features == 13].score.mean() > 0.95)
    True
    """
    pandas = require_pandas()
    if datasets is None:
        datasets = available_sets(QUICK_SETS if quick else SETS)[0]
    names = selectors or (QUICK_METHODS if quick else METHODS)
    units = _units(datasets, names, protocols, quick, random_state)
    results = run_units(
        units,
        _Work(quick, random_state),
        log=log,
        settings={"experiment": "real", "quick": quick, "random_state": random_state},
        n_jobs=n_jobs,
        progress=progress,
        description="rankings",
        run=run,
    )
    done = [(unit, result) for unit, result in zip(units, results, strict=True) if result]
    warn_of_failures([(unit["selector"], result["error"]) for unit, result in done], "rankings")
    rows = [
        {"dataset": unit["dataset"], **row}
        for unit, result in done
        for row in curve_rows(unit, result, curve_task(unit["dataset"], quick, random_state).sizes)
    ]
    return pandas.DataFrame(rows)


def _units(
    datasets: Sequence[str],
    names: Sequence[str],
    protocols: Sequence[str],
    quick: bool,
    random_state: int,
) -> list[dict[str, Any]]:
    """Units of work, method by method and set by set."""
    unknown = set(protocols) - set(PROTOCOLS)
    if unknown:
        raise ValueError(f"No protocol is called {sorted(unknown)}; there are {PROTOCOLS}.")
    return [
        {"dataset": dataset, **unit}
        for name in names
        for protocol in protocols
        for dataset in datasets
        for unit in _units_of(dataset, name, protocol, quick, random_state)
    ]


def _units_of(
    dataset: str, name: str, protocol: str, quick: bool, random_state: int
) -> list[dict[str, Any]]:
    task = curve_task(dataset, quick, random_state)
    return task.units([name], protocol, min(_REPEATS[protocol], len(task.splits)))
