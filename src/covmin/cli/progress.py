"""Show progress on standard error during a fit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from covmin.runtime.workload import Workload
from covmin.text import printable


class FitProgress:
    """A line with the current phase and, on the path, its stage.

    Nothing is shown if standard error is not a terminal, or with ``quiet``. With ``show_plan`` the
    command shows the plan with it once it is known, and exits. ``verdict_work`` counts the work of
    verdicts that follow the fit.
    """

    def __init__(
        self,
        quiet: bool = False,
        *,
        show_plan: Callable[[Any, Workload], None] | None = None,
        verdict_work: Callable[[Any], float] | None = None,
    ) -> None:
        self._show_plan = show_plan
        self._verdict_work = verdict_work
        console = Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None)
        self._workload = Workload()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def phase(self, description: str) -> None:
        """Start a phase of unknown length."""
        self._progress.update(self._task, description=printable(description), total=None)

    def plan(self, plan: object, workload: Workload) -> None:
        """Show the estimated time, or the plan, and then exit."""
        if self._verdict_work is not None:
            workload = replace(workload, verdicts=self._verdict_work(plan))
        self._workload = workload
        if self._show_plan is not None:
            self._progress.stop()
            self._show_plan(plan, workload)
            raise typer.Exit()
        if not self._progress.disable and (said := workload.in_words()):
            self._progress.console.print(said)

    def fold(self, done: int, total: int) -> None:
        """Show progress after each cross-validation fold."""
        share = self._workload.after_folds(done, total)
        self._show(f"Cross-validation, {done} of {total} folds", share)

    def __call__(self, step: Any) -> None:
        """Show progress on the path; called with each :class:`~covmin.core.watch.Progress`."""
        description = f"Path, {step.budget} features, {step.iteration.n_active} active"
        self._show(description, self._workload.at_stage(step.budget))

    def _show(self, description: str, share: float) -> None:
        self._progress.update(self._task, description=description, total=1.0, completed=share)
