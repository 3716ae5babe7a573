"""Read what the user passes as X and y, once, as one :class:`Table`."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_X_y

from covmin.core.rows import add_up
from covmin.remarks import InputError, Remark, recorded, warn
from covmin.runtime.machine import check_memory

from .blocks import ArrayBlocks, Blocks, SparseBlocks, as_blocks, marked, rows_of, sparse_table
from .blocks.array import block_rows
from .checks import check_kind, checked_numbers, missing_refused, refuse_missing
from .columns import (
    KINDS,
    LEFT_OUT,
    Levels,
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
    def of(cls, estimator: Any, **changed: Any) -> Self:
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
    kinds: np.ndarray  # (n_inputs,): how each input column was read
    names: np.ndarray | None = None  # names of the input columns, if they have any
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
            means = as_blocks(self.X).reduce(
                lambda X, _, p: (p @ X,), add_up, p, p, columns=indicators
            )
            shares[self.layout.source[indicators]] = means[0]
        passed = _as_table(self.passed[0])
        for j in np.flatnonzero(self.layout.categorical):
            shares[j] = p @ missing_mask(_safe_indexing(passed, j, axis=1))[self.row]
        return shares

    def n_distinct(self) -> np.ndarray:
        """Return the number of distinct values of each input column, or NaN from disk and Dask."""
        counts, passed = np.full(self.layout.unit.size, np.nan), self.passed[0]
        if isinstance(passed, Blocks) or hasattr(passed, "__dask_graph__"):
            return counts
        is_number = np.asarray(self.kinds) == "number"
        rows, source, table = np.arange(self.row.size), self.layout.source, _as_table(passed)
        numbers = np.setdiff1d(np.flatnonzero(is_number[source]), self.layout.indicators)
        size = block_rows(rows.size)
        for start in range(0, numbers.size, size):
            columns = numbers[start : start + size]
            values = np.sort(as_blocks(self.X).take(rows, columns), axis=0)  # NaN at the end
            counts[source[columns]] = ~np.isnan(values[0]) + (values[1:] > values[:-1]).sum(axis=0)
        for j in np.flatnonzero(~is_number):
            column = _safe_indexing(_safe_indexing(table, j, axis=1), self.row)
            counts[j] = len(Levels.of(column).values)
        return counts

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

    def in_memory(self) -> Self:
        """Return the same samples as arrays, if they fit in memory."""
        if not isinstance(self.X, Blocks):
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

    def distinct(self, rows: DistinctRows, most: int) -> Self:
        """Return the distinct samples in memory, each with the weight of its duplicates.

        At most ``most`` samples are drawn at random. Sparse samples stay sparse.
        """
        first = rows.first[:most]
        response = self.response.of_rows(first)
        if response.labels is not None:
            response = replace(response, labels=np.unique(response.labels, return_inverse=True)[1])
        is_part = isinstance(self.X, SparseBlocks) or first.size < self.n_samples
        return replace(
            self,
            X=rows_of(self.X if is_part else self.in_memory().X, first),
            response=response,
            weight=rows.p[:most] * self.weight.sum(),
            row=self.row[first],
            groups=None if self.groups is None else self.groups[first],
        )


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
    X, y = local_frame(X), _local_response(y)
    _check_pair(X, y)
    passed, strict = (X, y), options.column_types == "strict"
    with recorded() as remarks:
        levels, task = ordered_levels(y), options.task
        is_structured = getattr(getattr(y, "dtype", None), "names", None) is not None
        if task == "survival" or (task == "auto" and is_structured):
            y, task = survival_times(y, task), "survival"
        X = _as_table(X)
        names = names_of(X)
        check_kind(X, y, names)
        X, y, weight, row = usable_samples(X, y, sample_weight)
        matrix = read_matrix(X, names, options)
        if strict and is_frame(X):
            refuse_missing(X)
        # Whatever X holds, y must have the same number of rows.
        rows = np.broadcast_to(np.zeros(1), (matrix.X.shape[0], 1))
        _, y = check_X_y(rows, y, multi_output=True, ensure_min_samples=2)
        unit, given, labels = units_of(options.feature_groups, matrix.given, names)
        layout = Layout(matrix.source, matrix.kinds == "category", unit, given)
        X, layout = add_indicators(matrix.X, layout, not strict, names)
        kernel, clip = options.response_kernel, options.clip
        encode = partial(encode_response, y, task, levels=levels, kernel=kernel, clip=clip)
        response = encode(sample_weight=weight)
        if options.class_weight is not None:
            weight = class_weights(response, options.class_weight, weight)
            response = encode(sample_weight=weight)
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


def _local_response(y: Any) -> Any:
    """Return a response in memory; a table of one column that had to be read as this column."""
    local = y.compute() if hasattr(y, "__dask_graph__") else local_frame(y)
    if local is y or not is_frame(local) or local.shape[1] != 1:
        return local
    return local[local.columns[0]]


def _check_pair(X: Any, y: Any) -> None:
    """Refuse masked arrays, and the name of a response.

    Warn if the index of y has the labels of X in another order: rows are matched by place.
    """
    if np.ma.isMaskedArray(X) or np.ma.isMaskedArray(y):
        raise TypeError(
            "Masked arrays are not supported: the masked values would be used like any others. "
            "Drop or impute them and pass an ordinary array."
        )
    if isinstance(y, str):
        raise InputError(
            f"y is the text {y!r}. Pass the response itself, such as X[{y!r}], and X without it.",
            "y",
        )
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
    missing = np.atleast_1d(missing_mask(y))
    missing = np.asarray(missing.any(axis=tuple(range(1, missing.ndim))))
    n, n_missing = missing.size, int(missing.sum())
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if np.shape(X)[:1] != (n,):
        return X, y, np.ones(n), np.arange(n)
    if weight.shape not in ((), (n,)):
        raise InputError(
            f"sample_weight must have one entry for each of the {n} samples; its shape is "
            f"{weight.shape}.",
            "sample_weight",
        )
    weight = np.array(np.broadcast_to(weight, n))
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise InputError("sample_weight must contain finite numbers ≥ 0.", "sample_weight")
    weight /= max(weight.max(initial=0.0) / np.finfo(np.float64).max * n, 1.0)  # a finite sum
    weight[weight < np.finfo(np.float64).eps * weight.max(initial=0.0)] = 0.0  # lost to rounding
    kept = ~missing & (weight > 0.0)
    if kept.sum() < 2 <= n:
        what = f"y contains NaN: the response of {n_missing} of {n} samples is missing"
        if not n_missing:
            what = f"sample_weight is zero, or next to it, for {n - kept.sum()} of {n} samples"
        raise InputError(
            f"Input {what}, but at least 2 samples must have a response and a positive weight.",
            "y" if n_missing else "sample_weight",
        )
    if n_missing:
        warn(
            "missing-responses",
            f"The response of {n_missing} of {n} samples is missing; these samples are dropped.",
        )
    if kept.all():
        return X, y, weight, np.arange(n)
    rows = np.flatnonzero(kept)
    X = X.keep(kept) if isinstance(X, Blocks) else _safe_indexing(X, rows)
    return X, _safe_indexing(y, rows), weight[rows], rows


def add_indicators(
    X: Any, layout: Layout, takes_missing: bool, names: Sequence[Hashable] | None
) -> tuple[Any, Layout]:
    """Append an indicator of missingness for each input column with missing values.

    A table without missing values is returned unchanged.
    """
    nothing = np.empty((X.shape[0], 0))
    is_missing = as_blocks(X).reduce(
        lambda X, *_: np.isnan(X).any(axis=0), np.logical_or.reduce, nothing, nothing
    )
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
    if labels.shape != (n,) or missing_mask(groups).any():
        raise InputError(
            f"groups must have one label for each of the {n} rows, none of them missing; its shape "
            f"is {labels.shape}.",
            "groups",
        )
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
    if isinstance(X, Mapping):
        raise InputError(
            f"X is a {type(X).__name__}, not a table. Pass an array or a frame, such as "
            "pandas.DataFrame(X); of a dataset of scikit-learn, pass X.data.",
            "X",
        )
    array = np.asarray(X)
    # As objects, the numbers among text stay numbers.
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def read_matrix(X: Any, names: Sequence[Hashable] | None, options: TableOptions) -> Matrix:
    """Encode a table in memory: numbers unchanged, other columns by what they hold."""
    d = X.shape[1] if len(X.shape) == 2 else 0
    is_given, as_is = np.zeros(d, dtype=bool), (np.arange(d), np.full(d, "number"))
    if len(X.shape) != 2 or X.shape[0] < 2:  # no table, which is refused
        return Matrix(checked_numbers(X), *as_is, is_given)
    if options.given is not None:
        is_given = column_mask(options.given, names, d, "given")
    kinds, strict = options.column_types, options.column_types == "strict"
    wanted = dict[int, str]()
    for column, kind in kinds.items() if isinstance(kinds, Mapping) else ():
        if kind not in KINDS:
            raise InputError(
                f"column_types has {kind!r} for column {column!r}; allowed are "
                f"{', '.join(map(repr, KINDS))}.",
                "column_types",
                [column],
            )
        wanted[position(column, names, d, "column_types")] = kind
    if isinstance(X, Blocks):
        if set(wanted.values()) <= {"number"}:
            return Matrix(X, *as_is, is_given)
        if not isinstance(X, ArrayBlocks):
            raise InputError(
                "column_types requires a table in memory, but this X is read in blocks. Encode "
                "these columns first and omit column_types, or load the table into memory.",
                "column_types",
            )
        X = X.array
    if strict and names is not None:
        wanted = {j: "category" for j, dtype in enumerate(X.dtypes) if is_category(dtype)}
    plain = ~np.isin(np.arange(d), list(wanted))
    if not strict:
        plain = _plain_columns(X, names, wanted, is_given)
    if plain.all():
        return Matrix(checked_numbers(X), *as_is, is_given)
    numbers = np.empty((X.shape[0], 0))
    if plain.any():
        numbers = checked_numbers(_safe_indexing(X, np.flatnonzero(plain), axis=1))
    labels = list(range(d)) if names is None else names
    place, columns = np.cumsum(plain) - 1, list[ReadColumn]()
    for j, label in enumerate(labels):
        if plain[j]:
            columns.append(ReadColumn("number", numbers[:, place[j], None]))
            continue
        column = _safe_indexing(X, j, axis=1)
        if j in wanted:
            columns.append(read_as(wanted[j], column, label))
        else:
            columns.append(read_by_itself(column, is_trusted=bool(is_given[j])))
    readings = [
        Reading(label, read.kind, read.words, read.note)
        for label, read in zip(labels, columns, strict=True)
        if read.words
    ]
    if all(read.kind in LEFT_OUT for read in columns):
        raise InputError(
            f"No column is left to select from. {' '.join(summary(readings))}",
            "column_types",
            advice="Use column_types to override this.",
        )
    return Matrix(
        np.concatenate([read.block for read in columns], axis=1, dtype=numbers.dtype),
        np.repeat(np.arange(d), [read.block.shape[1] for read in columns]),
        np.array([read.kind for read in columns]),
        is_given,
        tuple(readings),
    )


def _plain_columns(
    X: Any, names: Sequence[Hashable] | None, wanted: dict[int, str], is_given: np.ndarray
) -> np.ndarray:
    """Return a mask of the columns that are used unchanged: numbers, but not row numbers."""
    if names is None:
        plain = np.full(is_given.size, holds_numbers(X))
    else:
        # Complex numbers raise an error later, together with the other numbers.
        plain = np.array([is_number(d) or getattr(d, "kind", "O") == "c" for d in X.dtypes])
        # Columns of an array are never row numbers: users number arrays on purpose.
        free = plain & ~is_given & ~np.isin(np.arange(plain.size), list(wanted))
        whole = [j for j, d in enumerate(X.dtypes) if free[j] and is_integer(d)]
        for j in whole:
            plain[j] = not identifies_rows(_safe_indexing(X, j, axis=1), len(whole))
    plain[[j for j, kind in wanted.items() if kind != "number"]] = False
    return plain
