"""Write files atomically."""

import os
import shutil
from pathlib import Path
from uuid import uuid4


def replace_file(path: Path, data: bytes) -> None:
    """Write a temporary file next to ``path`` and move it into place in one step.

    An existing file keeps its permissions, and a symbolic link still points to it. A device or a
    pipe is written to directly. If anything fails, the old content is unchanged.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    # A short unique name: it fits in the file system's limit whenever the final name does.
    temporary = path.with_name(f".{uuid4().hex}.part")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            # Some file systems report a full disk only here.
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
