"""The same work many times over: in parallel, with a count of what is done."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.parallel import Parallel, delayed

from .progress import ProgressBar
from .threads import IN_THREADS, one_blas_thread, sharing_rows, worker_threads

# Values allowed for n_jobs: joblib counts cores from the last for negative ones, and has no zero.
N_JOBS: list[Any] = [
    None,
    Interval(Integral, 1, None, closed="left"),
    Interval(Integral, None, -1, closed="right"),
]

# Values allowed for verbose.
VERBOSE: list[Any] = ["verbose", StrOptions({"auto"})]

Result = TypeVar("Result")


def for_many_fits(estimator: Any, whole: Any) -> Any:
    """A clone of an estimator, which `whole` fits many times, without what is meant for one."""
    estimator = clone(estimator)
    parameters = estimator.get_params()
    if parameters.get("long_run__checkpoint") is not None:
        raise ValueError(
            f"checkpoint keeps the progress of one fit, and {type(whole).__name__} makes many; "
            "pass an estimator with checkpoint=None."
        )
    if parameters.get("long_run__interrupt") == "keep":
        # Ctrl-C means the whole: kept, it would end one fit early and be lost on the others.
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
    """Do some work for each item, in threads with one BLAS thread each; results in order.

    ``what`` and ``unit`` are what the progress bar says.
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


@contextmanager
def in_threads(
    work: Callable[[Any], Result], items: Iterable[Any], n_jobs: int | None
) -> Iterator[Iterator[Result]]:
    """Results of some work for each item, in order; what is left when the block ends is dropped."""
    pool = Parallel(n_jobs=n_jobs, return_as="generator", **IN_THREADS)
    shared = sharing_rows(work, worker_threads(n_jobs))
    results = pool(delayed(shared)(item) for item in items)
    try:
        yield results
    finally:
        # After an error, or an end in between, joblib would complain of work that nobody waits
        # for. No filter would do: the threads set those of the whole process.
        pool.return_generator = False
        results.close()
