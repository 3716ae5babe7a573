"""Unpack compressed files and archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from covmin.text import listed

from .errors import CommandError, ExitCode

ZIP = b"PK\x03\x04"
# Files that identify an archive as a spreadsheet.
_SPREADSHEETS = ("[Content_Types].xml", "xl/workbook.xml", "content.xml")


@dataclass(frozen=True)
class Compression:
    """The first bytes of a compressed file, and functions to unpack and pack it."""

    magic: bytes
    unpack: Callable[[bytes], bytes]
    pack: Callable[[bytes], bytes]


def _unpack_zstd(data: bytes) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())


def _pack_zstd(data: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.compress(data, codec="zstd", asbytes=True))


COMPRESSIONS = {
    ".gz": Compression(b"\x1f\x8b", gzip.decompress, gzip.compress),
    ".bz2": Compression(b"BZh", bz2.decompress, bz2.compress),
    ".xz": Compression(b"\xfd7zXZ\x00", lzma.decompress, lzma.compress),
    ".zst": Compression(b"\x28\xb5\x2f\xfd", _unpack_zstd, _pack_zstd),
}
PACKED = (ZIP, *(each.magic for each in COMPRESSIONS.values()))


def unzipped(data: bytes, wanted: str | None) -> tuple[bytes, str | None]:
    """Return a file in a .zip archive and its name; spreadsheets and .npz files stay packed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if _is_table(name)]
        if all(name.endswith(".npy") for name in names) or any(s in names for s in _SPREADSHEETS):
            return data, None
        if wanted is None and len(names) == 1:
            return archive.read(names[0]), names[0]
        if wanted not in names:
            missing = f"The .zip file has no {wanted!r}" if wanted else "Which file is the table"
            raise CommandError(
                f"{missing}? It contains {len(names)} files: {listed(names)}."
                if wanted is None
                else f"{missing}, but {listed(names)}.",
                ExitCode.INPUT,
                "Choose one of them with --table.",
            )
        return archive.read(wanted), wanted


def _is_table(name: str) -> bool:
    """Tell whether a name in an archive is a file, and not one that macOS adds."""
    return not name.endswith("/") and not name.startswith("__MACOSX/")
