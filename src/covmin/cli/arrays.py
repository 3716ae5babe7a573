"""Tables as arrays in .npz and .mat files: ``X``, ``y`` and perhaps ``feature_names``."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import CommandError, ExitCode
from .matlab import VersionError, read_arrays

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_mat", "read_npz", "write_mat", "write_npz"]

_NAMES = "feature_names"


def read_npz(data: bytes) -> pd.DataFrame:
    """Read a table from the bytes of an .npz file, without unpickling.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    pandas.DataFrame
        The columns of each matrix, and each vector as a column under its name.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return _as_frame({name: archive[name] for name in archive.files})


def read_mat(data: bytes) -> pd.DataFrame:
    """Read a table from the bytes of a MATLAB file (up to version 7).

    Parameters
    ----------
    data : bytes

    Returns
    -------
    pandas.DataFrame
    """
    try:
        return _as_frame(read_arrays(data))
    except VersionError as error:
        raise CommandError(
            "MATLAB files of version 7.3 are not read.",
            ExitCode.INPUT,
            "Save it in MATLAB with save(name, 'X', 'y', '-v7').",
        ) from error


def write_npz(buffer: io.BytesIO, frame: pd.DataFrame, target: str | None) -> None:
    """Write a table as an .npz file that needs no pickle.

    Parameters
    ----------
    buffer : BytesIO
    frame : pandas.DataFrame
    target : str or None
        The column stored as ``y``.
    """
    arrays: dict[str, Any] = _as_arrays(frame, target)
    np.savez_compressed(buffer, **arrays)


def write_mat(buffer: io.BytesIO, frame: pd.DataFrame, target: str | None) -> None:
    """Write a table as a MATLAB file of version 5.

    Parameters
    ----------
    buffer : BytesIO
    frame : pandas.DataFrame
    target : str or None
    """
    from scipy.io import savemat

    savemat(buffer, _as_arrays(frame, target), do_compression=True, oned_as="column")


def _as_frame(arrays: dict[str, np.ndarray]) -> pd.DataFrame:
    import pandas as pd

    names = [str(name).strip() for name in np.ravel(arrays.pop(_NAMES, np.array([])))]
    matrices = {k: v for k, v in arrays.items() if v.ndim == 2 and min(v.shape) > 1}
    if not matrices:
        raise CommandError(
            f"The file holds no matrix; its arrays are {', '.join(arrays) or 'none'}.",
            ExitCode.INPUT,
            "Store samples as rows of an array X and the response as a vector y.",
        )
    arrays = {name: _native(value) for name, value in arrays.items()}
    n_samples = next(iter(matrices.values())).shape[0]
    parts = []
    for key, value in arrays.items():
        if key in matrices and value.shape[0] == n_samples:
            labels = names if len(names) == value.shape[1] else _labels(key, value.shape[1])
            parts.append(pd.DataFrame(value, columns=labels))
        elif value.size == n_samples and value.dtype.kind in "biufU":
            parts.append(pd.Series(value.ravel(), name=key).to_frame())
    return pd.concat(parts, axis=1)


def _native(array: np.ndarray) -> np.ndarray:
    """The same values in the byte order of this machine: pandas takes no other."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _labels(key: str, n: int) -> list[str]:
    return [f"{'x' if key == 'X' else key}{j}" for j in range(n)]


def _as_arrays(frame: pd.DataFrame, target: str | None) -> dict[str, np.ndarray]:
    features = frame.drop(columns=[] if target is None else [target])
    arrays = {"X": features.to_numpy(), _NAMES: np.array(features.columns, dtype=str)}
    if target is not None:
        y = frame[target].to_numpy()
        arrays["y"] = y if y.dtype.kind in "biuf" else y.astype(str)
    return arrays
