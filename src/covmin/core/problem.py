"""The optimisation problem: samples, kernel, objective and constraint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from covmin.constants import SAMPLE_ROWS, SAMPLES_FOR_EACH_FEATURE, WORK

from .arrays import Array, like, take, to_numpy
from .constraints import CappedSimplex, Constraint
from .grams import ExactGram, FourierGram, Gram
from .kernels.additive import waves_for
from .kernels.base import Kernel, Scale, ScaledKernel
from .kernels.distances import MEDIAN_ROWS, median_bandwidth
from .objectives import Objective, TraceObjective
from .rows import Rows, Sample
from .solver import STEPS, Steps
from .units import Units


@dataclass(frozen=True)
class Effort:
    """How many rows a stage uses.

    What single columns and products of a few say is looked for on all rows, and protected. To
    choose among the others, a stage needs rows for each of its columns, as many as it can afford.
    """

    work: float = WORK[0]  # multiplications
    matrix_rows: int = SAMPLE_ROWS  # up to this many rows use the kernel matrix, beyond it Fourier
    rows_per_column: float = 2 * SAMPLES_FOR_EACH_FEATURE  # of a stage
    share: float = 0.2  # if these are more than this share of all rows, a stage uses all
    fewest_rows: int = SAMPLE_ROWS // 2  # rows of a stage, at least
    frequencies: float = 0.5  # share used by a stage that only chooses; one for each column
    reported_rows: int = 2 * SAMPLE_ROWS  # rows of the stage for the asked number of features
    looseness: float = 3.0  # tolerance, as a multiple of that on the next larger number of rows

    def rows_of_stage(self, kernel: Kernel, n_columns: int, n_components: int, n_rows: int) -> int:
        """Return the number of rows that choose among some columns; or all."""
        enough = max(self.fewest_rows, int(self.rows_per_column * n_columns))
        enough = n_rows if enough > self.share * n_rows else enough
        return min(enough, self.rows(kernel, n_columns, n_components))

    def rows(self, kernel: Kernel, n_columns: int, n_components: int) -> int:
        """Return the number of rows of an evaluation; without components, that of a matrix."""
        sums, alone = kernel.sums_features, not kernel.sees_interactions
        columns = n_columns * (1 + sums * waves_for(n_columns, alone=True))
        by_matrix = int(brentq(lambda n: n**2 * (columns + n / 3.0) - self.work, 0.0, self.work))
        rows = max(by_matrix, self.fewest_rows)
        if n_components == 0 or rows <= self.matrix_rows:
            return rows
        if n_components < 2 * n_columns and kernel.sees_interactions:
            # With fewer frequencies than columns, some directions are missed.
            return self.matrix_rows
        total = n_components + sums * n_columns * waves_for(n_columns, alone=alone)
        return max(self.matrix_rows, int(self.work / total**2))


# An accelerator does the same work, so that it selects the same features.
EFFORT = Effort()


@dataclass(frozen=True)
class Problem:
    """Everything that a solve needs."""

    sample: Sample  # in memory, for the kernel matrix, the bandwidth and the search for pairs
    rows: Rows  # all rows; those of the sample, unless they do not fit in memory
    kernel: Kernel
    epsilon: float  # ridge ε
    units: Units  # the features to select from
    objective: Callable[..., Objective] = TraceObjective  # from a Gram operator, ε and units
    # (n_columns, any): of random Fourier features, drawn once, so that all evaluations share them.
    frequencies: Array | None = None  # None: the exact kernel matrix
    # Constraints for a budget, to be tried until one keeps that many features.
    constraints: Callable[[float], Sequence[Constraint]] = CappedSimplex.candidates
    steps: Steps = STEPS
    # Whether the bandwidth is that of the features that a stage keeps, not of all that it selects
    # from. With a budget of m out of d features, all weights start at m/d: with a bandwidth for all
    # d, every pair of samples would be close, and the kernel would miss interactions.
    for_kept: bool = False
    effort: Effort | None = None  # limit on the work per evaluation; None: all rows in every step

    def for_stage(self, features: np.ndarray, *, whole: bool = False) -> list[Problem]:
        """Return the problems that a stage solves in turn, on more and more rows.

        The stage for the asked number of features uses more rows, whatever its columns.
        """
        if self.effort is None:
            return [self]
        columns, effort = self.units.columns(features), self.effort
        frequencies = self.frequencies
        if frequencies is not None and not whole:
            share = int(effort.frequencies * frequencies.shape[1])
            frequencies = frequencies[:, : max(share, columns.size)]
        n_components = 0 if frequencies is None else 2 * int(frequencies.shape[1])
        size = columns.size, n_components, self.rows.shape[0]
        n_rows = [effort.rows_of_stage(self.kernel, *size), effort.reported_rows]
        few, last = map(self.sample.first, n_rows)
        levels = []
        for rows in [few, last] if whole and few.shape[0] < last.shape[0] else [few]:
            # Few rows use the kernel matrix.
            by_matrix = frequencies is None or rows.shape[0] <= effort.matrix_rows
            drawn = None if by_matrix else frequencies
            levels.append(replace(self, sample=rows, rows=rows, frequencies=drawn))
        loose = self.steps.looser(effort.looseness)
        for_kept = self.for_kept and levels[-1].frequencies is not None
        return [replace(level, steps=loose, for_kept=for_kept) for level in levels]

    def bandwidth(self, features: np.ndarray, budget: int | None = None) -> float:
        """Return σ on the columns of the given units and the fixed ones, for a stage keeping m."""
        if not isinstance(self.kernel.bandwidth, str):
            return float(self.kernel.bandwidth)
        columns = self.units.columns(features)
        near, order = self.sample.first(MEDIAN_ROWS), self.kernel.order
        X = take(near.X, columns, axis=1)
        scale = self.units.scale[columns]
        if (scale != 1.0).any():
            X = X * like(scale, X)
        sigma = median_bandwidth(X, order, to_numpy(near.p))
        if budget is None or not self.for_kept:
            return sigma
        n_features = self.units.restrict(features).n_features
        return sigma * ((n_features - features.size + budget) / n_features) ** (1.0 / order)

    def gram(self, features: np.ndarray, sigma: float, budget: int | None = None) -> Gram:
        """Return the Gram operator on the columns of the given units.

        The kernel is that of a stage that keeps ``budget`` of them, by default all.
        """
        columns = self.units.columns(features)
        stage = self.units.restrict(features)
        kept = stage.n_features - stage.size + (stage.size if budget is None else budget)
        alone = self.frequencies is None or not self.kernel.sees_interactions
        n_waves = waves_for(columns.size, alone=alone)
        scale = Scale(sigma, kept if self.for_kept else stage.n_features, kept, n_waves)
        kernel: ScaledKernel = self.kernel.at(scale)
        if self.frequencies is None:
            prepared = kernel.prepare(take(self.sample.X, columns, axis=1))
            return ExactGram(kernel, prepared, self.sample.Y, self.sample.p)
        components = kernel.components(take(self.frequencies, columns, axis=0))
        return FourierGram(components, self.rows.restrict(columns))

    def trace(self, features: np.ndarray, weights: np.ndarray, sigma: float) -> float:
        """Return the criterion Q at given weights, whatever the objective."""
        gram, units = self.gram(features, sigma), self.units.restrict(features)
        return TraceObjective(gram, self.epsilon, units=units).at(weights).value
