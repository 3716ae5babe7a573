"""Median rank of known features over repeated draws."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .frames import describe, require_pandas
from .runner import rank_features, run_units, unit_seed, warn_of_failures
from .selectors import SelectorSpec, resolve_selectors, selector_settings

__all__ = ["MedianRankResult", "median_rank"]

# Draws in one unit of work: enough to outweigh its bookkeeping, few enough to lose.
_BLOCK = 10

PROTOCOL = "median rank"
DEFAULT_SELECTORS = ("ccm", "ccm-single", "pearson", "mi", "rfe", "mrmr", "bahsic")

Generator = Callable[..., Any]


@dataclass(frozen=True)
class _Draws:
    """The work: rank the features of a block of draws."""

    generators: Mapping[str, Generator]
    specs: Mapping[str, SelectorSpec]
    random_state: int

    def __call__(self, unit: Mapping[str, Any]) -> dict[str, list[Any]]:
        repeats = range(unit["first"], unit["first"] + unit["count"])
        rows = [self.draw(unit["task"], unit["n_samples"], unit["selector"], r) for r in repeats]
        ranks, seconds, errors = zip(*rows, strict=True)
        return {"median_rank": list(ranks), "seconds": list(seconds), "error": list(errors)}

    def draw(self, task: str, n: int, selector: str, repeat: int) -> tuple[Any, float, str | None]:
        # Every selector sees the same draw: its name is not in the seed.
        seed = unit_seed(self.random_state, task, n, repeat)
        data = self.generators[task](n, random_state=seed)
        # Ties go by position: the true features must not always come first.
        columns = np.random.default_rng(seed).permutation(data.data.shape[1])
        informative = np.flatnonzero(np.isin(columns, data.informative))
        order, seconds, error = rank_features(
            self.specs[selector], informative.size, data.data[:, columns], data.target, seed
        )
        rank = None if order is None else median_rank_of(order, informative)
        return rank, round(seconds, 4), error


def median_rank_of(order: np.ndarray, informative: Iterable[int]) -> float:
    """Median of the ranks of the informative columns.

    Parameters
    ----------
    order : array-like of shape (n_features,)
        Columns from best to worst.
    informative : iterable of int
        The columns that matter.

    Returns
    -------
    rank : float
        (m + 1)/2 at best, for m informative columns.

    Examples
    --------
    >>> from covmin.evaluation.ranks import median_rank_of
    >>> median_rank_of([2, 0, 3, 1], informative=[0, 1])
    3.0
    """
    return float(np.median(np.flatnonzero(np.isin(order, list(informative))) + 1))


@dataclass(frozen=True, repr=False)
class MedianRankResult:
    """Median ranks of the true features, draw by draw.

    Attributes
    ----------
    records : list of dict
        One for each draw and selector.
    optimal : dict of str to float
        Best median rank possible for each task: (m + 1)/2.
    """

    records: list[dict[str, Any]]
    optimal: dict[str, float]

    def __repr__(self) -> str:
        return describe(self, "median ranks")

    @property
    def frame(self) -> Any:
        """Tidy frame: task, selector, protocol, n_samples, repeat, median_rank, fit_seconds."""
        return require_pandas().DataFrame(self.records)

    def summary(self) -> Any:
        """Mean over draws for each task, selector and number of samples.

        Returns
        -------
        summary : pandas.DataFrame
            ``mean_rank``, ``standard_error``, ``fit_seconds`` (mean), ``n_draws`` and
            ``n_failed``; failed draws are left out of the means.
        """
        keys = ["task", "protocol", "selector", "n_samples"]
        groups = self.frame.groupby(keys, sort=False)
        summary = groups.agg(
            mean_rank=("median_rank", "mean"),
            standard_error=("median_rank", "sem"),
            fit_seconds=("fit_seconds", "mean"),
            n_draws=("median_rank", "size"),
            n_failed=("median_rank", lambda ranks: int(ranks.isna().sum())),
        ).reset_index()
        summary["optimal"] = summary["task"].map(self.optimal)
        return summary

    def plot(self, axes: Any = None, **kwargs: Any) -> Any:
        """Draw one panel for each task.

        Parameters
        ----------
        axes : sequence of matplotlib axes, optional
            One for each task.
        **kwargs
            Passed on to :meth:`covmin.plotting.curves.MedianRankDisplay.plot`.

        Returns
        -------
        display : covmin.plotting.curves.MedianRankDisplay
        """
        from covmin.plotting.curves import MedianRankDisplay

        return MedianRankDisplay.from_results(self).plot(axes, **kwargs)


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
) -> MedianRankResult:
    """Median rank that selectors give to the features known to matter.

    Each draw of each size is ranked by every selector, which is told how many features matter;
    lower is better and (m + 1)/2 is optimal. This is the paper's protocol for synthetic data,
    but for one thing: columns are shuffled in every draw, so that a selector which leaves ties,
    and breaks them by position, has nothing of it that the true features come first.

    Parameters
    ----------
    generators : callable or mapping of str to callable
        Called as ``generator(n, random_state=seed)``; returns a Bunch with ``data``, ``target``
        and ``informative``, as those of :mod:`covmin.datasets`. A mapping names several tasks.
    selectors : iterable of str or mapping of str to estimator, optional
        Names of :func:`named_selectors`, or estimators. By default CCM and the paper's rivals.
    n_samples : iterable of int, default=(10, 20, ..., 100)
        Sizes of the draws.
    n_repeats : int, default=100
        Draws of each size.
    n_jobs : int, optional
        Processes.
    random_state : int, default=0
        Seed of everything.
    log : path-like, optional
        File to keep finished work in; with it, a run that was interrupted is taken up again.
    progress : bool, default=False
        Whether to show a bar.
    run : bool, default=True
        False gives what the log holds, and runs nothing.

    Returns
    -------
    result : MedianRankResult
        A selector that fails on a draw has a missing rank there, and a warning says so.

    Examples
    --------
    >>> from covmin.datasets import make_xor
    >>> from covmin.evaluation import median_rank
    >>> result = median_rank(make_xor, ["ccm", "pearson"], n_samples=[60], n_repeats=3)
    >>> table = result.summary().set_index("selector")
    >>> float(table.mean_rank["ccm"]), bool(table.mean_rank["pearson"] > 3)
    (2.0, True)
    """
    if callable(generators):
        generators = {getattr(generators, "__name__", "task").removeprefix("make_"): generators}
    specs = resolve_selectors(selectors, DEFAULT_SELECTORS)
    units = _blocks(generators, specs, [int(n) for n in n_samples], n_repeats)
    results = run_units(
        units,
        _Draws(generators, specs, random_state),
        log=log,
        settings={
            "protocol": PROTOCOL,
            "columns": "shuffled",
            "random_state": random_state,
            **selector_settings(specs),
        },
        n_jobs=n_jobs,
        progress=progress,
        description="blocks of draws",
        run=run,
    )
    pairs = zip(units, results, strict=True)
    records = [row for unit, result in pairs if result for row in _rows(unit, result)]
    warn_of_failures([(r["selector"], r["error"]) for r in records], "rankings")
    return MedianRankResult(records, {task: _optimal(g) for task, g in generators.items()})


def _blocks(
    tasks: Iterable[str], specs: Iterable[str], sizes: list[int], n_repeats: int
) -> list[dict[str, Any]]:
    """Units of work, selector by selector, so that tables fill up column by column."""
    return [
        {
            "task": task,
            "n_samples": n,
            "selector": name,
            "first": first,
            "count": min(_BLOCK, n_repeats - first),
        }
        for name in specs
        for task in tasks
        for n in sizes
        for first in range(0, n_repeats, _BLOCK)
    ]


def _rows(unit: Mapping[str, Any], result: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    columns = zip(result["median_rank"], result["seconds"], result["error"], strict=True)
    return [
        {
            "task": unit["task"],
            "protocol": PROTOCOL,
            "selector": unit["selector"],
            "n_samples": unit["n_samples"],
            "repeat": unit["first"] + i,
            "median_rank": np.nan if rank is None else rank,
            "fit_seconds": seconds,
            "error": error,
        }
        for i, (rank, seconds, error) in enumerate(columns)
    ]


def _optimal(generator: Generator) -> float:
    m = len(generator(10, random_state=0).informative)
    return (m + 1) / 2
