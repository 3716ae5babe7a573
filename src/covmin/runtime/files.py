"""Files that are written whole or not at all."""

import os
import shutil
from pathlib import Path
from uuid import uuid4


def replace_file(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there in one step.

    A file that was there keeps its permissions, and a link keeps pointing to it; a device or a
    pipe is written to. When anything fails, what was there is as it was.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    # A name of its own, and never too long for the file system where that of the file is not.
    temporary = path.with_name(f".{uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            # Some file systems say that the disk is full only now.
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
