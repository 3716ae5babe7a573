"""Tables too large to copy: read in blocks of rows, standardised as they pass.

A source says how many rows and columns there are, hands out raw blocks in order, and
fetches single rows. In memory, in a mapped file and in Parquet files it does so in this
process; on a cluster :mod:`covmin.data.sources.dask` does so on the workers. Everything above
sees the same few methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from covmin.core.rows import BlockFunction, Rows, map_blocks, sum_blocks
from covmin.runtime.threads import row_threads

__all__ = [
    "ArraySource",
    "ParquetSource",
    "Source",
    "StandardizedSource",
    "column_names",
    "is_source",
    "open_parquet",
    "parquet_columns",
    "select_columns",
    "standardize_block",
    "stays_what_it_is",
]

# Rows of a block: their features should stay in the cache.
_BLOCK_ROWS = 1024
# Rows decoded at once from a file, to be cut into blocks.
_BATCH_ROWS = 8192

# (raw X_block, Y_block, p_block) → anything
RawFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


class Source(Protocol):
    """A table of numbers that is read in blocks of rows."""

    reads_in_blocks: bool
    """True: what tells a source from other tables."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64: what the blocks become once standardised."""

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, where they have any."""

    def reduce(
        self,
        function: RawFunction,
        merge: Callable[[Sequence[Any]], Any],
        Y: np.ndarray,
        p: np.ndarray,
    ) -> Any:
        """Merge the results of ``function(X_block, Y_block, p_block)`` over all blocks.

        ``merge`` takes any number of results, or of merged results, in order.
        """

    def rows(self, Y: np.ndarray, p: np.ndarray, columns: StandardizedSource) -> Rows:
        """Standardised rows with responses and weights, for sums over blocks."""

    def take(self, rows: np.ndarray) -> np.ndarray:
        """All columns at increasing row numbers."""

    def keep(self, kept: np.ndarray) -> Source:
        """The rows where a mask is true, as a source of their own."""


def is_source(X: Any) -> bool:
    """Whether X is read in blocks.

    Examples
    --------
    >>> is_source(ArraySource(np.eye(2))), is_source(np.eye(2))
    (True, False)
    """
    return getattr(X, "reads_in_blocks", False) is True


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """float32 stays; anything else becomes float64."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


def standardize_block(
    X: np.ndarray, mean: np.ndarray, scale: np.ndarray, dtype: np.dtype[Any]
) -> np.ndarray:
    """``(X − mean) / scale`` in float64, then rounded to ``dtype``."""
    prepared = np.subtract(X, mean, dtype=np.float64)
    prepared /= scale
    return prepared.astype(dtype, copy=False)


class _LocalSource:
    """What sources read by this process share."""

    reads_in_blocks = True
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @cached_property
    def n_threads(self) -> int:
        """Threads for blocks: those BLAS had when the source was first asked."""
        return row_threads()

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Raw blocks with the number of their first row."""
        raise NotImplementedError

    def with_responses(
        self, Y: np.ndarray, p: np.ndarray, columns: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Raw blocks beside their responses and weights."""
        for start, X in self.blocks(columns):
            stop = start + X.shape[0]
            yield X, Y[start:stop], p[start:stop]

    def reduce(
        self,
        function: RawFunction,
        merge: Callable[[Sequence[Any]], Any],
        Y: np.ndarray,
        p: np.ndarray,
    ) -> Any:
        """Merge the results of ``function(X_block, Y_block, p_block)`` over all blocks."""
        return merge(list(map_blocks(function, self.with_responses(Y, p), self.n_threads)))

    def rows(self, Y: np.ndarray, p: np.ndarray, columns: StandardizedSource) -> StreamedRows:
        """Standardised rows with responses and weights."""
        return StreamedRows(columns, Y, p)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """All columns at increasing row numbers."""
        taken = np.empty((rows.size, self.shape[1]), dtype=self.dtype)
        for start, X in self.blocks():
            first, last = np.searchsorted(rows, (start, start + X.shape[0]))
            taken[first:last] = X[rows[first:last] - start]
        return taken

    def keep(self, kept: np.ndarray) -> KeptRows:
        """The rows where a mask is true, as a source of their own."""
        return KeptRows(self, kept)


class KeptRows(_LocalSource):
    """Some rows of a source: the others are passed over as blocks are read.

    Parameters
    ----------
    source : ArraySource or ParquetSource
    kept : ndarray of bool of shape (n_rows,)

    Examples
    --------
    >>> KeptRows(ArraySource(np.eye(3)), np.array([True, False, True])).take(np.array([1]))
    array([[0., 0., 1.]])
    """

    def __init__(self, source: Any, kept: np.ndarray) -> None:
        self._source = source
        self._kept = kept
        self.names = source.names
        self.dtype = source.dtype
        self.shape = (int(kept.sum()), source.shape[1])

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Raw blocks with the number of their first row."""
        start = 0
        for first, X in self._source.blocks(columns):
            block = X[self._kept[first : first + X.shape[0]]]
            # There is no smallest entry of no rows.
            if block.shape[0]:
                yield start, block
                start += block.shape[0]

    def take(self, rows: np.ndarray) -> np.ndarray:
        """All columns at increasing row numbers."""
        taken: np.ndarray = self._source.take(np.flatnonzero(self._kept)[rows])
        return taken


class ArraySource(_LocalSource):
    """An array in memory or a mapped file, never copied whole.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> ArraySource(np.eye(3)).take(np.array([1]))
    array([[0., 1., 0.]])
    """

    names = None

    def __init__(self, X: np.ndarray) -> None:
        self._X = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = float_dtype(X.dtype)

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Raw blocks with the number of their first row."""
        for start in range(0, self.shape[0], _BLOCK_ROWS):
            X = self._X[start : start + _BLOCK_ROWS]
            yield start, X if columns is None else np.take(X, columns, axis=1)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """All columns at increasing row numbers."""
        return np.asarray(self._X[rows], dtype=self.dtype)


class ParquetSource(_LocalSource):
    """Columns of one Parquet file, or of all files of a folder, read in batches.

    Only the columns that are asked for are decoded. See :func:`open_parquet`.

    Parameters
    ----------
    files : list of Path
    names : list of str
        Columns that hold the features.
    """

    def __init__(self, files: list[Path], names: list[str]) -> None:
        self._files = files
        self.names = names
        kinds = {str(field.type) for field in _schema(files) if field.name in set(names)}
        self.dtype = np.dtype(np.float32 if kinds == {"float"} else np.float64)
        self.shape = (sum(_n_rows(file) for file in files), len(names))

    def blocks(self, columns: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Raw blocks with the number of their first row."""
        names = self.names if columns is None else [self.names[j] for j in columns]
        start = 0
        for X in _batches(self._files, names, self.dtype):
            for first in range(0, X.shape[0], _BLOCK_ROWS):
                block = X[first : first + _BLOCK_ROWS]
                yield start, block
                start += block.shape[0]

    def select(self, columns: np.ndarray) -> ParquetSource:
        """The same files with some of the columns.

        Parameters
        ----------
        columns : ndarray of int
        """
        return ParquetSource(self._files, [self.names[j] for j in columns])


def _parquet() -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError(
            "Reading Parquet files needs pyarrow: pip install pyarrow, or load the table into "
            "memory yourself."
        ) from error
    return parquet


def _schema(files: list[Path]) -> Any:
    try:
        return _parquet().read_schema(files[0])
    except ValueError as error:  # pyarrow's ArrowInvalid is one
        raise ValueError(
            f"{files[0]} is not a Parquet file. Read other tables into memory (pandas.read_csv) "
            "and pass the frame to fit."
        ) from error


def _n_rows(file: Path) -> int:
    return int(_parquet().read_metadata(file).num_rows)


def _batches(files: list[Path], names: list[str], dtype: Any) -> Iterator[np.ndarray]:
    """Batches of rows of the named columns as one array each."""
    for file in files:
        # Pages are mapped, not read ahead: memory does not grow with the file.
        with _parquet().ParquetFile(file, memory_map=True, pre_buffer=False) as table:
            for batch in table.iter_batches(_BATCH_ROWS, columns=names, use_threads=False):
                X = np.empty((batch.num_rows, len(names)), dtype=dtype)
                for j, name in enumerate(names):
                    X[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
                yield X


def open_parquet(
    path: Any, target: str, columns: Iterable[str] | None = None
) -> tuple[ParquetSource, np.ndarray]:
    """Open a Parquet file or a folder of them for a fit that reads it in batches.

    Parameters
    ----------
    path : str or Path
        A file, or a folder whose ``*.parquet`` files are taken in the order of their names.
    target : str
        Column of the response; it is read into memory.
    columns : iterable of str, default=None
        Columns to choose from; None takes all but the target.

    Returns
    -------
    X : ParquetSource
        To be given to :meth:`covmin.CCMSelector.fit` in place of an array.
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
    files = _files(Path(path))
    schema = _schema(files)
    if target not in schema.names:
        raise ValueError(
            f"There is no column {target!r} in {path}; its columns are "
            f"{', '.join(schema.names[:8])}{' …' if len(schema.names) > 8 else ''}."
        )
    names = [name for name in schema.names if name != target] if columns is None else list(columns)
    if target in names:
        raise ValueError(
            f"columns holds the target, {target!r}, which would be selected to explain itself; "
            "leave it out of columns."
        )
    _check_numbers(schema, names)
    tables = [_parquet().read_table(file, columns=[target]) for file in files]
    y = np.concatenate([table.column(target).to_numpy() for table in tables])
    return ParquetSource(files, names), y


def parquet_columns(path: Any) -> list[str]:
    """Names of the columns of a Parquet file or of a folder of them."""
    return list(_schema(_files(Path(path))).names)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(path.rglob("*.parquet"))
        if not files:
            raise FileNotFoundError(f"The folder {path} holds no *.parquet files.")
        return files
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    return [path]


def _check_numbers(schema: Any, names: list[str]) -> None:
    import pyarrow.types as kinds

    numeric = (kinds.is_integer, kinds.is_floating, kinds.is_boolean)
    if missing := [name for name in names if name not in schema.names]:
        raise ValueError(f"There is no column {missing[0]!r} in these Parquet files.")
    bad = [name for name in names if not any(kind(schema.field(name).type) for kind in numeric)]
    if bad:
        raise ValueError(
            f"These columns hold no numbers: {', '.join(map(repr, bad[:5]))}"
            f"{f' and {len(bad) - 5} more' if len(bad) > 5 else ''}. Leave them out with "
            "columns=, or encode them before writing the files."
        )


def stays_what_it_is(X: Any) -> bool:
    """Whether a selection of X should be of the same kind: a tensor, a Dask collection, a file.

    Examples
    --------
    >>> stays_what_it_is(np.eye(2))
    False
    """
    return is_source(X) or type(X).__module__.split(".")[0] in ("dask", "dask_expr", "torch")


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of what :func:`stays_what_it_is`, where they have any."""
    names = X.names if is_source(X) else getattr(X, "columns", None)
    return None if names is None else [str(name) for name in names]


def select_columns(X: Any, columns: np.ndarray) -> Any:
    """Some columns of what :func:`stays_what_it_is`.

    Parameters
    ----------
    X : ParquetSource, Dask array or dataframe, or torch tensor
    columns : ndarray of int

    Returns
    -------
    X_selected : of the same kind as X
    """
    if is_source(X):
        return X.select(columns)
    return X[list(X.columns[columns])] if hasattr(X, "columns") else X[:, columns]


@dataclass(frozen=True)
class StandardizedSource:
    """Columns of a source as the criterion sees them: ``(X[:, index] − mean) / scale``.

    Parameters
    ----------
    source : Source
    index : ndarray
        Column of the source behind each column.
    mean, scale : ndarray, one for each of ``index``
    """

    source: Source
    index: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.source.shape[0], self.index.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the standardised numbers."""
        return self.source.dtype

    def standardize(self, X: np.ndarray) -> np.ndarray:
        """Treat raw rows, given by the columns of ``index``."""
        return standardize_block(X, self.mean, self.scale, self.dtype)

    def sample(self, rows: np.ndarray) -> np.ndarray:
        """Standardised rows at increasing row numbers."""
        return self.standardize(self.source.take(rows)[:, self.index])

    def rows(self, Y: np.ndarray, p: np.ndarray) -> Rows:
        """Rows with responses and weights, for sums over blocks."""
        return self.source.rows(Y.astype(self.dtype), p.astype(self.dtype), self)

    def restrict(self, columns: np.ndarray) -> StandardizedSource:
        """Some of the columns."""
        return replace(
            self,
            index=self.index[columns],
            mean=self.mean[columns],
            scale=self.scale[columns],
        )


def call_on_standardized(
    function: BlockFunction,
    mean: np.ndarray,
    scale: np.ndarray,
    dtype: np.dtype[Any],
    X: np.ndarray,
    Y: np.ndarray,
    p: np.ndarray,
) -> tuple[Any, ...]:
    """A block function on a raw block."""
    return function(standardize_block(X, mean, scale, dtype), Y, p)


@dataclass(frozen=True)
class StreamedRows:
    """Rows of a local source, standardised block by block as they pass.

    Parameters
    ----------
    columns : StandardizedSource
    Y : ndarray of shape (n_rows, n_responses)
    p : ndarray of shape (n_rows,)
    """

    columns: StandardizedSource
    Y: np.ndarray
    p: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        return self.columns.shape

    def sum(self, function: BlockFunction) -> tuple[Any, ...]:
        """Sum the results of ``function(X_block, Y_block, p_block)`` over all blocks."""
        table = self.columns
        source: Any = table.source
        raw = partial(call_on_standardized, function, table.mean, table.scale, table.dtype)
        blocks = source.with_responses(self.Y, self.p, table.index)
        return sum_blocks(raw, blocks, source.n_threads)

    def restrict(self, columns: np.ndarray) -> StreamedRows:
        """The same rows with some of the features."""
        return replace(self, columns=self.columns.restrict(columns))
