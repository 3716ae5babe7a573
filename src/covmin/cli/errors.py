"""Errors that the user can fix, and their exit codes."""

from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup


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
    """An error with an exit code and advice."""

    def __init__(self, message: str, code: ExitCode, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint


class CommandGroup(TyperGroup):
    """Commands that report errors as a message and an exit code."""

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
