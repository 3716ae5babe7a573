"""Show the progress of a computation on standard error, and how long the rest will take."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any, ClassVar, Self, TypeVar

from .threads import in_threads, one_blas_thread

# Seconds before "auto" shows a progress bar; shorter work needs none.
_PATIENCE = 3.0
# At most so many printed lines per phase.
_LINES = 20

Result = TypeVar("Result")


@dataclass
class _Phase:
    """A part of the work that consists of units of about the same length."""

    name: str
    unit: str
    first: int  # units that were done when the phase began
    total: int
    begin: float
    done: int = 0
    text: str = ""

    def line(self) -> str:
        """Tell how much is done and, after the first unit, how long the rest takes."""
        line = f"covmin {self.name}, {self.unit} {self.done}/{self.total}"
        if not self.first < self.done < self.total:
            return line
        per_unit = (monotonic() - self.begin) / (self.done - self.first)
        rest = timedelta(seconds=round(per_unit * (self.total - self.done)))
        return f"{line}, about {rest} left"


class ProgressBar:
    """A progress bar for the phases of a computation: tqdm if installed, printed lines otherwise.

    Nothing is shown unless ``verbose``. With "auto" a bar appears if the output is interactive and
    the work takes several seconds; it disappears at the end.
    """

    _n_open: ClassVar[int] = 0  # across all threads: a fit within other work shows no bar
    _lock: ClassVar[threading.RLock] = threading.RLock()

    def __init__(self, verbose: int | str) -> None:
        auto = verbose == "auto"
        self.silent = self._n_open > 0 or not is_watched() if auto else not verbose
        self.tells = not (auto or self.silent)
        self._phase: _Phase | None = None
        self._bar: Any = None  # of tqdm
        self._n_lines = 0  # printed in this phase
        self._timer = threading.Timer(_PATIENCE, self._appear) if auto and not self.silent else None

    @classmethod
    @contextmanager
    def shown(cls, verbose: int | str) -> Iterator[Self]:
        """Provide a bar for the block."""
        bar = cls(verbose)
        if bar._timer is not None:
            bar._timer.daemon = True
            bar._timer.start()
        with cls.part_of_other_work():
            try:
                yield bar
            finally:
                if not bar.silent:
                    bar._end()

    @classmethod
    @contextmanager
    def part_of_other_work(cls) -> Iterator[None]:
        """Suppress automatic progress bars during the block."""
        with cls._lock:
            cls._n_open += 1
        try:
            yield
        finally:
            with cls._lock:
                cls._n_open -= 1

    def say(self, text: str) -> None:
        """Print a line of text."""
        if self.tells:
            print(text, file=sys.stderr)

    def show(self, phase: str, unit: str, done: int, total: int, text: str = "") -> None:
        """Show how many units of a phase are done; its clock starts with the first call."""
        if self.silent:
            return
        with self._lock:
            if self._phase is None or self._phase.name != phase:
                self._close()
                self._phase = _Phase(phase, unit, done, total, monotonic())
            self._phase.done, self._phase.text = done, text
            if self._timer is None:
                self._draw(self._phase)

    def _appear(self) -> None:
        """Start showing progress, once the waiting time of "auto" has passed."""
        with self._lock:
            self._timer = None
            if self._phase is not None and not self.silent:
                self._draw(self._phase)

    def _draw(self, phase: _Phase) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            if _LINES * phase.done >= self._n_lines * max(phase.total, _LINES):
                print(phase.line(), file=sys.stderr)
                self._n_lines = 1 + _LINES * phase.done // max(phase.total, _LINES)
            return
        if self._bar is None:
            counts = {"total": phase.total, "initial": phase.first, "unit": phase.unit}
            self._bar = tqdm(desc=f"covmin {phase.name}", leave=self.tells, **counts)
            self._bar.start_t -= monotonic() - phase.begin
        self._bar.n = phase.done
        self._bar.set_postfix_str(phase.text)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar, self._n_lines = None, 0

    def _end(self) -> None:
        with self._lock:
            self.silent = True  # in case the timer fires now
            self._close()
            if self._timer is not None:
                self._timer.cancel()


def is_watched() -> bool:
    """Tell whether this thread's output is seen as it appears: in a terminal or a notebook."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def repeat(
    work: Callable[[Any], Result],
    items: Sequence[Any],
    what: str,
    unit: str,
    n_jobs: int | None,
    verbose: int | str,
) -> list[Result]:
    """Return the results of ``work`` for each item, in order.

    The items run in threads, with one BLAS thread each. ``what`` and ``unit`` are the texts of
    the progress bar.
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
