"""What a fit shows and records while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .core.path import Progress

__all__ = ["History", "ProgressBar"]


class History:
    """Records every step of a fit.

    Parameters
    ----------
    listeners : callables
        Each is called with the :class:`~covmin.core.path.Progress` of the step.
    """

    def __init__(self, *listeners: Callable[[Progress], None]) -> None:
        self._listeners = listeners
        self._steps: list[Progress] = []

    def __call__(self, progress: Progress) -> None:
        self._steps.append(progress)
        for listener in self._listeners:
            listener(progress)

    def as_bunch(self) -> Bunch:
        """The steps as one array for each quantity."""
        steps = self._steps
        return Bunch(
            stage=np.array([s.stage for s in steps], dtype=int),
            n_features=np.array([s.budget for s in steps], dtype=int),
            objective=np.array([s.iteration.value for s in steps], dtype=float),
            gap=np.array([s.iteration.gap for s in steps], dtype=float),
            n_active=np.array([s.iteration.n_active for s in steps], dtype=int),
        )


class ProgressBar:
    """One line on standard error: stage, budget, objective, active features.

    tqdm draws it where it is installed; otherwise each stage prints a line.
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = -1

    def __call__(self, progress: Progress) -> None:
        if self._bar is None and self._stage < 0:
            self._bar = _tqdm(progress.n_stages)
        step = progress.iteration
        text = (
            f"keep {progress.budget}, step {step.n_iter}: objective {step.value:.6g}, "
            f"{step.n_active} active"
        )
        if self._bar is not None:
            self._bar.n = progress.stage
            self._bar.set_postfix_str(text)
        elif progress.stage != self._stage:
            print(
                f"[covmin] stage {progress.stage + 1}/{progress.n_stages}, {text}", file=sys.stderr
            )
        self._stage = progress.stage

    def close(self) -> None:
        """Finish the line."""
        if self._bar is not None:
            self._bar.n = self._bar.total
            self._bar.close()


def _tqdm(total: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc="covmin", unit="stage")
