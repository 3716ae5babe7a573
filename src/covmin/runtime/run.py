"""Follow a fit while it runs: progress, history, checkpoint, time limit and Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from covmin.core.kernels import Configurable
from covmin.core.path import Stage
from covmin.core.solver import Progress, Watch
from covmin.remarks import InputError

from .progress import ProgressBar
from .resume import Checkpoint

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Share of a time limit that the choice of m and ε may use; the path on all samples needs the rest.
_SHARE_OF_CHOICE = 0.75
_ALLOWED = {
    "checkpoint": "a path in a folder that exists, or None",
    "checkpoint_after": "a number of seconds ≥ 0",
    "interrupt": '"raise" or "keep"',
    "seconds": "a number > 0 or None",
    "callback": "callable or None",
}


@dataclass(repr=False)
class LongRun(Configurable):
    """Settings for long fits, passed as ``CCMSelector(long_run=...)``.

    Parameters
    ----------
    checkpoint : path-like, default=None
        File that saves finished cross-validation folds and stages. A new fit with the same data
        and parameters resumes from it. The file is deleted when the fit is complete. Requires
        ``random_state`` to be an integer or None.
    checkpoint_after : float, default=60
        Number of seconds before anything is written.
    interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does in the main thread. "raise" stops the fit with an error and leaves the
        estimator unchanged. "keep" stops it at the next step and keeps the ranking reached so
        far; a second Ctrl-C then stops it at once.
    seconds : float, default=None
        Time limit. When it is reached, the fit stops after the current step and keeps the ranking
        reached so far. If the number of features is chosen by cross-validation, the folds that
        are finished by then decide. The checkpoint is kept, so that a fit with more time can
        resume.
    callback : callable, default=None
        Called with a :class:`~covmin.core.solver.Progress` after each step. If it has a method
        ``fold(done, total)``, that is called after each cross-validation fold.

    Examples
    --------
    >>> from covmin import CCMSelector, LongRun
    >>> CCMSelector(10, long_run=LongRun(checkpoint="fit.jsonl")).get_params()["long_run"].interrupt
    'raise'
    """

    checkpoint: str | PathLike[str] | None = None
    checkpoint_after: float = 60.0
    interrupt: str = "raise"
    seconds: float | None = None
    callback: Callable[[Progress], None] | None = None

    def check(self) -> None:
        """Raise an error if a setting is invalid."""
        path, after, limit = self.checkpoint, self.checkpoint_after, self.seconds
        is_valid = {
            "checkpoint": path is None
            or (isinstance(path, str | PathLike) and Path(path).resolve().parent.is_dir()),
            "checkpoint_after": isinstance(after, Real) and after >= 0.0,
            "interrupt": self.interrupt in ("raise", "keep"),
            "seconds": limit is None or (isinstance(limit, Real) and limit > 0.0),
            "callback": self.callback is None or callable(self.callback),
        }
        for name, allowed in _ALLOWED.items():
            if not is_valid[name]:
                text = f"{name} must be {allowed}; got {getattr(self, name)!r}."
                raise InputError(text, "long-run", f"long_run__{name}")


class Run(Watch):
    """Receives every event of a fit, and tells the fit whether to continue."""

    def __init__(self, long_run: LongRun, bar: ProgressBar, checkpoint: Checkpoint | None) -> None:
        self._long_run = long_run
        self._bar = bar
        self._checkpoint = checkpoint
        self._begin = monotonic()
        self._seconds = math.inf if long_run.seconds is None else long_run.seconds
        self._late = False
        self.interrupted = False  # whether Ctrl-C asked to stop
        self._n_judged: tuple[int, int] | None = None  # (finished, all) folds, if not all finished
        self._steps = [] if checkpoint is None else checkpoint.steps()

    @classmethod
    @contextmanager
    def of(cls, long_run: LongRun, verbose: int | str, settings: dict[str, Any]) -> Iterator[Self]:
        """Provide a run for the block; its checkpoint is valid only for these settings.

        The checkpoint is deleted if the block ends without an error and the fit is complete.
        """
        path = long_run.checkpoint
        with ExitStack() as stack:
            bar = stack.enter_context(ProgressBar.shown(verbose))
            checkpoint = None
            if path is not None:
                saved = Checkpoint(path, settings, long_run.checkpoint_after)
                checkpoint = stack.enter_context(saved)
            run = cls(long_run, bar, checkpoint)
            if long_run.interrupt == "keep":
                stack.enter_context(run._noticing_ctrl_c())
            yield run
        if path is not None and not run._late and run._n_judged is None:
            Path(path).unlink(missing_ok=True)

    @contextmanager
    def _noticing_ctrl_c(self) -> Iterator[None]:
        """Take the first Ctrl-C as a request to stop; the second is an ordinary interrupt."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread receives signals
            return
        before = signal.getsignal(signal.SIGINT)

        def stop_soon(number: int, frame: FrameType | None) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, stop_soon)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def planned(self, plan: object) -> None:
        """Announce the plan, before the choice of m, which may take long."""
        if self._bar.tells:
            self._bar.say(str(plan))

    def stop(self) -> bool:
        """Tell whether to stop here: the user has asked for it, or the time is up."""
        self._late = self._late or monotonic() - self._begin >= self._seconds
        return self._late or self.interrupted

    def stop_choosing(self) -> bool:
        """Tell whether the choice of m and ε has used up its share of the time."""
        return monotonic() - self._begin >= _SHARE_OF_CHOICE * self._seconds

    def choice_cut_short(self, done: int, total: int) -> None:
        """Record that only some folds were finished.

        A fit with more time may choose a different m, so the stages that follow are not saved.
        """
        self._n_judged = done, total

    def ended_by(self) -> str:
        """Describe what stopped the fit early; empty if nothing did."""
        if self._late:
            return f"stopped after {self._seconds:g} s"
        return "interrupted" if self.interrupted else ""

    def end_of_choice(self) -> str:
        """Describe how the time limit affected the choice of m and ε; empty if it did not."""
        if self._n_judged is None or self.interrupted:
            return ""
        done, total = self._n_judged
        if done == 0:
            return "There was no time to choose the number of features."
        return f"The time limit allowed {done} of {total} folds; the choice is based on these."

    def step(self, progress: Progress) -> None:
        """Record an optimisation step and show it."""
        self._steps.append(progress)
        step, text = progress.iteration, f"keep {progress.budget}"
        if self._bar.tells:
            text += f", step {step.n_iter}: objective {step.value:.6g}, {step.n_active} active"
        self._bar.show("path", "stage", progress.stage, progress.n_stages, text)
        if self._long_run.callback is not None:
            self._long_run.callback(progress)

    def stage_done(self, number: int, stage: Stage) -> None:
        """Save a finished stage and show how many are finished."""
        steps = [step for step in self._steps if step.stage == number]
        if steps:
            self._bar.show("path", "stage", number + 1, steps[0].n_stages)
        if self._checkpoint is not None and self._n_judged is None:
            self._checkpoint.add_stage(number, stage, steps)

    def stages(self) -> Sequence[Stage]:
        """Return the stages saved by an earlier fit."""
        return [] if self._checkpoint is None else self._checkpoint.stages()

    def folds(self, total: int) -> list[np.ndarray]:
        """Return the errors of the folds saved by an earlier fit; starts the clock of the bar."""
        saved = [] if self._checkpoint is None else self._checkpoint.folds()
        self._bar.show("cross-validation", "fold", len(saved), total)
        return saved

    def fold_done(self, number: int, errors: np.ndarray, done: int, total: int) -> None:
        """Save the errors of a fold, and show how many are finished."""
        if self._checkpoint is not None:
            self._checkpoint.add_fold(number, errors)
        self._bar.show("cross-validation", "fold", done, total)
        if (told := getattr(self._long_run.callback, "fold", None)) is not None:
            told(done, total)

    def history(self) -> Bunch:
        """Return the steps, with one array per quantity."""
        from sklearn.utils import Bunch

        steps = self._steps
        return Bunch(
            stage=np.array([s.stage for s in steps], dtype=int),
            n_features=np.array([s.budget for s in steps], dtype=int),
            objective=np.array([s.iteration.value for s in steps], dtype=float),
            gap=np.array([s.iteration.gap for s in steps], dtype=float),
            n_active=np.array([s.iteration.n_active for s in steps], dtype=int),
        )


def for_many_fits(estimator: Any, whole: Any) -> Any:
    """Return a clone of an estimator to be fitted many times by ``whole``, with safe settings."""
    from sklearn.base import clone

    estimator = clone(estimator)
    parameters = estimator.get_params()
    if parameters.get("long_run__checkpoint") is not None:
        raise ValueError(
            f"A checkpoint stores the progress of one fit, but {type(whole).__name__} makes many. "
            "Pass an estimator with checkpoint=None."
        )
    if parameters.get("long_run__interrupt") == "keep":
        # Ctrl-C should stop everything: with "keep" it would only shorten the current fit.
        estimator.set_params(long_run__interrupt="raise")
    return estimator
