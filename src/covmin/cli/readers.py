"""Readers of the formats of tables: text, JSON, spreadsheets and databases."""

from __future__ import annotations

import codecs
import csv
import io
import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from covmin.text import listed

from .errors import FileError

if TYPE_CHECKING:
    import pandas as pd

# Encodings of Western text that is not UTF-8; the second accepts every byte.
_WESTERN = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_SEPARATORS, _BLANKS = ",;\t|", r"\s+"
_BYTES_SEEN = 2**18  # to guess the encoding and the separator from
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
    no_header: bool = False
    decimal: str | None = None
    encoding: str | None = None
    table: str | None = None  # sheet of a spreadsheet, or table of a database
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
    head = stream.read(_BYTES_SEEN)
    if not head.strip():
        raise FileError(
            "The input is empty.", "It needs a line of column names and one line per sample."
        )
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        likely = ["utf-16"]
    elif b"\x00" in head and options.encoding is None:
        raise FileError(
            "The input contains zero bytes, so it is not text in UTF-8.",
            "For UTF-16 without a byte order mark, set --encoding utf-16-le or utf-16-be. Read "
            "other formats with pandas, and save the table as CSV or Parquet.",
        )
    else:
        likely = ["utf-8-sig", *_WESTERN]
    for encoding in [options.encoding] if options.encoding else likely:
        try:
            table = _read_encoded(stream, options, head, separators, encoding)
        except (UnicodeError, LookupError) as error:
            failure = error
            continue
        if options.encoding is None and encoding in _WESTERN:
            told = f"The text is not UTF-8; it was read as {_WESTERN[encoding]} (--encoding)."
            return replace(table, notes=(*table.notes, told))
        return table
    raise FileError(
        f"The text cannot be read with --encoding {encoding}: {failure}",
        "Choose another one, such as utf-8, utf-16, cp1252, latin-1, shift_jis or gb18030.",
    ) from failure


def _read_encoded(
    stream: IO[bytes], options: FileOptions, head: bytes, separators: str, encoding: str
) -> FileTable:
    import pandas as pd

    separator = _separator(head.decode(encoding, errors="ignore").splitlines(True), separators)
    header = None if options.no_header else 0
    how: dict[str, Any] = {"sep": separator, "header": header, "encoding": encoding}
    notes: list[str] = []
    stream.seek(0)
    frame = pd.read_csv(stream, decimal=str(options.decimal or "."), **how)
    if options.decimal is None and separator != "," and _has_decimal_commas(frame):
        stream.seek(0)
        frame = pd.read_csv(stream, decimal=",", **how)
        notes.append("Numbers were read with decimal commas (--decimal ,).")
    if header == 0 and pd.to_numeric(frame.columns, errors="coerce").notna().all():
        notes.append("All column names are numbers; are they values (--no-header)?")
    return FileTable(frame, tuple(notes), separator)


def _separator(lines: list[str], separators: str) -> str:
    """Return the separator that gives the first two lines equally many cells, and most."""
    first = [line for line in lines if line.strip()]

    def agreement(separator: str) -> tuple[bool, int]:
        rows = csv.reader(first, delimiter=separator)
        widths = [len(next(rows, [])) for _ in range(2)]
        return widths[0] == widths[1] > 1, widths[0]

    best = max(separators, key=agreement)
    if agreement(best)[1] > 1:
        return best
    # Blanks occur in many texts; they separate columns only if all lines agree.
    widths = {len(line.split()) for line in first[:50]}
    return _BLANKS if len(widths) == 1 and max(widths) > 1 else separators[0]


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
        value = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        frame = pd.json_normalize(value)
    elif isinstance(value, dict) and value and all(isinstance(x, list) for x in value.values()):
        frame = pd.DataFrame(value)
    else:
        raise FileError(
            "The JSON does not contain a table.",
            'It must be a list of records, such as [{"a": 1, "b": 2}, …], or one record per line.',
        )
    for name, dtype in frame.dtypes.items():
        # Lists cannot be compared; their text can.
        if dtype.kind == "O" and frame[name].map(lambda cell: isinstance(cell, list | dict)).any():
            frame[name] = frame[name].map(json.dumps, na_action="ignore")
    return FileTable(frame)


def read_spreadsheet(stream: IO[bytes], options: FileOptions) -> FileTable:
    """Read the first sheet, or one given by name."""
    import pandas as pd

    with pd.ExcelFile(io.BytesIO(stream.read()), engine="calamine") as book:
        names: list[Any] = book.sheet_names
        sheet = options.table or names[0]
        if sheet not in names:
            raise FileError(f"There is no sheet {sheet!r}.", f"The sheets are: {listed(names)}")
        frame = pd.read_excel(book, sheet_name=sheet, header=None if options.no_header else 0)
    told = f"Only the first of {len(names)} sheets was read: {sheet!r} (--table)."
    return FileTable(frame, (told,) if options.table is None and len(names) > 1 else ())


def read_database(stream: IO[bytes], options: FileOptions) -> FileTable:
    """Read the only table of a SQLite file, a named one, or the result of a query."""
    import pandas as pd

    if isinstance(stream, io.BufferedReader):  # a file that is not compressed
        path = Path(stream.name).absolute()
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    else:
        connection = sqlite3.connect(":memory:")
        connection.deserialize(stream.read())
    with closing(connection):
        connection.set_authorizer(_authorized)
        query, names = options.query, [name for (name,) in connection.execute(_TABLES)]
        if query is None:
            name = options.table or (names[0] if len(names) == 1 else "")
            if name not in names:
                message = f"There is no table {name!r}." if name else "Which table?"
                hint = f"The tables are: {listed(names)}. Choose one with --table, or use --query."
                raise FileError(message, hint)
            quoted = name.replace('"', '""')
            query = f'SELECT * FROM "{quoted}"'
        return FileTable(pd.read_sql_query(query, connection))


def _authorized(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
