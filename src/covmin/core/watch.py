"""The interface through which a computation reports its progress and can be stopped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Iteration:
    """The report of an accepted step of a solve.

    Attributes
    ----------
    n_iter : int
        Accepted steps so far.
    value : float
        Objective, including the penalty of a soft budget.
    gap : float
        Optimality gap at the start of the step, relative to the objective.
    n_active : int
        Number of features with positive weight.
    step : float
        Largest change of a weight.
    """

    n_iter: int
    value: float
    gap: float
    n_active: int
    step: float


@dataclass(frozen=True)
class Progress:
    """The information that a callback receives after each step of each stage.

    Attributes
    ----------
    stage : int
        Number of the stage, from 0.
    n_stages : int
        Number of stages of the path.
    budget : int
        Number of features that the stage keeps.
    iteration : Iteration
        The step.
    """

    stage: int
    n_stages: int
    budget: int
    iteration: Iteration


class Watch:
    """Observer of a path or a single solve; this base class does nothing."""

    def step(self, progress: Progress) -> None:
        """Receive an accepted step of a stage."""

    def stage_done(self, number: int, stage: Any, order: np.ndarray) -> None:
        """Receive a finished stage, with its units from best to worst."""

    def stages(self) -> Sequence[tuple[Any, np.ndarray]]:
        """Return the first stages and their orders, if an earlier run has saved them."""
        return ()

    def iteration(self, iteration: Iteration) -> None:
        """Receive an accepted step of a single solve."""

    def stop(self) -> bool:
        """Tell whether to stop here and use the current state."""
        return False


SILENT = Watch()
