"""Tables as users hold them, names, dtypes, categories and groups, read as one matrix."""

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
    """Samples and responses, checked, with what their columns are."""

    matrix: Any  # array or source, (n_samples, n_encoded)
    y: Any
    plan: ColumnPlan
    labels: np.ndarray | None  # of each unit, where there are groups
    kinds: np.ndarray  # (n_columns,) of str: what each column was read as
    readings: tuple[Reading, ...] = ()  # of those that are no plain numbers


def is_of(table: Any, *libraries: str) -> bool:
    """Whether a table is of one of these libraries; subclasses are."""
    return any(kind.__module__.split(".")[0] in libraries for kind in type(table).__mro__)


def read_table(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    categorical_features: Any = "from_dtype",
    column_types: Any = "auto",
    groups: Any = None,
    given: Any = None,
    missing: str = "keep",
) -> Table:
    """Check X and y, and turn X into one matrix and a plan of its columns.

    The estimator is told the number and the names of the columns. With ``missing="keep"`` values
    may be missing, else they are refused.
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
    unit, labels = _grouped(groups, names, n_columns)
    mask = column_mask([] if given is None else given, names, n_columns, "given")
    plan = replace(plan, unit=unit, given=_given_units(unit, mask, labels))
    return replace(table, matrix=matrix, plan=plan, labels=labels)


def _as_table(X: Any) -> Any:
    """Lists as arrays; of text and numbers, as objects: NumPy would make text of the numbers."""
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def _encoded(
    estimator: Any, X: Any, y: Any, categorical_features: Any, column_types: Any, given: Any
) -> Table:
    """A table in memory as a matrix: numbers as they are, and what stands for other columns."""
    X = _as_table(X)
    encoded = read_encoded(X, categorical_features, column_types, given)
    if encoded is None:
        options = {"dtype": _NUMBERS, "ensure_min_samples": 2, "multi_output": True}
        with columns_named(X, takes_categories=True):
            matrix, y = validate_data(estimator, X, y, ensure_all_finite="allow-nan", **options)
        n_columns = matrix.shape[1]
        return Table(matrix, y, ColumnPlan.plain(n_columns), None, np.full(n_columns, "number"))
    validate_data(estimator, X, y, skip_check_array=True)  # notes names and number of columns
    # Whatever X holds, y must fit its rows.
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
    """A table in memory as numbers, by the kinds of its columns; None where it is that already.

    None too for what is no table, and is refused with the numbers.
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
    """Categories where they are said to be, and numbers, or an error, everywhere else."""
    categorical = categorical_mask(X, names, categorical_features)
    refuse_times(X, categorical)
    if categorical is None:
        return [PLAIN] * X.shape[1]
    return ["category" if has_levels else PLAIN for has_levels in categorical]


def categorical_mask(
    X: Any, names: Sequence[Hashable] | None, categorical_features: Any
) -> np.ndarray | None:
    """Which columns hold categories; None where none can."""
    if categorical_features is None:
        return None
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        if names is None:
            return None
        return np.array([is_category(dtype) for dtype in X.dtypes], dtype=bool)
    n_columns = X.shape[1] if hasattr(X, "shape") else np.asarray(X, dtype=object).shape[1]
    return column_mask(categorical_features, names, n_columns, "categorical_features")


def _as_source(X: Any, categorical_features: Any, column_types: Any) -> Source | None:
    """A source for what must not be copied whole; None for what is an ordinary table."""
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
    # A source has no dtype that says which columns hold categories.
    wanted = wanted_kinds(source, source.names, categorical_features, column_types)
    if all(kind in (None, "number") for kind in wanted):
        return source
    if isinstance(X, np.memmap):
        return None  # an array like any other, once its levels are to be counted
    named = "categorical_features" if "category" in wanted else "column_types"
    raise ValueError(
        f"{named} needs a table in memory, and this X is read in blocks. Encode these columns "
        f"first and leave {named} out, or load the table into memory."
    )


def from_tensors(X: Any, device: str | None, *others: Any) -> tuple[Any, ...]:
    """Torch tensors as NumPy arrays, and the device that X asks to be computed on.

    A tensor in main memory is an array to NumPy, without a copy. One on a device is brought
    over once, for the checks and for standardisation, and computed on where it came from,
    unless the user asked for another device.
    """
    if device is None and is_of(X, "torch") and X.device.type != "cpu":
        device = str(X.device)
    arrays = [to_numpy(item) if is_of(item, "torch") else item for item in (X, *others)]
    return arrays[0], device, *arrays[1:]


def _response_of_source(estimator: Any, source: Any, y: Any) -> np.ndarray:
    """Note names and number of the columns of a source, and check that y fits its rows."""
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
    """Unit of each column and the label of each unit."""
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
            raise ValueError("groups holds a missing label; give every column a group of its own.")
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
    """Label of each column; one that no group holds is its own group, under its own name."""
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
            f"groups has the label {clash.pop()!r}, which is also a column outside that group; "
            "use another label."
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
            f"Some columns of the group {label!r} are given and others are not; "
            "give the whole group or none of it."
        )
    if (on > 0).all():
        raise ValueError("Every column is given, so nothing is left to select.")
    return np.asarray(on > 0)
