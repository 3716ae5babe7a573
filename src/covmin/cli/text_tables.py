"""Read tables in text, such as CSV: guess encoding, separator and whether there are names."""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from covmin.text import listed

from .errors import FileError

if TYPE_CHECKING:
    import pandas as pd

# Encodings of Western text that is not UTF-8; the second accepts every byte.
_WESTERN = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_BLANKS = r"\s+"
_BYTES_SEEN = 2**18  # to guess the encoding and the separator from
_DECIMAL_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+\s*")


@dataclass(frozen=True)
class FileOptions:
    """The options that say where a table is and how to read it."""

    data: str  # a path, or "-" for standard input
    format: str | None = None
    header: bool | None = None  # of a text table; None looks at its first line
    decimal: str | None = None
    encoding: str | None = None
    table: str | None = None  # sheet of a spreadsheet, or table of a database

    @property
    def name(self) -> str | None:
        """Name of the file; None for standard input."""
        return None if self.data == "-" else Path(self.data).name


class FileTable(NamedTuple):
    """A table as read from a file, with remarks on what was guessed."""

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


def read_text(stream: IO[bytes], options: FileOptions, separators: str = ",;\t|") -> FileTable:
    """Read a text table; notes say what was guessed."""
    head = stream.read(_BYTES_SEEN)
    if not head.strip():
        raise FileError(
            "The input is empty.", "It needs a line of column names and one line per sample."
        )
    likely = ["utf-8-sig", *_WESTERN]
    if options.encoding:
        likely = [options.encoding]
    elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        likely = ["utf-16"]
    elif b"\x00" in head:
        raise FileError(
            "The input contains zero bytes, so it is not text in UTF-8.",
            "For UTF-16 without a byte order mark, set --encoding utf-16-le or utf-16-be. Read "
            "other formats with pandas, and save the table as CSV or Parquet.",
        )
    for encoding in likely:
        try:
            return _read_encoded(stream, options, head, separators, encoding)
        except (UnicodeError, LookupError) as error:
            failure = error
    raise FileError(
        f"The text cannot be read with --encoding {encoding}: {failure}",
        "Choose another one, such as utf-8, utf-16, cp1252, latin-1, shift_jis or gb18030.",
    ) from failure


def _read_encoded(
    stream: IO[bytes], options: FileOptions, head: bytes, separators: str, encoding: str
) -> FileTable:
    import pandas as pd

    text = head.decode(encoding, errors="ignore")
    lines = [line for line in text.splitlines(True) if line.strip()]
    separator = _separator(lines, separators)
    blanks, header, notes = separator == _BLANKS, options.header, list[str]()
    first = lines[0].split() if blanks else next(csv.reader(lines, delimiter=separator))
    quotes = "'" if all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in first) else '"'
    if header is None:
        header = not _are_values(first)
        if not header:
            said = "The first line holds numbers, so it was read as values, not as column names"
            notes.append(f"{said} (--header).")
        elif numbers := [cell for cell in first if _DECIMAL_NUMBER.fullmatch(cell)]:
            said = f"The first line was read as names, but some are numbers: {listed(numbers)}"
            notes.append(f"{said} (--no-header).")
    stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)  # of empty cells beyond the names
        # Numbers with decimal commas or thousands separators stay text, which the fit reads.
        frame = pd.read_csv(
            stream,
            sep=separator,
            quotechar=quotes,
            header=0 if header else None,
            index_col=_row_names(lines, separator) if header and not blanks else None,
            encoding=encoding,
            decimal=str(options.decimal or "."),
        )
    if options.encoding is None and encoding in _WESTERN:
        notes.append(f"The text is not UTF-8; it was read as {_WESTERN[encoding]} (--encoding).")
    return FileTable(frame, tuple(notes))


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


def _row_names(lines: list[str], separator: str) -> bool | None:
    """Return what pandas needs to know of cells beyond the names, in ``index_col``.

    R writes row names without a name of their own. Cells beyond the names are empty otherwise, or
    pandas would shift all values by as many columns.
    """
    try:
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error:  # a cell that is too long to look at
        return None
    n = len(rows[0])
    beyond = [cell for row in rows[1:] for cell in row[n:]]
    if not any(cell.strip() for cell in beyond):
        return False if beyond else None
    if {len(row) for row in rows[1:-1] or rows[1:]} == {n + 1}:  # the last one may be cut off
        return None
    number, row = next((i, row) for i, row in enumerate(rows, 1) if any(row[n:]))
    raise FileError(
        f"Row {number} has {len(row)} cells, but the first one has {n} names.",
        "Put cells that contain the separator in quotes, or give every column a name.",
    )


def _are_values(cells: list[str]) -> bool:
    """Tell whether a first line holds values: numbers, but not a count such as 0, 1, 2 or years."""
    try:
        numbers = [float(cell.replace(",", ".")) for cell in cells if cell.strip()]
    except ValueError:
        return False
    counted = all(b - a == 1.0 for a, b in pairwise(numbers))
    return len(numbers) > 1 and not (counted and numbers[0] % 1 == 0.0)
