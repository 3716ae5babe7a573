"""Read text tables: detect the encoding, the separator and the row of column names."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import CommandError, ExitCode
from .options import Format
from .text_columns import looks_like_decimal_commas

if TYPE_CHECKING:
    import pandas as pd

    from .tables import Source

_LINES = "It needs a line of column names and one line per sample."
EMPTY = ("The input is empty.", ExitCode.INPUT, _LINES)
ANOTHER_FORMAT = f"If it is in another format, set it with --format ({', '.join(Format)})"
# Byte order marks and their encodings.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Likely encodings of Western text that is not UTF-8; the second accepts every byte.
_WESTERN = ("cp1252", "latin-1")
_IN_WORDS = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_SEPARATORS = ",;\t|"
_BLANKS = r"\s+"
# Numbers of lines and bytes used to detect the layout; lines with many columns are long.
_LINES_SEEN, _BYTES_SEEN, _FEWEST_LINES = 50, 2**18, 4
_PAGE = re.compile(rb"\s*(?:<!doctype html|<html|<table|<\?xml)", re.IGNORECASE)
_RAGGED = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def read_text(file: Path | io.BytesIO, fmt: str, source: Source) -> pd.DataFrame:
    """Read a text table; its notes say what was detected."""
    head = _head(file)
    if not head.strip():
        raise CommandError(*EMPTY)
    if _PAGE.match(head):
        raise CommandError(
            "The input is an HTML or XML page, not a table.",
            ExitCode.INPUT,
            "Download the file itself, or save the table as CSV.",
        )
    marked = source.encoding or _marked_encoding(head)
    for encoding in (marked,) if marked else ("utf-8", *_WESTERN):
        try:
            frame = _read_encoded(file, head, fmt, source, encoding)
        except UnicodeError as error:
            failure = error
            continue
        if encoding in _WESTERN and not source.encoding:
            frame.attrs["notes"].append(
                f"The text is not UTF-8; it was read as {_IN_WORDS[encoding]} (--encoding)."
            )
        return frame
    raise CommandError(
        f"The text is not {marked}: {failure}",
        ExitCode.INPUT,
        "Choose another --encoding, such as utf-8, utf-16, cp1252 or latin-1.",
    ) from failure


def decoded(data: bytes, source: Source) -> tuple[str, list[str]]:
    """Decode bytes, with a note if the encoding was guessed."""
    marked = source.encoding or _marked_encoding(data[:_BYTES_SEEN])
    try:
        return data.decode(marked or "utf-8"), []
    except UnicodeError as error:
        if marked is None:
            return data.decode(_WESTERN[1]), [
                "The text is not UTF-8; it was read as Latin-1 (--encoding)."
            ]
        raise CommandError(f"The text is not {marked}: {error}", ExitCode.INPUT) from error


@dataclass(frozen=True)
class Layout:
    """The layout of a text table."""

    separator: str
    n_above: int = 0  # lines above the column names
    title: str = ""  # their text, apart from comments
    marked: bool = False  # whether the line of column names starts like a comment


def find_layout(text: str, separators: str = _SEPARATORS, *, header: bool = True) -> Layout:
    """Return the layout for which most lines have the same number of cells.

    Lines above the column names are comments, which begin with #, or a title, which has fewer
    cells than the lines of the table.
    """
    best, found = (0.0, 0), ""
    for separator in [each for each in separators if each in text]:
        width, share = _usual_width(_rows(text, separator)[0])
        if width > 1 and (share, width) > best:
            best, found = (share, width), separator
    if not found:  # blanks occur in many texts; they are separators only if all lines agree
        width, share = _usual_width(_rows(text, _BLANKS)[0])
        found = _BLANKS if width > 1 and share == 1.0 else separators[0]
    return _layout(found, *_rows(text, found), header)


def header_row(rows: Sequence[Sequence[Any]]) -> int:
    """Return the number of the row with column names: the first one with as many cells as most.

    It may be one cell short if the column of row names has no name.
    """
    width, _ = _usual_width(rows)
    lengths = [0 if _is_title(row) else len(row) for row in rows]
    short = len(rows) > 1 and lengths[0] == width - 1 > 0 and lengths[1] == width
    return next((i for i, n in enumerate(lengths) if n >= width - (short and i == 0)), 0)


def _layout(separator: str, rows: list[list[str]], above: list[int], header: bool) -> Layout:
    """Return the layout, given the rows and the number of lines above each."""
    comments = next((i for i, row in enumerate(rows) if not row[0].startswith("#")), len(rows))
    names = comments + (header_row(rows[comments:]) if header and rows[comments:] else 0)
    # The last comment may be the line of column names.
    width = len(rows[names]) if names < len(rows) else 0
    marked = header and comments > 0 and names == comments and len(rows[comments - 1]) == width > 1
    if marked:
        names -= 1
    title = [" ".join(filter(None, row)).strip() for row in rows[comments:names]]
    n_above = above[names] if names < len(rows) else 0
    return Layout(separator, n_above, " / ".join(title), marked)


def _rows(text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """Return the non-blank rows, and the number of lines above each."""
    if separator == _BLANKS:
        every = [(line.split(), number) for number, line in enumerate(text.splitlines())]
    else:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        every, above = [], 0
        with suppress(csv.Error):  # an unterminated cell
            for row in islice(reader, _LINES_SEEN):
                every.append((row, above))
                above = reader.line_num
    kept = [(row, above) for row, above in every if any(row)]
    return [row for row, _ in kept], [above for _, above in kept]


def _usual_width(rows: Sequence[Sequence[Any]]) -> tuple[int, float]:
    """Return the most common number of cells, and the share of rows that have it."""
    if not rows:
        return 0, 0.0
    # Of equally common numbers take the largest, because a title is short.
    width, count = max(Counter(map(len, rows)).items(), key=lambda item: (item[1], item[0]))
    return width, count / len(rows)


def _is_title(row: Sequence[Any]) -> bool:
    """Tell whether only the first cell of a row is filled."""
    return len(row) > 0 and bool(row[0]) and not any(row[1:])


def _head(file: Path | io.BytesIO) -> bytes:
    """Return enough of the first lines to detect the layout."""
    if isinstance(file, io.BytesIO):
        file.seek(0)
    with file.open("rb") if isinstance(file, Path) else nullcontext(file) as stream:
        head = stream.read(_BYTES_SEEN)
        while head.count(b"\n") < _FEWEST_LINES and (more := stream.read(_BYTES_SEEN)):
            head += more
        # Drop an incomplete last line.
        return head if len(head) < _BYTES_SEEN else head[: head.rfind(b"\n") + 1] or head


def _marked_encoding(head: bytes) -> str | None:
    """Return the encoding given by a byte order mark, or UTF-16 if every other byte is zero."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    even, odd = head[:1000:2].count(0), head[1:1000:2].count(0)
    if max(even, odd) > len(head[:1000]) / 4 > min(even, odd):
        return "utf-16-be" if even > odd else "utf-16-le"
    return None


def _read_encoded(
    file: Path | io.BytesIO, head: bytes, fmt: str, source: Source, encoding: str
) -> pd.DataFrame:
    import pandas as pd

    text = head.decode(encoding, errors="ignore" if encoding.startswith("utf") else "strict")
    layout = find_layout(text, "\t" if fmt == Format.tsv else _SEPARATORS, header=source.header)
    read = partial(
        _read_again,
        file,
        sep=layout.separator,
        header=0 if source.header else None,
        skiprows=layout.n_above,
        encoding=encoding,
        compression=None,
    )
    notes = [f"Skipped above the column names: “{layout.title}”."] if layout.title else []
    try:
        frame = read(decimal=str(source.decimal or "."))
        if source.decimal is None and layout.separator != "," and _has_decimal_commas(frame):
            frame = read(decimal=",")
            notes.append("Numbers were read with decimal commas (--decimal ,).")
    except pd.errors.EmptyDataError as error:
        raise CommandError(*EMPTY) from error
    except UnicodeError:
        raise
    except (ValueError, pd.errors.ParserError) as error:
        raise _not_readable(error, fmt) from error
    if layout.marked:
        frame = frame.rename(columns={frame.columns[0]: str(frame.columns[0]).lstrip("# ")})
    frame.attrs.update(separator=layout.separator, notes=notes)
    return frame


def _read_again(file: Path | io.BytesIO, **options: Any) -> pd.DataFrame:
    import pandas as pd

    if isinstance(file, io.BytesIO):
        file.seek(0)
    return pd.read_csv(file, **options)


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    text = [name for name, dtype in frame.dtypes.items() if dtype.kind not in "biufcMm"]
    return any(looks_like_decimal_commas(frame[name]) for name in text)


def _not_readable(error: Exception, fmt: str) -> CommandError:
    """Return the error about text that is not a table."""
    said = f"The table cannot be read as {fmt.upper()}: "
    ragged = _RAGGED.search(str(error))
    if ragged is None:
        hint = f"{ANOTHER_FORMAT}; text needs one line per sample."
        return CommandError(f"{said}{error}", ExitCode.INPUT, hint)
    expected, line, seen = ragged.groups()
    return CommandError(
        f"{said}line {line} has {seen} cells, but earlier lines have {expected}.",
        ExitCode.INPUT,
        "Correct that line; put cells that contain a separator in double quotes.",
    )
