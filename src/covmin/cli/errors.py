"""Failures a user can do something about, and the exit code of each kind."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum

__all__ = ["CommandError", "ExitCode", "nearest"]


class ExitCode(IntEnum):
    """What the exit status of ``covmin`` means."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    INPUT = 3
    COLUMN = 4
    DATA = 5
    OUTPUT = 6
    INTERRUPTED = 130


class CommandError(Exception):
    """A failure with advice.

    Parameters
    ----------
    message : str
        What went wrong.
    code : ExitCode
    hint : str, default=""
        What to do about it.
    """

    def __init__(self, message: str, code: ExitCode, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint


def nearest(name: str, names: Iterable[str], n: int = 3, cutoff: float = 0.5) -> list[str]:
    """Names that resemble a mistyped one, whatever their case.

    Parameters
    ----------
    name : str
    names : iterable of str
    n : int, default=3
        Most names to return.
    cutoff : float, default=0.5
        How alike they have to be, from 0 to 1.

    Returns
    -------
    list of str

    Examples
    --------
    >>> nearest("Flavanoid", ["alcohol", "flavanoids", "hue"])
    ['flavanoids']
    """
    by_folded = {candidate.casefold(): candidate for candidate in reversed(list(names))}
    close = get_close_matches(name.casefold(), list(by_folded), n=n, cutoff=cutoff)
    return [by_folded[folded] for folded in close]
