"""The entry point of ``covmin`` and of ``python -m covmin``."""

import codecs
import sys

_EXTRA = ("typer", "rich", "pandas")
# Characters to print where others cannot be shown.
_PLAIN = dict(zip("▁▂▃▄▅▆▇█━→×–…“”·²", '_.-~=+*#->x-.""*2', strict=True))


def main() -> None:
    """Run the command line, or say how to install it; exit with code 130 on an interrupt."""
    _print_in_any_encoding()
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


def _print_in_any_encoding() -> None:
    """Replace each character that the terminal or pipe cannot show."""
    codecs.register_error("covmin", _replaced)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="covmin")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in text), error.end
