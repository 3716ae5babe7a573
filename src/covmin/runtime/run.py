"""What goes on beside a fit: progress, history, a checkpoint, and Ctrl-C."""

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
from .workload import Workload

if TYPE_CHECKING:
    from sklearn.utils import Bunch


@dataclass(repr=False)
class LongRun(Configurable):
    """What concerns a fit that lasts, given to ``CCMSelector(long_run=...)``.

    Parameters
    ----------
    checkpoint : path-like, default=None
        File that keeps the finished folds and stages of a fit. A new fit on the same data with
        the same parameters goes on from there; the file goes when the fit is done.
        ``random_state`` must be an integer or None.
    checkpoint_after : float, default=60
        Seconds a fit must last before anything is written.
    interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does in the main thread: end the fit with nothing changed, or end it well,
        with the ranking it has come to (a second Ctrl-C then ends it at once).
    seconds : float, default=None
        Time for a fit, after which it ends after the step it is in, with the ranking it has come
        to. Where the number of features is to be chosen, the folds that are judged by then choose
        it. A checkpoint is left, from which a fit with more time goes on.
    callback : callable, default=None
        Called with a :class:`~covmin.core.watch.Progress` after each step; its method
        ``plan(plan, workload)``, if it has one, once when these are known, and its method
        ``fold(done, total)`` after each fold that is cross-fitted.

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
        """Refuse what cannot be done."""
        if not (self.checkpoint is None or isinstance(self.checkpoint, str | PathLike)):
            raise ValueError(f"checkpoint must be a path or None; got {self.checkpoint!r}.")
        if self.checkpoint is not None and not Path(self.checkpoint).resolve().parent.is_dir():
            raise ValueError(
                f"There is no folder to write the checkpoint {str(self.checkpoint)!r} in; create "
                "it, or name another place."
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
    """Told of everything that a fit does, and asked whether it is to go on."""

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
        self._n_judged: tuple[int, int] | None = None  # folds judged of how many, where not all
        self._steps = checkpoint.steps()
        self._workload = Workload()

    @classmethod
    @contextmanager
    def of(cls, long_run: LongRun, verbose: int | str, settings: dict[str, Any]) -> Iterator[Self]:
        """A run while the block lasts; a checkpoint is of these settings alone."""
        with (
            ProgressBar.shown(verbose) as bar,
            Interrupts.noticed(long_run.interrupt == "keep") as interrupts,
            Checkpoint.kept(long_run.checkpoint, long_run.checkpoint_after, settings) as kept,
        ):
            yield cls(bar, kept, interrupts, long_run.callback, long_run.seconds)

    def planned(self, plan: object, workload: Workload) -> None:
        """What will be done, and how much that is: before the choice of m, which may last."""
        self._workload = workload
        if self._bar.tells:
            self._bar.say(f"{plan}\n{workload.in_words()}".rstrip())
        self._show(0.0, "")  # from here on the bar counts the time
        if (told := getattr(self._callback, "plan", None)) is not None:
            told(plan, workload)

    def stop(self) -> bool:
        """Whether the user has asked to end here, or the time is over."""
        self._late = self._late or self._past(1.0)
        if self._late:
            self._checkpoint.leave()
        return self._late or self._interrupts.asked

    def stop_choosing(self) -> bool:
        """Whether the time is over that the choice of m and ε has: its share of the work."""
        return self._past(self._workload.after_folds(1, 1) or 1.0)

    def choice_cut_short(self, done: int, total: int) -> None:
        """Only some folds were judged: what follows is not what a fit with more time goes on from.

        It may choose otherwise.
        """
        self._n_judged = done, total
        self._checkpoint.leave()

    def _past(self, share: float) -> bool:
        passed = monotonic() - self._begin
        return self._seconds is not None and passed >= share * self._seconds

    def ended_by(self) -> str:
        """What has ended the fit early, in words; nothing where it has not."""
        if self._late:
            return f"stopped after {self._seconds:g} s"
        return "interrupted" if self._interrupts.asked else ""

    def end_of_choice(self) -> str:
        """What the time left of the choice of m and ε, in words; nothing where it was enough."""
        if self._n_judged is None or self._interrupts.asked:
            return ""
        done, total = self._n_judged
        if done == 0:
            return "There was no time to choose the number of features."
        return f"In the time allowed {done} of {total} folds were judged, which chose."

    def step(self, progress: Progress) -> None:
        """Record a step of the path, and show it."""
        self._steps.append(progress)
        step = progress.iteration
        told = f"path, keep {progress.budget}"
        if self._bar.tells:
            told += f", step {step.n_iter}: objective {step.value:.6g}, {step.n_active} active"
        self._show(self._workload.at_stage(progress.budget), told)
        if self._callback is not None:
            self._callback(progress)

    def stage_done(self, number: int, stage: Stage, order: np.ndarray) -> None:
        """Keep a stage that was solved to its end."""
        if self._n_judged is not None:
            return
        steps = [step for step in self._steps if step.stage == number]
        self._checkpoint.add("stage", number, stage, order, steps)

    def stages(self) -> Sequence[tuple[Stage, np.ndarray]]:
        """Stages solved before."""
        return self._checkpoint.stages()

    def fold_done(self, number: int, errors: np.ndarray, done: int, total: int) -> None:
        """Keep the errors of a fold, and show how many there are."""
        self._checkpoint.add("fold", number, errors)
        self._show(self._workload.after_folds(done, total), f"fold {done} of {total}")
        if (told := getattr(self._callback, "fold", None)) is not None:
            told(done, total)

    def _show(self, share: float, text: str) -> None:
        self._bar.show("fit", "percent", round(100.0 * share), 100, text)

    def folds(self) -> list[np.ndarray]:
        """Errors of the folds judged before."""
        return self._checkpoint.folds()

    def history(self) -> Bunch:
        """The steps as one array for each quantity."""
        from sklearn.utils import Bunch

        steps = self._steps
        return Bunch(
            stage=np.array([s.stage for s in steps], dtype=int),
            n_features=np.array([s.budget for s in steps], dtype=int),
            objective=np.array([s.iteration.value for s in steps], dtype=float),
            gap=np.array([s.iteration.gap for s in steps], dtype=float),
            n_active=np.array([s.iteration.n_active for s in steps], dtype=int),
        )
