"""Tables as users hold them, names, dtypes, categories and groups, read as one matrix."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import check_X_y, validate_data

from covmin.core.arrays import to_numpy

from .checks import check_kind, check_response, columns_named, is_frame, refuse_times, refuse_twins
from .columns import ColumnPlan
from .responses import is_missing
from .sources import ArraySource, Source, is_source, sparse_table

# More levels than this are names or numbers of rows, not categories.
_MOST_LEVELS = 255
# So few levels are categories even where rows are few.
_FEW_LEVELS = 10
_NUMBERS = [np.float64, np.float32]


def is_of(table: Any, *libraries: str) -> bool:
    """Whether a table is of one of these libraries; subclasses are."""
    return any(kind.__module__.split(".")[0] in libraries for kind in type(table).__mro__)


def column_mask(
    columns: Any, names: Sequence[Hashable] | None, n_columns: int, parameter: str
) -> np.ndarray:
    """Columns given by name, by number or by a mask, as a mask (n_columns,).

    ``parameter`` is what to call ``columns`` in an error.
    """
    items = [columns] if isinstance(columns, (str, Integral)) else list(columns)
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        if len(items) != n_columns:
            raise ValueError(
                f"{parameter} as a mask needs one entry for each of the {n_columns} columns of X; "
                f"it has {len(items)}."
            )
        return np.array(items, dtype=bool)
    mask = np.zeros(n_columns, dtype=bool)
    mask[[_position(item, names, n_columns, parameter) for item in items]] = True
    return mask


def _position(item: Any, names: Sequence[Hashable] | None, n_columns: int, parameter: str) -> int:
    if isinstance(item, str):
        if names is None:
            raise ValueError(
                f"{parameter} names the column {item!r}, but the columns of X have no names; "
                "pass X as a frame, or give column numbers."
            )
        if item not in names:
            close = get_close_matches(item, [str(name) for name in names], n=3)
            hint = f" Did you mean {', '.join(map(repr, close))}?" if close else ""
            raise ValueError(f"{parameter} names {item!r}, which is not a column of X.{hint}")
        return list(names).index(item)
    if not isinstance(item, Integral):
        raise ValueError(
            f"{parameter} must hold names or numbers of columns, or a mask; got {item!r}."
        )
    if not -n_columns <= int(item) < n_columns:
        raise ValueError(
            f"{parameter} holds column {item}, but X has {n_columns} columns, "
            f"numbered from 0 to {n_columns - 1}."
        )
    return int(item) % n_columns


def read_table(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    categorical_features: Any = "from_dtype",
    groups: Any = None,
    given: Any = None,
) -> tuple[Any, Any, ColumnPlan, np.ndarray | None]:
    """Check X and y, and turn X into one matrix and a plan of its columns.

    The estimator is told the number and the names of the columns. Returned are the matrix (or
    source) of shape (n_samples, n_encoded), y, the plan, and, where there are groups, the label
    of each unit.
    """
    if issparse(X):
        X = sparse_table(X)
    source = _as_source(X, categorical_features)
    names = list(X.columns) if is_frame(X) else None
    categorical = None
    if source is None:
        check_kind(X, y)
        categorical = categorical_mask(X, names, categorical_features)
        refuse_times(X, categorical)
    matrix: Any
    if source is not None:
        names = source.names
        matrix, y = source, _response_of_source(estimator, source, y)
        plan = ColumnPlan.plain(source.shape[1])
    elif categorical is None or not categorical.any():
        options = {"dtype": _NUMBERS, "ensure_min_samples": 2, "multi_output": True}
        with columns_named(X, takes_categories=True):
            matrix, y = validate_data(estimator, X, y, **options)
        plan = ColumnPlan.plain(matrix.shape[1])
    else:
        matrix, y, plan = _encode(estimator, X, y, categorical)
    unit, labels = _grouped(groups, names, plan.unit.size)
    mask = column_mask([] if given is None else given, names, plan.unit.size, "given")
    on = _given_units(unit, mask, labels)
    return matrix, y, replace(plan, unit=unit, given=on), labels


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


def is_category(dtype: Any) -> bool:
    """Whether a dtype, of pandas or polars, is of categories."""
    return str(dtype).startswith(("category", "Categorical", "Enum"))


def _as_source(X: Any, categorical_features: Any) -> Source | None:
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
    named = categorical_features
    if named is None or isinstance(named, str):
        return source
    if not column_mask(named, source.names, source.shape[1], "categorical_features").any():
        return source
    if isinstance(X, np.memmap):
        return None  # an array like any other, once its levels are to be counted
    raise ValueError(
        "categorical_features needs a table in memory, and this X is read in blocks. Encode these "
        "columns first and leave categorical_features out, or load the table into memory."
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


def _encode(
    estimator: Any, X: Any, y: Any, categorical: np.ndarray
) -> tuple[np.ndarray, Any, ColumnPlan]:
    """Check y, and put numbers and indicators of levels side by side."""
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object)
    validate_data(estimator, X, y, skip_check_array=True)  # notes names and number of columns
    # Whatever X holds, y must fit its rows.
    _, y = check_X_y(np.zeros((X.shape[0], 1)), y, multi_output=True, ensure_min_samples=2)
    matrix, source = encode_categories(X, categorical)
    plan = replace(ColumnPlan.plain(categorical.size), source=source, categorical=categorical)
    return matrix, y, plan


def encode_categories(X: Any, categorical: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as they are, and an indicator for each level of a category.

    With the feature that each encoded column comes from.
    """
    numeric = np.flatnonzero(~categorical)
    numbers = np.empty((0, 0))
    if numeric.size:
        numbers = checked_numbers(_safe_indexing(X, numeric, axis=1))
    blocks, sources = [], []
    for j, has_levels in enumerate(categorical):
        if has_levels:
            name = repr(str(X.columns[j])) if is_frame(X) else str(j)
            blocks.append(_indicators(_safe_indexing(X, j, axis=1), name))
        else:
            blocks.append(numbers[:, np.searchsorted(numeric, j), None])
        sources.append(np.full(blocks[-1].shape[1], j))
    return np.concatenate(blocks, axis=1, dtype=numbers.dtype), np.concatenate(sources)


def checked_numbers(X: Any) -> np.ndarray:
    """A table of numbers as an array; what is wrong with it is told by the names of columns."""
    with columns_named(X, takes_categories=True):
        return check_array(X, dtype=_NUMBERS)


def _indicators(column: Any, name: str) -> np.ndarray:
    """One column of zeros and ones for each level."""
    values = list(column)
    if any(map(is_missing, values)):
        raise ValueError(
            f"Categorical column {name} has missing values; drop these rows, or make "
            "missingness a level of its own."
        )
    levels = sorted(set(values), key=lambda level: (str(type(level)), str(level)))
    if len(levels) > _MOST_LEVELS:
        raise ValueError(
            f"Categorical column {name} has {len(levels)} levels; at most {_MOST_LEVELS} are "
            "taken. Merge rare levels, or drop the column if it names the rows."
        )
    if 2 * len(levels) > len(values) and len(levels) > _FEW_LEVELS:
        raise ValueError(
            f"Categorical column {name} has {len(levels)} levels in {len(values)} rows: it tells "
            "the rows apart rather than groups of them. Merge levels, or drop the column."
        )
    code = {level: number for number, level in enumerate(levels)}
    return np.eye(len(levels))[[code[value] for value in values]]


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
