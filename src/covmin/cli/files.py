"""Read tables from files and write them. Formats that can contain code are refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from covmin.runtime.resume import replace_file
from covmin.text import listed

from .errors import CommandError, FileError, OutputError, UsageError
from .options import Format
from .readers import (
    FileOptions,
    FileTable,
    read_database,
    read_json,
    read_spreadsheet,
    read_text,
)

if TYPE_CHECKING:
    import pandas as pd

_SUFFIXES = {
    **{f".{fmt}": fmt for fmt in Format},
    **dict.fromkeys((".txt", ".dat"), Format.csv),
    **dict.fromkeys((".jsonl", ".ndjson"), Format.json),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), Format.excel),
    **dict.fromkeys((".db", ".sqlite3"), Format.sqlite),
    ".tab": Format.tsv,
    ".pq": Format.parquet,
    ".arrow": Format.feather,
}
_PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": None}
_ANOTHER_FORMAT = (
    f"If it is in another format, set --format ({', '.join(Format)}), or read it with pandas and "
    "save it as CSV or Parquet."
)
# Spreadsheets interpret cells that start with these characters as formulas.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_WRITTEN = (Format.csv, Format.tsv, Format.parquet, Format.feather)


def read_file(options: FileOptions) -> FileTable:
    """Read a table; the name of the file tells its format and compression."""
    path = Path(options.data)
    fmt, packed = (None, "") if options.data == "-" else format_of(path)
    fmt = Format(options.format) if options.format else fmt or Format.csv
    if options.data == "-":
        return _read(io.BytesIO(sys.stdin.buffer.read()), fmt, options)
    try:
        if not path.exists():
            raise FileError(f"There is no file {path}.", "Check the name and the folder.")
        if path.is_dir():
            raise FileError(
                f"{path} is a folder.",
                "Only covmin select reads a folder of Parquet files; choose a single file here.",
            )
        with _opened(path, packed) as file:
            # A pipe can be read only once.
            return _read(file if file.seekable() else io.BytesIO(file.read()), fmt, options)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"{path} cannot be read: {reason}.") from error


def format_of(path: Path) -> tuple[Format | None, str]:
    """Return the format (or None) and the compression suffix (or "") of a file name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in _PACKED else ""
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None, packed


def _read(stream: IO[bytes], fmt: Format, options: FileOptions) -> FileTable:
    import pandas as pd

    for option, given, formats in (
        ("--query", options.query, (Format.sqlite,)),
        ("--table", options.table, (Format.excel, Format.sqlite)),
    ):
        if given is not None and fmt not in formats:
            raise UsageError(
                f"{option} has no effect on {fmt} files.",
                f"It is for {' and '.join(formats)} files; omit it.",
            )
    readers: dict[str, Callable[..., FileTable]] = {
        Format.csv: read_text,
        Format.tsv: partial(read_text, separators="\t"),
        Format.json: read_json,
        Format.excel: read_spreadsheet,
        Format.sqlite: read_database,
        Format.parquet: lambda stream, _: FileTable(pd.read_parquet(stream)),
        Format.feather: lambda stream, _: FileTable(pd.read_feather(stream)),
    }
    with _readable(f"{fmt} data"):
        table = readers[fmt](stream, options)
    return _finished(table)


def _opened(path: Path, packed: str) -> IO[bytes]:
    """Open a file, compressed or not."""
    if packed == ".zip":
        with _readable("a .zip file"), zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
            if len(names) != 1:
                raise FileError(
                    f"{path} contains {len(names)} files, not one: {listed(names)}.",
                    "Extract the table, and pass its file.",
                )
            return io.BytesIO(archive.read(names[0]))
    file: IO[bytes] = _PACKED.get(packed, open)(path, "rb")
    return file


@contextmanager
def _readable(what: str) -> Iterator[None]:
    """Turn errors into one that says what the input was read as."""
    try:
        yield
    except (CommandError, MemoryError):
        raise
    except ImportError as error:
        raise FileError(
            f"Reading {what} requires {error.name or 'a package'}, which is not installed.",
            "Install it with pip install python-calamine pyarrow, or save the table as CSV.",
        ) from error
    except Exception as error:  # each library fails in its own way
        raise FileError(f"The input cannot be read as {what}: {error}", _ANOTHER_FORMAT) from error


def _finished(table: FileTable) -> FileTable:
    """Make column names unique strings, and leave out empty rows and unnamed empty columns."""
    frame = table.frame
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    elif not frame.index.is_unique:
        frame = frame.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    unnamed = [name for name in frame.columns if name.startswith("Unnamed: ")]
    frame = frame.drop(columns=[name for name in unnamed if frame[name].isna().all()])
    frame = frame.dropna(how="all")
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise FileError(
            f"Several columns are called {listed(list(twice))}.", "Give every column a unique name."
        )
    if frame.shape[0] == 0:
        raise FileError("The table has no rows.")
    return replace(table, frame=frame)


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format of the file name; text may be compressed."""
    fmt, packed = format_of(path)
    buffer = io.BytesIO()
    with errors_of_writing(path):
        if fmt in (Format.csv, Format.tsv):
            how: Any = {"sep": "," if fmt == Format.csv else "\t", "index": False}
            how["compression"] = "gzip" if packed else None
            without_formulas(frame).to_csv(buffer, **how)
        else:
            getattr(frame, f"to_{fmt}")(buffer)
    write_bytes(path, buffer.getvalue())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all."""
    with errors_of_writing(path):
        replace_file(path, data)


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before names and text cells that a spreadsheet would run as formulas."""
    text = [name for name, dtype in frame.dtypes.items() if dtype.kind not in "biufcMm"]
    frame = frame.assign(**{name: frame[name].map(_harmless, na_action="ignore") for name in text})
    return frame.rename(columns=_harmless)


def _harmless(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    line = cell.replace("\r", "\n")  # pandas does not quote \r, which begins a line too
    is_number = line.lstrip("+-").replace(",", "").replace(".", "").isdecimal()
    return line if is_number or not cell.startswith(_FORMULAS) else f"'{line}"


@contextmanager
def errors_of_writing(path: Path) -> Iterator[None]:
    """Turn write errors into messages with advice."""
    try:
        yield
    except (ImportError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"{path} cannot be written: {reason}.") from error


def check_destination(path: Path | None, source: str = "-", *, table: bool = False) -> None:
    """Raise an error, before the work begins, if a path cannot be written or holds the input."""
    if path is None:
        return
    with errors_of_writing(path):
        same = path.exists() and os.path.exists(source) and path.samefile(source)
        folder, there = path.is_dir(), path.absolute().parent.is_dir()
    if same:
        raise OutputError(f"{path} is the input file: writing to it would destroy the data.")
    if not there:
        raise OutputError(f"The folder {path.parent} for {path.name} does not exist.")
    if folder:
        raise OutputError(f"{path} is a folder.", "Choose a file in it.")
    fmt, packed = format_of(path)
    is_text = fmt in (Format.csv, Format.tsv)
    if table and (fmt not in _WRITTEN or (packed and not (is_text and packed == ".gz"))):
        raise OutputError(
            f"The name {path.name} does not tell which format to write.",
            f"Use the extension {', '.join(f'.{fmt}' for fmt in _WRITTEN)}, .csv.gz or .tsv.gz.",
        )
