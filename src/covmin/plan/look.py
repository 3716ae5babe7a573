"""Properties of the data that the rules need before anything is selected; computed once each."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from covmin.constants import FUNCTION_RIDGES, NOISE, SAMPLES_FOR_EACH_FEATURE
from covmin.core.kernels.base import Kernel
from covmin.core.problem import Problem
from covmin.core.screening import Protected, Screening

from .rules import pair_search


@dataclass(frozen=True)
class FirstLook:
    """First looks at the data of a problem."""

    problem: Problem
    task: str
    order: int = 2  # features of the largest interactions that are searched for

    @cached_property
    def unpredicted(self) -> float:
        """Fraction of the variance that kernel ridge regression on all features cannot predict.

        It is the leave-one-out error with every feature at weight one, divided by that of the
        mean, for the best of a few ridges, from large to small until it rises. For very many rows,
        a sample is enough.
        """
        few = self.problem.sample.first(NOISE[0])
        of_the_mean = float((few.p[:, None] * (few.Y / (1.0 - few.p)[:, None]) ** 2).sum())
        if of_the_mean == 0.0:
            return 1.0  # the response does not vary
        problem = replace(self.problem, sample=few, rows=few, frequencies=None)
        features = np.arange(problem.units.size)
        gram = problem.gram(features, problem.bandwidth(features))
        together: Any = gram.at(problem.units.spread(np.ones(features.size)))
        least = of_the_mean
        for ridge in FUNCTION_RIDGES[:4]:
            error = together.leave_one_out(ridge)
            if error > least:
                break
            least = error
        return least / of_the_mean

    @cached_property
    def screening(self) -> Screening:
        """The search for interactions, on as many rows as it can afford."""
        sample, of_column = self.problem.sample, self.problem.units.of_column
        seen = sample.first(pair_search((*sample.X.shape, sample.Y.shape[1]))[0])
        return Screening.of(seen.X, seen.Y, seen.p, of_column, n_threads=sample.n_threads)

    def by(self, kernel: Kernel) -> Self:
        """Return the same for another kernel; the search for pairs does not depend on it."""
        other = replace(self, problem=replace(self.problem, kernel=kernel))
        other.__dict__.update(screening=self.screening, protected=self.protected)
        return other

    @cached_property
    def protected(self) -> Protected:
        """Features to protect while there are few samples per remaining feature.

        They are found by interactions and, for numeric responses, by the spread.
        """
        if self.order == 0:  # single effects matter if a stage does not see all rows
            return Protected(alone=self.screening.singles) if self.problem.effort else Protected()
        screening, sample = self.screening, self.problem.sample
        _, n_functions = pair_search((*sample.X.shape, sample.Y.shape[1]))
        found = screening.interactions(self.order, n_functions)
        above = found.n_samples / SAMPLES_FOR_EACH_FEATURE
        spread = screening.spread() if self.task == "regression" else Protected().spread
        return Protected(found, spread, screening.singles, above)
