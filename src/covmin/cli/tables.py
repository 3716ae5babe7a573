r"""Tables out of files. No format that can carry code is read.

>>> from covmin.cli.tables import read_buffer
>>> read_buffer(b"a;b\n1;2\n").to_dict("list")
{'a': [1], 'b': [2]}
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arrays import read_mat, read_npz
from .errors import CommandError, ExitCode, nearest

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COMPRESSIONS",
    "FORMATS",
    "Source",
    "contents",
    "format_of",
    "looks_like_decimal_commas",
    "read_buffer",
    "read_table",
]

# Years first, or last, with or without a time after them.
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[T ]\d{1,2}:\d{2}.*)?"
_THOUSANDS = r"[+-]?[1-9]\d{0,2}(?:,\d{3})*(?:\.\d+)?|0(?:\.\d+)?"
_POINTS = r"[+-]?[1-9]\d{0,2}(?:\.\d{3})*(?:,\d+)?"
_PER_CENT = r"[+-]?[\d.,]+\s*%"
# A column is one of numbers where at most this share of its values are not.
_FEW_STRAYS = 0.5
_EMPTY_CELLS = "leave cells without a value empty"

_SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npz": "npz",
    ".mat": "mat",
}
FORMATS = tuple(dict.fromkeys(_SUFFIXES.values()))
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
ARROW_HINT = "Install pyarrow (pip install pyarrow), or save the table as CSV."


@dataclass(frozen=True)
class Source:
    """Where a table is, and which part of it counts.

    Attributes
    ----------
    data : str
        A file, or "-" for standard input.
    fmt : str or None
        One of `FORMATS`, where the name does not say.
    header : bool
        Whether the first line of a text table holds names.
    target : str or None
        Name or index of the response.
    drop : tuple of str
        Names or indices of columns to leave out.
    missing : {"error", "rows", "columns"}
        What to do about missing values.
    decimal : {".", ","} or None
        Decimal mark of a text table; None looks for itself.
    categorical : tuple of str
        Names or indices of columns that hold categories.
    given : tuple of str
        Names or indices of columns that are kept whatever they add.
    """

    data: str
    fmt: str | None = None
    header: bool = True
    target: str | None = None
    drop: tuple[str, ...] = ()
    missing: str = "error"
    decimal: str | None = None
    categorical: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def name(self) -> str | None:
        """Name of the file; None for standard input."""
        return None if self.data == "-" else Path(self.data).name

    def read(self) -> pd.DataFrame:
        """The table, all columns of it."""
        return read_table(self.data, fmt=self.fmt, header=self.header, decimal=self.decimal)


def format_of(path: Path) -> tuple[str | None, str]:
    """Format and compression suffix that a file name stands for.

    Parameters
    ----------
    path : Path

    Returns
    -------
    format : str or None
        None where the name does not say.
    compression : str
        A suffix such as ".gz", or "".

    Examples
    --------
    >>> format_of(Path("wine.csv.gz"))
    ('csv', '.gz')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def read_table(
    source: str, *, fmt: str | None = None, header: bool = True, decimal: str | None = None
) -> pd.DataFrame:
    """Read a table from a file, or from standard input for ``"-"``.

    Parameters
    ----------
    source : str
    fmt : str, optional
        One of `FORMATS`; by default what the name, or else the content, says.
    header : bool, default=True
        Whether the first line of a text table holds names.
    decimal : {".", ","}, optional
        Decimal mark of a text table; by default a comma is noticed where another mark
        separates the columns.

    Returns
    -------
    pandas.DataFrame
        With unique string column names. Of a text table, ``attrs["notes"]`` says what was
        noticed, and ``attrs["separator"]`` what separates its columns.
    """
    if source == "-":
        return read_buffer(sys.stdin.buffer.read(), fmt=fmt, header=header, decimal=decimal)
    path = Path(source)
    if path.suffix.lower() in _PICKLES:
        raise CommandError(
            f"{source}: {path.suffix} files can carry code and are not read.",
            ExitCode.INPUT,
            "Save the table as CSV, Parquet, Feather, .npz or .mat.",
        )
    fmt = fmt or format_of(path)[0]
    try:
        if not path.exists():
            raise CommandError(f"There is no file {source}.", ExitCode.INPUT, _neighbours(path))
        if path.is_dir():
            raise CommandError(
                f"{source} is a folder.",
                ExitCode.INPUT,
                "covmin select reads a folder of Parquet files; name a single file here.",
            )
        # A pipe can be read only once.
        if fmt in ("csv", "tsv") and path.is_file():
            with path.open("rb") as file:
                first_line = file.readline()
            # What a file holds counts, not what its name says of its compression.
            if not first_line.startswith(_PACKED):
                return _finish(_read_text(path, first_line, fmt, header, decimal))
        return read_buffer(path.read_bytes(), fmt=fmt, header=header, decimal=decimal)
    except OSError as error:
        raise CommandError(
            f"{source} cannot be read: {error.strerror or error}.", ExitCode.INPUT
        ) from error


def read_buffer(
    data: bytes, *, fmt: str | None = None, header: bool = True, decimal: str | None = None
) -> pd.DataFrame:
    """Read a table from bytes, compressed or not.

    Parameters
    ----------
    data : bytes
    fmt : str, optional
        One of `FORMATS`; by default what the first bytes say.
    header : bool, default=True
    decimal : {".", ","}, optional

    Returns
    -------
    pandas.DataFrame
    """
    for magic, decompress, _ in COMPRESSIONS.values():
        if data.startswith(magic):
            data = _attempt(decompress, data, "compressed data")
    if data.startswith(_ZIP):
        data = _attempt(_unzip, data, "a .zip or .npz file")
    if not data.strip():
        raise _empty()
    fmt = fmt or next((name for magic, name in _MAGIC.items() if data.startswith(magic)), "csv")
    if fmt in ("csv", "tsv"):
        first_line = data.split(b"\n", 1)[0]
        return _finish(_read_text(io.BytesIO(data), first_line, fmt, header, decimal))
    readers: dict[str, Callable[[bytes], pd.DataFrame]] = {
        "parquet": lambda data: _read_arrow(data, "parquet"),
        "feather": lambda data: _read_arrow(data, "feather"),
        "npz": read_npz,
        "mat": read_mat,
    }
    return _finish(_attempt(readers[fmt], data, f"a {fmt} file"))


def _read_text(
    source: Any, first_line: bytes, fmt: str, header: bool, decimal: str | None
) -> pd.DataFrame:
    import pandas as pd

    # Many spreadsheets write "comma separated" files with semicolons.
    separator = chr(max(b",;\t|", key=first_line.count)) if fmt == "csv" else "\t"
    options: dict[str, Any] = {
        "sep": separator,
        "header": 0 if header else None,
        "compression": None,
    }
    try:
        frame = pd.read_csv(source, decimal=str(decimal or "."), **options)
        notes = []
        if decimal is None and separator != "," and _has_decimal_commas(frame):
            if isinstance(source, io.BytesIO):
                source.seek(0)
            frame = pd.read_csv(source, decimal=",", **options)
            notes = ["Numbers were read with a decimal comma (--decimal ,)."]
        frame.attrs.update(separator=separator, notes=notes)
        return frame
    except pd.errors.EmptyDataError as error:
        raise _empty() from error
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
            "If it is another format, name it with --format "
            f"({', '.join(FORMATS)}); it must be UTF-8 text with one line for each sample.",
        ) from error


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    """Whether a column that is not read as numbers would be with a decimal comma."""
    return any(looks_like_decimal_commas(frame[name]) for name in frame)


def looks_like_decimal_commas(column: pd.Series) -> bool:
    """Whether a column of text holds numbers such as 1,5.

    Parameters
    ----------
    column : pandas.Series

    Returns
    -------
    bool

    Examples
    --------
    >>> import pandas as pd
    >>> looks_like_decimal_commas(pd.Series(["1,5", "-2,25", None]))
    True
    >>> looks_like_decimal_commas(pd.Series(["red", "1,5"]))
    False
    >>> looks_like_decimal_commas(pd.Series(["4,282", "921"]))
    False
    >>> looks_like_decimal_commas(pd.Series(["1500", "12000"]))
    False
    """
    if column.dtype.kind in "biufcMm":
        return False
    text = column.dropna().astype(str)
    number = r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*|\s*[+-]?\d+\s*"
    # Commas that may as well stand between thousands say nothing.
    with_comma = text[text.str.contains(",")].str.strip()
    return bool(text.str.fullmatch(number).all() and not with_comma.str.fullmatch(_THOUSANDS).all())


def contents(column: pd.Series) -> str:
    """What a column that is not numbers holds, in words, with an example.

    Parameters
    ----------
    column : pandas.Series

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> contents(pd.Series(["1,200", "30", "1,000,000"]))
    "numbers with commas between thousands, such as '1,200'; write them without"
    >>> contents(pd.Series(["1", "2.5", "n/k"]))
    "numbers, but for 'n/k' (row 3); leave cells without a value empty"
    >>> contents(pd.Series(["88.2%", "12%"]))
    "percentages, such as '88.2%'; write them without the sign"
    >>> contents(pd.Series(["2024-01-31", "2024-02-01"]))
    "dates, such as '2024-01-31'; turn them into numbers, such as days since the first"
    >>> contents(pd.Series(["1", "2"]))
    "numbers stored as text, such as '1'; store them as numbers"
    >>> contents(pd.Series(["red", "green", "red"]))
    "text, such as 'red' (2 values)"
    """
    import pandas as pd

    present = column.notna().to_numpy()
    text = column[present].astype(str).str.strip().reset_index(drop=True)
    if text.empty:
        return "nothing, every cell is empty"
    first = repr(text[0])
    if column.dtype.kind in "Mm" or text.str.fullmatch(_DATE).all():
        return f"dates, such as {first}; turn them into numbers, such as days since the first"
    stray = pd.to_numeric(text, errors="coerce").isna().to_numpy()
    if not stray.any():
        return f"numbers stored as text, such as {first}; store them as numbers"
    if text.str.fullmatch(_THOUSANDS).all():
        example = repr(text[text.str.contains(",")].iloc[0])
        clear = text.str.count(",").max() > 1 or text.str.contains(".", regex=False).any()
        return f"numbers with commas between thousands, such as {example}; write them without" + (
            "" if clear else ", or use --decimal , if they are decimal commas"
        )
    if text.str.fullmatch(_POINTS).all():
        return (
            f"numbers with points between thousands, such as {first}; write them without, and use "
            "--decimal ,"
        )
    if text.str.fullmatch(_PER_CENT).all():
        return f"percentages, such as {first}; write them without the sign"
    if stray.mean() <= _FEW_STRAYS:
        return f"numbers, but for {_with_rows(text, stray, present)}; {_EMPTY_CELLS}"
    return f"text, such as {first} ({text.nunique()} values)"


def _with_rows(text: pd.Series, stray: Any, present: Any) -> str:
    """The first values that are not numbers, with the rows they stand in."""
    import numpy as np

    places = np.flatnonzero(stray)
    rows = np.flatnonzero(present)[places] + 1
    told = [f"{text[i]!r} (row {row})" for i, row in zip(places[:3], rows[:3], strict=True)]
    more = f" and {places.size - 3} more" if places.size > 3 else ""
    return ", ".join(told) + more


def _empty() -> CommandError:
    return CommandError(
        "The input is empty.",
        ExitCode.INPUT,
        "It needs a line of column names and a line for each sample.",
    )


def _read_arrow(data: bytes, fmt: str) -> pd.DataFrame:
    import pandas as pd

    try:
        return getattr(pd, f"read_{fmt}")(io.BytesIO(data))
    except ImportError as error:
        raise CommandError(f"Reading {fmt}: {error}", ExitCode.INPUT, ARROW_HINT) from error


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
                f"The .zip file holds {len(names)} files: {', '.join(names[:5])}.",
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
    except Exception as error:  # each library fails in its own way
        raise CommandError(
            f"The input does not read as {what}: {error}",
            ExitCode.INPUT,
            f"If it is another format, name it with --format ({', '.join(FORMATS)}).",
        ) from error


def _finish(frame: pd.DataFrame) -> pd.DataFrame:
    """Column names as strings, each once; an index with names as columns."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    frame.columns = [str(name) for name in frame.columns]
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise CommandError(
            f"Several columns are called {', '.join(map(repr, dict.fromkeys(twice)))}.",
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
    return f"Did you mean {' or '.join(close)}?" if close else "Check the name and the folder."
