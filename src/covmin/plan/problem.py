"""From prepared columns and encoded responses to a problem of the core."""

from dataclasses import replace
from typing import Any

import numpy as np

from covmin.core.arrays import like, take, to_device, to_numpy
from covmin.core.kernels import Kernel
from covmin.core.kernels.bandwidth import median_rows, of_all
from covmin.core.nominations import Hold, interacting_pairs
from covmin.core.problem import Problem, Sample, Screen
from covmin.data.columns import PreparedColumns, distinct_rows
from covmin.data.sources import StandardizedSource

from .approximation import pair_rows, screen_rows
from .constants import (
    MOST_COLUMNS,
    N_COMPONENTS,
    PAIR_SEARCH,
    SAMPLES_FOR_EACH_FEATURE,
    SKETCH_ROWS,
)


def make_problem(
    columns: PreparedColumns,
    Y: np.ndarray,
    kernel: Kernel,
    *,
    approximation: str | None = None,
    n_components: int | None = None,
    device: str | None = None,
    seed: int = 0,
    n_threads: int = 1,
    **options: Any,
) -> Problem:
    """Bring the data to the device and draw the random components, once.

    Y (n_samples, n_responses) is centred under the weights of the columns; ``options`` are those
    of :class:`~covmin.core.problem.Problem`.
    """
    X = columns.X
    options = {"kernel": kernel, "epsilon": 1.0, "units": columns.units, **options}
    if approximation is None:
        return Problem.exact(_whole(columns, Y, device, seed), **options)
    rng = np.random.default_rng(seed)
    frequencies = kernel.draw_frequencies(X.shape[1], n_components or N_COMPONENTS, rng)
    if isinstance(X, StandardizedSource):
        problem = _in_blocks(columns, X, Y, frequencies, seed, n_threads, options)
    else:
        sample = _whole(columns, Y, device, seed)
        problem = Problem.fourier(sample, frequencies, n_threads=n_threads, **options)
    if not kernel.sums_features or X.shape[1] <= MOST_COLUMNS:
        return problem
    options["summed"] = of_all
    screen = Screen(_screen(columns, Y, device, seed, options), MOST_COLUMNS)
    sketch = None if problem.sketch is None else replace(problem.sketch, screen=screen)
    return replace(problem, screen=screen, sketch=sketch)


def _whole(columns: PreparedColumns, Y: np.ndarray, device: str | None, seed: int) -> Sample:
    X = columns.X
    Y, p = Y.astype(X.dtype), columns.p.astype(X.dtype)
    return Sample.whole(to_device(X, device), to_device(Y, device), to_device(p, device), seed)


def _held(
    columns: PreparedColumns, Y: np.ndarray, rows: np.ndarray, X: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some of the rows, with their responses and weights for themselves."""
    p = columns.p[rows] / columns.p[rows].sum()
    part = Y[rows] - p @ Y[rows]
    return X, part.astype(X.dtype), p.astype(X.dtype)


def _screen(
    columns: PreparedColumns, Y: np.ndarray, device: str | None, seed: int, options: dict[str, Any]
) -> Problem:
    """The problem by the exact kernel on a sample of the rows."""
    X = columns.X
    has_say = np.flatnonzero(columns.p > 0.0)
    rng = np.random.default_rng([seed, 1])  # not the stream that draws the frequencies
    rows = np.sort(rng.choice(has_say, screen_rows(has_say.size, X.shape[1]), replace=False))
    drawn = X.sample(rows) if isinstance(X, StandardizedSource) else X[rows]
    X, Y, p = (to_device(part, device) for part in _held(columns, Y, rows, drawn))
    return Problem.exact(Sample.whole(X, Y, p, seed), **options)


def _in_blocks(
    columns: PreparedColumns,
    X: StandardizedSource,
    Y: np.ndarray,
    frequencies: np.ndarray,
    seed: int,
    n_threads: int,
    options: dict[str, Any],
) -> Problem:
    """A problem whose rows are read in blocks, with a sample and a sketch held in memory."""
    n = X.shape[0]
    rng = np.random.default_rng(seed)
    near = median_rows(n, rng)
    some = near[:0]
    if n > 2 * SKETCH_ROWS:
        some = np.sort(rng.choice(n, SKETCH_ROWS, replace=False))
    seen = np.union1d(near, _rows_for_pairs(X.shape, Y.shape[1], seed))
    wanted = np.union1d(seen, some)
    drawn = X.sample(wanted)  # one pass over the rows for all of them
    sketch = None
    if some.size:
        held = _held(columns, Y, some, drawn[np.searchsorted(wanted, some)])
        sample = Sample.whole(*held, seed=seed)
        sketch = Problem.fourier(sample, frequencies, n_threads=n_threads, **options)
    held = _held(columns, Y, seen, drawn[np.searchsorted(wanted, seen)])
    sample = Sample(*held, near=np.searchsorted(seen, near))
    rows = X.rows(Y, columns.p)
    return Problem.fourier(sample, frequencies, rows, sketch=sketch, **options)


def _rows_for_pairs(shape: tuple[int, int], n_responses: int, seed: int) -> np.ndarray:
    n, n_columns = shape
    rng = np.random.default_rng([seed, 2])
    return np.sort(rng.choice(n, pair_rows(n, n_columns, n_responses), replace=False))


def hold_for(problem: Problem, seed: int) -> Hold:
    """Features that interact in pairs, to be held while samples are few for those left."""
    sample = problem.sample
    rows = np.flatnonzero(to_numpy(sample.p) > 0.0)
    most = pair_rows(rows.size, int(sample.X.shape[1]), int(sample.Y.shape[1]))
    if most < rows.size:
        rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    parts = (sample.X, sample.Y, sample.p)
    X, Y, p = (take(part, rows, axis=0) for part in parts) if most < sample.n_rows else parts
    pairs = interacting_pairs(X, Y, p, problem.units.of_column, PAIR_SEARCH)
    return Hold(pairs, above=pairs.n_samples / SAMPLES_FOR_EACH_FEATURE)


def without_repeats(problem: Problem, n_distinct: int, seed: int) -> Problem:
    """An exact problem with repeated samples merged: one copy would give the other away."""
    sample = problem.sample
    if n_distinct == sample.n_rows:
        return problem
    X, Y, p = (to_numpy(array) for array in (sample.X, sample.Y, sample.p))
    X, Y, p = (like(part, sample.X) for part in distinct_rows(X, Y, p))
    few = Sample.whole(X, Y, p, seed)
    names = ("kernel", "epsilon", "units", "objective", "constraints", "steps", "summed")
    return Problem.exact(few, **{name: getattr(problem, name) for name in names})
