"""Show the progress of a computation on standard error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

# Seconds before "auto" shows a progress bar; shorter work needs none.
_PATIENCE = 3.0


class ProgressBar:
    """A progress bar for the phases of a fit: tqdm if it is installed, printed lines otherwise.

    With ``patience`` the bar appears only after that many seconds, prints nothing else, and
    disappears at the end.
    """

    _n_open: ClassVar[int] = 0  # across all threads: a fit within other work shows no bar
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, silent: bool = False, patience: float = 0.0) -> None:
        self.silent = silent
        self.tells = not silent and patience == 0.0
        self._waits = patience > 0.0
        self._bar: Any = None
        self._last: tuple[str, str, int, int, str] | None = None
        self._phase = ""
        self._printed = ""
        self._drawing = threading.RLock()
        self._timer = None if silent or not self._waits else threading.Timer(patience, self._begin)

    @classmethod
    @contextmanager
    def shown(cls, verbose: int | str) -> Iterator[Self]:
        """Provide a bar for the block; it is silent unless ``verbose``.

        With "auto" it appears if the output is interactive and the work takes several seconds.
        """
        if verbose == "auto":
            bar = cls(silent=cls._n_open > 0 or not is_watched(), patience=_PATIENCE)
        else:
            bar = cls(silent=not verbose)
        with cls.part_of_other_work():
            if bar._timer is not None:
                bar._timer.daemon = True
                bar._timer.start()
            try:
                yield bar
            finally:
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
        """Show how much of a phase is done, counted in units."""
        if self.silent:
            return
        with self._drawing:
            self._last = phase, unit, done, total, text
            if not self._waits:
                self._draw(*self._last)

    def _begin(self) -> None:
        """Start showing progress, once the waiting time of "auto" has passed."""
        with self._drawing:
            self._waits = False
            if self._last is not None:
                self._draw(*self._last)

    def _draw(self, phase: str, unit: str, done: int, total: int, text: str) -> None:
        if self._phase != phase:
            self._close()
            self._phase = phase
            self._bar = _tqdm(total, f"covmin {phase}", unit, leave=self.tells)
        if self._bar is not None:
            self._bar.n = done
            self._bar.set_postfix_str(text)
        elif self._printed != (line := f"[covmin] {phase}, {unit} {done}/{total}"):
            self.say(f"{line} {text}".rstrip())
            self._printed = line

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._drawing:
            self._close()
            self.silent = True  # in case the timer fired first

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.n = self._bar.total
            self._bar.close()
            self._bar = None


def is_watched() -> bool:
    """Tell whether this thread's output is seen as it appears: in a terminal or a notebook."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Line:
    """A minimal replacement of tqdm: one terminal line, overwritten and cleared at the end."""

    def __init__(self, total: int, description: str) -> None:
        self.n, self.total, self._description = 0, total, description

    def set_postfix_str(self, text: str) -> None:
        share = f"{self._description}: {100 * self.n // max(self.total, 1)}% {text}"
        print(f"\r\x1b[K{share[:78]}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _tqdm(total: int, description: str, unit: str, *, leave: bool) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None if leave or not sys.stderr.isatty() else _Line(total, description)
    return tqdm(total=total, desc=description, unit=unit, leave=leave)
