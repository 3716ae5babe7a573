"""Read tables from files and write them. Formats that can contain code are refused."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import os
import re
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from covmin.runtime.machine import check_memory
from covmin.runtime.resume import replace_file
from covmin.text import listed

from .errors import CommandError, FileError, OutputError, UsageError
from .options import Format

if TYPE_CHECKING:
    import pandas as pd

_SUFFIXES = {
    **{f".{fmt}": fmt for fmt in Format},
    **dict.fromkeys((".txt", ".dat"), Format.csv),
    **dict.fromkeys((".jsonl", ".ndjson"), Format.json),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), Format.excel),
    ".tab": Format.tsv,
    ".pq": Format.parquet,
    ".arrow": Format.feather,
}
# A packed table is refused if it is larger than this and than that many times its file: text
# rarely shrinks to a hundredth, and pandas needs several times the space of the text.
_UNPACKED_BYTES, _UNPACKED_TIMES, _TIMES_IN_MEMORY, _PIECE = 2**30, 100, 4, 2**24
_ANOTHER_FORMAT = (
    f"If it is in another format, set --format ({', '.join(Format)}); save other formats and "
    "databases as CSV or Parquet."
)
_IN_PARTS = "Save the columns that matter, or a folder of Parquet files, which is read in blocks."
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # the first characters of those in spreadsheets
_WRITTEN = (Format.csv, Format.tsv, Format.parquet, Format.feather)
_BLANKS = r"\s+"
_BYTES_SEEN = 2**17  # to guess the separator from; csv takes no larger cell
_DECIMAL_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+\s*")


@dataclass(frozen=True)
class FileOptions:
    """The options that say where a table is and how to read it."""

    data: str  # a path, or "-" for standard input
    format: str | None = None
    header: bool | None = None  # of a text table; None looks at its first line
    encoding: str | None = None
    table: str | None = None  # sheet of a spreadsheet

    @property
    def shown(self) -> str:
        """Where the table is, in words."""
        return "standard input" if self.data == "-" else Path(self.data).name


class FileTable(NamedTuple):
    """A table as read from a file, with remarks on what was guessed."""

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


def read_file(options: FileOptions) -> FileTable:
    """Read a table; the name of the file tells its format and compression."""
    path = Path(options.data)
    named, packed = (None, "") if options.data == "-" else format_of(path)
    fmt = Format(options.format or named or Format.csv)
    if options.table is not None and fmt != Format.excel:
        raise UsageError(f"--table has no effect on {fmt} files.", "It is for excel files.")
    if options.data == "-":
        return _read(io.BytesIO(sys.stdin.buffer.read()), fmt, options)
    try:
        if path.is_dir():
            hint = "Only covmin select reads one, of Parquet files."
            raise FileError(f"{path} is a folder.", hint)
        if packed:
            return _read(_unpacked(path, packed), fmt, options)
        with path.open("rb") as file:
            # A pipe can be read only once.
            return _read(file if file.seekable() else io.BytesIO(file.read()), fmt, options)
    except FileNotFoundError as error:
        raise FileError(f"There is no file {path}.", "Check the name and the folder.") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def format_of(path: Path) -> tuple[Format | None, str]:
    """Return the format (or None) and the compression suffix (or "") of a file name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in _PACKED else ""
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None, packed


def _open_zip(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    if len(names) != 1:
        text = f"{path} contains {len(names)} files, not one: {listed(names)}."
        raise FileError(text, "Extract the table, and pass its file.")
    return archive.open(names[0])


_PACKED: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zip": _open_zip}


def _unpacked(path: Path, packed: str) -> IO[bytes]:
    """Return the content of a compressed file, unless it is suspiciously large."""
    most, whole = max(_UNPACKED_BYTES, _UNPACKED_TIMES * path.stat().st_size), io.BytesIO()
    with _readable(f"a {packed} file"), _PACKED[packed](path) as file:
        while piece := file.read(_PIECE):
            whole.write(piece)
            check_memory(_TIMES_IN_MEMORY * whole.tell(), "The table", _IN_PARTS)
            if whole.tell() > most:
                size = f"more than {whole.tell() / 1e9:.1f} GB"
                raise FileError(f"{path} unpacks to {size}, too much to read.", _IN_PARTS)
    whole.seek(0)
    return whole


def _read(stream: IO[bytes], fmt: Format, options: FileOptions) -> FileTable:
    """Read a table, and make its column names unique strings."""
    import pandas as pd

    notes: list[str] = []
    with _readable(f"{fmt} data"):
        if fmt in (Format.csv, Format.tsv):
            frame = _read_text(stream, options, "\t" if fmt == Format.tsv else ",;\t|", notes)
        elif fmt == Format.json:
            frame = _read_json(stream, options.encoding or "utf-8-sig")
        elif fmt == Format.excel:
            frame = _read_spreadsheet(stream, options, notes)
        else:
            frame = getattr(pd, f"read_{fmt}")(stream)
    frame = frame.reset_index(drop=set(frame.index.names) == {None})
    unnamed = "column " if list(frame.columns) == list(range(frame.shape[1])) else ""
    frame.columns = [f"{unnamed}{name}" for name in frame.columns]
    if twice := frame.columns[frame.columns.duplicated()].unique().tolist():
        said = f"Several columns are called {listed(twice)}."
        raise FileError(said, "Give every column a unique name.")
    blank = [name for name in frame.columns if name.startswith("Unnamed: ")]
    frame = frame.drop(columns=[name for name in blank if frame[name].isna().all()])
    frame = frame.dropna(how="all")
    if frame.empty:
        raise FileError("The table has no rows.")
    return FileTable(frame, tuple(notes))


@contextmanager
def _readable(what: str) -> Iterator[None]:
    """Turn errors into one that says what the input was read as."""
    try:
        yield
    except CommandError:
        raise
    except MemoryError as error:
        raise FileError("The table does not fit in memory.", _IN_PARTS) from error
    except ImportError as error:
        text = f"Reading {what} requires {error.name or 'a package'}, which is not installed."
        hint = "Install it with pip install python-calamine pyarrow, or save the table as CSV."
        raise FileError(text, hint) from error
    except Exception as error:  # each library fails in its own way
        raise FileError(f"The input cannot be read as {what}: {error}", _ANOTHER_FORMAT) from error


# --- formats -------------------------------------------------------------------------------------


def _read_text(
    stream: IO[bytes], options: FileOptions, separators: str, notes: list[str]
) -> pd.DataFrame:
    """Read a text table; add notes that say what was guessed."""
    head = stream.read(_BYTES_SEEN)
    if not head.strip():
        raise FileError("The input is empty.", "It needs column names and one line per sample.")
    is_utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = options.encoding or ("utf-16" if is_utf16 else "utf-8-sig")
    if b"\x00" in head and encoding == "utf-8-sig":
        hint = "Set --encoding if it is UTF-16 without a byte order mark. "
        raise FileError("The input contains zero bytes: it is not UTF-8.", hint + _ANOTHER_FORMAT)
    try:
        return _read_encoded(stream, options, separators, encoding, notes)
    except (UnicodeError, LookupError) as error:
        if encoding != "utf-8-sig":
            text = f"The text cannot be read with --encoding {encoding}: {error}"
            hint = "Choose another one, such as utf-8, utf-16, cp1252, shift_jis or gb18030."
            raise FileError(text, hint) from error
    notes.append("The text is not UTF-8; it was read as Windows-1252 (--encoding).")
    return _read_encoded(stream, options, separators, "cp1252", notes)


def _read_encoded(
    stream: IO[bytes], options: FileOptions, separators: str, encoding: str, notes: list[str]
) -> pd.DataFrame:
    import pandas as pd

    stream.seek(0)
    head = stream.read(_BYTES_SEEN)
    lines = [line for line in head.decode(encoding, "ignore").splitlines(True) if line.strip()]
    separator = _separator(lines, separators)
    blanks, header, note = separator == _BLANKS, options.header, ""
    first = lines[0].split() if blanks else next(csv.reader(lines, delimiter=separator))
    if header is None:
        header = not _are_values(first)
        if not header:
            note = "The first line holds numbers, so it was read as values, not as column names"
            note += " (--header)."
        elif numbers := [cell for cell in first if _DECIMAL_NUMBER.fullmatch(cell)]:
            note = f"The first line was read as names, but some are numbers: {listed(numbers)}"
            note += " (--no-header)."
    stream.seek(0)
    how: dict[str, Any] = {"sep": separator, "header": 0 if header else None, "encoding": encoding}
    if encoding == "cp1252":
        how["encoding_errors"] = "replace"
    if not (blanks or _has_row_names(lines, separator)):
        how["index_col"] = False  # or else the first cells of long rows would be names of rows
    try:
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
            # Numbers with decimal commas or thousands separators stay text, which the fit reads.
            frame = pd.read_csv(stream, **how)
    except pd.errors.ParserWarning as error:
        hint = "Put cells that contain the separator in quotes, or give every column a name."
        raise FileError("Some rows have more cells than the first one has names.", hint) from error
    notes += filter(None, [note])
    return frame


def _separator(lines: list[str], separators: str) -> str:
    """Return the separator that gives the first two lines equally many cells, and most."""

    def agreement(separator: str) -> tuple[bool, int]:
        rows = csv.reader(lines, delimiter=separator)
        widths = [len(next(rows, [])) for _ in range(2)]
        return widths[0] == widths[1] > 1, widths[0]

    best = max(separators, key=agreement)
    if agreement(best)[1] > 1:
        return best
    # Blanks occur in many texts; they separate columns only if all lines agree.
    widths = {len(line.split()) for line in lines[:50]}
    return _BLANKS if len(widths) == 1 and max(widths) > 1 else separators[0]


def _has_row_names(lines: list[str], separator: str) -> bool:
    """Tell whether rows begin with names that have no name of their own, as R writes them."""
    first, *rows = csv.reader(lines, delimiter=separator)
    n, rows = len(first), rows[:-1] or rows  # the last one may be cut off
    return {len(row) for row in rows} == {n + 1} and any(row[n].strip() for row in rows)


def _are_values(cells: list[str]) -> bool:
    """Tell whether a first line holds values: numbers, but not a count such as 0, 1, 2 or years."""
    try:
        numbers = [float(cell.replace(",", ".")) for cell in cells if cell.strip()]
    except ValueError:
        return False
    counted = all(b - a == 1.0 for a, b in pairwise(numbers))
    return len(numbers) > 1 and not (counted and numbers[0] % 1 == 0.0)


def _read_json(stream: IO[bytes], encoding: str) -> pd.DataFrame:
    """Read a list of records, or one record per line; dots join nested names."""
    import pandas as pd

    text = stream.read().decode(encoding)
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = [json.loads(line) for line in text.splitlines() if line.strip()]
    if not (isinstance(value, list) and value and all(isinstance(row, dict) for row in value)):
        hint = 'It must be a list of records, such as [{"a": 1}, …], or one record per line.'
        raise FileError("The JSON does not contain a table.", hint)
    frame = pd.json_normalize(value)
    for name, dtype in frame.dtypes.items():
        # Lists cannot be compared; their text can.
        if dtype.kind == "O" and frame[name].map(lambda cell: isinstance(cell, list | dict)).any():
            frame[name] = frame[name].map(json.dumps, na_action="ignore")
    return frame


def _read_spreadsheet(stream: IO[bytes], options: FileOptions, notes: list[str]) -> pd.DataFrame:
    """Read the first sheet, or one given by name."""
    import pandas as pd

    with pd.ExcelFile(io.BytesIO(stream.read()), engine="calamine") as book:
        names: list[Any] = book.sheet_names
        sheet = options.table or names[0]
        if sheet not in names:
            raise FileError(f"There is no sheet {sheet!r}.", f"The sheets are: {listed(names)}")
        if options.table is None and len(names) > 1:
            notes.append(f"Only the first of {len(names)} sheets was read: {sheet!r} (--table).")
        header = None if options.header is False else 0
        return pd.read_excel(book, sheet_name=sheet, header=header)


# --- writing -------------------------------------------------------------------------------------


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table in the format of the file name; text may be compressed."""
    fmt, packed = format_of(path)
    buffer = io.BytesIO()
    with errors_of_writing(path):
        if fmt in (Format.csv, Format.tsv):
            text = [name for name, dtype in frame.dtypes.items() if dtype.kind not in "biufcMm"]
            safe = {name: frame[name].map(_harmless, na_action="ignore") for name in text}
            how: Any = {"sep": "," if fmt == Format.csv else "\t", "index": False}
            how["compression"] = "gzip" if packed else None
            frame.assign(**safe).rename(columns=_harmless).to_csv(buffer, **how)
        else:
            getattr(frame, f"to_{fmt}")(buffer)
        replace_file(path, buffer.getvalue())


def _harmless(cell: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
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
        if path.exists() and os.path.exists(source) and path.samefile(source):
            raise OutputError(f"{path} is the input file: writing to it would destroy the data.")
        if not path.absolute().parent.is_dir():
            raise OutputError(f"The folder {path.parent} for {path.name} does not exist.")
        if path.is_dir():
            raise OutputError(f"{path} is a folder.", "Choose a file in it.")
    fmt, packed = format_of(path)
    is_text = fmt in (Format.csv, Format.tsv)
    if table and (fmt not in _WRITTEN or (packed and not (is_text and packed == ".gz"))):
        hint = f"Use the extension {', '.join(f'.{fmt}' for fmt in _WRITTEN)}, .csv.gz or .tsv.gz."
        raise OutputError(f"The name {path.name} does not tell which format to write.", hint)
