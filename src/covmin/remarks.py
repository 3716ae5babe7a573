"""What covmin says about the data and the fit: remarks, warnings and errors with a code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["CovminWarning", "InputError", "Remark"]

# Packages whose frames are skipped in search of the line that a warning is about.
_INSIDE = ("covmin", "sklearn", "contextlib", "joblib")
_silenced: list[str] = []


@dataclass(frozen=True)
class Remark:
    """Something to tell the user.

    Parameters
    ----------
    code : str
        What it is about, such as ``"constant-columns"``. Programs decide by it.
    text : str
        The sentence for a reader.
    columns : tuple, default=()
        Names or numbers of the columns concerned.
    advice : str, default=""
        What to do about it in Python; the command line names its options instead.
    """

    code: str
    text: str
    columns: tuple[Any, ...] = ()
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.advice}".rstrip()


class CovminWarning(UserWarning):
    """A warning of covmin; ``remark`` has its code and the columns concerned."""

    remark: Remark


class InputError(ValueError):
    """An error in what the user passed.

    Parameters
    ----------
    text : str
        What was passed, what is allowed, and what to do.
    parameter : str, default=None
        Name of the parameter of the Python interface at fault.
    columns : sequence, default=()
        Names or numbers of the columns concerned.
    advice : str, default=""
        What to do about it in Python, if the command line has an advice of its own.
    """

    def __init__(
        self, text: str, parameter: str | None = None, columns: Sequence[Any] = (), advice: str = ""
    ) -> None:
        super().__init__(f"{text} {advice}".rstrip())
        self.text = text
        self.parameter = parameter
        self.columns = tuple(columns)


def warn(
    code: str,
    text: str,
    columns: Sequence[Any] = (),
    category: type[Warning] = CovminWarning,
    advice: str = "",
) -> None:
    """Issue a warning at the line outside covmin that led to it."""
    if code in _silenced:
        return
    remark = Remark(code, text, tuple(columns), advice)
    warning: Any = category(str(remark))
    warning.remark = remark
    warnings.warn(warning, stacklevel=_frames_inside())


def required(module: str, what: str, extra: str) -> Any:
    """Return a module that only an extra installs, or say what requires it and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        text = f'{what} requires {package}, which is not installed: pip install "covmin[{extra}]".'
        raise ImportError(text) from error


def remark_of(warning: Any) -> Remark:
    """Return the remark of a warning; one without a code for those of other packages."""
    return getattr(warning, "remark", None) or Remark("", str(warning))


@contextmanager
def silenced(*codes: str) -> Iterator[None]:
    """Issue no warnings that have one of these codes, in any thread."""
    _silenced.extend(codes)
    try:
        yield
    finally:
        for code in codes:
            _silenced.remove(code)


def _frames_inside() -> int:
    """Return the stack level, for the caller, of the first frame outside covmin."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    return level
