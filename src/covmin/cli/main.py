"""The entry point of ``covmin`` and of ``python -m covmin``."""

import codecs
import sys

_EXTRA = ("typer", "rich", "pandas")
# What to write to a terminal or pipe that lacks a character: a digit for the height of a line.
_PLAIN = dict(zip("━→×·•–“”▁▂▃▄▅▆▇█", "=>x-*-''12345678", strict=True)) | {"…": "..."}


def main() -> None:
    """Run the command line, or say how to install it; exit with code 130 on an interrupt."""
    codecs.register_error("covmin", _in_plain_characters)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="covmin")
    try:
        from .app import app

        app(prog_name="covmin")
    except KeyboardInterrupt:
        print("Interrupted: nothing was written.", file=sys.stderr)
        raise SystemExit(130) from None
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        print(f"The command line of covmin requires {error.name}.", file=sys.stderr)
        print('Install it with: pip install "covmin[cli]"', file=sys.stderr)
        raise SystemExit(1) from None


def _in_plain_characters(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks: an error handler of ``codecs``."""
    assert isinstance(error, UnicodeEncodeError)  # streams that write
    missing = error.object[error.start : error.end]
    return "".join(_PLAIN.get(each, "?") for each in missing), error.end
