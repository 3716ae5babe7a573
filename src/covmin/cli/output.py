"""Write tables to files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from covmin.runtime.resume import replace_file

from .arrays import write_mat, write_npz
from .errors import CommandError, ExitCode
from .formats import format_of
from .packing import COMPRESSIONS

if TYPE_CHECKING:
    import pandas as pd

_WRITTEN = ("csv", "tsv", "parquet", "feather", "npz", "mat")
# Spreadsheets interpret cells that start with these characters as formulas.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def write_table(frame: pd.DataFrame, path: Path, target: str | None = None) -> None:
    """Write a table in the format of the file name; array formats store the target as ``y``."""
    fmt, compression = format_of(path)
    with written_or_explained(path):
        data = _encode(frame, fmt, target)
    write_file(path, COMPRESSIONS[compression].pack(data) if compression else data)


def write_file(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    with written_or_explained(path):
        replace_file(path, data)


@contextmanager
def written_or_explained(path: Path) -> Iterator[None]:
    """Turn write errors into messages with advice."""
    try:
        yield
    except ImportError as error:
        raise CommandError(f"{path} cannot be written: {error}", ExitCode.OUTPUT) from error
    except OSError as error:
        raise CommandError(
            f"{path} cannot be written: {error.strerror or error}.",
            ExitCode.OUTPUT,
            "Free some space, or choose another path.",
        ) from error


def check_destination(path: Path | None, source: str = "-", *, table: bool = False) -> None:
    """Raise an error, before the work begins, if a path cannot be written or holds the input."""
    if path is None:
        return
    with written_or_explained(path):
        same = path.exists() and os.path.exists(source) and path.samefile(source)
        folder, there = path.is_dir(), path.absolute().parent.is_dir()
    if same:
        raise CommandError(
            f"{path} is the input file: writing to it would destroy the data.",
            ExitCode.OUTPUT,
            "Choose another file.",
        )
    if not there:
        raise CommandError(
            f"The folder {path.parent} for {path.name} does not exist.",
            ExitCode.OUTPUT,
            "Create it, or choose another path.",
        )
    if folder:
        raise CommandError(f"{path} is a folder.", ExitCode.OUTPUT, "Choose a file in it.")
    if table and format_of(path)[0] not in _WRITTEN:
        raise CommandError(
            f"The name {path.name} does not tell which format to write.",
            ExitCode.OUTPUT,
            "Use the extension .csv, .tsv, .parquet, .feather, .npz or .mat (optionally followed "
            "by .gz, .bz2, .xz or .zst).",
        )


def _encode(frame: pd.DataFrame, fmt: str | None, target: str | None) -> bytes:
    buffer = io.BytesIO()
    if fmt in ("csv", "tsv"):
        harmless = [f"'{name}" if name.startswith(_FORMULAS) else name for name in frame.columns]
        frame.to_csv(buffer, index=False, sep="," if fmt == "csv" else "\t", header=harmless)
    elif fmt in ("parquet", "feather"):
        getattr(frame, f"to_{fmt}")(buffer)
    else:
        (write_npz if fmt == "npz" else write_mat)(buffer, frame, target)
    return buffer.getvalue()
