"""Turn prepared columns and encoded responses into an optimisation problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covmin.constants import N_COMPONENTS
from covmin.core.arrays import to_device
from covmin.core.kernels import Kernel
from covmin.core.problem import Effort, Problem
from covmin.core.rows import Sample
from covmin.data.blocks import StandardizedBlocks
from covmin.data.response import EncodedResponse
from covmin.data.standardize import DistinctRows, PreparedColumns
from covmin.plan.formulation import Formulation
from covmin.plan.rules import held_rows, path_budgets


@dataclass(frozen=True)
class Method:
    """What the plan has decided about the optimisation."""

    task: str
    formulation: Formulation
    kernel: Kernel
    approximation: str | None  # "fourier", or None for the n×n kernel matrix
    n_components: int = N_COMPONENTS
    device: str | None = None
    seed: int = 0
    n_threads: int = 1  # blocks of rows on the host processed in parallel
    # Limit on the work of an evaluation, in single precision; None: all rows in double precision.
    effort: Effort | None = None
    screens: bool = False  # whether interactions are searched for

    def problem(self, columns: PreparedColumns, Y: np.ndarray) -> Problem:
        """Return the problem for prepared columns and centred responses, without its ridge."""
        # Ten conjugate gradient steps cannot resolve the narrower kernel.
        narrow = self.formulation.is_path and self.formulation.inverse == "exact"
        return make_problem(
            columns,
            Y,
            self.kernel,
            approximation=self.approximation,
            n_components=self.n_components,
            device=self.device,
            seed=self.seed,
            n_threads=self.n_threads,
            single=self.effort is not None,
            for_kept=bool(narrow and self.approximation),
            effort=self.effort,
        )

    def formulated(
        self, problem: Problem, columns: PreparedColumns, response: EncodedResponse, epsilon: float
    ) -> Problem:
        """Return a problem with the kernel and the formulation of the plan, and a ridge."""
        return self.formulation.applied_to(
            replace(problem, kernel=self.kernel),
            epsilon,
            unit=response.squared_unit,
            power=float((columns.p @ response.Y**2).sum()),
            n=columns.total_weight,
        )

    def budgets(self, n_features: int, m: int) -> list[int]:
        """Return the budgets of the stages; a single solve has only m."""
        return path_budgets(n_features) if self.formulation.is_path else [m]


def make_problem(
    columns: PreparedColumns,
    Y: np.ndarray,
    kernel: Kernel,
    *,
    approximation: str | None = None,
    n_components: int = N_COMPONENTS,
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
    rows = columns.distinct(seed)
    if single:
        columns = replace(columns, X=columns.X.astype(np.float32, copy=False))
    X = columns.X
    options = {"kernel": kernel, "epsilon": 1.0, "units": columns.units, **options}
    if approximation is None:
        return Problem.exact(_held(columns, Y, rows, device=device), **options)
    rng = np.random.default_rng(seed)
    frequencies = kernel.draw_frequencies(X.shape[1], n_components, rng)
    most = None
    if device is None and isinstance(X, StandardizedBlocks):
        most = held_rows(rows.size, X.shape[1], Y.shape[1])
    held = _held(columns, Y, rows, most, device, n_threads)
    if held.shape[0] == rows.size:
        return Problem.fourier(held, frequencies, **options)
    # Not all rows fit in memory: read them in blocks, each distinct row once.
    if rows.size < X.shape[0]:
        X = replace(X, source=X.source.keep(np.isin(np.arange(X.shape[0]), rows.first)))
    everything = X.rows(Y[np.sort(rows.first)], rows.p[np.argsort(rows.first)])
    options["draw"] = _Drawn(columns, Y, rows, n_threads)
    return Problem.fourier(held, frequencies, everything, **options)


def _held(
    columns: PreparedColumns,
    Y: np.ndarray,
    rows: DistinctRows,
    most: int | None = None,
    device: str | None = None,
    n_threads: int = 1,
) -> Sample:
    """Return the distinct rows, at most ``most``, in memory, with responses and weights."""
    first, p = rows.first[:most], rows.p[:most]
    p = p / p.sum()
    X = columns.X.sample(first) if isinstance(columns.X, StandardizedBlocks) else columns.X[first]
    parts = X, Y[first] - p @ Y[first], p
    arrays = (to_device(part.astype(X.dtype, copy=False), device) for part in parts)
    return Sample(*arrays, n_threads=n_threads)


@dataclass
class _Drawn:
    """Reads rows of some columns of a table into memory, as many as there is room for.

    Each stage selects among fewer columns than the last, so the rows read for one stage usually
    serve the next.
    """

    columns: PreparedColumns
    Y: np.ndarray
    rows: DistinctRows
    n_threads: int
    _last: Sample | None = None

    def __call__(self, columns: np.ndarray, n_rows: int) -> Sample:
        n_rows = min(n_rows, held_rows(self.rows.size, columns.size, self.Y.shape[1]))
        if self._last is None or not self._serves(self._last, columns, n_rows):
            X = self.columns.X
            places = np.full(X.shape[1], -1)
            places[columns] = np.arange(columns.size)
            narrow = replace(self.columns, X=X.restrict(columns))
            held = _held(narrow, self.Y, self.rows, n_rows, n_threads=self.n_threads)
            self._last = replace(held, columns=places)
        return self._last

    @staticmethod
    def _serves(last: Sample, columns: np.ndarray, n_rows: int) -> bool:
        assert last.columns is not None
        return n_rows <= last.shape[0] and bool((last.columns[columns] >= 0).all())
