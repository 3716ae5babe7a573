"""Follow a computation while it runs: progress, history, checkpoint, time limit and Ctrl-C."""

from __future__ import annotations

import math
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from numbers import Real
from os import PathLike
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any, Self, TypeVar

import numpy as np

from covmin.core.kernels.base import Configurable
from covmin.core.path import Stage
from covmin.core.solver import Progress, Watch
from covmin.remarks import InputError
from covmin.text import count_of

from .machine import in_threads, one_blas_thread
from .resume import Checkpoint

Result = TypeVar("Result")

# Seconds before "auto" shows a progress bar; shorter work needs none.
_PATIENCE = 3.0
# Whether work with a progress bar is going on: work within it shows none.
_INSIDE: ContextVar[bool] = ContextVar("inside", default=False)
# Share of a time limit that the choice of m and ε may use; the path on all samples needs the rest.
_SHARE_OF_CHOICE = 0.75


@dataclass
class ProgressBar:
    """A progress bar for the phases of a computation, by tqdm or, without it, printed lines."""

    silent: bool
    tells: bool  # whether the plan and the steps are shown too
    due: float  # when to begin
    phase: str = ""
    done: int = -1
    bar: Any = None  # of tqdm

    @classmethod
    @contextmanager
    def shown(cls, verbose: int | str) -> Iterator[Self]:
        """Provide a bar; "auto" shows it in a terminal or notebook if the work takes seconds."""
        auto, shown = verbose == "auto", bool(verbose)
        if auto:
            shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
            notebook = type(shell).__name__ == "ZMQInteractiveShell"
            terminal = sys.stderr is not None and sys.stderr.isatty()
            shown = (terminal or notebook) and _in_main_thread() and not _INSIDE.get()
        bar = cls(not shown, shown and not auto, monotonic() + _PATIENCE if auto else 0.0)
        token = _INSIDE.set(True)
        try:
            yield bar
        finally:
            _INSIDE.reset(token)
            if bar.bar is not None:
                bar.bar.close()

    def show(self, phase: str, unit: str, done: int, total: int, text: str = "") -> None:
        """Show how many units of a phase are done; its clock starts with the first call."""
        if self.silent:
            return
        try:
            with warnings.catch_warnings(action="ignore"):  # of missing widgets
                from tqdm.auto import tqdm
        except ImportError:
            if done != self.done and monotonic() >= self.due:
                print(f"covmin {phase}, {unit} {done}/{total}", file=sys.stderr)
            self.done = done
            return
        if phase != self.phase:
            if self.bar is not None:
                self.bar.close()
            how = {"leave": self.tells, "delay": max(0.0, self.due - monotonic()), "miniters": 0}
            self.bar = tqdm(desc=f"covmin {phase}", total=total, initial=done, unit=unit, **how)
            self.phase = phase
        if text:  # the last one stays when a stage ends
            self.bar.set_postfix_str(text, refresh=False)
        self.bar.update(done - self.bar.n)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def repeat(
    work: Callable[[Any], Result],
    items: Sequence[Any],
    what: str,
    unit: str,
    n_jobs: int | None,
    verbose: int | str,
) -> list[Result]:
    """Return the results of ``work`` for each item, in order; the work is done in threads.

    ``what`` and ``unit`` are the texts of the progress bar.
    """
    results: list[Result] = []
    with (
        ProgressBar.shown(verbose) as bar,
        one_blas_thread(),
        in_threads(work, items, n_jobs) as found,
    ):
        bar.show(what, unit, 0, len(items))
        for result in found:
            results.append(result)
            bar.show(what, unit, len(results), len(items))
    return results


@dataclass(repr=False)
class LongRun(Configurable):
    """Settings for long fits, passed as ``CCMSelector(long_run=...)``.

    Parameters
    ----------
    checkpoint : path-like, default=None
        File that saves finished cross-validation folds and stages, from which a new fit with the
        same data and parameters resumes. It is deleted when the fit is complete. Requires
        ``random_state`` to be an integer or None.
    interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does in the main thread. "raise" stops the fit with an error. "keep" stops it at
        the next step and keeps the ranking reached so far; a second Ctrl-C stops it at once.
    seconds : float, default=None
        Time limit, after which the fit stops at the next step and keeps the ranking reached so far.
        The folds that are finished by then choose the number of features. The checkpoint is kept,
        so that a fit with more time can resume.
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
    interrupt: str = "raise"
    seconds: float | None = None
    callback: Callable[[Progress], None] | None = None

    def check(self) -> None:
        """Raise an error if a setting is invalid."""
        path, limit, call = self.checkpoint, self.seconds, self.callback
        is_file = isinstance(path, str | PathLike) and Path(path).resolve().parent.is_dir()
        for name, value, is_valid, allowed in (
            ("checkpoint", path, is_file, "a path in a folder that exists, or None"),
            ("interrupt", self.interrupt, self.interrupt in ("raise", "keep"), '"raise" or "keep"'),
            ("seconds", limit, isinstance(limit, Real) and limit > 0.0, "a number > 0 or None"),
            ("callback", call, callable(call), "callable or None"),
        ):
            if not is_valid and (value is not None or name == "interrupt"):
                text = f"{name} must be {allowed}; got {value!r}."
                raise InputError(text, f"long_run__{name}")


@dataclass
class Run(Watch):
    """Receives every event of a fit, and tells the fit whether to continue."""

    long_run: LongRun
    bar: ProgressBar
    begin: float
    seconds: float
    checkpoint: Checkpoint | None = None
    finished: Sequence[Stage] = ()
    steps: list[Progress] = field(default_factory=list)
    late: bool = False  # whether the time is up
    interrupted: bool = False  # whether Ctrl-C asked to stop
    # Folds finished and in all, if only some are. With more time, m may differ: the stages that
    # follow are not saved.
    n_judged: tuple[int, int] | None = None

    @classmethod
    @contextmanager
    def of(cls, long_run: LongRun, verbose: int | str, settings: dict[str, Any]) -> Iterator[Self]:
        """Provide a run for the block; its checkpoint is valid only for these settings.

        The checkpoint is deleted if the block ends without an error and the fit is complete.
        """
        path = long_run.checkpoint
        with ExitStack() as stack:
            bar = stack.enter_context(ProgressBar.shown(verbose))
            run = cls(long_run, bar, monotonic(), long_run.seconds or math.inf)
            if path is not None:
                saved = Checkpoint(path, settings)
                run.checkpoint = stack.enter_context(saved)
                run.finished, run.steps = saved.stages()
            if long_run.interrupt == "keep":
                stack.enter_context(run._noticing_ctrl_c())
            yield run
        if path is not None and not run.late and run.n_judged is None:
            Path(path).unlink(missing_ok=True)

    @contextmanager
    def _noticing_ctrl_c(self) -> Iterator[None]:
        """Take the first Ctrl-C as a request to stop; the second is an ordinary interrupt."""
        if not _in_main_thread():
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

    def stop(self) -> bool:
        """Tell whether to stop here: the user has asked for it, or the time is up."""
        self.late = self.late or monotonic() - self.begin >= self.seconds
        return self.late or self.interrupted

    def stop_choosing(self) -> bool:
        """Tell whether the choice of m and ε has used up its share of the time."""
        return monotonic() - self.begin >= _SHARE_OF_CHOICE * self.seconds

    def early_end(self, n_features: int) -> str:
        """Describe what ended the choice, or the path at a number of features; empty if nothing."""
        said = []
        if self.n_judged is not None and not self.interrupted:
            done, total = self.n_judged
            based = f"The time limit allowed {done} of {total} folds; the choice is based on these."
            said.append(based if done else "There was no time to choose the number of features.")
        if self.late or self.interrupted:
            cause = f"stopped after {self.seconds:g} s" if self.late else "interrupted"
            said.append(f"The fit was {cause} at {count_of(n_features, 'feature')}.")
            if n_features > 1:
                said.append("Smaller sets are ranked by the weights at that point.")
        return " ".join(said)

    def step(self, progress: Progress) -> None:
        """Record an optimisation step and show it."""
        self.steps.append(progress)
        step, text = progress.iteration, f"keep {progress.budget}"
        if self.bar.tells:
            text += f", step {step.n_iter}: objective {step.value:.6g}, {step.n_active} active"
        self.bar.show("path", "stage", progress.stage, progress.n_stages, text)
        if self.long_run.callback is not None:
            self.long_run.callback(progress)

    def stage_done(self, number: int, stage: Stage) -> None:
        """Save a finished stage and show how many are finished."""
        steps = [step for step in self.steps if step.stage == number]
        if steps:
            self.bar.show("path", "stage", number + 1, steps[0].n_stages)
        if self.checkpoint is not None and self.n_judged is None:
            self.checkpoint.add_stage(number, stage, steps)

    def folds(self, total: int) -> list[dict[str, np.ndarray]]:
        """Return the measures of the folds saved by an earlier fit; starts the clock of the bar."""
        saved = [] if self.checkpoint is None else self.checkpoint.saved("fold")
        self.bar.show("cross-validation", "fold", len(saved), total)
        return [{name: np.array(values) for name, values in fold.items()} for fold in saved]

    def fold_done(self, found: dict[str, np.ndarray], done: int, total: int) -> None:
        """Save the measures of a fold, and show how many are finished."""
        if self.checkpoint is not None:
            saved = {name: values.tolist() for name, values in found.items()}
            self.checkpoint.append({"fold": done - 1}, saved)
        self.bar.show("cross-validation", "fold", done, total)
        if (told := getattr(self.long_run.callback, "fold", None)) is not None:
            told(done, total)


def for_many_fits(estimator: Any, whole: Any) -> Any:
    """Return a clone of an estimator to be fitted many times by ``whole``, with safe settings."""
    from sklearn.base import clone

    estimator = clone(estimator)
    parameters = estimator.get_params()
    if parameters.get("long_run__checkpoint") is not None:
        text = f"A checkpoint stores one fit, but {type(whole).__name__} makes many"
        raise ValueError(f"{text}. Pass an estimator with checkpoint=None.")
    if "long_run__interrupt" in parameters:  # Ctrl-C should stop more than the current fit
        estimator.set_params(long_run__interrupt="raise")
    return estimator
