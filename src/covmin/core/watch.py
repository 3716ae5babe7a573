"""What a computation tells of itself while it runs, and whether it is to go on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Iteration:
    """What is told of each accepted step of a solve."""

    n_iter: int  # steps accepted so far
    value: float  # objective with the price of a soft budget
    gap: float  # optimality gap at the start of the step, relative to the objective
    n_active: int  # features with positive weight
    step: float  # largest change of a weight


@dataclass(frozen=True)
class Progress:
    """What a callback sees after each step of each stage."""

    stage: int  # which stage of how many, from 0
    n_stages: int
    budget: int  # features the stage keeps
    iteration: Iteration


class Watch:
    """Who watches a path, or a single solve; this one says and keeps nothing."""

    def step(self, progress: Progress) -> None:
        """An accepted step of a stage."""

    def stage_done(self, number: int, stage: Any, order: np.ndarray) -> None:
        """A stage that was solved to its end, with its units from best to worst."""

    def stages(self) -> Sequence[tuple[Any, np.ndarray]]:
        """The first stages and their orders, where they are known from an earlier run."""
        return ()

    def iteration(self, iteration: Iteration) -> None:
        """An accepted step of a single solve."""

    def stop(self) -> bool:
        """Whether to end here, with what there is."""
        return False


SILENT = Watch()
