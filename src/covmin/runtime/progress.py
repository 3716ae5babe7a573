"""A line on standard error that says how far the work is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self


class ProgressBar:
    """Phases of a fit, one line each: tqdm's where it is installed, else printed as they come."""

    def __init__(self, silent: bool = False) -> None:
        self.silent = silent
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

    def say(self, text: str) -> None:
        """A line of its own."""
        if not self.silent:
            print(text, file=sys.stderr)

    def show(self, phase: str, unit: str, done: int, total: int, text: str = "") -> None:
        """How much of a phase is done, counted in some unit."""
        if self.silent:
            return
        if self._phase != phase:
            self._close()
            self._phase, self._bar = phase, _tqdm(total, f"covmin {phase}", unit)
        if self._bar is not None:
            self._bar.n = done
            self._bar.set_postfix_str(text)
        elif self._printed != (line := f"[covmin] {phase}, {unit} {done}/{total}"):
            self.say(f"{line} {text}".rstrip())
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
