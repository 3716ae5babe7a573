"""Read tables from files. Formats that can contain code are refused."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covmin.text import listed

from .arrays import read_mat, read_npz
from .columns import did_you_mean, nearest
from .databases import read_database
from .errors import CommandError, ExitCode
from .formats import BYTES_THAT_TELL, TEXT, format_by_content, format_of
from .options import Format
from .packing import COMPRESSIONS, PACKED, ZIP, unzipped
from .records import read_json
from .spreadsheets import read_spreadsheet
from .text_tables import ANOTHER_FORMAT, EMPTY, read_text

if TYPE_CHECKING:
    import pandas as pd

_CODE = {".pkl", ".pickle", ".joblib", ".npy"}
_OTHERS = {
    **dict.fromkeys(_CODE, "can contain code and are not supported"),
    **dict.fromkeys(
        (".duckdb", ".h5", ".hdf5", ".rds", ".rdata", ".sav", ".dta"), "are not supported"
    ),
}
_ARROW_HINT = "Install pyarrow (pip install pyarrow), or save the table as CSV."
# Prefix that pandas gives to columns without a name.
_UNNAMED = "Unnamed: "
# Formats whose files may contain several tables.
_OF_SEVERAL = (Format.excel, Format.sqlite)


@dataclass(frozen=True)
class Source:
    """The options that say where a table is, how to read it, and which part of it to use."""

    data: str
    target: str | None = None
    drop: list[str] | None = None
    missing: str = "keep"
    fmt: str | None = None
    header: bool = True
    decimal: str | None = None
    categorical: list[str] | None = None
    given: list[str] | None = None
    groups: list[str] | None = None
    encoding: str | None = None
    # Sheet of a spreadsheet, table of a database, file in an archive.
    table: str | None = None
    query: str | None = None
    kinds: list[str] | None = None
    strict: bool = False
    event: str | None = None  # event indicator, if the target is a survival time

    @property
    def name(self) -> str | None:
        """Name of the file; None for standard input."""
        return None if self.data == "-" else Path(self.data).name

    def read(self) -> pd.DataFrame:
        """Read the table; its ``attrs`` hold notes, and the separator of a text table."""
        if self.data == "-":
            return parse_table(sys.stdin.buffer.read(), self, self.fmt)
        path = Path(self.data)
        if (refused := _OTHERS.get(path.suffix.lower())) is not None:
            raise CommandError(
                f"{path}: {path.suffix} files {refused}.",
                ExitCode.INPUT,
                "Save the table as CSV, Parquet, Feather, Excel, .npz or .mat.",
            )
        try:
            return _read_path(path, self)
        except OSError as error:
            reason = error.strerror or error
            raise CommandError(f"{path} cannot be read: {reason}.", ExitCode.INPUT) from error


def read_table(path: str, **options: Any) -> pd.DataFrame:
    """Read a table; the options are the fields of :class:`Source`."""
    return Source(path, **options).read()


def _read_path(path: Path, source: Source) -> pd.DataFrame:
    named = source.fmt or format_of(path)[0]
    if not path.exists():
        raise CommandError(f"There is no file {path}.", ExitCode.INPUT, _neighbours(path))
    if path.is_dir():
        raise CommandError(
            f"{path} is a folder.",
            ExitCode.INPUT,
            "Only covmin select reads a folder of Parquet files; choose a single file here.",
        )
    # A pipe can be read only once.
    if not path.is_file():
        return parse_table(path.read_bytes(), source, named)
    with path.open("rb") as file:
        start = file.read(BYTES_THAT_TELL)
    # The content of a file tells its compression, not its name.
    if start.startswith(PACKED):
        return parse_table(path.read_bytes(), source, named)
    fmt = source.fmt or format_by_content(start, _format(named))
    # These formats need not be loaded into memory first.
    if fmt in (*TEXT, Format.sqlite):
        return _parse(path, source, Format(fmt))
    return parse_table(path.read_bytes(), source, named)


def parse_table(data: bytes, source: Source, named: str | None = None) -> pd.DataFrame:
    """Read a table from bytes, compressed or not; the first bytes tell the format."""
    for compression in COMPRESSIONS.values():
        if data.startswith(compression.magic):
            data = _attempt(compression.unpack, data, "compressed data")
    member = None
    if data.startswith(ZIP):
        unzip = partial(unzipped, wanted=source.table)
        data, member = _attempt(unzip, data, "a .zip or .npz file")
        named = named or (None if member is None else format_of(Path(member))[0])
    if not data.strip():
        raise CommandError(*EMPTY)
    fmt = Format(source.fmt) if source.fmt else format_by_content(data, _format(named))
    return _parse(data, source, fmt, chosen=member is not None)


def _parse(
    file: Path | bytes, source: Source, fmt: Format, *, chosen: bool = False
) -> pd.DataFrame:
    """Read a table in a known format; ``chosen`` if it was chosen from an archive."""
    for option, given, formats in (
        ("--query", source.query, (Format.sqlite,)),
        ("--table", None if chosen else source.table, _OF_SEVERAL),
    ):
        if given is not None and fmt not in formats:
            raise CommandError(
                f"{option} has no effect on {fmt} files.",
                ExitCode.USAGE,
                f"It is for {' and '.join(formats)} files; omit it.",
            )
    if fmt in TEXT:
        text = file if isinstance(file, Path) else io.BytesIO(file)
        return _finish(read_text(text, fmt, source))
    if fmt == Format.sqlite:
        return _finish(read_database(file, source))
    readers: dict[str, Callable[[bytes], pd.DataFrame]] = {
        Format.npz: read_npz,
        Format.mat: read_mat,
        Format.json: partial(read_json, source=source),
        Format.excel: partial(read_spreadsheet, source=source),
    }
    data = file.read_bytes() if isinstance(file, Path) else file
    read = readers.get(fmt, partial(_read_arrow, fmt=fmt))
    return _finish(_attempt(read, data, f"a {fmt} file"))


def _format(named: str | None) -> Format | None:
    return None if named is None else Format(named)


def _read_arrow(data: bytes, fmt: str) -> pd.DataFrame:
    import pandas as pd

    return getattr(pd, f"read_{fmt}")(io.BytesIO(data))


def _attempt(read: Callable[[bytes], Any], data: bytes, what: str) -> Any:
    """Read the data, or raise an error that says what they were read as."""
    try:
        return read(data)
    except CommandError:
        raise
    except ImportError as error:
        raise CommandError(f"Reading {what}: {error}", ExitCode.INPUT, _ARROW_HINT) from error
    except Exception as error:  # each library fails in its own way
        raise CommandError(
            f"The input cannot be read as {what}: {error}", ExitCode.INPUT, f"{ANOTHER_FORMAT}."
        ) from error


def _finish(frame: pd.DataFrame) -> pd.DataFrame:
    """Make column names unique strings, and turn a named index into columns."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    elif not frame.index.is_unique:
        frame = frame.reset_index(drop=True)
    frame = _without_blanks(frame)
    frame.columns = [str(name) for name in frame.columns]
    twice = frame.columns[frame.columns.duplicated()].unique()
    if len(twice):
        raise CommandError(
            f"Several columns are called {listed(list(twice))}.",
            ExitCode.INPUT,
            "Give every column a unique name.",
        )
    if frame.shape[0] == 0:
        raise CommandError("The table has no rows.", ExitCode.INPUT)
    return frame


def _without_blanks(frame: pd.DataFrame) -> pd.DataFrame:
    """Remove empty rows, and empty columns without a name."""
    names = frame.columns.astype(str)
    unnamed = [j for j, name in enumerate(names) if name.startswith(_UNNAMED)]
    empty = [j for j in unnamed if frame.iloc[:, j].isna().all()]
    if empty:
        frame = frame.iloc[:, [j for j in range(frame.shape[1]) if j not in set(empty)]]
    if frame.shape[1] == 0:
        return frame
    # A row whose first cell is filled is not empty.
    doubtful = frame.iloc[:, 0].isna().to_numpy()
    blank = doubtful.copy()
    blank[doubtful] = frame.loc[doubtful].isna().all(axis=1).to_numpy()
    return frame.loc[~blank] if blank.any() else frame


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {path.parent} does not exist either."
    # Ignore extensions: all tables would look similar because of ".csv".
    stems = {entry.name.split(".")[0]: entry.name for entry in path.parent.iterdir()}
    close = [stems[stem] for stem in nearest(path.name.split(".")[0], stems, cutoff=0.65)]
    return did_you_mean(close) or "Check the name and the folder."
