"""Other selectors beside covmin on a few tables of two classes.

Run with ``python -m benchmarks.grid --rivals``. Each method selects ten features, once, in a
process of its own, after a run on next to nothing that pays for what it imports. One that takes
more than 120 seconds is stopped. covmin is timed with one thread and with two, by
``OMP_NUM_THREADS``; the others take what they take. Boruta, which chooses its own number of
features, is timed where it is found (``pip install boruta``).
"""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from covmin.baselines import available_selectors

from benchmarks.fits import boruta
from benchmarks.samples import TRUE, table
from benchmarks.tables import in_words, markdown, show, write, write_page
from covmin import CCMSelector

_CELLS = ((200, 500), (1000, 100), (5000, 100), (200, 5000), (20_000, 50))
_KEPT = 10
_LIMIT = 120.0
_MISSING, _STOPPED = float("nan"), float("inf")

Fit = Callable[[np.ndarray, np.ndarray], object]


def covmin_fit(m: int | str, X: np.ndarray, y: np.ndarray) -> None:
    CCMSelector(m).fit(X, y)


def baseline(name: str, X: np.ndarray, y: np.ndarray) -> None:
    available_selectors()[name](n_features_to_select=_KEPT).fit(X, y)


# By name: the fit, and the threads it is held to.
METHODS: dict[str, tuple[Fit, int | None]] = {
    "covmin, 1 thread": (partial(covmin_fit, _KEPT), 1),
    "covmin, 2 threads": (partial(covmin_fit, _KEPT), 2),
    "covmin auto": (partial(covmin_fit, "auto"), 2),
    "mutual information": (partial(baseline, "mi"), None),
    "RFE": (partial(baseline, "rfe"), None),
    "mRMR": (partial(baseline, "mrmr"), None),
    "HSIC lasso": (partial(baseline, "hsic-lasso"), None),
    "Boruta": (boruta, None),
}


def _work(pipe: Any, fit: Fit, n: int, d: int) -> None:
    """In a process: say when ready, then how long the fit took."""
    warnings.simplefilter("ignore")
    try:
        fit(*table(60, max(2 * TRUE, _KEPT), "classes"))
    except ImportError:
        pipe.send(_MISSING)
        return
    X, y = table(n, d, "classes")
    pipe.send(0.0)
    start = time.perf_counter()
    fit(X, y)
    pipe.send(time.perf_counter() - start)


@contextmanager
def _threads(n_threads: int | None) -> Iterator[None]:
    """Threads of a process that is started within the block."""
    before = os.environ.get("OMP_NUM_THREADS")
    if n_threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(n_threads)
    try:
        yield
    finally:
        if n_threads is not None:
            os.environ.pop("OMP_NUM_THREADS")
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before


def timed(fit: Fit, n: int, d: int, n_threads: int | None, limit: float = _LIMIT) -> float:
    """Seconds of a fit in a process of its own; infinite where it was stopped."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, fit, n, d), daemon=True)
    with _threads(n_threads):
        process.start()
    theirs.close()
    try:
        if np.isnan(ours.recv()):
            return _MISSING
        return float(ours.recv()) if ours.poll(limit) else _STOPPED
    except EOFError:  # it has failed, and has said why
        return _MISSING
    finally:
        process.terminate()
        process.join()


def compare() -> int:
    """Time all methods on all tables; write them after each table."""
    rows: list[dict[str, Any]] = []
    for n, d in _CELLS:
        row: dict[str, Any] = {"n": n, "d": d}
        for name, (fit, n_threads) in METHODS.items():
            row[name] = timed(fit, n, d, n_threads)
            print(f"{n} x {d} {name}: {row[name]:.3g} s", flush=True)
        rows.append(row)
        write("rivals", rows)
        write_page("rivals", pages(rows))
    show(rows)
    return 0


def report(frame: Any) -> str:
    """The table of the page, from the file."""
    return "\n".join(markdown(pages(frame.to_dict("records"))))


def pages(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A line for each method, as the documentation shows it; those not found are left out."""
    lines = []
    for name in METHODS:
        times = [row[name] for row in rows]
        if np.isnan(times).all():
            continue
        line = {"seconds": name}
        for row in rows:
            line[f"{row['n']:,} × {row['d']:,}"] = _in_words(row[name])
        lines.append(line)
    return lines


def _in_words(seconds: float) -> str:
    return f"> {_LIMIT:.0f}" if seconds == _STOPPED else in_words(seconds)
