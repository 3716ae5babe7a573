"""Units of work, in parallel, each kept as soon as it is finished."""

from __future__ import annotations

import hashlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import FitFailedWarning
from threadpoolctl import threadpool_limits

import covmin
from covmin.baselines.randomness import global_state_restored
from covmin.runtime.log import ResultLog

from .categories import Categories, order_of_features
from .selectors import SelectorSpec

__all__ = ["Ranked", "rank_features", "run_units", "unit_seed", "warn_of_failures"]

Unit = Mapping[str, Any]
Work = Callable[[Unit], Any]
# Columns from best to worst (None where the selector failed), seconds, and what went wrong.
Ranked = tuple[np.ndarray | None, float, str | None]


def run_units(
    units: Sequence[Unit],
    work: Work,
    *,
    log: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    description: str = "units",
    run: bool = True,
) -> list[Any]:
    """Do every unit of work that is not done yet, in parallel.

    Parameters
    ----------
    units : sequence of mapping
        Plain values that say what to do.
    work : callable
        Takes a unit and returns a plain value. It runs with one BLAS thread, and NumPy's global
        generator is put back after it.
    log : path-like, optional
        File to keep results in; units found there are not done again.
    settings : mapping, optional
        What else the results depend on; a log of other settings is refused.
    n_jobs : int, optional
        Processes; None is one, -1 all cores.
    progress : bool, default=False
        Whether to show a bar on standard error (tqdm, where it is installed).
    description : str
        What the bar calls the units.
    run : bool, default=True
        False does nothing but read the log, also that of a run under way.

    Returns
    -------
    results : list
        In the order of ``units``, whichever finished first; None for those that are neither
        run nor in the log.

    Examples
    --------
    >>> from covmin.evaluation.runner import run_units
    >>> run_units([{"x": 2}, {"x": 3}], lambda unit: unit["x"] ** 2)
    [4, 9]
    """
    settings = {"covmin": covmin.__version__, **(settings or {})}
    with nullcontext() if log is None else ResultLog(log, settings, writable=run) as kept:
        results = {i: kept[u] for i, u in enumerate(units) if kept is not None and u in kept}
        todo = [i for i in range(len(units)) if run and i not in results]
        finished = _parallel([units[i] for i in todo], work, n_jobs)
        for position, result in _bar(finished, len(todo), progress, description):
            index = todo[position]
            if kept is not None:
                kept.append(units[index], result)
            results[index] = result
    return [results.get(i) for i in range(len(units))]


def _parallel(units: Sequence[Unit], work: Work, n_jobs: int | None) -> Iterator[tuple[int, Any]]:
    """Positions and results in the order of finishing."""
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    return pool(delayed(_guarded)(work, unit, i) for i, unit in enumerate(units))


def _guarded(work: Work, unit: Unit, position: int) -> tuple[int, Any]:
    # Workers share the cores already: more threads inside each would only get in the way.
    with threadpool_limits(1), global_state_restored():
        return position, work(unit)


def _bar(finished: Iterable[Any], total: int, progress: bool, description: str) -> Iterable[Any]:
    if not progress:
        return finished
    try:
        from tqdm.auto import tqdm
    except ImportError:
        print(f"[covmin] {total} {description} to do", file=sys.stderr)
        return finished
    return tqdm(finished, total=total, desc=description, mininterval=1.0)


def unit_seed(random_state: int, *parts: Any) -> int:
    """A seed for one unit of work: the same on every machine and in any order of work.

    Examples
    --------
    >>> from covmin.evaluation.runner import unit_seed
    >>> unit_seed(0, "xor", 30, 7) == unit_seed(0, "xor", 30, 7) != unit_seed(0, "xor", 30, 8)
    True
    """
    text = "/".join(map(str, (random_state, *parts)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little") // 2


def rank_features(
    spec: SelectorSpec,
    m: int,
    X: np.ndarray,
    y: np.ndarray,
    seed: int,
    categories: Categories | None = None,
) -> Ranked:
    """Fit a selector and say what became of it; an error is a result, not the end of the run.

    Parameters
    ----------
    spec : SelectorSpec
    m : int
        Number of features asked for.
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    seed : int
    categories : Categories, optional
        Which features hold categories, in the same rows.

    Returns
    -------
    order : ndarray of shape (n_features,) or None
        Columns from best to worst; None where the fit failed.
    seconds : float
        Time of the fit.
    error : str or None
        What went wrong.
    """
    selector = spec.make(m, seed)
    start = time.perf_counter()
    try:
        # Constant columns and the like are expected here, thousands of times over.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            order = order_of_features(selector, X, y, categories)
    except Exception as error:
        return None, time.perf_counter() - start, f"{type(error).__name__}: {error}"[:300]
    return order, time.perf_counter() - start, None


def warn_of_failures(errors: Sequence[tuple[str, str | None]], n_units: str) -> None:
    """Warn once of all failures, with their number and the first message of each selector."""
    failed = [(name, error) for name, error in errors if error is not None]
    if not failed:
        return
    first = dict(reversed(failed))
    counts = {name: sum(1 for other, _ in failed if other == name) for name in first}
    text = "; ".join(f"{name} {counts[name]} time(s), first: {first[name]}" for name in counts)
    warnings.warn(
        f"{len(failed)} of {len(errors)} {n_units} failed and count as missing: {text}",
        FitFailedWarning,
        stacklevel=3,
    )
