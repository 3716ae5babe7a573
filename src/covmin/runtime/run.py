"""Follow a fit while it runs: progress, history, checkpoint, time limit and Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from covmin.core.kernels import Configurable
from covmin.core.path import Stage
from covmin.core.watch import Progress, Watch

from .checkpoint import Checkpoint
from .interrupts import Interrupts
from .progress import ProgressBar

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Share of a time limit that the choice of m and ε may use; the path on all samples needs the rest.
_SHARE_OF_CHOICE = 0.75


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
        Called with a :class:`~covmin.core.watch.Progress` after each step. If it has a method
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
        if not (self.checkpoint is None or isinstance(self.checkpoint, str | PathLike)):
            raise ValueError(f"checkpoint must be a path or None; got {self.checkpoint!r}.")
        if self.checkpoint is not None and not Path(self.checkpoint).resolve().parent.is_dir():
            raise ValueError(
                f"The folder of the checkpoint {str(self.checkpoint)!r} does not exist. Create it, "
                "or choose another path."
            )
        if not isinstance(self.checkpoint_after, Real) or not self.checkpoint_after >= 0.0:
            raise ValueError(
                f"checkpoint_after must be a number of seconds ≥ 0; got {self.checkpoint_after!r}."
            )
        if self.interrupt not in ("raise", "keep"):
            raise ValueError(f'interrupt must be "raise" or "keep"; got {self.interrupt!r}.')
        if not (self.seconds is None or (isinstance(self.seconds, Real) and self.seconds > 0.0)):
            raise ValueError(f"seconds must be a number > 0 or None; got {self.seconds!r}.")
        if not (self.callback is None or callable(self.callback)):
            raise ValueError(f"callback must be callable or None; got {self.callback!r}.")


class Run(Watch):
    """Receives every event of a fit, and tells the fit whether to continue."""

    def __init__(
        self,
        bar: ProgressBar,
        checkpoint: Checkpoint,
        interrupts: Interrupts,
        callback: Any = None,
        seconds: float | None = None,
    ) -> None:
        self._bar = bar
        self._checkpoint = checkpoint
        self._interrupts = interrupts
        self._callback = callback
        self._begin, self._seconds = monotonic(), seconds
        self._late = False
        self._n_judged: tuple[int, int] | None = None  # (finished, all) folds, if not all finished
        self._steps = checkpoint.steps()

    @classmethod
    @contextmanager
    def of(cls, long_run: LongRun, verbose: int | str, settings: dict[str, Any]) -> Iterator[Self]:
        """Provide a run for the block; its checkpoint is valid only for these settings."""
        with (
            ProgressBar.shown(verbose) as bar,
            Interrupts.noticed(long_run.interrupt == "keep") as interrupts,
            Checkpoint.kept(long_run.checkpoint, long_run.checkpoint_after, settings) as kept,
        ):
            yield cls(bar, kept, interrupts, long_run.callback, long_run.seconds)

    def planned(self, plan: object) -> None:
        """Announce the plan, before the choice of m, which may take long."""
        if self._bar.tells:
            self._bar.say(str(plan))

    def stop(self) -> bool:
        """Tell whether to stop here: the user has asked for it, or the time is up."""
        self._late = self._late or self._past(1.0)
        if self._late:
            self._checkpoint.leave()
        return self._late or self._interrupts.asked

    def stop_choosing(self) -> bool:
        """Tell whether the choice of m and ε has used up its share of the time."""
        return self._past(_SHARE_OF_CHOICE)

    def choice_cut_short(self, done: int, total: int) -> None:
        """Record that only some folds were finished.

        A fit with more time may choose a different m, so the stages that follow are not saved.
        """
        self._n_judged = done, total
        self._checkpoint.leave()

    def _past(self, share: float) -> bool:
        passed = monotonic() - self._begin
        return self._seconds is not None and passed >= share * self._seconds

    def ended_by(self) -> str:
        """Describe what stopped the fit early; empty if nothing did."""
        if self._late:
            return f"stopped after {self._seconds:g} s"
        return "interrupted" if self._interrupts.asked else ""

    def end_of_choice(self) -> str:
        """Describe how the time limit affected the choice of m and ε; empty if it did not."""
        if self._n_judged is None or self._interrupts.asked:
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
        if self._callback is not None:
            self._callback(progress)

    def stage_done(self, number: int, stage: Stage, order: np.ndarray) -> None:
        """Save a finished stage and show how many are finished."""
        steps = [step for step in self._steps if step.stage == number]
        if steps:
            self._bar.show("path", "stage", number + 1, steps[0].n_stages)
        if self._n_judged is not None:
            return
        self._checkpoint.add("stage", number, stage, order, steps)

    def stages(self) -> Sequence[tuple[Stage, np.ndarray]]:
        """Return the stages saved by an earlier fit."""
        return self._checkpoint.stages()

    def fold_done(self, number: int, errors: np.ndarray, done: int, total: int) -> None:
        """Save the errors of a fold, and show how many are finished."""
        self._checkpoint.add("fold", number, errors)
        self._bar.show("cross-validation", "fold", done, total)
        if (told := getattr(self._callback, "fold", None)) is not None:
            told(done, total)

    def folds(self, total: int) -> list[np.ndarray]:
        """Return the errors of the folds saved by an earlier fit; starts the clock of the bar."""
        saved = self._checkpoint.folds()
        self._bar.show("cross-validation", "fold", len(saved), total)
        return saved

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
