"""Handle missing values: indicators for those in X, and dropped samples for those in y."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from covmin.core.arrays import row_tiles
from covmin.remarks import warn

from .checks import gaps_refused, missing_responses
from .columns import Layout
from .sources import ArraySource, GapSource, is_source


def with_gaps(
    X: Any, layout: Layout, takes_missing: bool, names: Sequence[Hashable] | None
) -> tuple[Any, Layout]:
    """Append an indicator of missingness for each input column with missing values.

    A table without missing values is returned unchanged.
    """
    gaps = np.flatnonzero(_has_gaps(X))
    if gaps.size == 0:
        return X, layout
    inputs, first = np.unique(layout.source[gaps], return_index=True)
    if not takes_missing:
        raise gaps_refused([names[j] if names is not None else int(j) for j in inputs])
    marked = GapSource(X if is_source(X) else ArraySource(X), gaps[first])
    added = np.arange(X.shape[1], marked.shape[1])
    return marked, replace(layout, source=np.concatenate([layout.source, inputs]), gaps=added)


def _has_gaps(X: Any) -> np.ndarray:
    """Return a mask of the columns with missing values."""
    n, d = X.shape
    if is_source(X):
        nothing = np.empty((n, 0))
        found: np.ndarray = X.reduce(_gaps_block, _any, nothing, np.empty(n))
        return found
    return _any(np.isnan(X[tile]).any(axis=0) for tile in row_tiles(X)) if n else np.zeros(d, bool)


def _gaps_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.isnan(X).any(axis=0)
    return found


def _any(parts: Iterable[np.ndarray]) -> np.ndarray:
    found: np.ndarray = np.logical_or.reduce(list(parts))
    return found


def complete_samples(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, np.ndarray | None]:
    """Return the samples that have a response, and their row numbers (None for all).

    Issues a warning with the number of dropped samples. Inconsistent lengths are left to later
    checks.
    """
    if hasattr(y, "__dask_graph__"):
        y = y.compute()
    missing = missing_responses(y)
    n_missing, n = int(missing.sum()), missing.size
    if n_missing == 0:
        return X, y, sample_weight, None
    X = _to_pick_rows_of(X)
    weight = np.asarray(sample_weight)
    if (X.shape[0] if hasattr(X, "shape") else len(X)) != n or weight.shape not in ((), (n,)):
        return X, y, sample_weight, None
    if n - n_missing < 2:
        raise ValueError(
            f"Input y contains NaN: the response of {n_missing} of {n} samples is missing, but at "
            "least 2 samples must have one."
        )
    warn(
        "missing-responses",
        f"The response of {n_missing} of {n} samples is missing; these samples are dropped.",
    )
    rows = np.flatnonzero(~missing)
    X = X.keep(~missing) if is_source(X) else _safe_indexing(X, rows)
    return X, _safe_indexing(y, rows), weight[rows] if weight.ndim else sample_weight, rows


def _to_pick_rows_of(X: Any) -> Any:
    """Return a table that is too large to copy as a source, and any other unchanged."""
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf":
        return ArraySource(X)
    if hasattr(X, "__dask_graph__"):
        from .sources.dask import DaskSource

        return DaskSource.of(X)
    return X
