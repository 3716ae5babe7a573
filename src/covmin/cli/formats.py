"""Detect the format of a table from its file name and its first bytes."""

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
# Text formats, which cannot be recognised by their first bytes.
TEXT = (Format.csv, Format.tsv)
# Number of leading bytes used for detection.
BYTES_THAT_TELL = 1000


def format_of(path: Path) -> tuple[Format | None, str]:
    """Return the format (or None) and the compression suffix (or "") of a file name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def format_by_content(data: bytes, named: Format | None = None) -> Format:
    """Return the format of uncompressed bytes; ``named`` if they do not tell."""
    start = data[:BYTES_THAT_TELL]
    # The first column name of a text table may equal the magic bytes of another format.
    for magic, fmt in _MAGIC.items() if named not in TEXT or min(start, default=9) < 9 else ():
        if start.startswith(magic):
            return fmt
    if data.startswith(ZIP):
        return _format_of_archive(data)
    if named in (None, Format.json) and _JSON.match(start):
        return Format.json
    # Some programs give text files the extension of a spreadsheet.
    return Format.csv if named in (None, Format.excel) else named


def _format_of_archive(data: bytes) -> Format:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        is_arrays = all(name.endswith(".npy") for name in archive.namelist())
    return Format.npz if is_arrays else Format.excel
