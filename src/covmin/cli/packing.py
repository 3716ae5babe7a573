"""Compressed files and archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from covmin.data.checks import listed

from .errors import CommandError, ExitCode

ZIP = b"PK\x03\x04"
# Files inside an archive that is no mere parcel, but a format of its own.
_SPREADSHEETS = ("[Content_Types].xml", "xl/workbook.xml", "content.xml")


@dataclass(frozen=True)
class Compression:
    """How a file begins, and the way from its bytes to those it holds and back."""

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
    """A file in a .zip file and its name; spreadsheets and .npz files stay as they are."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if _is_table(name)]
        if all(name.endswith(".npy") for name in names) or any(s in names for s in _SPREADSHEETS):
            return data, None
        if wanted is None and len(names) == 1:
            return archive.read(names[0]), names[0]
        if wanted not in names:
            missing = f"The .zip file holds no {wanted!r}" if wanted else "Which file is the table"
            raise CommandError(
                f"{missing}? It holds {len(names)} files: {listed(names)}."
                if wanted is None
                else f"{missing}, but {listed(names)}.",
                ExitCode.INPUT,
                "Name one of them with --table.",
            )
        return archive.read(wanted), wanted


def _is_table(name: str) -> bool:
    """Whether a name in an archive is a file, and none that a system adds by itself."""
    return not name.endswith("/") and not name.startswith("__MACOSX/")
