"""Tables into files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from covmin.runtime.files import replace_file

from .arrays import write_mat, write_npz
from .errors import CommandError, ExitCode
from .formats import format_of
from .packing import COMPRESSIONS

if TYPE_CHECKING:
    import pandas as pd

_WRITTEN = ("csv", "tsv", "parquet", "feather", "npz", "mat")
# A spreadsheet takes a cell that begins so for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def write_table(frame: pd.DataFrame, path: Path, target: str | None = None) -> None:
    """Write a table in the format its name stands for; arrays hold the target as ``y``."""
    fmt, compression = format_of(path)
    with written_or_explained(path):
        data = _encode(frame, fmt, target)
    write_file(path, COMPRESSIONS[compression].pack(data) if compression else data)


def write_file(path: Path, data: bytes) -> None:
    """Write a file, all of it or nothing."""
    with written_or_explained(path):
        replace_file(path, data)


@contextmanager
def written_or_explained(path: Path) -> Iterator[None]:
    """Say of a file that cannot be written why, and what to do."""
    try:
        yield
    except ImportError as error:
        raise CommandError(f"{path} cannot be written: {error}", ExitCode.OUTPUT) from error
    except OSError as error:
        raise CommandError(
            f"{path} cannot be written: {error.strerror or error}.",
            ExitCode.OUTPUT,
            "Make room, or name another place.",
        ) from error


def check_destination(path: Path | None, source: str = "-", *, table: bool = False) -> None:
    """Refuse a place that cannot be written, or holds the data, before the work begins."""
    if path is None:
        return
    with written_or_explained(path):
        same = path.exists() and os.path.exists(source) and path.samefile(source)
        folder, there = path.is_dir(), path.absolute().parent.is_dir()
    if same:
        raise CommandError(
            f"{path} holds the data: writing to it would destroy them.",
            ExitCode.OUTPUT,
            "Name another file.",
        )
    if not there:
        raise CommandError(
            f"There is no folder {path.parent} to write {path.name} in.",
            ExitCode.OUTPUT,
            "Create it, or name another place.",
        )
    if folder:
        raise CommandError(f"{path} is a folder.", ExitCode.OUTPUT, "Name a file in it.")
    if table and format_of(path)[0] not in _WRITTEN:
        raise CommandError(
            f"The name {path.name} does not say in which format to write.",
            ExitCode.OUTPUT,
            "End it in .csv, .tsv, .parquet, .feather, .npz or .mat (and .gz, .bz2, .xz or .zst).",
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
