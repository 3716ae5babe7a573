"""Tables out of files. No format that can carry code is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covmin.data.checks import listed

from .arrays import read_mat, read_npz
from .columns import did_you_mean, nearest
from .errors import CommandError, ExitCode
from .options import Format
from .text_columns import looks_like_decimal_commas

if TYPE_CHECKING:
    import pandas as pd

_ALIASES = {".txt": "csv", ".tab": "tsv", ".pq": "parquet", ".arrow": "feather"}
_SUFFIXES = {**{f".{fmt}": str(fmt) for fmt in Format}, **_ALIASES}
COMPRESSIONS: dict[str, tuple[bytes, Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (b"\x1f\x8b", gzip.decompress, gzip.compress),
    ".bz2": (b"BZh", bz2.decompress, bz2.compress),
    ".xz": (b"\xfd7zXZ\x00", lzma.decompress, lzma.compress),
}
_ZIP = b"PK\x03\x04"
_PACKED = (_ZIP, *(magic for magic, _, _ in COMPRESSIONS.values()))
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    _ZIP: "npz",
    b"MATLAB": "mat",
}
_PICKLES = {".pkl", ".pickle", ".joblib", ".npy"}
_LINES = "It needs a line of column names and a line for each sample."
_EMPTY = ("The input is empty.", ExitCode.INPUT, _LINES)
_TEXT = ("csv", "tsv")
_ANOTHER_FORMAT = f"If it is another format, name it with --format ({', '.join(Format)})"
_ARROW_HINT = "Install pyarrow (pip install pyarrow), or save the table as CSV."


@dataclass(frozen=True)
class Source:
    """Where a table is, how to read it, and which part of it counts: options, as typed."""

    data: str
    target: str | None = None
    drop: list[str] | None = None
    missing: str = "error"
    fmt: str | None = None
    header: bool = True
    decimal: str | None = None
    categorical: list[str] | None = None
    given: list[str] | None = None
    groups: list[str] | None = None
    kinds: list[str] | None = None
    strict: bool = False

    @property
    def name(self) -> str | None:
        """Name of the file, None for standard input."""
        return None if self.data == "-" else Path(self.data).name

    def read(self) -> pd.DataFrame:
        """Read the table; ``attrs`` say what was noticed in text, and its separator."""
        if self.data == "-":
            return parse_table(sys.stdin.buffer.read(), self, self.fmt)
        path = Path(self.data)
        if path.suffix.lower() in _PICKLES:
            raise CommandError(
                f"{path}: {path.suffix} files can carry code and are not read.",
                ExitCode.INPUT,
                "Save the table as CSV, Parquet, Feather, .npz or .mat.",
            )
        try:
            return _read_path(path, self)
        except OSError as error:
            reason = error.strerror or error
            raise CommandError(f"{path} cannot be read: {reason}.", ExitCode.INPUT) from error


def read_table(path: str, **options: Any) -> pd.DataFrame:
    """Read a table; the options are those of :class:`Source`."""
    return Source(path, **options).read()


def format_of(path: Path) -> tuple[str | None, str]:
    """Format, or None, and suffix of compression, or "", that a file name stands for."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def _read_path(path: Path, source: Source) -> pd.DataFrame:
    fmt = source.fmt or format_of(path)[0]
    if not path.exists():
        raise CommandError(f"There is no file {path}.", ExitCode.INPUT, _neighbours(path))
    if path.is_dir():
        raise CommandError(
            f"{path} is a folder.",
            ExitCode.INPUT,
            "covmin select reads a folder of Parquet files; name a single file here.",
        )
    # A pipe can be read only once.
    if fmt in _TEXT and path.is_file():
        with path.open("rb") as file:
            first_line = file.readline()
        # What a file holds counts, not what its name says of its compression.
        if not first_line.startswith(_PACKED):
            return _finish(_read_text(path, first_line, fmt, source))
    return parse_table(path.read_bytes(), source, fmt)


def parse_table(data: bytes, source: Source, fmt: str | None = None) -> pd.DataFrame:
    """Read a table from bytes, compressed or not; their beginning says the format."""
    for magic, decompress, _ in COMPRESSIONS.values():
        if data.startswith(magic):
            data = _attempt(decompress, data, "compressed data")
    if data.startswith(_ZIP):
        data = _attempt(_unzip, data, "a .zip or .npz file")
    if not data.strip():
        raise CommandError(*_EMPTY)
    fmt = fmt or next((name for magic, name in _MAGIC.items() if data.startswith(magic)), "csv")
    if fmt in _TEXT:
        first_line = data.split(b"\n", 1)[0]
        return _finish(_read_text(io.BytesIO(data), first_line, fmt, source))
    read = {"npz": read_npz, "mat": read_mat}.get(fmt, partial(_read_arrow, fmt=fmt))
    return _finish(_attempt(read, data, f"a {fmt} file"))


def _read_text(file: Any, first_line: bytes, fmt: str, source: Source) -> pd.DataFrame:
    import pandas as pd

    # Many spreadsheets write "comma separated" files with semicolons.
    separator = chr(max(b",;\t|", key=first_line.count)) if fmt == "csv" else "\t"
    read = partial(
        pd.read_csv, file, sep=separator, header=0 if source.header else None, compression=None
    )
    notes = []
    try:
        frame = read(decimal=str(source.decimal or "."))
        commas = (looks_like_decimal_commas(frame[name]) for name in frame)
        if source.decimal is None and separator != "," and any(commas):
            if isinstance(file, io.BytesIO):
                file.seek(0)
            frame = read(decimal=",")
            notes = ["Numbers were read with a decimal comma (--decimal ,)."]
    except pd.errors.EmptyDataError as error:
        raise CommandError(*_EMPTY) from error
    except UnicodeDecodeError as error:
        raise CommandError(
            f"The table is not UTF-8 text: {error}",
            ExitCode.INPUT,
            "Save it as UTF-8 (spreadsheets offer “CSV UTF-8”), or convert it, for example with "
            "iconv -f WINDOWS-1252 -t UTF-8.",
        ) from error
    except (ValueError, pd.errors.ParserError) as error:
        raise CommandError(
            f"The table cannot be read as {fmt.upper()}: {error}",
            ExitCode.INPUT,
            f"{_ANOTHER_FORMAT}; it must be UTF-8 text with one line for each sample.",
        ) from error
    frame.attrs.update(separator=separator, notes=notes)
    return frame


def _read_arrow(data: bytes, fmt: str) -> pd.DataFrame:
    import pandas as pd

    return getattr(pd, f"read_{fmt}")(io.BytesIO(data))


def _unzip(data: bytes) -> bytes:
    """The one table in a .zip file; an .npz file, which is one too, stays as it is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if all(name.endswith(".npy") for name in names):
            return data
        if "xl/workbook.xml" in names or "[Content_Types].xml" in names:
            raise CommandError(
                "Spreadsheets of Excel are not read.",
                ExitCode.INPUT,
                "Save the sheet as CSV (UTF-8).",
            )
        if len(names) != 1:
            raise CommandError(
                f"The .zip file holds {len(names)} files: {listed(names)}.",
                ExitCode.INPUT,
                "Unpack it and name the table.",
            )
        return archive.read(names[0])


def _attempt(read: Callable[[bytes], Any], data: bytes, what: str) -> Any:
    """Read, or say what the data was taken for."""
    try:
        return read(data)
    except CommandError:
        raise
    except ImportError as error:
        raise CommandError(f"Reading {what}: {error}", ExitCode.INPUT, _ARROW_HINT) from error
    except Exception as error:  # each library fails in its own way
        raise CommandError(
            f"The input does not read as {what}: {error}", ExitCode.INPUT, f"{_ANOTHER_FORMAT}."
        ) from error


def _finish(frame: pd.DataFrame) -> pd.DataFrame:
    """Column names as strings, each once; an index with names as columns, rows told apart."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    elif not frame.index.is_unique:
        frame = frame.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise CommandError(
            f"Several columns are called {listed(list(twice))}.",
            ExitCode.INPUT,
            "Give every column a name of its own.",
        )
    if frame.shape[0] == 0:
        raise CommandError("The table has no rows.", ExitCode.INPUT)
    return frame


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {path.parent} does not exist either."
    # Endings are left out: all tables resemble each other in ".csv".
    stems = {entry.name.split(".")[0]: entry.name for entry in path.parent.iterdir()}
    close = [stems[stem] for stem in nearest(path.name.split(".")[0], stems, cutoff=0.65)]
    return did_you_mean(close) or "Check the name and the folder."
