"""The paper's real data sets: find a copy, verify it and return it."""

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

from covmin.runtime.resume import replace_file

from .files import parse, same_values, verify
from .registry import Record, find_record

_ENVIRONMENT = "COVMIN_DATA"


def load(
    name: str,
    *,
    return_X_y: bool = False,
    as_frame: bool = False,
    data_home: str | os.PathLike[str] | None = None,
) -> Any:
    """Load one of the real data sets of the paper.

    Parameters
    ----------
    name : str
        A name from `list_datasets`. Case, ``-`` and ``_`` are ignored: ``"tox171"`` is the same
        as ``"TOX-171"``.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Return ``data`` as a pandas DataFrame and ``target`` as a Series. Requires pandas.
    data_home : path-like or None, default=None
        Folder for downloads; by default the user's cache folder for covmin.

    Returns
    -------
    result : sklearn.utils.Bunch
        - ``data`` (n_samples, n_features), float64, unscaled, as in the source.
        - ``target`` (n_samples,), int64, 0 … n_classes − 1.
        - ``feature_names``, list of n_features strings; ``x0``, ``x1``, … if the source has
          no names.
        - ``target_names`` (n_classes,), the labels in the source, as strings.
        - ``task``, always ``"classification"``.
        - ``DESCR``, the origin, pitfalls and terms of use. Read it before you report a number.
        - ``groups`` (n_samples,), int64, the speaker of each sample. Only for ``"vowel"``.
        - ``frame``, ``data`` and ``target`` side by side. Only with ``as_frame=True``.

    Raises
    ------
    ValueError
        If no data set has that name.
    OSError
        If a file is damaged, or the set is not available locally and cannot be downloaded.
    ImportError
        If a download is needed and pooch is not installed.

    Notes
    -----
    The function looks for a copy in this order:

    1. the folder named by the environment variable ``COVMIN_DATA``;
    2. for ``"wine"``, the identical copy in scikit-learn;
    3. ``data_home``, or the user's cache folder;
    4. the public source, from which the file is saved to the folder of step 3.

    A folder may hold a set as ``<name>.npz`` (arrays ``X`` and ``y``) or as the file from the
    public source. Every copy must match the registered checksum, and every copy gives the same
    values in the same order.

    Most sets are sorted by class, so shuffle or stratify before splitting. ``"glass"`` keeps its
    row Id, because the paper counts it as a feature, although the Id gives the class away;
    ``"glass-no-id"`` is the same set without it. ``"vowel"`` has several samples per speaker:
    split by ``groups``.

    Examples
    --------
    >>> from covmin.datasets import load
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
    if as_frame:
        result.update(_frames(result))
    return (result.data, result.target) if return_X_y else result


def _frames(result: Bunch) -> dict[str, Any]:
    """Return ``data`` (n, d) and ``target`` (n,) as pandas objects, and both in one frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame=True requires pandas: pip install pandas") from error
    data = pd.DataFrame(result.data, columns=result.feature_names)
    target = pd.Series(result.target, name="target")
    return {"data": data, "target": target, "frame": pd.concat([data, target], axis=1)}


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
            f'Downloading {record.name} requires pooch: pip install "covmin[data]". To do without '
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
