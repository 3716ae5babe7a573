"""Build an optimisation problem from prepared columns and encoded responses."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covmin.constants import SAMPLES_FOR_EACH_FEATURE
from covmin.core.arrays import to_device
from covmin.core.kernels import Kernel
from covmin.core.problem import Problem, Sample
from covmin.core.screening import Protected, Screening
from covmin.data.blocks import StandardizedBlocks
from covmin.data.standardize import DistinctRows, PreparedColumns

from .approximation import held_rows, pair_rows, pair_waves
from .constants import N_COMPONENTS


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
    single: bool = False,
    **options: Any,
) -> Problem:
    """Move the data to the device and draw the random Fourier features once.

    Y (n_samples, n_responses) is centred under the weights of the columns. ``options`` are passed
    to :class:`~covmin.core.problem.Problem`.
    """
    X, rows = columns.X, columns.distinct(seed)
    if single:
        X = X.astype(np.float32, copy=False)
        columns = replace(columns, X=X)
    options = {"kernel": kernel, "epsilon": 1.0, "units": columns.units, **options}
    if approximation is None:
        return Problem.exact(_held(columns, Y, rows, device=device), **options)
    rng = np.random.default_rng(seed)
    frequencies = kernel.draw_frequencies(X.shape[1], n_components or N_COMPONENTS, rng)
    if isinstance(X, StandardizedBlocks) and device is None:
        problem = _in_blocks(columns, X, Y, rows, frequencies, n_threads, options)
    else:
        sample = _held(columns, Y, rows, device=device)
        problem = Problem.fourier(sample, frequencies, n_threads=n_threads, **options)
    return problem


def _held(
    columns: PreparedColumns,
    Y: np.ndarray,
    rows: DistinctRows,
    most: int | None = None,
    device: str | None = None,
) -> Sample:
    """Return the distinct rows, at most ``most``, in memory, with responses and weights."""
    first, p = rows.first[:most], rows.p[:most]
    p = p / p.sum()
    X = columns.X.sample(first) if isinstance(columns.X, StandardizedBlocks) else columns.X[first]
    parts = X, Y[first] - p @ Y[first], p
    return Sample(*(to_device(part.astype(X.dtype, copy=False), device) for part in parts))


def _in_blocks(
    columns: PreparedColumns,
    X: StandardizedBlocks,
    Y: np.ndarray,
    rows: DistinctRows,
    frequencies: np.ndarray,
    n_threads: int,
    options: dict[str, Any],
) -> Problem:
    """Return a problem that reads rows in blocks if they do not all fit in memory."""
    held = _held(columns, Y, rows, held_rows(rows.size, X.shape[1], Y.shape[1]))
    if held.n_rows == rows.size:
        return Problem.fourier(held, frequencies, n_threads=n_threads, **options)
    everything = _each_once(X, rows).rows(Y[np.sort(rows.first)], rows.p[np.argsort(rows.first)])
    options["draw"] = _Drawn(columns, X, Y, rows)
    return Problem.fourier(held, frequencies, everything, n_threads=n_threads, **options)


@dataclass
class _Drawn:
    """Reads rows of some columns of a table into memory, as many as there is room for.

    Each stage selects among fewer columns than the last, so the rows read for one stage usually
    serve the next.
    """

    columns: PreparedColumns
    X: StandardizedBlocks
    Y: np.ndarray
    rows: DistinctRows
    _last: Sample | None = None

    def __call__(self, columns: np.ndarray, n_rows: int) -> Sample:
        n_rows = min(n_rows, held_rows(self.rows.size, columns.size, self.Y.shape[1]))
        if not self._serves(columns, n_rows):
            narrow = replace(self.columns, X=self.X.restrict(columns))
            places = np.full(self.X.shape[1], -1)
            places[columns] = np.arange(columns.size)
            held = _held(narrow, self.Y, self.rows, n_rows)
            self._last = replace(held, places=places)
        assert self._last is not None
        return self._last

    def _serves(self, columns: np.ndarray, n_rows: int) -> bool:
        last = self._last
        if last is None or last.places is None:
            return False
        return n_rows <= last.n_rows and bool((last.places[columns] >= 0).all())


def _each_once(X: StandardizedBlocks, rows: DistinctRows) -> StandardizedBlocks:
    """Return the columns without duplicate rows."""
    n = X.shape[0]
    if rows.size == n:
        return X
    return replace(X, source=X.source.keep(np.isin(np.arange(n), rows.first)))


def screening_of(problem: Problem) -> Screening:
    """Prepare the search for interactions, on as many rows as it can afford."""
    n, d = map(int, problem.sample.X.shape)
    seen = problem.sample.first(pair_rows(n, d, int(problem.sample.Y.shape[1])))
    of_column, n_threads = problem.units.of_column, problem.n_threads
    return Screening.of(seen.X, seen.Y, seen.p, of_column, n_threads=n_threads)


def protected_for(
    problem: Problem, task: str = "classification", screening: Screening | None = None
) -> Protected:
    """Return the features to protect while there are few samples per remaining feature.

    They are found by interactions and, for numeric responses, by the spread.
    """
    screening = screening or screening_of(problem)
    n_samples, n_columns = screening.codes.p.size, screening.of_column.size
    n_functions = pair_waves(n_samples, n_columns, int(problem.sample.Y.shape[1]))
    found = screening.interactions(n_functions=n_functions)
    above = found.n_samples / SAMPLES_FOR_EACH_FEATURE
    if task != "regression":
        return Protected(found, above=above)
    return Protected(found, screening.spread(), above=above)
