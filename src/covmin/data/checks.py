"""Refuse invalid input, and warn about tables from which little can be learned."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _get_feature_names

from covmin.constants import FEW_LEVELS, SUSPICIOUS_SHARE
from covmin.remarks import InputError, warn
from covmin.text import count_of, listed, verb

from .blocks import Blocks
from .columns import LEFT_OUT, summary
from .dtypes import as_numbers, holds_numbers, is_frame, is_number, is_time, missing_mask
from .standardize import PreparedColumns

# What to do about columns that are not numeric.
_ADVICE = "Drop them, convert them, or, if they hold categories, give them a categorical dtype."
_NUMBERS = [np.float64, np.float32]


def check_kind(X: Any, y: Any, names: list[Any] | None) -> None:
    """Raise an error for input that would be misread; columns of dates are allowed."""
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"X has two columns named {twice!r}; give every column a unique name.", "X", [twice]
        )
    _get_feature_names(X)  # raises for names of several types
    if (isinstance(X, Blocks) or is_frame(X)) and X.shape[1] == 0:
        raise InputError("X has no columns.", "X")
    if issparse(y):
        raise TypeError("y is sparse, but a dense response is required: pass y.toarray().")
    for dtype in y.dtypes if is_frame(y) else [getattr(y, "dtype", "")]:
        if is_time(dtype):
            raise InputError(
                f"y holds dates or durations ({dtype}); convert them to numbers or classes first.",
                "y",
            )


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
        raise InputError(
            f"X holds dates or durations ({dtype}); convert them to numbers.", "column_types"
        )
    return check_array(
        X, dtype=_NUMBERS, ensure_all_finite="allow-nan", ensure_min_samples=2, input_name="X"
    )


def no_numbers(names: list[str], advice: str) -> InputError:
    """Return the error about columns that are not numeric."""
    return InputError(
        f"These columns of X are not numeric: {listed(names)}. {advice}", "column_types", names
    )


def check_columns(table: Any, columns: PreparedColumns) -> None:
    """Raise an error if no column varies; warn about unused columns and about too few samples.

    Units that were excluded when the table was read do not count as constant.
    """
    layout = table.layout
    names = np.arange(layout.unit.size) if table.names is None else table.names
    constant = np.intersect1d(columns.constant, layout.unit[layout.source])
    if columns.units.size == 0:
        raise InputError(
            f"X has {count_of(constant.size, 'feature')}, all constant or empty: there is nothing "
            "to select.",
            "X",
        )
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
    _warn_of_excluded(table, names)
    if table.n_samples < 2 * FEW_LEVELS:
        warn(
            "too-few-samples",
            f"With {table.n_samples} samples, ranks are hardly better than chance unless an "
            "effect is very strong. Do not rely on them without more samples.",
        )


def _warn_of_excluded(table: Any, names: np.ndarray) -> None:
    """Warn about columns that are not used: row identifiers, free text and empty ones."""
    out = [each for each in table.readings if each.kind in LEFT_OUT[:-1]]
    given = set(names[table.layout.given[table.layout.unit]].tolist())
    if excluded := [each for each in out if each.column not in given]:
        said, columns = summary(excluded), [each.column for each in excluded]
        text = next((each.column for each in excluded if each.kind == "free text"), None)
        named, kind = (columns[0], "category") if text is None else (text, "text")
        advice = (
            f"column_types={{{named!r}: 'drop'}} says that this is right; {kind!r} in place of "
            f"'drop' uses the {'column' if text is None else 'words of the column'}."
        )
        ids = [each.column for each in excluded if each.kind == "identifier"]
        if close := [name for name in ids if _follows_response(table, names.tolist().index(name))]:
            said.append(
                f"The numbers in {listed(close)} follow the response, however: they are its ranks, "
                "or the rows are sorted by it."
            )
        warn("excluded-columns", " ".join(said), columns, advice=advice)
    if kept := [each.column for each in out if each.column in given]:
        warn(
            "given-not-used",
            f"Kept because given, but not used in the fit, being row identifiers, free text or "
            f"empty: {listed(kept)}.",
            kept,
            advice="Use column_types to override this.",
        )


def _follows_response(table: Any, j: int) -> bool:
    """Tell whether the ranks of a numeric column and of the response are correlated."""
    column = table.input_column(j)
    if not is_number(column.dtype):
        return False
    ranks = rankdata(as_numbers(column))
    found = [np.corrcoef(ranks, rankdata(y))[0, 1] for y in table.response.Y.T]
    return bool(np.max(np.square(found)) > SUSPICIOUS_SHARE[2])
