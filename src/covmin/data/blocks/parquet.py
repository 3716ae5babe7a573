"""Parquet files, read in batches of rows."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from covmin.data.dtypes import no_numbers
from covmin.remarks import required
from covmin.text import listed

from .array import BLOCK_ROWS, Blocks

_parquet = partial(required, "pyarrow.parquet", "Reading Parquet files", "cli")


class ParquetBlocks(Blocks):
    """Columns of Parquet files, read in batches by column; see :func:`open_parquet`."""

    def __init__(self, files: list[Path], names: list[str]) -> None:
        self._files = files
        self.names: list[str] = names
        schema = _parquet().read_schema(files[0])
        kinds = {str(schema.field(name).type) for name in names}
        self.dtype = np.dtype(np.float32 if kinds == {"float"} else np.float64)
        self.shape = (sum(_parquet().read_metadata(file).num_rows for file in files), len(names))

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        names = self.names if columns is None else [self.names[j] for j in columns]
        start = 0
        for file in self._files:
            # Memory-map pages without reading ahead, so that memory does not grow with the file.
            with _parquet().ParquetFile(file, memory_map=True, pre_buffer=False) as table:
                for batch in table.iter_batches(BLOCK_ROWS, columns=names, use_threads=False):
                    X = np.empty((batch.num_rows, len(names)), dtype=self.dtype)
                    for j, name in enumerate(names):
                        X[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
                    yield start, X
                    start += len(X)

    def restrict(self, columns: np.ndarray) -> Self:
        """Return the same files with some of the columns."""
        return type(self)(self._files, [self.names[j] for j in columns])


def _opened(path: Any) -> tuple[list[Path], Any]:
    """Return the files in a folder, or a single one, and the schema of the first."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"The folder {path} contains no *.parquet files.")
    try:
        return files, _parquet().read_schema(files[0])
    except ValueError as error:  # pyarrow's ArrowInvalid is one
        cure = "Load other formats into memory (pandas.read_csv) and pass the frame to fit."
        raise ValueError(f"{files[0]} is not a Parquet file. {cure}") from error


def open_parquet(
    path: Any, target: str, columns: Iterable[str] | None = None
) -> tuple[ParquetBlocks, np.ndarray]:
    """Open a Parquet file, or a folder of them, to be read in batches during a fit.

    Parameters
    ----------
    path : str or Path
        A file, or a folder whose ``*.parquet`` files are read in alphabetical order.
    target : str
        Column with the response, which is loaded into memory.
    columns : iterable of str, default=None
        Columns to select from; None means all except the target.

    Returns
    -------
    X : ParquetBlocks
        To be passed to :meth:`covmin.CCMSelector.fit` instead of an array.
    y : ndarray of shape (n_rows,)

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> from covmin import open_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = pd.DataFrame({"a": [0.0, 1.0], "y": [1, 2]})
    ...     frame.to_parquet(f"{folder}/part.parquet")
    ...     X, y = open_parquet(folder, target="y")
    >>> X.names, X.shape, y
    (['a'], (2, 1), array([1, 2]))
    """
    files, schema = _opened(path)
    wanted = schema.names if columns is None else list(columns)
    if missing := [name for name in (target, *wanted) if name not in schema.names]:
        there = f"its columns are {listed(schema.names)}"
        raise ValueError(f"There is no column {missing[0]!r} in {path}; {there}.")
    names = [name for name in wanted if name != target]
    if columns is not None and target in wanted:
        raise ValueError(f"columns includes the target {target!r}; remove it from columns.")
    import pyarrow.types as kinds

    numeric = (kinds.is_integer, kinds.is_floating, kinds.is_boolean)
    if bad := [name for name in names if not any(is_(schema.field(name).type) for is_ in numeric)]:
        raise no_numbers(bad, "Omit them with columns=, or encode them before writing the files.")
    tables = [_parquet().read_table(file, columns=[target]) for file in files]
    y = np.concatenate([table.column(target).to_numpy() for table in tables])
    return ParquetBlocks(files, names), y


def parquet_columns(path: Any) -> list[str]:
    """Return the column names of a Parquet file or of a folder of them."""
    return list(_opened(path)[1].names)
