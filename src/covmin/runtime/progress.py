"""What a fit shows and records while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.utils import Bunch

from covmin.core.path import Progress

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
        """Record a step."""
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
    """One line on standard error: folds cross-fitted, then stage, budget and objective.

    tqdm draws it where it is installed; otherwise each fold and each stage prints a line.

    Parameters
    ----------
    silent : bool
        Whether to show nothing.
    """

    def __init__(self, silent: bool = False) -> None:
        self._silent = silent
        self._bar: Any = None
        self._phase = ""
        self._printed = ""

    @classmethod
    @contextmanager
    def shown(cls, verbose: int) -> Iterator[Self]:
        """A bar that is closed in the end, silent unless ``verbose``."""
        bar = cls(silent=not verbose)
        try:
            yield bar
        finally:
            bar._close()

    def fold_and(self, listener: Any) -> Callable[[int, int], None]:
        """`fold`, and the listener's own method of that name where it has one."""
        other = getattr(listener, "fold", None)

        def told(done: int, total: int) -> None:
            self.fold(done, total)
            if other is not None:
                other(done, total)

        return told

    def fold(self, done: int, total: int) -> None:
        """Show how many folds are cross-fitted."""
        self._show("cross-fit", "fold", done, total, "")

    def step(self, progress: Progress) -> None:
        """Show a step of the path."""
        step = progress.iteration
        text = (
            f"keep {progress.budget}, step {step.n_iter}: objective {step.value:.6g}, "
            f"{step.n_active} active"
        )
        self._show("path", "stage", progress.stage, progress.n_stages, text)

    def _show(self, what: str, unit: str, done: int, total: int, text: str) -> None:
        if self._silent:
            return
        if self._phase != what:
            self._close()
            self._phase, self._bar = what, _tqdm(total, f"covmin {what}", unit)
        if self._bar is not None:
            self._bar.n = done
            self._bar.set_postfix_str(text)
        elif self._printed != (line := f"[covmin] {what}, {unit} {done}/{total}"):
            print(f"{line} {text}".rstrip(), file=sys.stderr)
            self._printed = line

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.n = self._bar.total
            self._bar.close()
            self._bar = None


def _tqdm(total: int, description: str, unit: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=description, unit=unit)
