"""Read tables as users pass them, with names, dtypes, categories and groups, as one matrix."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_X_y, validate_data

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
from .columns import ColumnPlan
from .encoding import (
    PLAIN,
    EncodedTable,
    Reading,
    column_mask,
    encode_table,
    is_list_of_columns,
    is_plain,
    wanted_kinds,
)
from .gaps import with_gaps
from .kinds import is_category
from .responses import is_missing
from .sources import ArraySource, Source, is_source, sparse_table

_NUMBERS = [np.float64, np.float32]


@dataclass(frozen=True)
class Table:
    """Checked samples and responses, with a description of the columns."""

    matrix: Any  # array or source, (n_samples, n_encoded)
    y: Any
    plan: ColumnPlan
    labels: np.ndarray | None  # of each unit, if there are groups
    kinds: np.ndarray  # (n_columns,) of str: how each column was read
    readings: tuple[Reading, ...] = ()  # of the columns that are not plain numbers


def is_of(table: Any, *libraries: str) -> bool:
    """Tell whether a table, or a subclass of it, belongs to one of these libraries."""
    return any(kind.__module__.split(".")[0] in libraries for kind in type(table).__mro__)


def read_table(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    categorical_features: Any = "from_dtype",
    column_types: Any = "auto",
    feature_groups: Any = None,
    given: Any = None,
    missing: str = "keep",
) -> Table:
    """Check X and y, and convert X to one matrix and a plan of its columns.

    Sets the number and the names of the columns on the estimator. Missing values raise an error
    unless ``missing="keep"``.
    """
    if issparse(X):
        X = sparse_table(X)
    source = _as_source(X, categorical_features, column_types)
    if source is not None:
        names = source.names
        y = _response_of_source(estimator, source, y)
        plan = ColumnPlan.plain(source.shape[1])
        table = Table(source, y, plan, None, np.full(plan.unit.size, "number"))
    else:
        check_kind(X, y)
        names = list(X.columns) if is_frame(X) else None
        table = _encoded(estimator, X, y, categorical_features, column_types, given)
    if missing == "error" and source is None and is_frame(X):
        refuse_gaps(X)
    matrix, plan = with_gaps(table.matrix, table.plan, missing, names)
    n_columns = plan.unit.size
    unit, labels = _grouped(feature_groups, names, n_columns)
    mask = column_mask([] if given is None else given, names, n_columns, "given")
    plan = replace(plan, unit=unit, given=_given_units(unit, mask, labels))
    return replace(table, matrix=matrix, plan=plan, labels=labels)


def _as_table(X: Any) -> Any:
    """Convert lists to arrays; mixed text and numbers become objects, so that numbers stay."""
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def _encoded(
    estimator: Any, X: Any, y: Any, categorical_features: Any, column_types: Any, given: Any
) -> Table:
    """Encode a table in memory as a matrix: numbers unchanged, other columns encoded."""
    X = _as_table(X)
    encoded = read_encoded(X, categorical_features, column_types, given)
    if encoded is None:
        options = {"dtype": _NUMBERS, "ensure_min_samples": 2, "multi_output": True}
        with columns_named(X, takes_categories=True):
            matrix, y = validate_data(estimator, X, y, ensure_all_finite="allow-nan", **options)
        n_columns = matrix.shape[1]
        return Table(matrix, y, ColumnPlan.plain(n_columns), None, np.full(n_columns, "number"))
    validate_data(estimator, X, y, skip_check_array=True)  # sets the names and number of columns
    # Whatever X holds, y must have the same number of rows.
    _, y = check_X_y(np.zeros((X.shape[0], 1)), y, multi_output=True, ensure_min_samples=2)
    plan = replace(
        ColumnPlan.plain(encoded.kinds.size),
        source=encoded.source,
        categorical=encoded.kinds == "category",
    )
    return Table(encoded.matrix, y, plan, None, encoded.kinds, encoded.readings)


def read_encoded(
    X: Any,
    categorical_features: Any = "from_dtype",
    column_types: Any = "auto",
    given: Any = None,
) -> EncodedTable | None:
    """Encode a table in memory by the kinds of its columns; None if it is already numeric.

    Also None for input that is not a table, which a later check refuses.
    """
    X = _as_table(X)
    if len(X.shape) != 2 or X.shape[0] < 2:
        return None
    names = list(X.columns) if is_frame(X) else None
    if isinstance(column_types, str) and column_types == "strict":
        wanted = _strict_kinds(X, names, categorical_features)
    else:
        wanted = wanted_kinds(X, names, categorical_features, column_types)
    trusted = column_mask([] if given is None else given, names, X.shape[1], "given")
    if is_plain(X, wanted, trusted):
        return None
    by_dtype = categorical_features is not None and not is_list_of_columns(categorical_features)
    return encode_table(X, wanted, by_dtype=by_dtype, trusted=trusted)


def _strict_kinds(
    X: Any, names: Sequence[Hashable] | None, categorical_features: Any
) -> list[str | None]:
    """Return "category" for the columns said to be so, and PLAIN for all others."""
    categorical = categorical_mask(X, names, categorical_features)
    refuse_times(X, categorical)
    if categorical is None:
        return [PLAIN] * X.shape[1]
    return ["category" if has_levels else PLAIN for has_levels in categorical]


def categorical_mask(
    X: Any, names: Sequence[Hashable] | None, categorical_features: Any
) -> np.ndarray | None:
    """Return a mask of the categorical columns; None if there cannot be any."""
    if categorical_features is None:
        return None
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        if names is None:
            return None
        return np.array([is_category(dtype) for dtype in X.dtypes], dtype=bool)
    n_columns = X.shape[1] if hasattr(X, "shape") else np.asarray(X, dtype=object).shape[1]
    return column_mask(categorical_features, names, n_columns, "categorical_features")


def _as_source(X: Any, categorical_features: Any, column_types: Any) -> Source | None:
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
    wanted = wanted_kinds(source, source.names, categorical_features, column_types)
    if all(kind in (None, "number") for kind in wanted):
        return source
    if isinstance(X, np.memmap):
        return None  # treat it as an ordinary array, because its levels must be counted
    named = "categorical_features" if "category" in wanted else "column_types"
    raise ValueError(
        f"{named} requires a table in memory, but this X is read in blocks. Encode these columns "
        f"first and omit {named}, or load the table into memory."
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


def _response_of_source(estimator: Any, source: Any, y: Any) -> np.ndarray:
    """Set the names and number of columns of a source on the estimator, and check y."""
    n, d = source.shape
    if d == 0:
        raise ValueError("X has no columns.")
    estimator.n_features_in_ = d
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    if source.names is not None:
        refuse_twins(source.names)
        estimator.feature_names_in_ = np.array(source.names, dtype=object)
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
                "feature_groups must be a flat list or array with one label for each column, or a "
                f"dict from a label to its columns; its first entry is {labels[0]!r}."
            )
        if len(labels) != n_columns:
            raise ValueError(
                f"feature_groups has {len(labels)} labels, but X has {n_columns} columns; give one "
                "label for each column, or a dict from a label to its columns."
            )
        if any(map(is_missing, labels)):
            raise ValueError("feature_groups contains a missing label; give every column a label.")
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
        for j in np.flatnonzero(
            column_mask(columns, names, n_columns, f"feature_groups[{label!r}]")
        ):
            if (earlier := owner.get(int(j))) is not None:
                raise ValueError(
                    f"Column {labels[j]!r} is in two groups, {earlier!r} and {label!r}."
                )
            owner[int(j)] = label
    alone = {labels[j] for j in range(n_columns) if j not in owner}
    if clash := alone & set(owner.values()):
        raise ValueError(
            f"feature_groups has the label {clash.pop()!r}, which is also the name of a column "
            "outside that group; use another label."
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
