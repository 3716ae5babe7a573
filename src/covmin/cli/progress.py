"""What shows on standard error while a fit runs."""

from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from covmin.data.checks import printable


class FitProgress:
    """A line with the current phase and, along the path, its stage.

    Nothing shows where standard error is not a terminal, or if ``quiet``.
    """

    def __init__(self, quiet: bool = False) -> None:
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

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def phase(self, description: str) -> None:
        """Begin a phase of unknown length."""
        self._progress.update(self._task, description=printable(description), total=None)

    def fold(self, done: int, total: int) -> None:
        """Follow the choice of m and ε: called after each fold."""
        description = f"Cross-fitting, {done} of {total} folds"
        self._progress.update(self._task, description=description, total=total, completed=done)

    def __call__(self, step: Any) -> None:
        """Follow the path: called with each :class:`~covmin.core.watch.Progress`."""
        self._progress.update(
            self._task,
            description=f"Path, {step.budget} features, {step.iteration.n_active} active",
            total=step.n_stages,
            completed=step.stage,
        )
