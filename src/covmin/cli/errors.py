"""Failures a user can do something about, and the exit code of each kind."""

from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup


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
    """What went wrong, the exit code, and what to do about it."""

    def __init__(self, message: str, code: ExitCode, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint


class CommandGroup(TyperGroup):
    """Commands whose failures become a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; say what to do where it fails."""
        try:
            return super().invoke(ctx)
        except CommandError as error:
            from .display import show_error

            show_error(error)
            raise typer.Exit(int(error.code)) from error
        except KeyboardInterrupt as error:
            typer.echo("Interrupted: nothing more was written.", err=True)
            raise typer.Exit(int(ExitCode.INTERRUPTED)) from error
