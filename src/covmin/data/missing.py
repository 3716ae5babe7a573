"""Missing values: found in one way, marked by indicators in X, and dropped in y."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing

from covmin.core.arrays import row_tiles
from covmin.remarks import InputError, warn
from covmin.text import listed

from .blocks import as_blocks, in_blocks, marked
from .dtypes import missing_mask

if TYPE_CHECKING:
    from .layout import Layout


def missing_responses(y: Any) -> np.ndarray:
    """Return a mask of the samples that lack a response, or one of several.

    >>> missing_responses(np.array([[1.0, np.nan], [0.0, 1.0]]))
    array([ True, False])
    """
    missing = missing_mask(y)
    if missing.ndim == 0:
        return np.zeros(0, dtype=bool)
    return np.asarray(missing.any(axis=tuple(range(1, missing.ndim))))


def refuse_missing(frame: Any) -> None:
    """Raise an error if a frame has missing values, naming the columns."""
    columns = ((name, _safe_indexing(frame, j, axis=1)) for j, name in enumerate(frame.columns))
    if missing := [str(name) for name, column in columns if missing_mask(column).any()]:
        raise missing_refused(missing)


def missing_refused(columns: Sequence[Hashable]) -> InputError:
    """Return the error about missing values that are not allowed."""
    return InputError(
        f"Input X contains NaN: values are missing in {listed(columns)}. Drop these rows or "
        "columns, or impute the values, for example with scikit-learn's SimpleImputer.",
        "column_types",
        columns,
    )


def add_indicators(
    X: Any, layout: Layout, takes_missing: bool, names: Sequence[Hashable] | None
) -> tuple[Any, Layout]:
    """Append an indicator of missingness for each input column with missing values.

    A table without missing values is returned unchanged.
    """
    missing = np.flatnonzero(_columns_with_missing(X))
    if missing.size == 0:
        return X, layout
    inputs, first = np.unique(layout.source[missing], return_index=True)
    if not takes_missing:
        raise missing_refused([names[j] if names is not None else int(j) for j in inputs])
    source = np.concatenate([layout.source, inputs])
    added = np.arange(X.shape[1], source.size)
    table = marked(as_blocks(X), missing[first])
    return table, replace(layout, source=source, indicators=added)


def _columns_with_missing(X: Any) -> np.ndarray:
    n, d = X.shape
    if in_blocks(X):
        found: np.ndarray = X.reduce(_missing_block, _any, np.empty((n, 0)), np.empty(n))
        return found
    return _any(np.isnan(X[tile]).any(axis=0) for tile in row_tiles(X)) if n else np.zeros(d, bool)


def _missing_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> np.ndarray:
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
    weight = np.asarray(sample_weight)
    if (X.shape[0] if hasattr(X, "shape") else len(X)) != n or weight.shape not in ((), (n,)):
        return X, y, sample_weight, None
    if n - n_missing < 2:
        raise InputError(
            f"Input y contains NaN: the response of {n_missing} of {n} samples is missing, but at "
            "least 2 samples must have one.",
            "y",
        )
    warn(
        "missing-responses",
        f"The response of {n_missing} of {n} samples is missing; these samples are dropped.",
    )
    rows = np.flatnonzero(~missing)
    X = X.keep(~missing) if in_blocks(X) else _safe_indexing(X, rows)
    return X, _safe_indexing(y, rows), weight[rows] if weight.ndim else sample_weight, rows
