"""Read tables as users pass them, with names, dtypes, categories and groups, as one matrix."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_X_y

from covmin.core.arrays import to_numpy

from .checks import (
    check_kind,
    check_response,
    columns_named,
    is_frame,
    refuse_gaps,
    refuse_times,
    refuse_twins,
)
from .columns import Layout
from .encoding import (
    PLAIN,
    EncodedTable,
    Reading,
    column_mask,
    encode_table,
    is_plain,
    wanted_kinds,
)
from .gaps import with_gaps
from .kinds import is_category
from .responses import is_missing
from .sources import ArraySource, Source, is_source, sparse_table

_NUMBERS = [np.float64, np.float32]


@dataclass(frozen=True)
class Matrix:
    """Checked samples and responses, with a description of the columns."""

    X: Any  # array or source, (n_samples, n_encoded)
    y: Any
    layout: Layout
    kinds: np.ndarray  # (n_columns,) of str: how each column was read
    readings: tuple[Reading, ...] = ()  # of the columns that are not plain numbers
    names: list[Any] | None = None  # of the columns, if they have any
    labels: np.ndarray | None = None  # of each unit, if there are groups


def is_of(table: Any, *libraries: str) -> bool:
    """Tell whether a table, or a subclass of it, belongs to one of these libraries."""
    return any(kind.__module__.split(".")[0] in libraries for kind in type(table).__mro__)


def read_table(X: Any, y: Any, options: Any) -> Matrix:
    """Check X and y, and convert X to one matrix and a layout of its columns."""
    if issparse(X):
        X = sparse_table(X)
    source = _as_source(X, options)
    if source is not None:
        names = source.names
        y = _response_of_source(source, y)
        layout = Layout.plain(source.shape[1])
        matrix = Matrix(source, y, layout, np.full(layout.unit.size, "number"))
    else:
        check_kind(X, y)
        names = list(X.columns) if is_frame(X) else None
        matrix = _encoded(X, y, options)
    takes_missing = not _is_strict(options)
    if not takes_missing and source is None and is_frame(X):
        refuse_gaps(X)
    X, layout = with_gaps(matrix.X, matrix.layout, takes_missing, names)
    n_columns = layout.unit.size
    unit, labels = _grouped(options.feature_groups, names, n_columns)
    mask = _given_mask(options, names, n_columns)
    layout = replace(layout, unit=unit, given=_given_units(unit, mask, labels))
    return replace(matrix, X=X, layout=layout, labels=labels, names=names)


def _is_strict(options: Any) -> bool:
    return isinstance(options.column_types, str) and options.column_types == "strict"


def _given_mask(options: Any, names: Sequence[Hashable] | None, n_columns: int) -> np.ndarray:
    given = [] if options.given is None else options.given
    return column_mask(given, names, n_columns, "given")


def _as_table(X: Any) -> Any:
    """Convert lists to arrays; mixed text and numbers become objects, so that numbers stay."""
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def _encoded(X: Any, y: Any, options: Any) -> Matrix:
    """Encode a table in memory as a matrix: numbers unchanged, other columns encoded."""
    X = _as_table(X)
    encoded = read_encoded(X, options)
    if encoded is None:
        with columns_named(X, takes_categories=True):
            X, y = check_X_y(
                X,
                y,
                dtype=_NUMBERS,
                ensure_all_finite="allow-nan",
                ensure_min_samples=2,
                multi_output=True,
            )
        n_columns = X.shape[1]
        return Matrix(X, y, Layout.plain(n_columns), np.full(n_columns, "number"))
    # Whatever X holds, y must have the same number of rows.
    _, y = check_X_y(np.zeros((X.shape[0], 1)), y, multi_output=True, ensure_min_samples=2)
    layout = replace(
        Layout.plain(encoded.kinds.size),
        source=encoded.source,
        categorical=encoded.kinds == "category",
    )
    return Matrix(encoded.matrix, y, layout, encoded.kinds, encoded.readings)


def read_encoded(X: Any, options: Any) -> EncodedTable | None:
    """Encode a table in memory by the kinds of its columns; None if it is already numeric.

    Also None for input that is not a table, which a later check refuses.
    """
    X = _as_table(X)
    if len(X.shape) != 2 or X.shape[0] < 2:
        return None
    names = list(X.columns) if is_frame(X) else None
    if _is_strict(options):
        wanted = _strict_kinds(X, names)
    else:
        wanted = wanted_kinds(X, names, options.column_types)
    trusted = _given_mask(options, names, X.shape[1])
    if is_plain(X, wanted, trusted):
        return None
    return encode_table(X, wanted, trusted=trusted)


def _strict_kinds(X: Any, names: Sequence[Hashable] | None) -> list[str | None]:
    """Return "category" for the columns with a categorical dtype, and PLAIN for all others."""
    if names is None:
        categorical = None
    else:
        categorical = np.array([is_category(dtype) for dtype in X.dtypes], dtype=bool)
    refuse_times(X, categorical)
    if categorical is None:
        return [PLAIN] * X.shape[1]
    return ["category" if has_levels else PLAIN for has_levels in categorical]


def _as_source(X: Any, options: Any) -> Source | None:
    """Return a source for a table that must not be copied; None for an ordinary table."""
    source: Source
    if is_source(X):
        source = X
    elif isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "biuf":
        source = ArraySource(X)
    elif is_of(X, "dask", "dask_expr"):
        from .sources.dask import DaskSource

        source = DaskSource.of(X)
    else:
        return None
    # The dtype of a source does not tell which columns are categorical.
    wanted = wanted_kinds(source, source.names, options.column_types)
    if all(kind in (None, "number") for kind in wanted):
        return source
    if isinstance(X, np.memmap):
        return None  # treat it as an ordinary array, because its levels must be counted
    raise ValueError(
        "column_types requires a table in memory, but this X is read in blocks. Encode these "
        "columns first and omit column_types, or load the table into memory."
    )


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


def _response_of_source(source: Any, y: Any) -> np.ndarray:
    """Check the names of the columns of a source, and y."""
    n, d = source.shape
    if d == 0:
        raise ValueError("X has no columns.")
    if source.names is not None:
        refuse_twins(source.names)
    if is_of(y, "dask", "dask_expr"):
        y = y.compute()
    check_response(y)
    rows = np.broadcast_to(np.zeros(1), (n, 1))
    _, y = check_X_y(rows, y, multi_output=True, ensure_min_samples=2)
    return y


def _grouped(
    groups: Any, names: Sequence[Hashable] | None, n_columns: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the unit of each column and the label of each unit."""
    if groups is None:
        return np.arange(n_columns), None
    if isinstance(groups, Mapping):
        labels = _labels_of_mapping(groups, names, n_columns)
    else:
        labels = list(groups)
        if not all(isinstance(label, Hashable) for label in labels):
            raise ValueError(
                "groups must be a flat list or array with one label for each column, or a dict "
                f"from a label to its columns; its first entry is {labels[0]!r}."
            )
        if len(labels) != n_columns:
            raise ValueError(
                f"groups has {len(labels)} labels, but X has {n_columns} columns; give one label "
                "for each column, or a dict from a label to its columns."
            )
        if any(map(is_missing, labels)):
            raise ValueError("groups contains a missing label; give every column a label.")
    number = {label: unit for unit, label in enumerate(dict.fromkeys(labels))}
    unit = np.array([number[label] for label in labels], dtype=int)
    return unit, _as_labels(number)


def _as_labels(labels: Iterable[Hashable]) -> np.ndarray:
    labels = list(labels)
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {int, str, np.int64, np.str_}:
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _labels_of_mapping(
    groups: Mapping[Hashable, Any], names: Sequence[Hashable] | None, n_columns: int
) -> list[Hashable]:
    """Return the label of each column; a column outside all groups keeps its own name."""
    labels: list[Hashable] = list(names) if names is not None else list(range(n_columns))
    owner: dict[int, Hashable] = {}
    for label, columns in groups.items():
        for j in np.flatnonzero(column_mask(columns, names, n_columns, f"groups[{label!r}]")):
            if (earlier := owner.get(int(j))) is not None:
                raise ValueError(
                    f"Column {labels[j]!r} is in two groups, {earlier!r} and {label!r}."
                )
            owner[int(j)] = label
    alone = {labels[j] for j in range(n_columns) if j not in owner}
    if clash := alone & set(owner.values()):
        raise ValueError(
            f"groups has the label {clash.pop()!r}, which is also the name of a column outside "
            "that group; use another label."
        )
    return [owner.get(j, labels[j]) for j in range(n_columns)]


def _given_units(unit: np.ndarray, given: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    n_units = int(unit.max()) + 1
    members = np.bincount(unit, minlength=n_units)
    on = np.bincount(unit, given, minlength=n_units)
    partly = np.flatnonzero((on > 0) & (on < members))
    if partly.size:
        label = (partly if labels is None else labels[partly]).tolist()[0]
        raise ValueError(
            f"Only some columns of the group {label!r} are in given; "
            "include the whole group or none of it."
        )
    if (on > 0).all():
        raise ValueError("All columns are given, so there is nothing left to select.")
    return np.asarray(on > 0)
