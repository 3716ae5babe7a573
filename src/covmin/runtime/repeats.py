"""Repeat the same work for many items, in parallel and with a progress bar."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from .progress import ProgressBar
from .threads import in_threads, one_blas_thread

# Values allowed for n_jobs: joblib counts negative values from the last core; zero is undefined.
N_JOBS: list[Any] = [
    None,
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
]

# Values allowed for verbose.
VERBOSE: list[Any] = ["verbose", StrOptions({"auto"})]

Result = TypeVar("Result")


def for_many_fits(estimator: Any, whole: Any) -> Any:
    """Return a clone of an estimator to be fitted many times by ``whole``, with safe settings."""
    estimator = clone(estimator)
    parameters = estimator.get_params()
    if parameters.get("long_run__checkpoint") is not None:
        raise ValueError(
            f"A checkpoint stores the progress of one fit, but {type(whole).__name__} makes many. "
            "Pass an estimator with checkpoint=None."
        )
    if parameters.get("long_run__interrupt") == "keep":
        # Ctrl-C should stop everything: with "keep" it would only shorten the current fit.
        estimator.set_params(long_run__interrupt="raise")
    return estimator


def repeat(
    work: Callable[[Any], Result],
    items: Sequence[Any],
    what: str,
    unit: str,
    n_jobs: int | None,
    verbose: int | str,
) -> list[Result]:
    """Return the results of ``work`` for each item, in order.

    The items run in threads, with one BLAS thread each. ``what`` and ``unit`` are the texts of
    the progress bar.
    """
    results: list[Result] = []
    with (
        ProgressBar.shown(verbose) as bar,
        one_blas_thread(),
        in_threads(work, items, n_jobs) as found,
    ):
        bar.show(what, unit, 0, len(items))
        for result in found:
            results.append(result)
            bar.show(what, unit, len(results), len(items))
    return results
