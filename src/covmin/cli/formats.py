"""Formats of tables: what a file's name says of it, and what its first bytes say."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

from .options import Format
from .packing import COMPRESSIONS, ZIP

_ALIASES = {
    ".txt": Format.csv,
    ".dat": Format.csv,
    ".tab": Format.tsv,
    ".pq": Format.parquet,
    ".arrow": Format.feather,
    ".jsonl": Format.json,
    ".ndjson": Format.json,
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), Format.excel),
    **dict.fromkeys((".db", ".sqlite3"), Format.sqlite),
}
_SUFFIXES = {**{f".{fmt}": fmt for fmt in Format}, **_ALIASES}
_MAGIC = {
    b"PAR1": Format.parquet,
    b"ARROW1": Format.feather,
    b"FEA1": Format.feather,
    b"MATLAB": Format.mat,
    b"SQLite format 3\x00": Format.sqlite,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": Format.excel,  # Excel before 2007
}
_JSON = re.compile(rb'\s*(?:\{\s*"|\[\s*[\[{])')
# Texts, which nothing at their beginning tells apart from a table of another format.
TEXT = (Format.csv, Format.tsv)
# Bytes at the beginning that tell a format.
BYTES_THAT_TELL = 1000


def format_of(path: Path) -> tuple[Format | None, str]:
    """Format, or None, and suffix of compression, or "", that a file name stands for."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def format_by_content(data: bytes, named: Format | None = None) -> Format:
    """The format of bytes that are not compressed; ``named`` where they do not say."""
    start = data[:BYTES_THAT_TELL]
    # A column of a text table may have the name that another format begins with.
    for magic, fmt in _MAGIC.items() if named not in TEXT or min(start, default=9) < 9 else ():
        if start.startswith(magic):
            return fmt
    if data.startswith(ZIP):
        return _format_of_archive(data)
    if named in (None, Format.json) and _JSON.match(start):
        return Format.json
    # Programs call text a spreadsheet, so that it opens in one.
    return Format.csv if named in (None, Format.excel) else named


def _format_of_archive(data: bytes) -> Format:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        is_arrays = all(name.endswith(".npy") for name in archive.namelist())
    return Format.npz if is_arrays else Format.excel
