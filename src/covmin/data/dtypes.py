"""What tables, columns and values of any library are, and which of them are refused."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _get_feature_names

from covmin.core.arrays import to_numpy
from covmin.remarks import InputError, warn
from covmin.text import listed

from .blocks.array import Blocks

# What to do about columns that are not numeric.
_ADVICE = "Drop them, convert them, or, if they hold categories, give them a categorical dtype."
_NUMBERS = [np.float64, np.float32]
# Type names of None, pandas.NA and pandas.NaT; pandas need not be installed.
_NAMES_OF_NOTHING = {"NoneType", "NAType", "NaTType"}


def is_of(table: Any, *libraries: str) -> bool:
    """Tell whether a table, or a subclass of it, belongs to one of these libraries."""
    return any(kind.__module__.split(".")[0] in libraries for kind in type(table).__mro__)


def stays_what_it_is(X: Any) -> bool:
    """Tell whether a selection of X keeps its type: a tensor, a Dask collection or blocks."""
    return isinstance(X, Blocks) or is_of(X, "dask", "dask_expr", "torch")


def local(values: Any) -> Any:
    """Return tensors as arrays, and lazy or Arrow data as frames in memory; others unchanged."""
    if is_of(values, "torch"):
        return to_numpy(values)
    if is_of(values, "polars", "narwhals") and not hasattr(values, "shape"):
        values = values.collect()
    of_arrow = hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")
    if is_of(values, "pandas", "polars") or not of_arrow:
        return values
    import pyarrow

    is_column = isinstance(values, pyarrow.Array | pyarrow.ChunkedArray)
    return (values if is_column else pyarrow.table(values)).to_pandas()


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame of any library."""
    # Test the shape first: a lazy frame has none, and would compute its columns if asked.
    return hasattr(X, "shape") and hasattr(X, "columns") and hasattr(X, "dtypes")


def kind_of(dtype: Any) -> str:
    """Return NumPy's letter for what a dtype of any library holds; C for categories, M for times.

    Real numbers and booleans have a letter of "biuf".
    """
    kind = getattr(dtype, "kind", "O")
    if hasattr(dtype, "is_numeric"):  # polars, whose decimals are objects for NumPy
        kind = "i" if dtype.is_integer() else "f" if dtype.is_float() else "O"
    if kind not in "OmM":
        return str(kind)
    name = str(dtype).lower()
    if name.startswith(("date", "timedelta", "duration", "time", "period")):
        return "M"
    if name.startswith(("categor", "enum")):
        return "C"
    return "b" if name == "boolean" else "O"


def holds_numbers(values: Any) -> bool:
    """Tell whether a column or an array holds numbers, or objects that NumPy converts to them."""
    if (kind := kind_of(values.dtype)) not in "OUSC":
        return kind != "M"  # NumPy would silently convert dates
    try:
        np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def as_numbers(column: Any) -> np.ndarray:
    """Return a column of numbers or booleans as floats, with NaN for missing values."""
    if hasattr(column, "isna"):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(column).astype(float)


def is_missing(value: Any) -> bool:
    """Tell whether a single value, such as a label or a level, is missing."""
    is_nan = isinstance(value, (float, np.generic)) and bool(value != value)
    return is_nan or type(value).__name__ in _NAMES_OF_NOTHING


def missing_mask(values: Any) -> np.ndarray:
    """Return a mask of the missing entries of a list, an array, a series or a frame."""
    if kind_of(getattr(values, "dtype", None)) in "biuf":
        # Not by the library: a nullable column of floats may hold NaN besides its missing values.
        return np.isnan(as_numbers(values))
    if hasattr(values, "isna"):
        return np.asarray(values.isna(), dtype=bool)
    array = values
    if not isinstance(values, np.ndarray):
        try:  # as objects: NumPy would convert missing values among text to text
            array = np.asarray(values, dtype=object)
        except ValueError:  # rows of different lengths; a later check gives a clear error
            array = np.empty(0, dtype=object)
    if array.dtype.kind != "O":
        return np.asarray(array != array)
    return np.array([is_missing(value) for value in array.flat], dtype=bool).reshape(array.shape)


def check_input(X: Any, y: Any, names: list[Any] | None) -> None:
    """Raise an error for input that would be misread; columns of dates are allowed."""
    if np.ma.isMaskedArray(X) or np.ma.isMaskedArray(y):
        text = "Masked arrays are not supported: masked values would be used like any others."
        raise TypeError(f"{text} Drop or impute them and pass an ordinary array.")
    if isinstance(y, str):
        text = f"y is the text {y!r}. Pass the response itself, such as X[{y!r}], and X without it."
        raise InputError(text, "y")
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        text = f"X has two columns named {twice!r}; give every column a unique name."
        raise InputError(text, "X", [twice])
    _get_feature_names(X)  # raises for names of several types
    if (isinstance(X, Blocks) or is_frame(X)) and X.shape[1] == 0:
        raise InputError("X has no columns.", "X")
    if issparse(y):
        raise TypeError("y is sparse, but a dense response is required: pass y.toarray().")
    for dtype in y.dtypes if is_frame(y) else [getattr(y, "dtype", "")]:
        if kind_of(dtype) == "M":
            what = f"y holds dates or durations ({dtype})"
            raise InputError(f"{what}; convert them to numbers or classes first.", "y")
    are_labelled = is_of(X, "pandas") and is_of(y, "pandas") and not X.index.equals(y.index)
    if are_labelled and X.index.sort_values().equals(y.index.sort_values()):
        text = "The index of y has the labels of the index of X, but in another order. Rows are"
        advice = "If they belong together by label, pass y.loc[X.index]."
        warn("other-order", f"{text} matched by position, as in scikit-learn.", advice=advice)


def refuse_missing(frame: Any) -> None:
    """Raise an error if a frame has missing values, naming the columns."""
    columns = ((name, _safe_indexing(frame, j, axis=1)) for j, name in enumerate(frame.columns))
    if missing := [str(name) for name, column in columns if missing_mask(column).any()]:
        raise missing_refused(missing)


def missing_refused(columns: Sequence[Hashable]) -> InputError:
    """Return the error about missing values that are not allowed."""
    text = f"Input X contains NaN: values are missing in {listed(columns)}. Drop these rows or"
    cure = "columns, or impute the values, for example with scikit-learn's SimpleImputer."
    return InputError(f"{text} {cure}", "column_types", columns)


def checked_numbers(X: Any) -> np.ndarray:
    """Return a table of numbers as an array; errors about a frame name its columns."""
    if is_frame(X) and hasattr(X, "sparse"):  # only if all its columns are sparse
        X = X.sparse.to_dense()
    if is_frame(X):
        other = [j for j, dtype in enumerate(X.dtypes) if kind_of(dtype) not in "biuf"]
        if bad := [j for j in other if not holds_numbers(_safe_indexing(X, j, axis=1))]:
            raise no_numbers([str(X.columns[j]) for j in bad], _ADVICE)
    elif kind_of(dtype := getattr(X, "dtype", None)) == "M":
        text = f"X holds dates or durations ({dtype}); convert them to numbers."
        raise InputError(text, "column_types")
    how: Any = {"ensure_all_finite": False, "ensure_min_samples": 2, "input_name": "X"}
    return np.asarray(check_array(X, dtype=_NUMBERS, **how))


def no_numbers(names: list[str], advice: str) -> InputError:
    """Return the error about columns that are not numeric."""
    text = f"These columns of X are not numeric: {listed(names)}. {advice}"
    return InputError(text, "column_types", names)
