"""The entry point of ``covmin`` and of ``python -m covmin``."""

from __future__ import annotations

import sys

__all__ = ["main"]

_EXTRA = ("typer", "rich", "pandas")


def main() -> None:
    """Run the command line; an interrupt at any time ends it with one line and code 130."""
    try:
        _run()
    except KeyboardInterrupt:
        print("Interrupted: nothing was written.", file=sys.stderr)
        raise SystemExit(130) from None


def _run() -> None:
    """Run the command line, or say how to install it."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        print(
            f"covmin's command line needs {error.name}, which is not installed.\n"
            'Install it with: pip install "covmin[cli]"',
            file=sys.stderr,
        )
        raise SystemExit(1) from None
    app(prog_name="covmin")
