"""Readers of the formats of tables: text, JSON, spreadsheets, databases and arrays."""

from __future__ import annotations

import codecs
import csv
import io
import json
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from covmin.text import listed

from .errors import CommandError, ExitCode, did_you_mean, nearest

if TYPE_CHECKING:
    import pandas as pd

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Encodings of Western text that is not UTF-8; the second accepts every byte.
_WESTERN = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_SEPARATORS, _BLANKS = ",;\t|", r"\s+"
# Bytes and lines from which the layout is guessed.
_BYTES_SEEN, _LINES_SEEN = 2**18, 50
_DECIMAL_COMMA = r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*|\s*[+-]?\d+\s*"
_THOUSANDS = r"[+-]?[1-9]\d{0,2}(?:,\d{3})*(?:\.\d+)?|0(?:\.\d+)?"
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table','view') AND name NOT LIKE 'sqlite_%'"
)
# A query may only read. Otherwise it could attach, and thereby create, another file.
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


@dataclass(frozen=True)
class FileOptions:
    """The options that say where a table is and how to read it."""

    data: str  # a path, or "-" for standard input
    format: str | None = None
    header: bool = True
    decimal: str | None = None
    encoding: str | None = None
    table: str | None = None  # sheet of a spreadsheet, table of a database, file in an archive
    query: str | None = None

    @property
    def name(self) -> str | None:
        """Name of the file; None for standard input."""
        return None if self.data == "-" else Path(self.data).name


@dataclass(frozen=True)
class FileTable:
    """A table as read from a file, with remarks on what was guessed."""

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    separator: str | None = None  # of a text table


def read_text(stream: IO[bytes], options: FileOptions, separators: str = _SEPARATORS) -> FileTable:
    """Read a text table; notes say what was guessed."""
    head = _first_lines(stream)
    if not head.strip():
        raise CommandError(
            "The input is empty.",
            ExitCode.INPUT,
            "It needs a line of column names and one line per sample.",
        )
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    known = options.encoding or marked
    if known is None and b"\x00" in head:
        raise CommandError(
            "The input contains zero bytes, so it is not text in UTF-8.",
            ExitCode.INPUT,
            "For UTF-16 without a byte order mark, set --encoding utf-16-le or utf-16-be. Read "
            "other formats with pandas, and save the table as CSV or Parquet.",
        )
    for encoding in [known] if known else ["utf-8", *_WESTERN]:
        try:
            table = _read_encoded(stream, options, head, separators, encoding)
        except (UnicodeError, LookupError) as error:
            failure = error
            continue
        if known is not None or encoding not in _WESTERN:
            return table
        told = f"The text is not UTF-8; it was read as {_WESTERN[encoding]} (--encoding)."
        return replace(table, notes=(*table.notes, told))
    raise CommandError(
        f"The text cannot be read with --encoding {known}: {failure}",
        ExitCode.INPUT,
        "Choose another one, such as utf-8, utf-16, cp1252, latin-1, shift_jis or gb18030.",
    ) from failure


def _first_lines(stream: IO[bytes]) -> bytes:
    """Return the first whole lines, at least four if there are as many, and rewind."""
    head = stream.read(_BYTES_SEEN)
    while head.count(b"\n") < 4 and (more := stream.read(_BYTES_SEEN)):
        head += more
    complete = not stream.read(1)
    stream.seek(0)
    return head if complete else head[: head.rfind(b"\n") + 1] or head


def _read_encoded(
    stream: IO[bytes], options: FileOptions, head: bytes, separators: str, encoding: str
) -> FileTable:
    import pandas as pd

    text = head.decode(encoding, errors="ignore" if encoding.startswith("utf") else "strict")
    separator = _separator(text, separators)
    above, marked = _comments(text, separator) if options.header else (0, False)
    header = 0 if options.header else None
    how = {"sep": separator, "header": header, "skiprows": above, "encoding": encoding}
    stream.seek(0)
    frame, notes = pd.read_csv(stream, decimal=str(options.decimal or "."), **how), []
    if options.decimal is None and separator != "," and _has_decimal_commas(frame):
        stream.seek(0)
        frame = pd.read_csv(stream, decimal=",", **how)
        notes.append("Numbers were read with decimal commas (--decimal ,).")
    if marked:
        frame = frame.rename(columns={frame.columns[0]: str(frame.columns[0]).lstrip("# ")})
    return FileTable(frame, tuple(notes), separator)


def _separator(text: str, separators: str) -> str:
    """Return the separator for which most lines have the same number of cells."""
    widths = {each: _usual_width(text, each) for each in separators if each in text}
    several = [each for each, (_, width) in widths.items() if width > 1]
    if several:
        return max(several, key=lambda each: widths[each])
    # Blanks occur in many texts; they separate columns only if all lines agree.
    share, width = _usual_width(text, _BLANKS)
    return _BLANKS if width > 1 and share == 1.0 else separators[0]


def _usual_width(text: str, separator: str) -> tuple[float, int]:
    """Return the share of lines with the most common number of cells, and that number."""
    lines = [line for line in text.splitlines(keepends=True) if line[0] != "#"]
    rows: list[list[str]] = []
    if separator == _BLANKS:
        rows = [line.split() for line in lines[:_LINES_SEEN]]
    else:
        with suppress(csv.Error):  # an unterminated cell
            rows.extend(islice(csv.reader(lines, delimiter=separator), _LINES_SEEN))
    counts = Counter(len(row) for row in rows if row)
    width, count = max(counts.items(), key=lambda item: item[::-1], default=(0, 0))
    return count / max(counts.total(), 1), width


def _comments(text: str, separator: str) -> tuple[int, bool]:
    """Return the number of lines above the column names, and whether # begins these.

    The last comment contains the names if it has as many cells as the next line.
    """
    lines = text.splitlines()
    n = next((i for i, line in enumerate(lines) if line.strip() and line[0] != "#"), 0)
    last = next((i for i in reversed(range(n)) if lines[i].strip()), None)
    if last is None:
        return 0, False
    by = None if separator == _BLANKS else separator
    widths = [len(lines[i].strip("# \n").split(by)) for i in (last, n)]
    return (last, True) if widths[0] == widths[1] > 1 else (n, False)


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    """Tell whether a text column holds numbers such as 1,5, and not only such as 1,500."""
    for name, dtype in frame.dtypes.items():
        if dtype.kind not in "biufcMm":
            text = frame[name].dropna().astype(str)
            with_comma = text[text.str.contains(",")].str.strip()
            is_thousands = with_comma.str.fullmatch(_THOUSANDS).all()
            if not is_thousands and text.str.fullmatch(_DECIMAL_COMMA).all():
                return True
    return False


def read_json(stream: IO[bytes], options: FileOptions) -> FileTable:
    """Read records, one record per line, or one list per column; dots join nested names."""
    import pandas as pd

    text = stream.read().decode(options.encoding or "utf-8-sig")
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        value = [json.loads(line) for line in lines]
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        frame = pd.json_normalize(value)
    elif isinstance(value, dict) and value and all(isinstance(x, list) for x in value.values()):
        frame = pd.DataFrame(value)
    else:
        raise CommandError(
            "The JSON does not contain a table.",
            ExitCode.INPUT,
            'It must be a list of records, such as [{"a": 1, "b": 2}, …], or one record per line.',
        )
    for name, dtype in frame.dtypes.items():
        # Lists cannot be compared; their text can.
        if dtype.kind == "O" and frame[name].map(lambda cell: isinstance(cell, list | dict)).any():
            frame[name] = frame[name].map(json.dumps, na_action="ignore")
    return FileTable(frame)


def read_spreadsheet(stream: IO[bytes], options: FileOptions) -> FileTable:
    """Read the first sheet, or one given by name or number."""
    import pandas as pd

    with pd.ExcelFile(io.BytesIO(stream.read()), engine="calamine") as book:
        names = [str(name) for name in book.sheet_names]
        sheet = names[0] if options.table is None else _find_sheet(options.table, names)
        frame = pd.read_excel(book, sheet_name=sheet, header=0 if options.header else None)
    told = f"Only the first of {len(names)} sheets was read: {sheet!r} (--table)."
    return FileTable(frame, (told,) if options.table is None and len(names) > 1 else ())


def _find_sheet(wanted: str, names: list[str]) -> str:
    if wanted in names:
        return wanted
    with suppress(ValueError, IndexError):
        return names[int(wanted)]
    raise CommandError(
        f"--table: there is no sheet {wanted!r}.",
        ExitCode.INPUT,
        f"{did_you_mean(nearest(wanted, names))}The {len(names)} sheets are: {listed(names)}",
    )


def read_database(stream: IO[bytes], options: FileOptions) -> FileTable:
    """Read the only table of a SQLite file, a named one, or the result of a query."""
    import pandas as pd

    try:
        with closing(_connected(stream)) as connection:
            connection.set_authorizer(_authorized)
            query = options.query or _whole_table(connection, options.table)
            return FileTable(pd.read_sql_query(query, connection))
    except (sqlite3.Error, pd.errors.DatabaseError) as error:
        raise CommandError(
            f"The database query failed: {error}",
            ExitCode.INPUT,
            "Check --query; only reading is allowed." if options.query else "",
        ) from error


def _connected(stream: IO[bytes]) -> sqlite3.Connection:
    if isinstance(stream, io.BufferedReader):  # a file that is not compressed
        return sqlite3.connect(f"{Path(stream.name).absolute().as_uri()}?mode=ro", uri=True)
    connection = sqlite3.connect(":memory:")
    connection.deserialize(stream.read())
    return connection


def _authorized(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _whole_table(connection: sqlite3.Connection, wanted: str | None) -> str:
    """Return the query for a whole table."""
    names = [name for (name,) in connection.execute(_TABLES)]
    if wanted is None and len(names) == 1:
        wanted = names[0]
    if wanted not in names:
        what = "no table" if not names else f"{len(names)} tables: {listed(names)}"
        raise CommandError(
            f"--table: there is no table {wanted!r}."
            if wanted
            else f"The database contains {what}.",
            ExitCode.INPUT,
            f"{did_you_mean(nearest(wanted, names))}It contains {what}"
            if wanted
            else "Choose one with --table, or use --query.",
        )
    quoted = str(wanted).replace('"', '""')
    return f'SELECT * FROM "{quoted}"'


def read_arrays(stream: IO[bytes], options: FileOptions) -> FileTable:
    """Read the columns of all matrices, and each vector as a column, without unpickling."""
    import pandas as pd

    loaded = np.load(stream, allow_pickle=False)
    arrays = {"X": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
    names = [str(name).strip() for name in np.ravel(arrays.pop("feature_names", np.array([])))]
    matrices = {key: value for key, value in arrays.items() if value.ndim == 2}
    if not matrices:
        raise CommandError(
            f"The file contains no matrix; its arrays are {listed(list(arrays)) or 'none'}.",
            ExitCode.INPUT,
            "Store samples as rows of an array X, and the response as a vector y.",
        )
    n_samples = next(iter(matrices.values())).shape[0]
    parts = []
    for key, array in arrays.items():
        # pandas accepts only the byte order of the machine.
        value = array.astype(array.dtype.newbyteorder("="), copy=False)
        if key in matrices and value.shape[0] == n_samples:
            stem = "x" if key == "X" else key
            numbered = [f"{stem}{j}" for j in range(value.shape[1])]
            labels = names if len(names) == value.shape[1] else numbered
            parts.append(pd.DataFrame(value, columns=labels))
        elif value.size == n_samples and value.dtype.kind in "biufU":
            parts.append(pd.Series(value.ravel(), name=key).to_frame())
    return FileTable(pd.concat(parts, axis=1))
