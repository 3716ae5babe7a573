"""Refuse invalid input with messages that name the columns and say what to do."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from covmin.text import listed

from .responses import is_missing

# What to do about columns that are not numeric, by whether X may hold categories.
_ADVICE = {
    False: "Drop them or convert them.",
    True: "Drop them, convert them, or, if they hold categories, give them a categorical dtype "
    "or name them in column_types.",
}


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame of any library."""
    # Test the shape first: a lazy frame has none, and would compute its columns if asked.
    return hasattr(X, "shape") and hasattr(X, "columns") and hasattr(X, "dtypes")


def refuse_lazy(X: Any) -> None:
    """Raise an error for a frame that has not been computed yet."""
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise TypeError("X is a lazy frame; call its collect() method and pass the result.")


def check_numbers(X: Any, y: Any) -> None:
    """Raise an error for input that would be misread, where X must hold only numbers."""
    check_kind(X, y)
    refuse_times(X, takes_categories=False)


def check_kind(X: Any, y: Any, *, takes_sparse: bool = False) -> None:
    """Raise an error for input that would be misread; columns of dates are allowed."""
    refuse_lazy(X)
    refuse_masks(X)
    if issparse(X) and not takes_sparse:
        raise TypeError(
            "Sparse data was passed for X, but dense data is required: pass X.toarray()."
        )
    if is_frame(X):
        refuse_twins(list(X.columns))
    check_response(y)


def check_response(y: Any) -> None:
    """Raise an error if a response is masked, sparse or a date, or has missing values."""
    refuse_masks(y)
    if issparse(y):
        raise TypeError("y is sparse, but a dense response is required: pass y.toarray().")
    for dtype in y.dtypes if is_frame(y) else [getattr(y, "dtype", "")]:
        if is_time(dtype):
            raise ValueError(
                f"y holds dates or durations ({dtype}); convert them to numbers or classes first."
            )
    n_missing = int(missing_responses(y).sum())
    if n_missing:
        raise ValueError(
            f"Input y contains NaN: the response of {n_missing} sample(s) is missing. Drop these "
            "samples."
        )


def refuse_masks(array: Any) -> None:
    """Raise for masked arrays."""
    if np.ma.isMaskedArray(array):
        raise TypeError(
            "Masked arrays are not supported: the masked values would be used like any others. "
            "Drop or impute them and pass an ordinary array."
        )


def refuse_twins(names: Sequence[Hashable]) -> None:
    """Raise an error if two columns have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has two columns named {twice!r}; give every column a unique name.")


def missing_responses(y: Any) -> np.ndarray:
    """Return a mask of the samples that lack a response, or one of several.

    >>> missing_responses(["a", None, "b"])
    array([False,  True, False])
    >>> missing_responses(np.array([[1.0, np.nan], [0.0, 1.0]]))
    array([ True, False])
    """
    if hasattr(y, "isna"):
        missing = np.asarray(y.isna(), dtype=bool)
    elif hasattr(y, "is_null"):
        values = y.to_numpy()  # a null among numbers is NaN in it
        missing = y.is_null().to_numpy() | _is_nan(values)
    else:
        missing = _is_nan(y if isinstance(y, np.ndarray) else _as_objects(y))
    if missing.ndim == 0:
        return np.zeros(0, dtype=bool)
    return np.asarray(missing.any(axis=tuple(range(1, missing.ndim))))


def _is_nan(values: np.ndarray) -> np.ndarray:
    """Return a mask of the missing entries of an array of any dtype."""
    if values.dtype.kind in "fcmM":
        return np.asarray(values != values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.array([is_missing(value) for value in values.flat], dtype=bool).reshape(values.shape)


def _as_objects(y: Any) -> np.ndarray:
    """Return labels as objects: NumPy would convert missing values among text to text."""
    try:
        return np.asarray(y, dtype=object)
    except ValueError:  # rows of different lengths; a later check gives a clear error
        return np.empty(0, dtype=object)


def refuse_times(
    X: Any, categorical: np.ndarray | None = None, *, takes_categories: bool = True
) -> None:
    """Raise an error for dates, which some libraries silently convert to numbers."""
    if is_frame(X):
        excused = np.zeros(X.shape[1], dtype=bool) if categorical is None else categorical
        columns = zip(X.columns, X.dtypes, excused, strict=True)
        times = [str(name) for name, dtype, is_fine in columns if is_time(dtype) and not is_fine]
        if times:
            raise no_numbers(times, _ADVICE[takes_categories])
    elif is_time(getattr(X, "dtype", "")) and (categorical is None or not categorical.all()):
        raise ValueError(f"X holds dates or durations ({X.dtype}); convert them to numbers.")


def is_time(dtype: Any) -> bool:
    """Tell whether a dtype of any library holds dates, times or durations."""
    return str(dtype).lower().startswith(("date", "timedelta", "duration", "time", "period"))


@contextmanager
def columns_named(X: Any, *, takes_categories: bool = False) -> Iterator[None]:
    """Rephrase errors about a frame so that they name its columns."""
    refuse_lazy(X)
    try:
        yield
    except (TypeError, ValueError) as error:
        names = [str(name) for name in X.columns] if is_frame(X) else []
        if names and "contains NaN" in str(error):
            refuse_gaps(X)
            raise
        columns = (_safe_indexing(X, j, axis=1) for j in range(len(names)))
        bad = [n for n, column in zip(names, columns, strict=True) if not _holds_numbers(column)]
        if bad:
            raise no_numbers(bad, _ADVICE[takes_categories]) from error
        raise


def refuse_gaps(X: Any) -> None:
    """Raise an error if a frame has missing values, naming the columns."""
    gaps = [str(name) for j, name in enumerate(X.columns) if _has_gaps(X, j)]
    if gaps:
        raise gaps_refused(gaps)


def gaps_refused(columns: Sequence[Hashable]) -> ValueError:
    """Return the error about missing values that are not allowed."""
    return ValueError(
        f"Input X contains NaN: values are missing in {listed(columns)}. Drop these rows or "
        "columns, or impute the values, for example with scikit-learn's SimpleImputer."
    )


def no_numbers(names: list[str], advice: str) -> ValueError:
    """Return the error about columns that are not numeric."""
    return ValueError(f"These columns of X are not numeric: {listed(names)}. {advice}")


def _has_gaps(X: Any, column: int) -> bool:
    values = _safe_indexing(X, column, axis=1)
    missing = values.isna() if hasattr(values, "isna") else values.is_null()
    if bool(missing.any()):
        return True
    return _holds_numbers(values) and bool(np.isnan(np.asarray(values, dtype=np.float64)).any())


def _holds_numbers(column: Any) -> bool:
    # A date would silently become a number.
    if is_time(column.dtype):
        return False
    # Not every version of pandas can convert a missing value in a nullable column.
    if getattr(column.dtype, "kind", "O") in "biuf":
        return True
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True
