"""What is seen of a table before anything is chosen; each look is taken once."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from covmin.core.grams import Operator
from covmin.core.kernels import Kernel
from covmin.core.nominations import Hold
from covmin.core.path import run_path
from covmin.core.problem import Problem
from covmin.core.watch import SILENT, Watch

from .budgets import path_budgets
from .problem import hold_for


@dataclass(frozen=True)
class Look:
    """Looks at a problem."""

    problem: Problem
    task: str
    _errors: dict[float, float] = field(default_factory=dict, repr=False)

    @cached_property
    def _all_features(self) -> Operator:
        """The operator with every feature at full weight."""
        features = np.arange(self.problem.n_features)
        return self.problem.operator(features, np.ones(features.size))

    def error_of_all(self, epsilon: float) -> float:
        """Leave-one-out error with every feature at full weight: nothing has been chosen."""
        if epsilon not in self._errors:
            self._errors[epsilon] = self._all_features.leave_one_out(epsilon)
        return self._errors[epsilon]

    @cached_property
    def hold(self) -> Hold:
        """Features that a path holds on to."""
        return hold_for(self.problem, self.task)

    def error_along_path(
        self, kernel: Kernel, epsilon: float, m: int | None, hold: Hold, watch: Watch = SILENT
    ) -> float:
        """Leave-one-out error of the m features that a path keeps, or of its best stage."""
        problem = self.problem.replaced(kernel=kernel, epsilon=epsilon)
        budgets = [b for b in path_budgets(problem.n_features) if m is None or b > m] or [m or 1]
        stages = run_path(problem, budgets, hold, watch, m).stages
        return min(stage.loo_error for stage in (stages if m is None else stages[-1:]))
