"""What is seen of a table before anything is chosen; each look is taken once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from covmin.core.kernels import Kernel
from covmin.core.nominations import Codes, Hold, Ranked, stands_out_alone
from covmin.core.problem import Problem

from .constants import NOISE_ROWS, REGRESSION_RIDGES, SEARCH
from .problem import hold_for, ranked_for_looks


@dataclass(frozen=True)
class Look:
    """Looks at a problem."""

    problem: Problem
    task: str

    @cached_property
    def unpredicted(self) -> float:
        """Share of the variance that kernel ridge regression on all features leaves unpredicted.

        By the leave-one-out error with every feature at full weight, over that of the mean, at
        the best of a few ridges. A sample of very many rows is enough.
        """
        problem = self.problem.on_first(NOISE_ROWS)
        of_the_mean = problem.sample.leave_one_out_of_the_mean()
        if of_the_mean == 0.0:
            return 1.0  # a response that does not vary
        features = np.arange(problem.n_features)
        together = problem.operator(features, np.ones(features.size))
        errors = map(together.leave_one_out, REGRESSION_RIDGES)
        return min(of_the_mean, *errors) / of_the_mean

    @cached_property
    def ranked(self) -> tuple[Codes, Ranked]:
        """The responses as codes and the columns by their ranks."""
        return ranked_for_looks(self.problem)

    def pair_carriers(self, n_samples: float) -> float:
        """Samples of so many in which two features drawn at random are both out of the ordinary.

        The deviation of the ranks says how often: it is ½√(s(1 − s)) where all but a share s of
        the samples are alike. Of a feature whose values differ, half are.
        """
        product = 4.0 * self.ranked[1].spread ** 2  # s(1 − s)
        shares = 0.5 - np.sqrt(np.maximum(0.25 - product, 0.0))
        return n_samples * float(shares.mean()) ** 2

    def by(self, kernel: Kernel) -> Look:
        """The same by another kernel; what was seen of pairs does not hang on it."""
        other = Look(replace(self.problem, kernel=kernel), self.task)
        other.__dict__.update(ranked=self.ranked, hold=self.hold)
        return other

    def has_single_effects(self) -> bool:
        """Whether any feature by itself goes with the response, beyond chance for all of them."""
        codes, ranked = self.ranked
        return stands_out_alone(ranked, codes, SEARCH)

    @cached_property
    def hold(self) -> Hold:
        """Features that a path holds on to."""
        return hold_for(self.problem, self.task, self.ranked)
