"""Read sheets of Excel and LibreOffice files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from covmin.text import listed

from .columns import did_you_mean, nearest
from .errors import CommandError, ExitCode
from .text_tables import header_row

if TYPE_CHECKING:
    import pandas as pd

    from .tables import Source

# Number of rows used to find where a table begins.
_ROWS_SEEN = 50


def read_spreadsheet(data: bytes, source: Source) -> pd.DataFrame:
    """Read the first sheet, or a named one, starting at the row of column names."""
    import pandas as pd

    try:
        book = pd.ExcelFile(io.BytesIO(data), engine="calamine")  # reads all formats
    except ImportError as error:
        raise CommandError(
            "Reading a spreadsheet requires a package that is not installed.",
            ExitCode.INPUT,
            "Install it (pip install python-calamine), or save the sheet as CSV (UTF-8).",
        ) from error
    with book:
        names = [str(name) for name in book.sheet_names]
        sheet = _find_sheet(source.table, names)
        rows = pd.read_excel(book, sheet_name=sheet, header=None, nrows=_ROWS_SEEN)
        cells = [list(row) for row in rows.astype(object).where(rows.notna(), "").to_numpy()]
        above = header_row(_trimmed(cells)) if source.header else 0
        header = above if source.header else None
        frame = pd.read_excel(book, sheet_name=sheet, header=header)
    notes = []
    if source.table is None and len(names) > 1:
        notes.append(f"Only the first of {len(names)} sheets was read: {sheet!r} (--table).")
    title = [str(value) for row in cells[:above] for value in row if value != ""]
    if title:
        notes.append(f"Skipped above the column names: “{' / '.join(title)}”.")
    frame.attrs["notes"] = notes
    return frame


def _trimmed(cells: list[list[Any]]) -> list[list[Any]]:
    """Return rows without the empty cells at their ends."""
    return [row[: max((j + 1 for j, v in enumerate(row) if v != ""), default=0)] for row in cells]


def _find_sheet(wanted: str | None, names: list[str]) -> str:
    """Find a sheet by name, or by number from 0."""
    if wanted is None:
        return names[0]
    if wanted in names:
        return wanted
    if wanted.lstrip("-").isdecimal() and -len(names) <= int(wanted) < len(names):
        return names[int(wanted)]
    raise CommandError(
        f"--table: there is no sheet {wanted!r}.",
        ExitCode.INPUT,
        f"{did_you_mean(nearest(wanted, names))}The {len(names)} sheets are: {listed(names)}",
    )
