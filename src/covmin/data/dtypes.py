"""What tables, columns and values of any library are, and which of them are refused."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _get_feature_names

from covmin.core.arrays import to_numpy
from covmin.remarks import InputError, warn
from covmin.text import count_of, listed

from .blocks import Blocks

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


def local_frame(X: Any) -> Any:
    """Return a lazy frame, or a table of Arrow data, as a frame in memory; others unchanged."""
    if is_of(X, "polars", "narwhals") and not hasattr(X, "shape"):
        X = X.collect()
    of_arrow = hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    if is_of(X, "pandas", "polars") or not of_arrow:
        return X
    import pyarrow

    is_column = isinstance(X, pyarrow.Array | pyarrow.ChunkedArray)
    return (X if is_column else pyarrow.table(X)).to_pandas()


def from_tensors(X: Any, device: str | None, *others: Any) -> tuple[Any, ...]:
    """Convert torch tensors to NumPy arrays, and return the device to compute on.

    It is that of X unless the user chose another. Tensors in main memory are not copied.
    """
    if device is None and is_of(X, "torch") and X.device.type != "cpu":
        device = str(X.device)
    arrays = [to_numpy(item) if is_of(item, "torch") else item for item in (X, *others)]
    return arrays[0], device, *arrays[1:]


def names_of(X: Any) -> list[Any] | None:
    """Return the names of the columns of a frame or of blocks; None if they have none."""
    if isinstance(X, Blocks):
        return None if X.names is None else list(X.names)
    return list(X.columns) if is_frame(X) else None


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame of any library."""
    # Test the shape first: a lazy frame has none, and would compute its columns if asked.
    return hasattr(X, "shape") and hasattr(X, "columns") and hasattr(X, "dtypes")


def is_number(dtype: Any) -> bool:
    """Tell whether a dtype holds real numbers or booleans."""
    if hasattr(dtype, "is_numeric"):  # polars, whose decimals are objects for NumPy
        return str(dtype) == "Boolean" or dtype.is_integer() or dtype.is_float()
    return getattr(dtype, "kind", "O") in "biuf"


def is_integer(dtype: Any) -> bool:
    """Tell whether a dtype holds integers."""
    of_polars = getattr(dtype, "is_integer", None)
    return bool(of_polars()) if of_polars is not None else dtype.kind in "iu"


def is_category(dtype: Any) -> bool:
    """Tell whether a dtype is categorical."""
    return str(dtype).startswith(("category", "Categorical", "Enum"))


def is_time(dtype: Any) -> bool:
    """Tell whether a dtype holds dates, times or durations."""
    return str(dtype).lower().startswith(("date", "timedelta", "duration", "time", "period"))


def holds_numbers(values: Any) -> bool:
    """Tell whether a column or an array holds numbers, or objects that NumPy converts to them."""
    # NumPy would silently convert dates.
    if is_time(values.dtype) or getattr(values.dtype, "kind", "O") not in "OUS":
        return not is_time(values.dtype)
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
    if is_number(getattr(values, "dtype", None)):
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


# --- what is refused ------------------------------------------------------------------------------


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
        if is_time(dtype):
            text = (
                f"y holds dates or durations ({dtype}); convert them to numbers or classes first."
            )
            raise InputError(text, "y")
    are_labelled = is_of(X, "pandas") and is_of(y, "pandas") and not X.index.equals(y.index)
    if are_labelled and X.index.sort_values().equals(y.index.sort_values()):
        text = "The index of y has the labels of the index of X, but in another order. Rows are"
        advice = "If they belong together by label, pass y.loc[X.index]."
        warn("other-order", f"{text} matched by place, as in scikit-learn.", advice=advice)


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


def checked_numbers(X: Any) -> np.ndarray:
    """Return a table of numbers as an array; errors about a frame name its columns."""
    if is_frame(X) and hasattr(X, "sparse"):  # only if all its columns are sparse
        X = X.sparse.to_dense()
    if is_frame(X):
        other = [j for j, dtype in enumerate(X.dtypes) if not is_number(dtype)]
        bad = [j for j in other if not holds_numbers(_safe_indexing(X, j, axis=1))]
        if bad:
            raise no_numbers([str(X.columns[j]) for j in bad], _ADVICE)
    elif is_time(dtype := getattr(X, "dtype", "")):
        text = f"X holds dates or durations ({dtype}); convert them to numbers."
        raise InputError(text, "column_types")
    numbers = check_array(
        X, dtype=_NUMBERS, ensure_all_finite=False, ensure_min_samples=2, input_name="X"
    )
    with np.errstate(over="ignore", invalid="ignore"):
        may_be_infinite = not np.isfinite(numbers.sum())
    if may_be_infinite and (bad := np.flatnonzero(np.isinf(numbers).any(axis=0)).tolist()):
        names = [X.columns[j] for j in bad] if is_frame(X) else bad
        text = f"Input X contains infinity in {count_of(len(bad), 'column')}: {listed(names)}."
        cure = "Replace it, for example by NaN, which is read as a missing value."
        raise InputError(f"{text} {cure}", "X", names)
    return numbers


def no_numbers(names: list[str], advice: str) -> InputError:
    """Return the error about columns that are not numeric."""
    text = f"These columns of X are not numeric: {listed(names)}. {advice}"
    return InputError(text, "column_types", names)
