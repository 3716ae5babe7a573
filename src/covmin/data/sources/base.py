"""Tables too large to copy: read in blocks of rows, standardised as they pass.

A source says how many rows and columns there are, hands out raw blocks in order, and
fetches single rows. In memory, in a mapped file and in Parquet files it does so in this
process; on a cluster :mod:`~covmin.data.sources.dask` does so on the workers. Everything above
sees the same few methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from covmin.core.arrays import row_tiles
from covmin.core.rows import BlockFunction, add_up

# (raw X_block, Y_block, p_block) → anything
RawFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]
# any number of results, or of merged results, in order → the result for all of them
Merge = Callable[[Iterable[Any]], Any]


class Source(Protocol):
    """A table of numbers that is read in blocks of rows."""

    reads_in_blocks: bool  # True: what tells a source from other tables
    shape: tuple[int, int]  # numbers of rows and of columns
    dtype: np.dtype[Any]  # float32 or float64: what the blocks become once standardised
    names: list[str] | None  # of the columns, where they have any

    def beside(self, values: np.ndarray) -> Any:
        """Responses or weights, one for each row, put where the rows are for many passes."""

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        """Merge the results of ``function(X_block, Y_block, p_block)`` over all blocks.

        Y and p are arrays, or what :meth:`beside` made of them; ``columns`` None stands for all.
        """

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """All columns, or some, at increasing row numbers."""

    def keep(self, kept: np.ndarray) -> Source:
        """The rows where a mask is true, as a source of their own."""


def is_source(X: Any) -> bool:
    """Whether X is read in blocks."""
    return getattr(X, "reads_in_blocks", False) is True


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Rows of an array or a source, in any order, in memory: sparse ones stay so."""
    if not is_source(X):
        return X[rows]
    if hasattr(X, "reordered"):
        return X.reordered(rows)
    order = np.argsort(rows)
    taken: np.ndarray = X.take(rows[order])[np.argsort(order)]
    return taken


def float_dtype(dtype: Any) -> np.dtype[Any]:
    """float32 stays; anything else becomes float64."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


def standardize_block(
    X: np.ndarray,
    mean: np.ndarray,
    scale: np.ndarray,
    gap_at: np.ndarray | None,
    dtype: np.dtype[Any],
) -> np.ndarray:
    """``(X − mean) / scale`` in float64, then rounded to ``dtype``.

    ``gap_at`` says where a missing value stands in each column; None where none is missing.
    """
    prepared = np.subtract(X, mean, dtype=np.float64)
    prepared /= scale
    if gap_at is not None:
        np.copyto(prepared, gap_at, where=np.isnan(prepared))
    return prepared.astype(dtype, copy=False)


def stays_what_it_is(X: Any) -> bool:
    """Whether a selection of X should be of the same kind: a tensor, a Dask collection, a file."""
    return is_source(X) or type(X).__module__.split(".")[0] in ("dask", "dask_expr", "torch")


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of what :func:`stays_what_it_is`, where they have any."""
    names = X.names if is_source(X) else getattr(X, "columns", None)
    return None if names is None else [str(name) for name in names]


def restrict_columns(X: Any, columns: np.ndarray) -> Any:
    """Some columns of what :func:`stays_what_it_is`."""
    if is_source(X):
        return X.restrict(columns)
    return X[list(X.columns[columns])] if hasattr(X, "columns") else X[:, columns]


@dataclass(frozen=True)
class StandardizedSource:
    """Columns of a source as the criterion sees them: ``(X[:, index] − mean) / scale``."""

    source: Source
    index: np.ndarray  # column of the source behind each column
    mean: np.ndarray  # one for each of `index`, and so is `scale`
    scale: np.ndarray
    gap_at: np.ndarray | None = None  # where a missing value stands in each; None without gaps
    rounded_to: np.dtype[Any] | None = None  # None: the dtype of the source

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape[0], self.index.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.rounded_to or self.source.dtype

    def astype(self, dtype: Any, copy: bool = False) -> StandardizedSource:
        """The same columns, rounded to another dtype as they pass."""
        return replace(self, rounded_to=np.dtype(dtype))

    def standardize(self, X: np.ndarray) -> np.ndarray:
        """Treat raw rows, given by the columns of ``index``."""
        return standardize_block(X, self.mean, self.scale, self.gap_at, self.dtype)

    def sample(self, rows: np.ndarray) -> np.ndarray:
        """Standardised rows at any row numbers."""
        order = np.argsort(rows)
        taken, place = self.source.take(rows[order], self.index), np.argsort(order)
        sample = np.empty((rows.size, self.index.size), dtype=self.dtype)
        for tile in row_tiles(sample):
            sample[tile] = self.standardize(taken[place[tile]])
        return sample

    def rows(self, Y: np.ndarray, p: np.ndarray) -> StandardizedRows:
        """Rows with responses and weights, for sums over blocks."""
        return StandardizedRows(self, *(self.source.beside(a.astype(self.dtype)) for a in (Y, p)))

    def restrict(self, columns: np.ndarray) -> StandardizedSource:
        parts = {name: getattr(self, name)[columns] for name in ("index", "mean", "scale")}
        gap_at = None if self.gap_at is None else self.gap_at[columns]
        return replace(self, gap_at=gap_at, **parts)


@dataclass(frozen=True)
class StandardizedRows:
    """Rows of a source, standardised block by block as they pass."""

    columns: StandardizedSource
    Y: Any  # responses (n_rows, n_responses), as the source keeps them, and so are the weights p
    p: Any

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns.shape

    def restrict(self, columns: np.ndarray) -> StandardizedRows:
        return replace(self, columns=self.columns.restrict(columns))

    def keep(self, function: Callable[[Any], Any], width: int) -> None:
        """Nothing: blocks come and go."""

    def sum(self, function: BlockFunction, *_: Any) -> tuple[Any, ...]:
        table = self.columns
        prepare = partial(
            standardize_block,
            mean=table.mean,
            scale=table.scale,
            gap_at=table.gap_at,
            dtype=table.dtype,
        )
        # Without the source, so that it can be sent elsewhere.
        raw = partial(_on_prepared, function, prepare)
        return table.source.reduce(raw, add_up, self.Y, self.p, table.index)


def _on_prepared(function: BlockFunction, prepare: Any, X: np.ndarray, *others: np.ndarray) -> Any:
    return function(prepare(X), *others)
