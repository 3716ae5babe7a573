"""The same work many times over: in parallel, with a count of what is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.utils._param_validation import Interval
from sklearn.utils.parallel import Parallel, delayed

from .progress import ProgressBar
from .threads import IN_THREADS, blas_threads, worker_threads

__all__ = ["N_JOBS", "for_many_fits", "repeat"]

# Values allowed for n_jobs: joblib counts cores from the last for negative ones, and has no zero.
N_JOBS: list[Any] = [
    None,
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
]

Result = TypeVar("Result")


class _Counter(ProgressBar):
    def count(self, what: str, unit: str, done: int, total: int) -> None:
        """Show how much is done."""
        self._show(what, unit, done, total, "")


def for_many_fits(estimator: Any, whole: Any) -> Any:
    """A clone of an estimator without what is meant for a single fit.

    Parameters
    ----------
    estimator : estimator
    whole : estimator
        What fits it many times.

    Returns
    -------
    estimator
    """
    estimator = clone(estimator)
    parameters = estimator.get_params(deep=False)
    if parameters.get("checkpoint") is not None:
        raise ValueError(
            f"checkpoint keeps the progress of one fit, and {type(whole).__name__} makes many; "
            "pass an estimator with checkpoint=None."
        )
    if parameters.get("interrupt") == "keep":
        # Ctrl-C means the whole: kept, it would end one fit early and be lost on the others.
        estimator.set_params(interrupt="raise")
    return estimator


def repeat(
    work: Callable[[Any], Result],
    items: Sequence[Any],
    *,
    n_samples: int,
    n_jobs: int | None = None,
    verbose: int = 0,
    what: str = "repeat",
    unit: str = "run",
) -> list[Result]:
    """Do some work for each item, in threads with one BLAS thread each.

    Parameters
    ----------
    work : callable
    items : sequence
    n_samples : int
        Size of the problem, which decides whether BLAS may use several threads.
    n_jobs : int, optional
        Items worked on at once.
    verbose : int
        1 shows a progress bar.
    what, unit : str
        What the bar says.

    Returns
    -------
    results : list
        In the order of the items.

    Examples
    --------
    >>> repeat(lambda number: number**2, [1, 2, 3], n_samples=10)
    [1, 4, 9]
    """
    results: list[Result] = []
    with _Counter.shown(verbose) as bar, blas_threads(n_samples, worker_threads(n_jobs)):
        pool = Parallel(n_jobs=n_jobs, return_as="generator", **IN_THREADS)
        for result in pool(delayed(work)(item) for item in items):
            results.append(result)
            bar.count(what, unit, len(results), len(items))
    return results
