"""The paper's twelve real data sets: find a copy, verify it and return it.

``registry.json`` says where each comes from, what to watch out for, and the terms of use: read it
before you report a number. No format is read through pickle. Most sets are sorted by class. *glass*
keeps its row Id, because the paper counts it as a feature, although the Id gives the class away.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_wine

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


def load(name: str) -> Table:
    """Return X (n, d) and the classes y (n,), 0 … k − 1, of one of the sets.

    From ``<name>.npz`` (arrays ``X`` and ``y``) in the folder ``COVMIN_DATA`` if it is there, or
    from the file of the public source, which is kept in the user's cache.
    """
    record = records()[name]
    stored = Path(os.environ.get("COVMIN_DATA", "")).expanduser() / f"{name}.npz"
    if stored.is_file() and "npz_sha256" in record:
        found = hashlib.sha256(stored.read_bytes()).hexdigest()
        if found != record["npz_sha256"]:
            raise OSError(f"{stored} is damaged: its sha256 is {found}.")
        with np.load(stored, allow_pickle=False) as arrays:
            X, y = arrays["X"], arrays["y"]
    elif name == "wine":  # scikit-learn has the same values
        X, y = load_wine(return_X_y=True)
    else:
        X, y = parse(downloaded(record), record)
    X, y = np.ascontiguousarray(X, dtype=np.float64), y.astype(np.int64)
    shape = (record["n_samples"], record["n_features"])
    if X.shape != shape or np.bincount(y).tolist() != record["class_counts"]:
        raise ValueError(f"{name}: its shape {X.shape} or its classes are not those of {shape}.")
    return X, y


def downloaded(record: dict[str, Any]) -> Path:
    """The source file, from the first address that works; one set has no checksum."""
    import pooch

    file, folder, failures = record["source_file"], pooch.os_cache("covmin"), []
    known = record["source_checksum"]
    for url in record["source_urls"]:
        try:
            checksum = known if known.startswith("sha256:") else None
            return Path(pooch.retrieve(url, checksum, file, folder))
        except (OSError, ValueError) as error:
            failures.append(f"  {url}\n    {type(error).__name__}: {error}")
    raise ConnectionError(
        f"{record['name']} is not on this machine and could not be downloaded:\n"
        + "\n".join(failures)
        + f"\nTo work offline, put {file} from one of these addresses in {folder}."
    )


def parse(path: Path, record: dict[str, Any]) -> Table:
    """Columns and classes of a source file, whose suffix tells the format."""
    if path.suffix == ".mat":
        from scipy.io import loadmat

        variables = loadmat(path, variable_names=["X", "Y"])
        X, labels = variables["X"], variables["Y"].ravel()
    else:  # rows without a header: columns to skip, features, the label
        rows = np.loadtxt(path, delimiter=",", ndmin=2)
        X, labels = rows[:, record.get("skip_columns", 0) : -1], rows[:, -1]
    return X, np.searchsorted([int(label) for label in record["target_names"]], labels)
