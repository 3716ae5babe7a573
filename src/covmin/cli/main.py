"""The entry point of ``covmin`` and of ``python -m covmin``."""

import sys

_EXTRA = ("typer", "rich", "pandas")


def main() -> None:
    """Run the command line, or say how to install it; exit with code 130 on an interrupt."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # what a terminal or pipe cannot show
    try:
        from .app import app

        app(prog_name="covmin")
    except KeyboardInterrupt:
        print("Interrupted: nothing was written.", file=sys.stderr)
        raise SystemExit(130) from None
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        print(
            f"The command line of covmin requires {error.name}, which is not installed.\n"
            'Install it with: pip install "covmin[cli]"',
            file=sys.stderr,
        )
        raise SystemExit(1) from None
