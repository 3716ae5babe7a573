"""Errors that the user can fix, their exit codes, and what the library says during a command."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from enum import IntEnum
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup

# Key, in the context of a command, of the words that were typed.
TYPED = "covmin.typed"
#: What to do about rows that depend on each other.
DEPENDENT_ROWS = (
    "If a column says which patient, place or day they belong to, pass its name as --row-groups; "
    "--row-groups none says that rows are independent."
)

# What to do about remarks with these codes, in place of the advice for Python.
_ADVICE = {
    "dependent-rows": f"{DEPENDENT_ROWS} If a column holds their time, pass its name as --time.",
    "excluded-columns": "--as COL=KIND uses one: KIND is number, category or text (its words).",
    "guessed-task": "Pass --task regression for numbers, --task classification for classes.",
}


class ExitCode(IntEnum):
    """Exit codes of ``covmin``."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    INPUT = 3
    COLUMN = 4
    DATA = 5
    OUTPUT = 6
    INTERRUPTED = 130


class CommandError(Exception):
    """An error that the user can fix, with an exit code and advice."""

    def __init__(self, code: ExitCode, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


# Options that are wrong, or do not go together; input that cannot be read; a column that does not
# exist; data that are unsuitable; output that cannot be written.
UsageError = partial(CommandError, ExitCode.USAGE)
FileError = partial(CommandError, ExitCode.INPUT)
ColumnError = partial(CommandError, ExitCode.COLUMN)
DataError = partial(CommandError, ExitCode.DATA)
OutputError = partial(CommandError, ExitCode.OUTPUT)


class CommandGroup(TyperGroup):
    """Commands that report errors as a message and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember the words that were typed."""
        ctx.meta[TYPED] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command and report errors."""
        try:
            return super().invoke(ctx)
        except CommandError as error:
            from .display import show_error

            show_error(error)
            raise typer.Exit(int(error.code)) from error
        except KeyboardInterrupt as error:
            typer.echo("Interrupted: nothing more was written.", err=True)
            raise typer.Exit(int(ExitCode.INTERRUPTED)) from error


@contextmanager
def errors_explained(
    kind: Callable[..., CommandError] = DataError, parameter: str | None = None
) -> Iterator[None]:
    """Turn errors of the library into errors of the command that name the option at fault."""
    try:
        yield
    except (ValueError, MemoryError, ImportError) as error:
        from .options import OPTION_OF

        parameter = getattr(error, "parameter", None) or parameter or ""
        option = OPTION_OF.get(parameter)
        hint = f"The option for this is {option}." if option else ""
        hint = DEPENDENT_ROWS if parameter == "groups" else hint
        raise kind(getattr(error, "text", str(error)), hint) from error
    except (OSError, KeyError) as error:  # a file of a folder is damaged, or lacks a column
        raise FileError(f"A file cannot be read: {error}") from error


@contextmanager
def warnings_collected() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings for the user that are issued in the block."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield caught


def told(remark: Any) -> str:
    """Return the text of a remark with advice that names options."""
    return str(replace(remark, advice=remark.advice and _ADVICE.get(remark.code, remark.advice)))


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Suggest names similar to a mistyped one, whatever their case; empty if there are none."""
    by_folded = {candidate.casefold(): candidate for candidate in reversed(list(names))}
    folded = name.casefold()
    close = [folded] if folded in by_folded else get_close_matches(folded, by_folded, cutoff=0.5)
    offered = " or ".join(by_folded[each] for each in close)
    return f"Did you mean {offered}? " if offered else ""
