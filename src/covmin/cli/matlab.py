"""MATLAB files read in a process of their own, which a damaged file may crash.

The reader of scipy trusts the numbers inside a file, and a wrong one can end the interpreter.
``python -m covmin.cli.matlab`` takes a file from its standard input and writes its arrays to its
standard output as .npz, which needs no pickle.
"""

import io
import subprocess
import sys
from typing import Any

import numpy as np

_VERSION_7_3 = 3
_DAMAGED = 4


def read_arrays(data: bytes) -> dict[str, np.ndarray]:
    """Arrays in the bytes of a MATLAB file (up to version 7); a damaged one is a ValueError."""
    from .errors import CommandError, ExitCode

    # -P: modules beside the user's data are not ours to import.
    command = [sys.executable, "-P", "-m", __name__]
    reader = subprocess.run(command, input=data, capture_output=True, check=False)
    if reader.returncode == _VERSION_7_3:
        raise CommandError(
            "MATLAB files of version 7.3 are not read.",
            ExitCode.INPUT,
            "Save it in MATLAB with save(name, 'X', 'y', '-v7').",
        )
    if reader.returncode == _DAMAGED:
        raise ValueError(reader.stderr.decode(errors="replace").strip() or "it is damaged")
    if reader.returncode != 0:
        raise ValueError(f"it is damaged (the reader ended with status {reader.returncode})")
    with np.load(io.BytesIO(reader.stdout), allow_pickle=False) as archive:
        names = [str(name) for name in archive["names"]]
        return {name: archive[f"array{i}"] for i, name in enumerate(names)}


def _plain(value: Any) -> np.ndarray:
    """A dense array; MATLAB pads strings with blanks."""
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if array.dtype.kind == "O" and all(np.size(item) <= 1 for item in array.flat):
        # An empty cell is an empty string.
        array = np.array([np.asarray(item).item() if np.size(item) else "" for item in array.flat])
    return np.char.rstrip(array) if array.dtype.kind == "U" else array


def main() -> int:
    """Read a MATLAB file from standard input, write its arrays to standard output."""
    from scipy.io import loadmat

    try:
        found = loadmat(io.BytesIO(sys.stdin.buffer.read()))
        arrays = {k: _plain(value) for k, value in found.items() if not k.startswith("__")}
        arrays = {k: array for k, array in arrays.items() if array.dtype.kind in "biufcU"}
        numbered: dict[str, Any] = {f"array{i}": a for i, a in enumerate(arrays.values())}
        buffer = io.BytesIO()
        np.savez(buffer, names=np.array(list(arrays), dtype=str), **numbered)
    except NotImplementedError:
        return _VERSION_7_3
    except Exception as error:  # whatever a damaged file leads to
        print(str(error) or type(error).__name__, file=sys.stderr)
        return _DAMAGED
    sys.stdout.buffer.write(buffer.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main())
