"""Process blocks of rows with Dask.

Each partition is processed where it is stored, by the same functions as in a single process. Only
sums and a few rows are returned. With a running ``distributed.Client`` the partitions are
persisted on its workers once, and if a worker is lost, its partitions are recomputed. With Dask's
local scheduler nothing is persisted: partitions are recomputed for each pass, so that memory stays
bounded. This module is imported only for Dask arrays and dataframes, so it may import Dask.
"""

import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from operator import getitem
from typing import Any, Self

import dask
import numpy as np

from covmin.data.dtypes import no_numbers

from .array import ArrayBlocks, Blocks, Merge, RawFunction, float_dtype

# Partial results merged by one task: the tree for 1000 partitions has four levels.
_FAN_IN = 8
# Do not look up results by a hash of their inputs.
_delayed = partial(dask.delayed, pure=False)


def _as_array(part: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """Convert a partition to a C-ordered array; missing values in nullable columns become NaN."""
    if hasattr(part, "columns"):
        part = part.to_numpy(dtype=dtype, na_value=np.nan)
    return np.ascontiguousarray(np.asarray(part), dtype=dtype)


def _on_partition(
    function: RawFunction, merge: Merge, columns: np.ndarray | None, X: Any, Y: Any, p: Any
) -> Any:
    """Apply a block function to the blocks of one partition and merge the results."""
    blocks = ArrayBlocks(X).blocks(columns)
    rows = ((slice(start, start + len(block)), block) for start, block in blocks)
    return merge([function(block, Y[part], p[part]) for part, block in rows])


def _client() -> Any:
    """Return the running client, or None."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _persist(parts: list[Any]) -> list[Any]:
    return parts if _client() is None else list(dask.persist(*parts))


def _compute(values: Sequence[Any]) -> list[Any]:
    """Compute delayed values; raise an error if the cluster no longer responds."""
    client = _client()
    if client is None:
        return list(dask.compute(*values))
    try:
        futures = client.compute(list(values))
        _wait(client, futures)
        return list(client.gather(futures))
    except CancelledError as error:
        text = f"The Dask cluster abandoned the work: {error} Check that its scheduler is running"
        raise ConnectionError(f"{text}; then repeat the fit.") from error


def _wait(client: Any, futures: list[Any]) -> None:
    """Wait as long as any worker responds: slow is fine, silent is not."""
    from dask.utils import parse_timedelta
    from distributed import wait

    patience = parse_timedelta(dask.config.get("covmin.silence", "60s"))
    last_news, heard = None, time.monotonic()
    while True:
        try:
            wait(futures, timeout=patience / 4)
            return
        except TimeoutError:
            news = None
            with suppress(TimeoutError, OSError):  # when a worker was last heard, by their clock
                state = client.sync(client.scheduler.identity, callback_timeout=patience / 4)
                workers = state["workers"].values()
                news = max((worker["last_seen"] for worker in workers), default=None)
        if news is not None and news != last_news:
            last_news, heard = news, time.monotonic()
        elif time.monotonic() - heard > patience:
            text = (
                f"No worker of the Dask cluster has responded for {patience:g} s. Check that they"
            )
            cure = "are running; dask.config.set({'covmin.silence': '10min'}) waits longer."
            raise TimeoutError(f"{text} {cure}")


class DaskBlocks(Blocks):
    """The partitions of a Dask collection."""

    def __init__(
        self,
        parts: list[Any],  # one Delayed array of shape (rows, n_columns) for each of the lengths
        lengths: Sequence[int],
        n_columns: int,
        dtype: np.dtype[Any],
        names: list[str] | None = None,
    ) -> None:
        # Skip partitions without rows, for example after a filter: there is nothing to merge.
        self.parts = [part for part, n_rows in zip(parts, lengths, strict=True) if n_rows]
        self.starts = np.cumsum([0, *filter(None, lengths)])
        self.shape = (int(self.starts[-1]), n_columns)
        self.dtype, self.names = dtype, names

    @classmethod
    def of(cls, X: Any) -> Self:
        """Create blocks from the partitions of a Dask array or dataframe."""
        names = None
        if hasattr(X, "columns"):
            names = [str(name) for name in X.columns]
            if bad := [str(name) for name, kind in X.dtypes.items() if kind.kind not in "biuf"]:
                raise no_numbers(bad, "Drop, convert or encode them first.")
            # A nullable pandas dtype has the NumPy dtype as an attribute.
            dtypes = {getattr(dtype, "numpy_dtype", dtype) for dtype in X.dtypes}
            delayed = X.to_delayed()
        elif getattr(X, "ndim", 0) == 2:
            if X.dtype.kind not in "biuf":
                raise ValueError(f"X must hold numbers; its dtype is {X.dtype}.")
            if np.isnan(X.shape[0]):
                X = X.compute_chunk_sizes()
            dtypes = {X.dtype}
            delayed = X.rechunk({1: -1}).to_delayed().ravel()
        else:
            allowed = "a Dask array with two dimensions or a Dask dataframe"
            raise ValueError(f"X must be {allowed}; got {type(X).__name__}.")
        dtype = float_dtype(dtypes.pop()) if len(dtypes) == 1 else np.dtype(np.float64)
        convert, length = _delayed(_as_array), dask.delayed(len)
        parts = _persist([convert(part, dtype) for part in delayed])
        lengths = X.chunks[0] if names is None else _compute([length(part) for part in parts])
        return cls(parts, lengths, int(X.shape[1]), dtype, names)

    def _pieces(self, values: Any) -> list[Any]:
        """Split values by partition; values stored by :meth:`beside` are already split."""
        return values if isinstance(values, list) else np.split(values, self.starts[1:-1])

    def beside(self, values: np.ndarray) -> list[Any]:
        """Return one Delayed per partition, sent to the workers once."""
        keep = _delayed(np.asarray)
        return _persist([keep(piece) for piece in self._pieces(values)])

    def reduce(
        self, function: RawFunction, merge: Merge, Y: Any, p: Any, columns: np.ndarray | None = None
    ) -> Any:
        # Delayed once, so that the function, with its frequencies, is sent to each worker once.
        work = _delayed(partial(_on_partition, function, merge, columns))
        pieces = zip(self.parts, self._pieces(Y), self._pieces(p), strict=True)
        results, join = [work(X, Y, p) for X, Y, p in pieces], _delayed(merge)
        while len(results) > 1:  # always in the same order
            results = [join(results[i : i + _FAN_IN]) for i in range(0, len(results), _FAN_IN)]
        return _compute(results)[0]

    def take(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        order = np.argsort(rows)
        rows = rows[order]
        bounds = np.searchsorted(rows, self.starts)
        pieces = zip(self.parts, self.starts[:-1], bounds[:-1], bounds[1:], strict=True)
        pick = _delayed(lambda X, rows: ArrayBlocks(X).take(rows, columns))
        wanted = [pick(part, rows[a:b] - start) for part, start, a, b in pieces if a < b]
        return np.concatenate(_compute(wanted))[np.argsort(order)]

    def keep(self, kept: np.ndarray) -> Self:
        """Select rows on the workers."""
        pick, masks = _delayed(getitem), self._pieces(kept)
        pieces = zip(self.parts, masks, strict=True)
        parts = [part if mask.all() else pick(part, mask) for part, mask in pieces]
        lengths = [int(mask.sum()) for mask in masks]
        return type(self)(parts, lengths, self.shape[1], self.dtype, self.names)
