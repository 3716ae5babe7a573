"""Parse the bytes of a file into verified arrays.

Nothing here opens a path. A file is read once: the same bytes are verified and then parsed, so
the data in use are the data that were checked. No format is read through pickle.
"""

import hashlib
import io
from pathlib import Path

import numpy as np

from .registry import Record


def checksum(content: bytes, kind: str) -> str:
    """Return the checksum of ``content`` in hexadecimal; ``kind`` is "sha256" or "git-blob"."""
    if kind == "git-blob":
        # Git names a file by the SHA-1 of a short header and the content.
        header = f"blob {len(content)}\0".encode()
        return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
    return hashlib.sha256(content).hexdigest()


def verify(content: bytes, expected: str, where: str) -> None:
    """Raise OSError unless ``content`` has the checksum ``"<kind>:<hex>"``."""
    kind, _, digest = expected.partition(":")
    found = checksum(content, kind)
    if found != digest:
        raise OSError(
            f"{where} is damaged or a different version: its {kind} checksum is {found}, "
            f"expected {digest}. Delete or replace it and try again."
        )


def parse(content: bytes, path: Path, record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Verify and parse a file of ``record``; the suffix of ``path`` tells the format.

    Returns X (n_samples, n_features) as float64 and y (n_samples,) as int64, with classes
    0 … n_classes − 1 in the order of ``record.target_names``.
    """
    if path.suffix == ".npz":
        verify(content, f"sha256:{record.npz_sha256}", str(path))
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"].astype(np.int64)
    else:
        verify(content, record.source_checksum, str(path))
        reader = _parse_mat if path.suffix == ".mat" else _parse_text
        X, labels = reader(content, record)
        y = _encode(labels, record)
    X = np.ascontiguousarray(X, dtype=np.float64)
    if not same_values(X, y, record):
        raise ValueError(
            f"{path} was read, but its shape {X.shape} or its values differ from those "
            f"registered for {record.name} ({record.n_samples}, {record.n_features}). "
            "Please report this as a bug in covmin."
        )
    return X, y


def same_values(X: np.ndarray, y: np.ndarray, record: Record) -> bool:
    """Tell whether ``X`` (n, d) float64 and ``y`` (n,) int64 hold the values of ``record``."""
    counts = np.bincount(y, minlength=len(record.class_counts)).tolist()
    if X.shape != (record.n_samples, record.n_features) or counts != list(record.class_counts):
        return False
    # Adding zero turns −0.0 into 0.0, so that equal values have equal checksums.
    values = (X + 0.0).astype("<f8").tobytes() + y.astype("<i8").tobytes()
    return record.values_sha256 is None or checksum(values, "sha256") == record.values_sha256


def _parse_mat(content: bytes, record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Return the variables ``X`` (n, d) and ``Y`` (n, 1) of a MATLAB file."""
    from scipy.io import loadmat

    variables = loadmat(io.BytesIO(content), variable_names=["X", "Y"])
    for name in ("X", "Y"):
        matrix = variables.get(name)
        if not isinstance(matrix, np.ndarray) or not np.issubdtype(matrix.dtype, np.number):
            raise ValueError(
                f"{record.source_file} must contain a numeric matrix {name}: "
                "samples by features in X, one label per sample in Y."
            )
    return variables["X"], variables["Y"].ravel()


def _parse_text(content: bytes, record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Parse comma-separated rows without a header: skipped columns, features, then the label."""
    table = np.loadtxt(io.StringIO(content.decode("utf-8")), delimiter=",", ndmin=2)
    n_columns = record.skip_columns + record.n_features + 1
    if table.shape[1] != n_columns:
        raise ValueError(
            f"{record.source_file} must have {n_columns} columns ({record.skip_columns} to skip, "
            f"{record.n_features} features, 1 label), got {table.shape[1]}."
        )
    return table[:, record.skip_columns : -1], table[:, -1]


def _encode(labels: np.ndarray, record: Record) -> np.ndarray:
    """Return the position of each source label in ``record.target_names``, as int64."""
    known = [int(name) for name in record.target_names]
    if strangers := sorted(set(labels.tolist()) - set(known)):
        raise ValueError(
            f"{record.source_file} has labels {strangers}; "
            f"{record.name} has only {', '.join(record.target_names)}."
        )
    return np.searchsorted(known, labels).astype(np.int64)
