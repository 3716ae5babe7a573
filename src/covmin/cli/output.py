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
from .tables import ARROW_HINT, COMPRESSIONS, format_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["check_destination", "write_file", "write_table", "written_or_explained"]


def write_table(frame: pd.DataFrame, path: Path, target: str | None = None) -> None:
    """Write a table in the format its name stands for, all of it or nothing.

    Parameters
    ----------
    frame : pandas.DataFrame
    path : Path
    target : str, optional
        The column that is stored as ``y`` in .npz and .mat files.
    """
    check_destination(path, table=True)
    fmt, compression = format_of(path)
    data = _encode(frame, fmt, target)
    if compression:
        data = COMPRESSIONS[compression][2](data)
    write_file(path, data)


def write_file(path: Path, data: bytes) -> None:
    """Write a file, all of it or nothing.

    Parameters
    ----------
    path : Path
    data : bytes
    """
    with written_or_explained(path):
        replace_file(path, data)


@contextmanager
def written_or_explained(path: Path) -> Iterator[None]:
    """Say of a file that cannot be written why, and what to do.

    Parameters
    ----------
    path : Path
    """
    try:
        yield
    except OSError as error:
        raise CommandError(
            f"{path} cannot be written: {error.strerror or error}.",
            ExitCode.OUTPUT,
            "Make room, or name another place.",
        ) from error


def check_destination(
    path: Path | None, *, table: bool = False, source: str | Path | None = None
) -> None:
    """Refuse a place that cannot be written, before the work begins.

    Parameters
    ----------
    path : Path or None
        None is fine.
    table : bool, default=False
        Whether the name has to say a format of tables.
    source : str or Path, optional
        The file the data are read from, which is never overwritten.
    """
    if path is not None:
        with written_or_explained(path):
            _check_place(path, table, source)


def _check_place(path: Path, table: bool, source: str | Path | None) -> None:
    if source is not None and path.exists() and os.path.exists(source) and path.samefile(source):
        raise CommandError(
            f"{path} holds the data: writing to it would destroy them.",
            ExitCode.OUTPUT,
            "Name another file.",
        )
    if not path.absolute().parent.is_dir():
        raise CommandError(
            f"There is no folder {path.parent} to write {path.name} in.",
            ExitCode.OUTPUT,
            "Create it, or name another place.",
        )
    if path.is_dir():
        raise CommandError(f"{path} is a folder.", ExitCode.OUTPUT, "Name a file in it.")
    if table and format_of(path)[0] is None:
        raise CommandError(
            f"The name {path.name} does not say in which format to write.",
            ExitCode.OUTPUT,
            "End it in .csv, .tsv, .parquet, .feather, .npz or .mat (and .gz, .bz2 or .xz).",
        )


def _encode(frame: pd.DataFrame, fmt: str | None, target: str | None) -> bytes:
    buffer = io.BytesIO()
    if fmt in ("csv", "tsv"):
        frame.to_csv(buffer, index=False, sep="," if fmt == "csv" else "\t")
    elif fmt in ("parquet", "feather"):
        try:
            getattr(frame, f"to_{fmt}")(buffer)
        except ImportError as error:
            raise CommandError(f"Writing {fmt}: {error}", ExitCode.OUTPUT, ARROW_HINT) from error
    else:
        (write_npz if fmt == "npz" else write_mat)(buffer, frame, target)
    return buffer.getvalue()
