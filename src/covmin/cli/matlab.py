"""Read MATLAB files in a separate process, because a damaged file may crash it.

scipy's reader trusts the numbers in a file, and a wrong one can crash the interpreter.
``python -m covmin.cli.matlab`` reads a file from standard input and writes its arrays to standard
output as .npz, without pickle.
"""

import io
import subprocess
import sys
from typing import Any

import numpy as np

_VERSION_7_3 = 3
_DAMAGED = 4


def read_arrays(data: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of a MATLAB file (up to version 7); ValueError if it is damaged."""
    from .errors import CommandError, ExitCode

    # -P: do not import modules from the folder of the user's data.
    command = [sys.executable, "-P", "-m", __name__]
    reader = subprocess.run(command, input=data, capture_output=True, check=False)
    if reader.returncode == _VERSION_7_3:
        raise CommandError(
            "MATLAB files of version 7.3 are not supported.",
            ExitCode.INPUT,
            "Save it in MATLAB with save(name, 'X', 'y', '-v7').",
        )
    if reader.returncode == _DAMAGED:
        raise ValueError(reader.stderr.decode(errors="replace").strip() or "it is damaged")
    if reader.returncode != 0:
        raise ValueError(f"it is damaged (the reader exited with status {reader.returncode})")
    with np.load(io.BytesIO(reader.stdout), allow_pickle=False) as archive:
        names = [str(name) for name in archive["names"]]
        return {name: archive[f"array{i}"] for i, name in enumerate(names)}


def _plain(value: Any) -> np.ndarray:
    """Return a dense array, with MATLAB's padding of strings removed."""
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if array.dtype.kind == "O" and all(np.size(item) <= 1 for item in array.flat):
        # An empty cell is an empty string.
        array = np.array([np.asarray(item).item() if np.size(item) else "" for item in array.flat])
    return np.char.rstrip(array) if array.dtype.kind == "U" else array


def main() -> int:
    """Read a MATLAB file from standard input and write its arrays to standard output."""
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
    except Exception as error:  # a damaged file can cause any error
        print(str(error) or type(error).__name__, file=sys.stderr)
        return _DAMAGED
    sys.stdout.buffer.write(buffer.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main())
