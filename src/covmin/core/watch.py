"""The interface through which a computation reports its progress and can be stopped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Iteration:
    """The report of an accepted step of a solve."""

    n_iter: int  # accepted steps so far
    value: float  # objective, including the penalty of a soft budget
    gap: float  # optimality gap at the start of the step, relative to the objective
    n_active: int  # features with positive weight
    step: float  # largest change of a weight


@dataclass(frozen=True)
class Progress:
    """The information that a callback receives after each step of each stage."""

    stage: int  # number of the stage, from 0
    n_stages: int
    budget: int  # features that the stage keeps
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
