"""Samples, a kernel, an objective and a constraint: what a solve needs, as objects.

A feature here is a unit of :mod:`covmin.core.units`: a column, or a group of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .arrays import Array, array_namespace, like, take, to_numpy
from .constraints import CappedSimplex, Constraint
from .effort import Effort
from .grams import ExactGrams, FourierGrams, Gram, Operator, single_effects
from .kernels import Kernel, Scale, ScaledKernel
from .kernels.additive import waves_for
from .kernels.bandwidth import MEDIAN_ROWS, median_bandwidth, of_all
from .objectives import Objective, TraceObjective
from .rows import ArrayRows, Rows
from .solver import STEPS, Steps
from .units import Units


@dataclass(frozen=True)
class Sample:
    """Rows held in memory: all of them, or as many as a look at the data can afford.

    They come in an order that has nothing to do with what they say, so that the first of them
    are a sample of all.
    """

    X: Array  # (n_rows, n_columns)
    Y: Array  # (n_rows, n_responses), columns centred under p
    p: Array  # (n_rows,), positive, sum to one
    # (n_all,): where X has each column, if it has only those that are asked for; None: all.
    places: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def take(self, columns: np.ndarray) -> Array:
        """Some columns of all."""
        return take(self.X, columns if self.places is None else self.places[columns], axis=1)

    def rows(self, n_threads: int = 1) -> ArrayRows:
        """The rows for sums over blocks."""
        return ArrayRows(self.X, self.Y, self.p, n_threads=n_threads, columns=self.places)

    def first(self, n_rows: int) -> Sample:
        """The first rows, with responses and weights for themselves."""
        if n_rows >= self.n_rows:
            return self
        p = self.p[:n_rows]
        p = p / array_namespace(p).sum(p)
        Y = self.Y[:n_rows, :]
        return Sample(self.X[:n_rows, :], Y - p @ Y, p, self.places)

    def leave_one_out_of_the_mean(self) -> float:
        """Mean squared residual of each row, predicted by the mean of the others."""
        left_out = self.Y / (1.0 - self.p)[:, None]
        return float(array_namespace(self.p).sum(self.p[:, None] * left_out**2))

    @property
    def near(self) -> Sample:
        """The rows whose distances set the bandwidth."""
        return self.first(MEDIAN_ROWS)


@dataclass(frozen=True)
class Problem:
    """Everything a solve needs."""

    sample: Sample  # for the bandwidth and the look at pairs
    grams: ExactGrams | FourierGrams  # over all rows
    kernel: Kernel
    epsilon: float  # ridge ε
    units: Units  # what is chosen as one
    objective: Callable[..., Objective] = TraceObjective  # from a gram, ε and units
    # From a budget; they are tried until one leaves as many features.
    constraints: Callable[[float], Sequence[Constraint]] = CappedSimplex.candidates
    steps: Steps = STEPS
    # The features that the median rule stands for: `of_all` or `of_the_kept`.
    summed: Callable[[float, float], float] = of_all
    effort: Effort | None = None  # what an evaluation may take; None: all rows in every step
    n_threads: int = 1  # blocks of rows worked on at once
    # More rows of some columns, where not all of them are in memory: as many as there is room for.
    draw: Callable[[np.ndarray, int], Sample] | None = None

    @classmethod
    def exact(cls, sample: Sample, **options: Any) -> Problem:
        """The problem by the kernel matrix of a sample; every column by itself by default."""
        options.setdefault("units", Units.single(int(sample.X.shape[1])))
        return cls(sample, ExactGrams(sample.X, sample.Y, sample.p, sample.places), **options)

    @classmethod
    def fourier(
        cls,
        sample: Sample,
        frequencies: Array,
        rows: Rows | None = None,
        n_threads: int = 1,
        **options: Any,
    ) -> Problem:
        """The problem by random components, over other rows than the sample where given."""
        options.setdefault("units", Units.single(int(sample.X.shape[1])))
        rows = rows or sample.rows(n_threads)
        return cls(
            sample, FourierGrams(rows, frequencies, sample.X), n_threads=n_threads, **options
        )

    @property
    def n_rows(self) -> int:
        """Number of rows, in memory or not."""
        return self._rows.shape[0]

    @property
    def n_features(self) -> int:
        """Number of units to choose from."""
        return self.units.size

    @property
    def rounding(self) -> float:
        """Relative rounding error of the numbers that the criterion is made from."""
        X = self.sample.X
        return float(array_namespace(X).finfo(X.dtype).eps)

    def switched_on(self, features: np.ndarray) -> Problem:
        """The same problem with some of the units always on."""
        return replace(self, units=self.units.switched_on(features))

    def for_stage(self, features: np.ndarray, *, whole: bool = False) -> list[Problem]:
        """The same on more and more rows, to be solved in turn by a stage among some units.

        A stage on the way needs its set alone, and is solved loosely. One that is looked at for
        its weights is solved closely, on the ``whole`` of the rows.
        """
        if self.effort is None:
            return [self]
        n_components = 2 * int(self._frequencies.shape[1])
        columns = self.units.columns(features)
        n_columns = columns.size
        affordable = self.effort.rows(self.kernel, n_columns, n_components)
        held = self._holding(columns, self.n_rows if whole else min(affordable, self.n_rows))
        last = held.on_first(min(affordable, held.sample.n_rows))
        loose = self.steps.looser(self.effort.looseness)
        looser = loose.looser(self.effort.looseness)
        levels = [
            last.on_first(n).solved_by(looser) for n in self.effort.climb(n_columns, last.n_rows)
        ]
        levels.append(last.solved_by(self.steps if whole and last is held else loose))
        if whole and last is not held:
            levels.append(held.solved_by(loose))
        return [replace(each, summed=levels[-1].summed) for each in levels]

    def _holding(self, columns: np.ndarray, n_rows: int) -> Problem:
        """The same with as many rows in memory, of some columns alone, if that makes room."""
        if self.draw is None or n_rows <= self.sample.n_rows:
            return self
        sample, grams = self.draw(columns, n_rows), self.grams
        if sample.n_rows == self.n_rows and isinstance(grams, FourierGrams):
            grams = replace(grams, rows=sample.rows(self.n_threads))
        return replace(self, sample=sample, grams=grams)

    def solved_by(self, steps: Steps) -> Problem:
        """The same, solved by other steps."""
        return replace(self, steps=steps)

    def on_first(self, n_rows: int) -> Problem:
        """The same on some rows in memory: by the kernel matrix, where they are few."""
        n_rows = min(n_rows, self.n_rows)
        by_matrix = self.effort is not None and n_rows <= self.effort.matrix_rows
        if n_rows == self.n_rows and not (by_matrix and isinstance(self.grams, FourierGrams)):
            return self
        few = self.sample.first(n_rows)
        if isinstance(self.grams, FourierGrams) and not by_matrix:
            grams = replace(self.grams, rows=few.rows(self.n_threads))
            return replace(self, sample=few, grams=grams)
        exact = ExactGrams(few.X, few.Y, few.p, few.places)
        return replace(self, sample=few, grams=exact, summed=of_all)

    def bandwidth(self, features: np.ndarray, budget: int | None = None) -> float:
        """σ on the columns of the given units and those always on, for a stage that keeps m."""
        if not isinstance(self.kernel.bandwidth, str):
            return float(self.kernel.bandwidth)
        columns = self.units.columns(features)
        near, order = self.sample.near, self.kernel.order
        X = near.take(columns)
        scale = self.units.scale[columns]
        if (scale != 1.0).any():
            X = X * like(scale, X)
        sigma = median_bandwidth(X, order, to_numpy(near.p))
        if budget is None:
            return sigma
        n_features = self.units.restrict(features).n_features
        kept = n_features - features.size + budget
        return sigma * (self.summed(n_features, kept) / n_features) ** (1.0 / order)

    def gram(
        self,
        features: np.ndarray,
        sigma: float,
        budget: int | None = None,
        among: np.ndarray | None = None,
    ) -> Gram:
        """The Gram operator on the columns of the given units.

        The kernel is that of a stage which keeps ``budget`` (or all) of the units ``among``
        (or of the given ones).
        """
        columns = self.units.columns(features)
        kernel = self._kernel_of_stage(features, sigma, budget, among)
        return self.grams.over(kernel, columns)

    def _kernel_of_stage(
        self, features: np.ndarray, sigma: float, budget: int | None, among: np.ndarray | None
    ) -> ScaledKernel:
        columns = self.units.columns(features)
        stage = self.units.restrict(features if among is None else among)
        kept = stage.n_features - stage.size + (budget or stage.size)
        n_columns = max(columns.size, stage.of_column.size)
        by_matrix = isinstance(self.grams, ExactGrams)
        n_waves = waves_for(n_columns, alone=by_matrix or not self.kernel.sees_interactions)
        scale = Scale(sigma, self.summed(stage.n_features, kept), kept, n_waves)
        kernel: ScaledKernel = self.kernel.at(scale)
        return kernel

    def by_single_effects(self) -> np.ndarray:
        """Units by what all rows say of each alone, the strongest first; none without a sum."""
        features = np.arange(self.n_features)
        columns = self.units.columns(features)
        kernel = self._kernel_of_stage(features, self.bandwidth(features), None, None)
        fixed = kernel.components(take(self._frequencies, columns, axis=0)).fixed
        if fixed is None:
            return features[:0]
        effects = single_effects(self._rows.restrict(columns), fixed)
        return np.argsort(-self.units.collect(effects), kind="stable")

    @property
    def _frequencies(self) -> Array:
        """Of random components, none for a matrix."""
        if isinstance(self.grams, FourierGrams):
            return self.grams.frequencies
        return self.sample.X[:0, :].T

    @property
    def _rows(self) -> Rows:
        if isinstance(self.grams, FourierGrams):
            return self.grams.rows
        return self.sample.rows()

    def objective_over(self, features: np.ndarray, gram: Gram) -> Objective:
        """The objective over a gram of the given units."""
        return self.objective(gram, self.epsilon, units=self.units.restrict(features))

    def operator(
        self, features: np.ndarray, weights: np.ndarray, sigma: float | None = None
    ) -> Operator:
        """The Gram operator at weights of the given units, with the median bandwidth."""
        gram = self.gram(features, self.bandwidth(features) if sigma is None else sigma)
        return gram.at(self.units.restrict(features).spread(weights))

    def trace(self, features: np.ndarray, weights: np.ndarray, sigma: float, *stage: Any) -> float:
        """The criterion Q at weights of the given units, whatever the objective."""
        gram = self.gram(features, sigma, *stage)
        units = self.units.restrict(features)
        return TraceObjective(gram, self.epsilon, units=units).at(weights).value
