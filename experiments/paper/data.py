"""The paper's twelve real data sets: find a copy, verify it and return it.

``registry.json`` says where each comes from, what to watch out for, and the terms of use: read it
before you report a number. A file is read once: the same bytes are verified against a registered
checksum and then parsed. No format is read through pickle. Most sets are sorted by class. *glass*
keeps its row Id, because the paper counts it as a feature, although the Id gives the class away.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_wine

from covmin.runtime.resume import replace_file

_ENVIRONMENT = "COVMIN_DATA"
Table = tuple[np.ndarray, np.ndarray]


@cache
def records() -> dict[str, dict[str, Any]]:
    """The entries of ``registry.json`` by name, in the order of the paper's table."""
    text = Path(__file__).with_name("registry.json").read_text(encoding="utf-8")
    return {entry["name"]: entry for entry in json.loads(text)}


def list_datasets() -> list[str]:
    """Names of the paper's sets in the order of its table.

    >>> list_datasets()[:4]
    ['ALLAML', 'CLL-SUB-111', 'glass', 'ORL']
    """
    return list(records())


def load(name: str, data_home: str | os.PathLike[str] | None = None) -> Table:
    """Return X (n, d) and the classes y (n,), 0 … k − 1, of one of the sets.

    A copy is looked for in the folder of the environment variable ``COVMIN_DATA`` and in
    ``data_home`` or the user's cache, as ``<name>.npz`` (arrays ``X`` and ``y``) or as the file
    of the public source, which is downloaded to the latter if it is nowhere.
    """
    if name not in records():
        raise ValueError(f"There is no data set called {name!r}, but {', '.join(records())}.")
    record = records()[name]
    given = os.environ.get(_ENVIRONMENT)
    if given and not Path(given).expanduser().is_dir():
        raise NotADirectoryError(f"{_ENVIRONMENT} is {given!r}, which is not a folder.")
    if path := _local_file(record, given):
        return parse(path, record)
    if name == "wine" and data_home is None:  # scikit-learn has the same values
        return load_wine(return_X_y=True)
    if data_home is None:
        from pooch import os_cache

        data_home = os_cache("covmin")
    return parse(_local_file(record, data_home) or _download(record, Path(data_home)), record)


def _local_file(record: dict[str, Any], folder: str | os.PathLike[str] | None) -> Path | None:
    # File names come from the registry, never from the user, so they cannot leave the folder.
    names = [f"{record['name']}.npz"] * ("npz_sha256" in record) + [record["source_file"]]
    paths = [] if folder is None else [Path(folder).expanduser() / file for file in names]
    return next((path for path in paths if path.is_file()), None)


def _download(record: dict[str, Any], folder: Path) -> Path:
    """Save the source file in a folder, from the first address that works."""
    from pooch import HTTPDownloader

    failures = []
    for url in record["source_urls"]:
        try:
            content = io.BytesIO()
            HTTPDownloader()(url, content, None)
            verify(content.getvalue(), record["source_checksum"], f"The file at {url}")
        except OSError as error:
            failures.append(f"  {url}\n    {type(error).__name__}: {error}")
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / record["source_file"]
        replace_file(path, content.getvalue())
        return path
    raise ConnectionError(
        f"{record['name']} is not on this machine and could not be downloaded:\n"
        + "\n".join(failures)
        + f"\nTo work offline, put {record['source_file']} from one of these addresses "
        f"in {folder}, or set {_ENVIRONMENT} to a folder that has it."
    )


def checksum(content: bytes, kind: str) -> str:
    """The checksum in hexadecimal; ``kind`` is "sha256" or "git-blob"."""
    if kind == "git-blob":
        # Git names a file by the SHA-1 of a short header and the content.
        header = f"blob {len(content)}\0".encode()
        return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
    return hashlib.sha256(content).hexdigest()


def verify(content: bytes, expected: str, where: str) -> None:
    """Raise OSError unless the content has the checksum ``"<kind>:<hex>"``."""
    kind, _, digest = expected.partition(":")
    found = checksum(content, kind)
    if found != digest:
        raise OSError(
            f"{where} is damaged or a different version: its {kind} checksum is {found}, "
            f"expected {digest}. Delete or replace it and try again."
        )


def parse(path: Path, record: dict[str, Any]) -> Table:
    """Verify and parse a file; its suffix tells the format."""
    content = path.read_bytes()
    if path.suffix == ".npz":
        verify(content, f"sha256:{record['npz_sha256']}", str(path))
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"]
    else:
        verify(content, record["source_checksum"], str(path))
        if path.suffix == ".mat":
            from scipy.io import loadmat

            variables = loadmat(io.BytesIO(content), variable_names=["X", "Y"])
            X, labels = variables["X"], variables["Y"].ravel()
        else:  # rows without a header: columns to skip, features, the label
            rows = np.loadtxt(io.StringIO(content.decode("utf-8")), delimiter=",", ndmin=2)
            X, labels = rows[:, record.get("skip_columns", 0) : -1], rows[:, -1]
        y = np.searchsorted([int(label) for label in record["target_names"]], labels)
    X, y = np.ascontiguousarray(X, dtype=np.float64), y.astype(np.int64)
    shape = (record["n_samples"], record["n_features"])
    if X.shape != shape or np.bincount(y).tolist() != record["class_counts"]:
        raise ValueError(f"{path}: its shape {X.shape} or its classes are not those of {shape}.")
    return X, y
