"""Read what the user passes as X and y, once, as one :class:`Table`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_X_y

from covmin.core.arrays import to_numpy
from covmin.core.rows import add_up
from covmin.remarks import InputError, Remark, recorded, warn
from covmin.runtime.machine import check_memory

from .blocks import ArrayBlocks, SparseBlocks, as_blocks, in_blocks, marked, rows_of, sparse_table
from .checks import check_kind, checked_numbers, missing_refused, refuse_missing, refuse_times
from .columns import (
    KINDS,
    LEFT_OUT,
    ReadColumn,
    Reading,
    identifies_rows,
    read_as,
    read_by_itself,
    summary,
)
from .dtypes import (
    holds_numbers,
    is_category,
    is_frame,
    is_integer,
    is_number,
    is_of,
    local_frame,
    missing_mask,
    names_of,
)
from .layout import Layout, column_mask, position, units_of
from .response import EncodedResponse, class_weights, encode_response, ordered_levels
from .standardize import (
    DistinctRows,
    PreparedColumns,
    Standardize,
    check_finite,
    prepare_columns,
    value_range,
)
from .survival import survival_times

# Kind of a column that is used unchanged, or refused if it is not numeric; and all kinds that
# numbers may be read as.
_PLAIN = "plain"
_AS_IT_IS = (None, "number", _PLAIN)


@dataclass(frozen=True)
class TableOptions:
    """How to read a table: the parameters of :class:`covmin.CCMSelector` of the same names."""

    # "auto"; a dict from columns to kinds; or "strict": columns must be numbers or have a
    # categorical dtype, with no value missing.
    column_types: Any = "auto"
    feature_groups: Any = None
    given: Any = None
    task: str = "auto"
    class_weight: Any = None
    response_kernel: str = "linear"
    clip: bool = True  # whether a few far values are clipped

    @classmethod
    def of(cls, estimator: Any, **changed: Any) -> TableOptions:
        """Return the parameters of an estimator that say how to read a table."""
        names = [option.name for option in fields(cls)]
        found = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
        formulation = getattr(estimator, "formulation", None)
        found["response_kernel"] = getattr(formulation, "response_kernel", "linear")
        return cls(**found | changed)


@dataclass(frozen=True)
class Table:
    """The checked and encoded input of a fit, without samples of weight zero."""

    X: Any  # array or Blocks, (n_samples, n_encoded)
    response: EncodedResponse
    weight: np.ndarray  # (n_samples,)
    layout: Layout
    labels: np.ndarray | None  # of each feature, if there are groups of columns
    passed: tuple[Any, Any]  # X and y as passed
    row: np.ndarray  # (n_samples,), row number of each sample in what was passed
    names: np.ndarray | None = None  # names of the input columns, if they have any
    kinds: np.ndarray | None = None  # (n_inputs,): how each input column was read
    readings: tuple[Reading, ...] = ()  # of the columns that are not plain numbers
    remarks: tuple[Remark, ...] = ()  # what was said while reading
    groups: np.ndarray | None = None  # (n_samples,), group of each row
    options: TableOptions = TableOptions()

    @property
    def n_samples(self) -> int:
        """Number of samples with positive weight."""
        return int(self.X.shape[0])

    @property
    def column_labels(self) -> np.ndarray:
        """Label of each column of X: the name or number of the input column."""
        return self.layout.source if self.names is None else self.names[self.layout.source]

    def missing_shares(self, p: np.ndarray) -> np.ndarray:
        """Return the weighted fraction of missing values in each input column."""
        shares = np.zeros(self.layout.unit.size)
        indicators = self.layout.indicators
        if indicators.size:
            means = as_blocks(self.X).reduce(_means_block, add_up, p, p, indicators)[0]
            shares[self.layout.source[indicators]] = means
        passed = _as_table(self.passed[0])
        for j in np.flatnonzero(self.layout.categorical):
            shares[j] = p @ missing_mask(_safe_indexing(passed, j, axis=1))[self.row]
        return shares

    def columns(self, standardize: Standardize, device: str | None = None) -> PreparedColumns:
        """Prepare the columns for the criterion, to be read in blocks, on a device if named."""
        return prepare_columns(
            as_blocks(self.X, device),
            standardize,
            layout=self.layout,
            sample_weight=self.weight,
            Y=self.response.Y,
            clip=self.options.clip,
        )

    def in_memory(self) -> Table:
        """Return the same samples as arrays, if they fit in memory."""
        if not in_blocks(self.X):
            return self
        n, d = self.X.shape
        check_memory(
            n * d * self.X.dtype.itemsize,
            f"A copy of {n} rows and {d} columns",
            'Only random Fourier features read rows in blocks: use approximation="fourier" with '
            "any kernel except the polynomial one, without given features, on the CPU.",
        )
        X = self.X.take(np.arange(n))
        there = ~np.isnan(X) if self.layout.indicators.size else None
        check_finite(*value_range(X, there), self.X.names)  # an array has no names
        return replace(self, X=X)

    def distinct(self, rows: DistinctRows, most: int) -> Table:
        """Return the distinct samples in memory, each with the weight of its duplicates.

        At most ``most`` samples are drawn at random. Sparse samples stay sparse.
        """
        first = rows.first[:most]
        response = self.response.of_rows(first)
        if response.labels is not None:
            response = replace(response, labels=np.unique(response.labels, return_inverse=True)[1])
        weight = rows.p[:most] * self.weight.sum()
        sparse = isinstance(self.X, SparseBlocks)
        X = self.X if sparse or first.size < self.n_samples else self.in_memory().X
        row = self.row[first]
        groups = None if self.groups is None else self.groups[first]
        X = rows_of(X, first)
        return replace(self, X=X, response=response, weight=weight, row=row, groups=groups)


def _means_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray]:
    return (p @ X,)


def _missing_block(X: np.ndarray, Y: np.ndarray, p: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.isnan(X).any(axis=0)
    return found


def read(
    X: Any, y: Any, options: TableOptions, sample_weight: Any = None, groups: Any = None
) -> Table:
    """Check and encode X and y.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_columns), or Table
        A table is returned unchanged.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    options : TableOptions
    sample_weight : array-like of shape (n_samples,), default=None
    groups : array-like of shape (n_samples,), default=None
        Group of each row.

    Returns
    -------
    table : Table
    """
    if isinstance(X, Table):
        return X
    X, y = local_frame(X), _one_column(y, local_frame(y))
    _check_order(X, y)
    passed, strict = (X, y), options.column_types == "strict"
    with recorded() as remarks:
        levels, task = ordered_levels(y), options.task
        is_structured = getattr(getattr(y, "dtype", None), "names", None) is not None
        if task == "survival" or (task == "auto" and is_structured):
            y, task = survival_times(y, task), "survival"
        X, y, weight, row = usable_samples(_as_table(X), y, sample_weight)
        check_kind(X, y)
        names = names_of(X)
        matrix = read_matrix(X, names, options)
        if strict and is_frame(X):
            refuse_missing(X)
        # Whatever X holds, y must have the same number of rows.
        rows = np.broadcast_to(np.zeros(1), (matrix.X.shape[0], 1))
        _, y = check_X_y(rows, y, multi_output=True, ensure_min_samples=2)
        unit, given, labels = units_of(options.feature_groups, matrix.given, names)
        layout = Layout(matrix.source, matrix.kinds == "category", unit, given)
        X, layout = add_indicators(matrix.X, layout, not strict, names)
        how: dict[str, Any] = {
            "levels": levels,
            "kernel": options.response_kernel,
            "clip": options.clip,
        }
        response = encode_response(y, task, sample_weight=weight, **how)
        if options.class_weight is not None:
            weight = class_weights(response, options.class_weight, weight)
            response = encode_response(y, task, sample_weight=weight, **how)
    return Table(
        X=X,
        response=response,
        weight=weight,
        layout=layout,
        labels=labels,
        passed=passed,
        row=row,
        names=np.array(names, dtype=object) if names and isinstance(names[0], str) else None,
        kinds=matrix.kinds,
        readings=matrix.readings,
        remarks=tuple(remarks),
        groups=None if groups is None else _row_groups(groups, len(passed[1]))[row],
        options=options,
    )


def _one_column(y: Any, local: Any) -> Any:
    """Return the column of a response that had to be read, if it is a table of one column."""
    if local is y or not is_frame(local) or local.shape[1] != 1:
        return local
    return local[local.columns[0]]


def _check_order(X: Any, y: Any) -> None:
    """Warn if the index of y has the labels of X in another order: rows are matched by place."""
    if not (is_of(X, "pandas") and is_of(y, "pandas") and X.index.size == y.index.size):
        return
    if not X.index.equals(y.index) and X.index.sort_values().equals(y.index.sort_values()):
        warn(
            "other-order",
            "The index of y has the labels of the index of X, but in another order. Rows are "
            "matched by place, as in scikit-learn.",
            advice="If they belong together by label, pass y.loc[X.index].",
        )


def usable_samples(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Return the samples with a response and a weight, their weights, and their row numbers.

    Inconsistent lengths of X and y are left to later checks.
    """
    if hasattr(y, "__dask_graph__"):
        y = y.compute()
    missing = np.atleast_1d(missing_mask(y))
    missing = np.asarray(missing.any(axis=tuple(range(1, missing.ndim))))
    n, n_missing = missing.size, int(missing.sum())
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if np.shape(X)[:1] != (n,):
        return X, y, np.ones(n), np.arange(n)
    if weight.shape not in ((), (n,)):
        raise InputError(
            f"sample_weight must have one entry for each of the {n} samples; "
            f"its shape is {weight.shape}.",
            "sample_weight",
        )
    weight = np.array(np.broadcast_to(weight, n))
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise InputError("sample_weight must contain finite numbers ≥ 0.", "sample_weight")
    if n_missing:
        if n - n_missing < 2:
            raise InputError(
                f"Input y contains NaN: the response of {n_missing} of {n} samples is missing, but "
                "at least 2 samples must have one.",
                "y",
            )
        warn(
            "missing-responses",
            f"The response of {n_missing} of {n} samples is missing; these samples are dropped.",
        )
    kept = ~missing & (weight > 0.0)
    if kept.sum() < 2 <= n:
        raise InputError(
            f"Only {int(kept.sum())} of {n} sample weights are not zero, but at least 2 must be.",
            "sample_weight",
        )
    if weight.max(initial=0.0) > np.finfo(np.float64).max / max(n, 1):
        weight /= weight.max()  # their sum would be infinite
    if kept.all():
        return X, y, weight, np.arange(n)
    rows = np.flatnonzero(kept)
    X = X.keep(kept) if in_blocks(X) else _safe_indexing(X, rows)
    return X, _safe_indexing(y, rows), weight[rows], rows


def add_indicators(
    X: Any, layout: Layout, takes_missing: bool, names: Sequence[Hashable] | None
) -> tuple[Any, Layout]:
    """Append an indicator of missingness for each input column with missing values.

    A table without missing values is returned unchanged.
    """
    n = X.shape[0]
    no_rows = np.empty((n, 0)), np.empty(n)
    is_missing = as_blocks(X).reduce(_missing_block, np.logical_or.reduce, *no_rows)
    missing = np.flatnonzero(is_missing)
    if missing.size == 0:
        return X, layout
    inputs, first = np.unique(layout.source[missing], return_index=True)
    if not takes_missing:
        raise missing_refused([names[j] if names is not None else int(j) for j in inputs])
    source = np.concatenate([layout.source, inputs])
    added = np.arange(X.shape[1], source.size)
    table = marked(as_blocks(X), missing[first])
    return table, replace(layout, source=source, indicators=added)


def _row_groups(groups: Any, n: int) -> np.ndarray:
    """Return one label for each row."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(
            f"groups must have one label for each of the {n} rows; its shape is {labels.shape}.",
            "groups",
        )
    if missing_mask(groups).any():
        raise InputError("groups contains a missing label; give every row a label.", "groups")
    return labels


@dataclass(frozen=True)
class Matrix:
    """A table as numbers, in which one column may become several, or none."""

    X: Any  # array or Blocks, (n_samples, n_encoded), NaN where a number or a date is missing
    source: np.ndarray  # (n_encoded,), column of the table that each comes from
    kinds: np.ndarray  # (n_columns,) of str
    given: np.ndarray  # (n_columns,) bool
    readings: tuple[Reading, ...] = ()


def _as_table(X: Any) -> Any:
    """Return blocks of a table that must not be copied, an array of lists, and others unchanged."""
    if issparse(X):
        return sparse_table(X)
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf":
        return ArrayBlocks(X)
    if is_of(X, "dask", "dask_expr"):
        from .blocks.dask import DaskBlocks

        return DaskBlocks.of(X)
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)
    # As objects, the numbers among text stay numbers.
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def read_matrix(X: Any, names: Sequence[Hashable] | None, options: TableOptions) -> Matrix:
    """Encode a table in memory: numbers unchanged, other columns by what they hold."""
    d = X.shape[1] if len(X.shape) == 2 else 0
    is_given, as_is = np.zeros(d, dtype=bool), (np.arange(d), np.full(d, "number"))
    # Other checks refuse what is not a table.
    if len(X.shape) != 2 or X.shape[0] < 2:
        return Matrix(checked_numbers(X), *as_is, is_given)
    if options.given is not None:
        is_given = column_mask(options.given, names, d, "given")
    wanted = _wanted_kinds(X, names, options)
    if in_blocks(X):
        if all(kind in _AS_IT_IS for kind in wanted):
            return Matrix(X, *as_is, is_given)
        if not isinstance(X, ArrayBlocks):
            raise InputError(
                "column_types requires a table in memory, but this X is read in blocks. Encode "
                "these columns first and omit column_types, or load the table into memory.",
                "column_types",
            )
        X = X.array
    plain = _plain_columns(X, names, wanted, is_given)
    if plain.all():
        return Matrix(checked_numbers(X), *as_is, is_given)
    numbers = np.empty((X.shape[0], 0))
    if plain.any():
        numbers = checked_numbers(_safe_indexing(X, np.flatnonzero(plain), axis=1))
    labels = list(range(d)) if names is None else names
    place, columns = np.cumsum(plain) - 1, list[ReadColumn]()
    for j, kind in enumerate(wanted):
        if plain[j]:
            columns.append(ReadColumn("number", numbers[:, place[j], None]))
            continue
        column = _safe_indexing(X, j, axis=1)
        if kind is None:
            columns.append(read_by_itself(column, is_trusted=bool(is_given[j])))
        else:
            columns.append(read_as(kind, column, labels[j]))
    readings = [
        Reading(label, read.kind, read.words, read.note)
        for label, read in zip(labels, columns, strict=True)
        if read.words
    ]
    if all(read.kind in LEFT_OUT for read in columns):
        raise InputError(
            f"No column is left to select from. {' '.join(summary(readings))} Use column_types to "
            "override this.",
            "column_types",
        )
    return Matrix(
        np.concatenate([read.block for read in columns], axis=1, dtype=numbers.dtype),
        np.repeat(np.arange(d), [read.block.shape[1] for read in columns]),
        np.array([read.kind for read in columns]),
        is_given,
        tuple(readings),
    )


def _wanted_kinds(
    X: Any, names: Sequence[Hashable] | None, options: TableOptions
) -> list[str | None]:
    """Return the requested kind of each column of a table; None if it is to be inferred."""
    n_columns = X.shape[1]
    if options.column_types == "strict":
        dtypes = [""] * n_columns if names is None or in_blocks(X) else X.dtypes
        wanted: list[str | None] = ["category" if is_category(each) else _PLAIN for each in dtypes]
        refuse_times(X, np.array(wanted) == "category")
        return wanted
    wanted = [None] * n_columns
    if isinstance(options.column_types, Mapping):
        for column, kind in options.column_types.items():
            if kind not in KINDS:
                raise InputError(
                    f"column_types has {kind!r} for column {column!r}; allowed are "
                    f"{', '.join(map(repr, KINDS))}.",
                    "column_types",
                    [column],
                )
            wanted[position(column, names, n_columns, "column_types")] = kind
    return wanted


def _plain_columns(
    X: Any, names: Sequence[Hashable] | None, wanted: Sequence[str | None], is_given: np.ndarray
) -> np.ndarray:
    """Return a mask of the columns that are used unchanged: numbers, but not row numbers."""
    allowed = np.array([kind in _AS_IT_IS for kind in wanted], dtype=bool)
    if names is None:
        # Columns of an array are never row numbers: users number arrays on purpose.
        return allowed & holds_numbers(X)
    # Complex numbers raise an error later, together with the other numbers.
    are_numbers = [is_number(each) or getattr(each, "kind", "O") == "c" for each in X.dtypes]
    plain = np.array([kind == _PLAIN for kind in wanted], dtype=bool)
    plain |= allowed & np.array(are_numbers, dtype=bool)
    whole = [
        j
        for j, (dtype, kind) in enumerate(zip(X.dtypes, wanted, strict=True))
        if plain[j] and kind is None and not is_given[j] and is_integer(dtype)
    ]
    for j in whole:
        plain[j] = not identifies_rows(_safe_indexing(X, j, axis=1), len(whole))
    return plain


def from_tensors(X: Any, device: str | None, *others: Any) -> tuple[Any, ...]:
    """Convert torch tensors to NumPy arrays, and return the device to compute on.

    A tensor in main memory becomes an array without a copy. A tensor on another device is copied
    once for checks and standardisation; the computation runs on its device unless the user chose
    another.
    """
    if device is None and is_of(X, "torch") and X.device.type != "cpu":
        device = str(X.device)
    arrays = [to_numpy(item) if is_of(item, "torch") else item for item in (X, *others)]
    return arrays[0], device, *arrays[1:]
