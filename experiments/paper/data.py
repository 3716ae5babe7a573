"""The paper's twelve real data sets: find a copy, verify it and return it.

A file is read once: the same bytes are verified against the checksum in ``registry.json`` and then
parsed, so the data in use are the data that were checked. No format is read through pickle.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

from covmin.runtime.resume import replace_file

_ENVIRONMENT = "COVMIN_DATA"


@dataclass(frozen=True)
class Record:
    """One entry of ``registry.json``."""

    name: str
    n_samples: int
    n_features: int
    class_counts: Sequence[int]  # samples in each class
    target_names: Sequence[str]  # the label of each class in the source
    # Where the data come from, what to watch out for, and the terms of use.
    origin: str
    notes: str
    terms: str
    # The public file, and the addresses of identical copies, the preferred one first.
    source_file: str
    source_urls: Sequence[str]
    source_checksum: str  # "sha256:<hex>" or "git-blob:<hex>"
    npz_sha256: str | None = None  # of the file <name>.npz, if one is registered
    values_sha256: str | None = None  # of the values, whichever file they come from
    skip_columns: int = 0  # leading columns of a text source that are not features
    feature_names: Sequence[str] = ()  # empty if the source has none
    rows_per_group: int | None = None  # consecutive rows that form a group, such as a speaker
    bundled: str | None = None  # function of sklearn.datasets that returns the same values
    derived_from: str | None = None  # the set that this one is a variant of
    drop_features: Sequence[str] = ()  # features of that set to leave out

    @property
    def columns(self) -> list[str]:
        """Feature names; ``x0``, ``x1``, … if the source has none."""
        return list(self.feature_names) or [f"x{j}" for j in range(self.n_features)]

    @property
    def file_names(self) -> list[str]:
        """Names of the files that may hold this set, the preferred one first."""
        packed = [] if self.npz_sha256 is None else [f"{self.name}.npz"]
        return [*packed, self.source_file]

    def describe(self) -> str:
        """Describe the origin of the set, what to watch out for, and the terms of use."""
        counts = ", ".join(map(str, self.class_counts))
        return (
            f"{self.name}: {self.n_samples} samples, {self.n_features} features, "
            f"{len(self.class_counts)} classes ({counts} samples)\n\n"
            f"Origin: {self.origin}.\n\n"
            f"Notes: {self.notes}\n\n"
            f"Terms: {self.terms}\n\n"
            f"Source: {self.source_urls[0]}\n"
        )


@cache
def records() -> dict[str, Record]:
    """Return all registered sets by name: first the paper's table, in its order."""
    text = Path(__file__).with_name("registry.json").read_text(encoding="utf-8")
    entries: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in json.loads(text)}
    return {name: Record(**_inherit(entry, entries)) for name, entry in entries.items()}


def find_record(name: str) -> Record:
    """Return the record of a set; case, ``-`` and ``_`` in the name are ignored."""
    if not isinstance(name, str):
        raise TypeError(
            f"The name of a data set must be a string such as 'wine', got {name!r} "
            f"of type {type(name).__name__}."
        )
    by_key = {_key(known): record for known, record in records().items()}
    key = _key(name)
    if key not in by_key:
        near = [repr(by_key[k].name) for k in get_close_matches(key, by_key, n=3, cutoff=0.5)]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(
            f"There is no data set called {name!r}.{hint} Known names: {', '.join(records())}."
        )
    return by_key[key]


def list_datasets(*, variants: bool = False) -> list[str]:
    """Return the names of the paper's twelve sets in the order of its table, and of variants.

    >>> list_datasets()[:4]
    ['ALLAML', 'CLL-SUB-111', 'glass', 'ORL']
    >>> sorted(set(list_datasets(variants=True)) - set(list_datasets()))
    ['glass-no-id']
    """
    return [record.name for record in records().values() if variants or record.derived_from is None]


def _key(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")


def _inherit(entry: dict[str, Any], entries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Complete the entry of a derived set from the set it is derived from."""
    if "derived_from" not in entry:
        return entry
    whole = entries[entry["derived_from"]]
    kept = [name for name in whole["feature_names"] if name not in entry["drop_features"]]
    return {**whole, **entry, "feature_names": kept}


def load(
    name: str,
    *,
    return_X_y: bool = False,
    data_home: str | os.PathLike[str] | None = None,
) -> Any:
    """Load one of the real data sets of the paper.

    ``name`` is one of :func:`list_datasets`; case, ``-`` and ``_`` are ignored. Returns a Bunch
    with ``data``, ``target`` (0 … n_classes − 1), ``feature_names``, ``target_names``, ``task``,
    ``DESCR`` (origin, pitfalls and terms of use: read it before you report a number) and, for
    ``"vowel"``, ``groups``, the speaker of each sample. With ``return_X_y`` only data and target.

    The function looks for a copy in the folder of the environment variable ``COVMIN_DATA``; for
    ``"wine"`` in scikit-learn; in ``data_home``, or the user's cache folder; and then downloads it
    to that folder. A folder may hold a set as ``<name>.npz`` (arrays ``X`` and ``y``) or as the
    file from the public source. Every copy must match the registered checksum.

    Most sets are sorted by class, so shuffle or stratify before splitting. ``"glass"`` keeps its
    row Id, because the paper counts it as a feature, although the Id gives the class away;
    ``"glass-no-id"`` is the same set without it.

    >>> wine = load("wine")
    >>> wine.data.shape, wine.feature_names[:2]
    ((178, 13), ['alcohol', 'malic_acid'])
    """
    record = find_record(name)
    whole = record if record.derived_from is None else find_record(record.derived_from)
    X, y = _read(whole, data_home)
    if record.drop_features:
        keep = [column not in record.drop_features for column in whole.columns]
        X = np.ascontiguousarray(X[:, keep])
    result = Bunch(
        data=X,
        target=y,
        feature_names=record.columns,
        target_names=np.array(record.target_names),
        task="classification",
        DESCR=record.describe(),
    )
    if record.rows_per_group is not None:
        result["groups"] = np.arange(record.n_samples) // record.rows_per_group
    return (result.data, result.target) if return_X_y else result


def _read(
    record: Record, data_home: str | os.PathLike[str] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a set from the first place that has it."""
    path = None
    if given := os.environ.get(_ENVIRONMENT):
        folder = Path(given).expanduser()
        if not folder.is_dir():
            raise NotADirectoryError(
                f"The environment variable {_ENVIRONMENT} is {given!r}, which is not a folder. "
                "Point it to a folder of <name>.npz files, or unset it."
            )
        path = _local_file(record, folder)
    if path is None:
        bundled = _bundled(record)
        if bundled is not None:
            return bundled
        home = _pooch(record).os_cache("covmin") if data_home is None else data_home
        folder = Path(home).expanduser()
        path = _local_file(record, folder) or _download(record, folder)
    return parse(path.read_bytes(), path, record)


def _local_file(record: Record, folder: Path) -> Path | None:
    # File names come from the registry, never from the user, so they cannot leave the folder.
    paths = (folder / file_name for file_name in record.file_names)
    return next((path for path in paths if path.is_file()), None)


def _bundled(record: Record) -> tuple[np.ndarray, np.ndarray] | None:
    """Return scikit-learn's copy, if there is one and its values are the registered ones."""
    if record.bundled is None:
        return None
    X, y = getattr(sklearn.datasets, record.bundled)(return_X_y=True)
    X, y = X.astype(np.float64), y.astype(np.int64)
    return (X, y) if same_values(X, y, record) else None


def _pooch(record: Record) -> Any:
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"Downloading {record.name} requires pooch: pip install pooch. To do without "
            f"a download, set {_ENVIRONMENT} to a folder that contains "
            f"{' or '.join(record.file_names)}."
        ) from error
    return pooch


def _download(record: Record, folder: Path) -> Path:
    """Save the source file of ``record`` in ``folder``, from the first address that works."""
    failures = []
    for url in record.source_urls:
        try:
            content = io.BytesIO()
            _pooch(record).HTTPDownloader()(url, content, None)
            verify(content.getvalue(), record.source_checksum, f"The file at {url}")
        except OSError as error:
            failures.append(f"  {url}\n    {type(error).__name__}: {error}")
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / record.source_file
        replace_file(path, content.getvalue())
        return path
    raise ConnectionError(
        f"{record.name} is not on this machine and could not be downloaded:\n"
        + "\n".join(failures)
        + f"\nTo work offline, get the file {record.source_file} from one of these addresses "
        f"and put it in {folder}, or set {_ENVIRONMENT} to a folder that contains "
        f"{' or '.join(record.file_names)}."
    )


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
