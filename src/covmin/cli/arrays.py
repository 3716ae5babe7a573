"""Read and write tables as arrays in .npz and .mat files: ``X``, ``y``, ``feature_names``."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from covmin.text import listed

from .errors import CommandError, ExitCode
from .matlab import read_arrays

if TYPE_CHECKING:
    import pandas as pd

_NAMES = "feature_names"


def read_npz(data: bytes) -> pd.DataFrame:
    """Read a table from the bytes of an .npz file, without unpickling."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return _as_frame({name: archive[name] for name in archive.files})


def read_mat(data: bytes) -> pd.DataFrame:
    """Read a table from the bytes of a MATLAB file (up to version 7)."""
    return _as_frame(read_arrays(data))


def write_npz(buffer: io.BytesIO, frame: pd.DataFrame, target: str | None) -> None:
    """Write a table as an .npz file without pickle, with the target as ``y``."""
    arrays: dict[str, Any] = _as_arrays(frame, target)
    np.savez_compressed(buffer, **arrays)


def write_mat(buffer: io.BytesIO, frame: pd.DataFrame, target: str | None) -> None:
    """Write a table as a MATLAB file of version 5, with the target as ``y``."""
    from scipy.io import savemat

    savemat(buffer, _as_arrays(frame, target), do_compression=True, oned_as="column")


def _as_frame(arrays: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return the columns of all matrices, and each vector as a column with its name."""
    import pandas as pd

    names = [str(name).strip() for name in np.ravel(arrays.pop(_NAMES, np.array([])))]
    matrices = {k: v for k, v in arrays.items() if v.ndim == 2 and min(v.shape) > 1}
    if not matrices:
        raise CommandError(
            f"The file contains no matrix; its arrays are {listed(list(arrays)) or 'none'}.",
            ExitCode.INPUT,
            "Store samples as rows of an array X, and the response as a vector y.",
        )
    n_samples = next(iter(matrices.values())).shape[0]
    parts = []
    for key, array in arrays.items():
        # pandas accepts only the byte order of the machine.
        value = array.astype(array.dtype.newbyteorder("="), copy=False)
        if key in matrices and value.shape[0] == n_samples:
            stem = "x" if key == "X" else key
            numbered = [f"{stem}{j}" for j in range(value.shape[1])]
            labels = names if len(names) == value.shape[1] else numbered
            parts.append(pd.DataFrame(value, columns=labels))
        elif value.size == n_samples and value.dtype.kind in "biufU":
            parts.append(pd.Series(value.ravel(), name=key).to_frame())
    return pd.concat(parts, axis=1)


def _as_arrays(frame: pd.DataFrame, target: str | None) -> dict[str, np.ndarray]:
    features = frame.drop(columns=[] if target is None else [target])
    arrays = {"X": features.to_numpy(), _NAMES: np.array(features.columns, dtype=str)}
    if target is not None:
        y = frame[target].to_numpy()
        arrays["y"] = y if y.dtype.kind in "biuf" else y.astype(str)
    return arrays
