"""Tables that are too large to copy: read in blocks of rows and standardised on the fly.

A source knows its numbers of rows and columns, yields raw blocks in order, and fetches single
rows. Arrays, memory-mapped files and Parquet files are read in this process; Dask collections are
processed on the workers (:mod:`~covmin.data.sources.dask`). All sources have the same methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from covmin.core.arrays import default_block_size, row_tiles
from covmin.core.rows import BlockFunction, add_up, map_blocks
from covmin.runtime.threads import row_threads

# (raw X_block, Y_block, p_block) → anything
RawFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]
# any number of results, merged or not, in order → the result for all of them
Merge = Callable[[Iterable[Any]], Any]


class Source(Protocol):
    """A table of numbers that is read in blocks of rows."""

    reads_in_blocks: bool  # True; distinguishes a source from other tables
    shape: tuple[int, int]  # numbers of rows and columns
    dtype: np.dtype[Any]  # float32 or float64, the dtype of standardised blocks
    names: list[str] | None  # of the columns, if they have any

    def beside(self, values: np.ndarray) -> Any:
        """Store one response or weight per row next to the rows, for many passes."""

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        """Merge the results of ``function(X_block, Y_block, p_block)`` over all blocks.

        Y and p are arrays, or results of :meth:`beside`; ``columns=None`` means all columns.
        """

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """Return all columns, or some, at increasing row numbers."""

    def keep(self, kept: np.ndarray) -> Source:
        """Return a source of the rows where a mask is true."""


def is_source(X: Any) -> bool:
    """Tell whether X is read in blocks."""
    return getattr(X, "reads_in_blocks", False) is True


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return rows of an array or a source in any order, in memory; sparse ones stay sparse."""
    if not is_source(X):
        return X[rows]
    if hasattr(X, "reordered"):
        return X.reordered(rows)
    order = np.argsort(rows)
    taken: np.ndarray = X.take(rows[order])[np.argsort(order)]
    return taken


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """Return float32 for float32, and float64 for anything else."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


def standardize_block(
    X: np.ndarray,
    mean: np.ndarray,
    scale: np.ndarray,
    gap_at: np.ndarray | None,
    dtype: np.dtype[Any],
) -> np.ndarray:
    """Return ``(X − mean) / scale``, computed in float64 and rounded to ``dtype``.

    ``gap_at`` is the value that replaces a missing one in each column; None if none is missing.
    """
    prepared = np.subtract(X, mean, dtype=np.float64)
    prepared /= scale
    if gap_at is not None:
        np.copyto(prepared, gap_at, where=np.isnan(prepared))
    return prepared.astype(dtype, copy=False)


def stays_what_it_is(X: Any) -> bool:
    """Tell whether a selection of X keeps its type: a tensor, a Dask collection or a source."""
    return is_source(X) or type(X).__module__.split(".")[0] in ("dask", "dask_expr", "torch")


def column_names(X: Any) -> list[str] | None:
    """Return the column names, if any, of X that satisfies :func:`stays_what_it_is`."""
    names = X.names if is_source(X) else getattr(X, "columns", None)
    return None if names is None else [str(name) for name in names]


def restrict_columns(X: Any, columns: np.ndarray) -> Any:
    """Return some columns of X that satisfies :func:`stays_what_it_is`."""
    if is_source(X):
        return X.restrict(columns)
    return X[list(X.columns[columns])] if hasattr(X, "columns") else X[:, columns]


@dataclass(frozen=True)
class StandardizedSource:
    """The standardised columns of a source: ``(X[:, index] − mean) / scale``."""

    source: Source
    index: np.ndarray  # source column of each column
    mean: np.ndarray  # one for each entry of `index`, like `scale`
    scale: np.ndarray
    gap_at: np.ndarray | None = None  # value of a missing entry in each column; None: no missing
    rounded_to: np.dtype[Any] | None = None  # None: the dtype of the source

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape[0], self.index.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.rounded_to or self.source.dtype

    def astype(self, dtype: Any, copy: bool = False) -> StandardizedSource:
        """Return the same columns, to be rounded to another dtype."""
        return replace(self, rounded_to=np.dtype(dtype))

    def standardize(self, X: np.ndarray) -> np.ndarray:
        """Standardise raw rows that have the columns of ``index``."""
        return standardize_block(X, self.mean, self.scale, self.gap_at, self.dtype)

    def sample(self, rows: np.ndarray) -> np.ndarray:
        """Return standardised rows at any row numbers."""
        order = np.argsort(rows)
        taken, place = self.source.take(rows[order], self.index), np.argsort(order)
        sample = np.empty((rows.size, self.index.size), dtype=self.dtype)

        def fill(tile: slice) -> None:
            sample[tile] = self.standardize(taken[place[tile]])

        for _ in map_blocks(fill, ((tile,) for tile in row_tiles(sample)), row_threads()):
            pass
        return sample

    def rows(self, Y: np.ndarray, p: np.ndarray) -> StandardizedRows:
        """Return the rows with responses and weights, for sums over blocks."""
        return StandardizedRows(self, *(self.source.beside(a.astype(self.dtype)) for a in (Y, p)))

    def restrict(self, columns: np.ndarray) -> StandardizedSource:
        parts = {name: getattr(self, name)[columns] for name in ("index", "mean", "scale")}
        gap_at = None if self.gap_at is None else self.gap_at[columns]
        return replace(self, gap_at=gap_at, **parts)


@dataclass(frozen=True)
class StandardizedRows:
    """Rows of a source, standardised block by block."""

    columns: StandardizedSource
    Y: Any  # responses (n_rows, n_responses) as the source stores them, like the weights p
    p: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns.shape

    def restrict(self, columns: np.ndarray) -> StandardizedRows:
        return replace(self, columns=self.columns.restrict(columns))

    def keep(self, function: Callable[[Any], Any], width: int) -> None:
        """Store nothing, because blocks are read again in each pass."""

    def sum(self, function: BlockFunction, *_: Any) -> tuple[Any, ...]:
        table = self.columns
        prepare = partial(
            standardize_block,
            mean=table.mean,
            scale=table.scale,
            gap_at=table.gap_at,
            dtype=table.dtype,
        )
        # The function must not hold the source, so that it can be sent to other processes.
        raw = partial(_on_prepared, function, prepare)
        return table.source.reduce(raw, add_up, self.Y, self.p, table.index)


def _on_prepared(function: BlockFunction, prepare: Any, X: np.ndarray, *others: np.ndarray) -> Any:
    """Add up the results of parts of a block: their Fourier features should fit in the cache."""
    size = default_block_size(X)
    parts = (slice(start, start + size) for start in range(0, X.shape[0], size))
    return add_up(function(prepare(X[part]), *(each[part] for each in others)) for part in parts)
