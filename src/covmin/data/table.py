"""Read what the user passes as X and y, once, as one :class:`Table`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_X_y

from covmin.constants import FEW_LEVELS, SUSPICIOUS_SHARE
from covmin.core.rows import add_up
from covmin.remarks import InputError, warn
from covmin.runtime.machine import check_memory
from covmin.text import count_of, listed, verb

from .blocks.array import Blocks, SparseBlocks, as_blocks, block_rows, rows_of, sparse_table
from .blocks.views import ChangedBlocks, Marks
from .columns import LEFT_OUT, Levels, Reading, read_matrix, summary
from .dtypes import (
    as_numbers,
    check_input,
    checked_numbers,
    is_frame,
    is_of,
    kind_of,
    local,
    missing_mask,
    missing_refused,
    refuse_missing,
)
from .layout import Layout, Names, column_mask, units_of
from .response import EncodedResponse, class_weights, encode_response, ordered_levels
from .standardize import DistinctRows, PreparedColumns, Standardize, prepare_columns
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
    groups: np.ndarray | None = None  # (n_samples,), group of each row
    options: TableOptions = TableOptions()
    device: str | None = None  # of X, if it was a tensor outside main memory

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
        shares, marks = np.zeros(self.layout.unit.size), self.layout.indicators
        if marks.size:
            means = as_blocks(self.X).reduce(lambda X, _, p: (p @ X,), add_up, p, p, marks)
            shares[self.layout.source[marks]] = means[0]
        for j in np.flatnonzero(self.layout.categorical):
            shares[j] = p @ missing_mask(self.input_column(j))
        return shares

    def input_column(self, j: Any) -> Any:
        """Return a column of the samples as it was passed."""
        return _safe_indexing(_safe_indexing(_as_table(self.passed[0]), j, axis=1), self.row)

    def n_distinct(self) -> np.ndarray:
        """Return the number of distinct values of each input column, or NaN from disk and Dask."""
        counts = np.full(self.layout.unit.size, np.nan)
        if isinstance(self.passed[0], Blocks) or hasattr(self.passed[0], "__dask_graph__"):
            return counts
        rows, source = np.arange(self.row.size), self.layout.source
        is_number = self.kinds == "number"
        numbers = np.setdiff1d(np.flatnonzero(is_number[source]), self.layout.indicators)
        size = block_rows(rows.size)
        for start in range(0, numbers.size, size):
            columns = numbers[start : start + size]
            values = np.sort(as_blocks(self.X).take(rows, columns), axis=0)  # NaN at the end
            counts[source[columns]] = ~np.isnan(values[0]) + (values[1:] > values[:-1]).sum(axis=0)
        for j in np.flatnonzero(~is_number):
            counts[j] = len(Levels.of(self.input_column(j)).values)
        return counts

    def columns(self, standardize: Standardize, device: str | None = None) -> PreparedColumns:
        """Prepare the columns for the criterion, to be read in blocks, on a device if named."""
        how: Any = {"sample_weight": self.weight, "Y": self.response.Y, "clip": self.options.clip}
        return prepare_columns(as_blocks(self.X, device), standardize, layout=self.layout, **how)

    def in_memory(self) -> Self:
        """Return the same samples as arrays, if they fit in memory."""
        if not isinstance(self.X, Blocks):
            return self
        n, d = self.X.shape
        remedy = 'Only approximation="fourier" reads in blocks, without given features, on a CPU.'
        check_memory(n * d * self.X.dtype.itemsize, f"A copy of {n} rows and {d} columns", remedy)
        return replace(self, X=self.X.take(np.arange(n)))

    def of_rows(self, rows: np.ndarray) -> Self:
        """Return some samples in memory, by number; sparse samples stay sparse."""
        return replace(
            self,
            X=rows_of(self.X, rows),
            response=self.response.of_rows(rows),
            weight=self.weight[rows],
            row=self.row[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def distinct(self, rows: DistinctRows, most: int) -> Self:
        """Return the distinct samples in memory, each with the weight of its duplicates.

        At most ``most`` samples are drawn at random. Sparse samples stay sparse.
        """
        first = rows.first[:most]
        is_part = isinstance(self.X, SparseBlocks) or first.size < self.n_samples
        found = (self if is_part else self.in_memory()).of_rows(first)
        response = found.response
        if response.labels is not None:
            response = replace(response, labels=np.unique(response.labels, return_inverse=True)[1])
        return replace(found, response=response, weight=rows.p[:most] * self.weight.sum())


def read(
    X: Any, y: Any, options: TableOptions, sample_weight: Any = None, groups: Any = None
) -> Table:
    """Check and encode X (n_samples, n_columns) and y (n_samples,) or (n_samples, n_outputs).

    ``sample_weight`` and ``groups`` have one entry for each row. A table that has been read is
    returned unchanged.
    """
    if isinstance(X, Table):
        return X
    device = str(X.device) if is_of(X, "torch") and X.device.type != "cpu" else None
    y = y.compute() if hasattr(y, "__dask_graph__") else y
    X, y, sample_weight, groups = map(local, (X, y, sample_weight, groups))
    if is_frame(y) and y.shape[1] == 1:
        y = y[y.columns[0]]
    passed, strict = (X, y), options.column_types == "strict"
    X = _as_table(X)
    names = list(X.columns) if is_frame(X) else getattr(X, "names", None)
    check_input(X, y, names)
    levels, task = ordered_levels(y), options.task
    is_structured = getattr(getattr(y, "dtype", None), "names", None) is not None
    if task == "survival" or (task == "auto" and is_structured):
        y, task = survival_times(y, task), "survival"
    X, y, weight, row = usable_samples(X, y, sample_weight)
    if len(X.shape) != 2 or X.shape[0] < 2:
        checked_numbers(X)  # raises the errors of scikit-learn
    is_given = np.zeros(X.shape[1], dtype=bool)
    if options.given is not None:
        is_given = column_mask(options.given, names, X.shape[1], "given")
    matrix, source, kinds, readings = read_matrix(X, names, options.column_types, is_given)
    if strict and is_frame(X):
        refuse_missing(X)
    # Whatever X holds, y must have the same number of rows.
    rows = np.broadcast_to(np.zeros(1), (X.shape[0], 1))
    _, y = check_X_y(rows, y, multi_output=True, ensure_min_samples=2)
    unit, given, labels = units_of(options.feature_groups, is_given, names)
    layout = Layout(source, kinds == "category", unit, given)
    X, layout = add_indicators(matrix, layout, not strict, names)
    how: Any = {"levels": levels, "kernel": options.response_kernel, "clip": options.clip}
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
        kinds=kinds,
        readings=readings,
        groups=None if groups is None else _row_groups(groups, len(passed[1]))[row],
        options=options,
        device=device,
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
        text = f"sample_weight must have one entry for each of the {n} samples; its shape is"
        raise InputError(f"{text} {weight.shape}.", "sample_weight")
    weight = np.array(np.broadcast_to(weight, n))
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise InputError("sample_weight must contain finite numbers ≥ 0.", "sample_weight")
    weight /= max(weight.max(initial=0.0) / np.finfo(np.float64).max * n, 1.0)  # a finite sum
    weight[weight < np.finfo(np.float64).eps * weight.max(initial=0.0)] = 0.0  # lost to rounding
    kept = ~missing & (weight > 0.0)
    if kept.sum() < 2 <= n:
        what = f"y contains NaN: the response of {n_missing} of {n} samples is missing"
        if not n_missing:
            what = f"sample_weight is zero, or almost, for {n - kept.sum()} of {n} samples"
        text = f"Input {what}, but at least 2 samples must have a response and a positive weight."
        raise InputError(text, "y" if n_missing else "sample_weight")
    if n_missing:
        text = f"The response of {n_missing} of {n} samples is missing; these samples are dropped."
        warn("missing-responses", text)
    if kept.all():
        return X, y, weight, np.arange(n)
    rows = np.flatnonzero(kept)
    X = X.keep(kept) if isinstance(X, Blocks) else _safe_indexing(X, rows)
    return X, _safe_indexing(y, rows), weight[rows], rows


def add_indicators(X: Any, layout: Layout, takes_missing: bool, names: Names) -> tuple[Any, Layout]:
    """Append an indicator of missingness for each input column with missing values.

    A table without missing values is returned unchanged; one with infinity is refused.
    """
    nothing = np.empty((X.shape[0], 0))
    is_missing, is_infinite = as_blocks(X).reduce(
        lambda X, *_: np.stack([np.isnan(X).any(axis=0), np.isinf(X).any(axis=0)]),
        np.logical_or.reduce,
        nothing,
        nothing,
    )
    labels = np.arange(layout.unit.size) if names is None else np.array(names, dtype=object)
    if is_infinite.any():
        bad = labels[np.unique(layout.source[is_infinite])].tolist()
        text = f"Input X contains infinity in {count_of(len(bad), 'column')}: {listed(bad)}."
        cure = "Replace it, for example by NaN, which is read as a missing value."
        raise InputError(f"{text} {cure}", "X", bad)
    missing = np.flatnonzero(is_missing)
    if missing.size == 0:
        return X, layout
    inputs, first = np.unique(layout.source[missing], return_index=True)
    if not takes_missing:
        raise missing_refused(labels[inputs].tolist())
    source = np.concatenate([layout.source, inputs])
    added = np.arange(X.shape[1], source.size)
    index = np.append(np.arange(X.shape[1]), missing[first])
    table = ChangedBlocks(as_blocks(X), Marks(np.isin(np.arange(index.size), added)), index)
    return table, replace(layout, source=source, indicators=added)


def _row_groups(groups: Any, n: int) -> np.ndarray:
    """Return one label for each row."""
    labels = np.asarray(groups)
    if labels.shape != (n,) or missing_mask(groups).any():
        text = f"groups must have one label for each of the {n} rows, none of them missing"
        raise InputError(f"{text}; its shape is {labels.shape}.", "groups")
    return labels


def _as_table(X: Any) -> Any:
    """Return blocks of a table that must not be copied, an array of lists, and others unchanged."""
    if issparse(X):
        return sparse_table(X)
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf":
        return as_blocks(X)
    if is_of(X, "dask", "dask_expr"):
        from .blocks.dask import DaskBlocks

        return DaskBlocks.of(X)
    if hasattr(X, "shape"):
        return X
    if isinstance(X, Mapping):
        text = f"X is a {type(X).__name__}, not a table. Pass an array or a frame, such as"
        raise InputError(f"{text} pandas.DataFrame(X), or X.data.", "X")
    array = np.asarray(X)
    # As objects, the numbers among text stay numbers.
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


# --- what little can be learned from --------------------------------------------------------------


def check_columns(table: Table, columns: PreparedColumns) -> None:
    """Raise an error if no column varies; warn about unused columns and about too few samples.

    Units that were excluded when the table was read do not count as constant.
    """
    layout = table.layout
    names = np.arange(layout.unit.size) if table.names is None else table.names
    constant = np.intersect1d(columns.constant, layout.unit[layout.source])
    if columns.units.size == 0:
        text = f"X has {count_of(constant.size, 'feature')}, all constant or empty"
        raise InputError(f"{text}: there is nothing to select.", "X")
    if constant.size:
        n_present = np.bincount(layout.unit, table.missing_shares(columns.p) < 1.0 - 1e-9)
        is_empty = n_present[constant] == 0
        for code, units, noun, more in (
            ("empty-columns", constant[is_empty], "feature", " without values"),
            ("constant-columns", constant[~is_empty], "constant feature", ""),
        ):
            if units.size:
                what = f"{count_of(units.size, noun)}{more} {verb(units.size, 'are')}"
                concerned = names[np.isin(layout.unit, units)].tolist()
                warn(code, f"{what} ranked last: {listed(concerned)}.", concerned)
    if out := [each for each in table.readings if each.kind in LEFT_OUT[:-1]]:
        _warn_of_excluded(table, names.tolist(), out)
    if doubtful := [each for each in table.readings if each.note == "doubtful"]:
        ids = [each.column for each in doubtful]
        advice = f"column_types={{{ids[0]!r}: 'drop'}} leaves one out; 'number' keeps it."
        warn("possible-identifiers", summary(doubtful)[0], ids, advice=advice)
    if table.n_samples < 2 * FEW_LEVELS:
        text = f"With {table.n_samples} samples, ranks are hardly better than chance"
        more = "unless an effect is very strong. Do not rely on them without more samples."
        warn("too-few-samples", f"{text} {more}")


def _warn_of_excluded(table: Table, names: list[Any], out: list[Reading]) -> None:
    """Warn about columns that are not used: row identifiers, free text and empty ones."""
    said, columns = summary(out), [each.column for each in out]
    named = ", ".join(f"{column!r}: 'drop'" for column in columns[:3])
    advice = (
        f"column_types={{{named}{', …' if len(columns) > 3 else ''}}} silences this; to use a "
        "column, write 'number', 'category' or 'text' (for its words) in place of 'drop'."
    )
    ids = [each.column for each in out if each.kind == "identifier"]
    if close := [name for name in ids if _follows_response(table, names.index(name))]:
        what = f"The numbers in {listed(close)} follow the response, however: they may be its"
        said.append(f"{what} ranks, or the rows are sorted by it.")
    given = [names[j] for j in np.flatnonzero(table.layout.given[table.layout.unit])]
    if kept := [name for name in columns if name in given]:
        said.append(f"Given columns are always selected, here unused: {listed(kept)}.")
    warn("excluded-columns", " ".join(said), columns, advice=advice)


def _follows_response(table: Table, j: int) -> bool:
    """Tell whether the ranks of a numeric column and of the response are correlated."""
    column = table.input_column(j)
    if kind_of(column.dtype) not in "biuf":
        return False
    ranks = rankdata(as_numbers(column))
    found = [np.corrcoef(ranks, rankdata(y))[0, 1] for y in table.response.Y.T]
    return bool(np.max(np.square(found)) > SUSPICIOUS_SHARE[2])
