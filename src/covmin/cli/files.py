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

import numpy as np

from covmin.runtime.resume import replace_file
from covmin.text import listed

from .errors import CommandError, FileError, OutputError, UsageError, did_you_mean, nearest
from .options import Format
from .readers import (
    FileOptions,
    FileTable,
    read_arrays,
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
_PACKED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": None, ".zip": None}
_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
_ANOTHER_FORMAT = (
    f"If it is in another format, set --format ({', '.join(Format)}), or read it with pandas and "
    "save it as CSV or Parquet."
)
# Spreadsheets interpret cells that start with these characters as formulas.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_WRITTEN = (Format.csv, Format.tsv, Format.parquet, Format.feather, Format.npz)


def read_file(options: FileOptions) -> FileTable:
    """Read a table; the name of the file tells its format and compression."""
    path = Path(options.data)
    fmt, packed = (None, "") if options.data == "-" else format_of(path)
    fmt = Format(options.format) if options.format else fmt or Format.csv
    if options.data == "-":
        return _read(io.BytesIO(sys.stdin.buffer.read()), fmt, options)
    try:
        if not path.exists():
            raise FileError(f"There is no file {path}.", _neighbours(path))
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
        Format.npz: read_arrays,
        Format.npy: read_arrays,
        Format.parquet: lambda stream, _: FileTable(pd.read_parquet(stream)),
        Format.feather: lambda stream, _: FileTable(pd.read_feather(stream)),
    }
    with _readable(f"{fmt} data"):
        table = readers[fmt](stream, options)
    return _finished(table)


def _opened(path: Path, packed: str) -> IO[bytes]:
    """Open a file, compressed or not."""
    if packed == ".zst":
        import pyarrow as pa

        with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
            return io.BytesIO(stream.read())
    if packed == ".zip":
        with _readable("a .zip file"), zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
            if len(names) != 1:
                raise FileError(
                    f"{path} contains {len(names)} files, not one: {listed(names)}.",
                    "Extract the table, and pass its file.",
                )
            return io.BytesIO(archive.read(names[0]))
    opened: Any = _PACKED.get(packed) or open
    file: IO[bytes] = opened(path, "rb")
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
    if frame.shape[1]:
        blank = frame.iloc[:, 0].isna().to_numpy(copy=True)  # only such a row can be empty
        blank[blank] = frame.loc[blank].isna().all(axis=1).to_numpy()
        frame = frame.loc[~blank] if blank.any() else frame
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise FileError(
            f"Several columns are called {listed(list(twice))}.", "Give every column a unique name."
        )
    if frame.shape[0] == 0:
        raise FileError("The table has no rows.")
    return replace(table, frame=frame)


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {path.parent} does not exist either."
    # Ignore extensions: all tables would look similar because of ".csv".
    stems = {entry.name.split(".")[0]: entry.name for entry in path.parent.iterdir()}
    close = [stems[stem] for stem in nearest(path.name.split(".")[0], stems, cutoff=0.65)]
    return did_you_mean(close) or "Check the name and the folder."


def write_table(frame: pd.DataFrame, path: Path, target: str | None = None) -> None:
    """Write a table in the format of the file name; arrays store the target as ``y``."""
    fmt, packed = format_of(path)
    buffer = io.BytesIO()
    with errors_of_writing(path):
        if fmt in (Format.csv, Format.tsv):
            separator = "," if fmt == Format.csv else "\t"
            without_formulas(frame).to_csv(buffer, index=False, sep=separator)
        elif fmt in (Format.parquet, Format.feather):
            getattr(frame, f"to_{fmt}")(buffer)
        else:
            features = frame.drop(columns=[] if target is None else [target])
            arrays = {"X": features.to_numpy(), "feature_names": np.array(features.columns, str)}
            if target is not None:
                y = frame[target].to_numpy()
                arrays["y"] = y if y.dtype.kind in "biuf" else y.astype(str)
            np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    data = buffer.getvalue()
    write_bytes(path, _PACKERS[packed](data) if packed else data)


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
    if table and (format_of(path)[0] not in _WRITTEN or path.suffix in (".zst", ".zip")):
        endings = ", ".join(f".{fmt}" for fmt in _WRITTEN)
        raise OutputError(
            f"The name {path.name} does not tell which format to write.",
            f"Use the extension {endings} (optionally followed by {', '.join(_PACKERS)}).",
        )
