"""Refuse invalid input, and warn about columns and responses from which little can be learned."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import gammaln
from scipy.stats import rankdata
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _get_feature_names

from covmin.constants import FEW_LEVELS, OUTLIERS, SUSPICIOUS_SHARE
from covmin.core.arrays import row_tiles, to_numpy
from covmin.remarks import InputError, warn
from covmin.text import count_of, listed, verb

from .blocks import Blocks
from .blocks.views import rows_to_look_at
from .columns import LEFT_OUT, Reading, summary
from .dtypes import as_numbers, holds_numbers, is_frame, is_number, is_time, missing_mask
from .standardize import PreparedColumns, Standardize

# What to do about columns that are not numeric.
_ADVICE = "Drop them, convert them, or, if they hold categories, give them a categorical dtype."
# With fewer rows there are no outliers.
_ROWS = 10
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
    dtype = getattr(X, "dtype", "")
    if is_time(dtype):
        raise InputError(
            f"X holds dates or durations ({dtype}); convert them to numbers.", "column_types"
        )
    try:
        if is_frame(X) and any(map(is_time, X.dtypes)):
            raise TypeError  # check_array may convert dates to numbers
        return check_array(
            X, dtype=_NUMBERS, ensure_all_finite="allow-nan", ensure_min_samples=2, input_name="X"
        )
    except (TypeError, ValueError) as error:
        if not is_frame(X):
            raise
        columns = ((str(name), _safe_indexing(X, j, axis=1)) for j, name in enumerate(X.columns))
        if bad := [name for name, column in columns if not holds_numbers(column)]:
            raise no_numbers(bad, _ADVICE) from error
        raise


def no_numbers(names: list[str], advice: str) -> InputError:
    """Return the error about columns that are not numeric."""
    return InputError(
        f"These columns of X are not numeric: {listed(names)}. {advice}", "column_types", names
    )


def dominated_by_outliers(values: np.ndarray) -> np.ndarray:
    """Return a mask of the columns whose standard deviation is due to a few outliers.

    The columns are in units of their standard deviation. Without the few values farthest from the
    median, the others still vary, but by a tiny fraction of the standard deviation, so a kernel
    scaled to the outliers cannot distinguish them. Values equal to the median, such as the zeros
    of a count, are equal anyway and are not counted; a column with fewer other values than
    outliers is not reported.

    >>> near = np.arange(100.0)
    >>> far = np.append(near, 1e12)
    >>> [dominated_by_outliers(np.c_[x / x.std()]) for x in (near, far)]
    [array([False]), array([ True])]
    """
    n = values.shape[0]
    if n < _ROWS:
        return np.zeros(values.shape[1], dtype=bool)
    n_near = n - int(np.ceil(OUTLIERS[0] * n))
    # Contiguous columns are sorted faster.
    columns = np.array(values.T, order="C")
    ordered = np.partition(columns, ((n - 1) // 2, n // 2), axis=1)
    columns -= 0.5 * (ordered[:, (n - 1) // 2] + ordered[:, n // 2])[:, None]
    near = np.partition(np.abs(columns, out=columns), n_near - 1, axis=1)[:, :n_near]
    n_others = (near > 0.0).sum(axis=1)
    spread = np.sqrt((near**2).sum(axis=1) / np.maximum(n_others, 1))
    dominated: np.ndarray = (n_others >= n - n_near) & (spread < OUTLIERS[1])
    return dominated


def orders_by_chance(Y: np.ndarray, n_features: int, *, classes: bool) -> float:
    """Return the expected number of useless features that sort the samples by their response.

    A useless feature puts the samples in any order with equal probability. Classes may follow each
    other in any order; numbers may increase or decrease.

    >>> labels = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> round(orders_by_chance(labels, 30, classes=True))
    10
    """
    few = rows_to_look_at(Y.shape[0])
    if few.size < Y.shape[0]:
        # A feature that sorts all samples also sorts a subset, so the subset gives a bound.
        at_most = orders_by_chance(Y[few], n_features, classes=classes)
        if at_most < 1.0:
            return at_most
    counts = np.unique(Y, axis=0, return_counts=True)[1]
    sortings = gammaln(counts + 1.0).sum() + (gammaln(counts.size + 1.0) if classes else np.log(2))
    return float(n_features * np.exp(min(sortings - gammaln(Y.shape[0] + 1.0), 0.0)))


def check_columns(samples: Any, columns: PreparedColumns, standardize: Standardize) -> None:
    """Raise an error if no column varies; warn about columns that are left out or tell little.

    Units that were excluded when the table was read, or that have no values, do not count as
    constant.
    """
    layout = samples.layout
    is_left_out = ~layout.given
    is_left_out[layout.unit[layout.source]] = False
    constant, empty = columns.constant[~is_left_out[columns.constant]], list[int]()
    if columns.units.size == 0:
        raise InputError(
            f"X has {count_of(constant.size, 'feature')}, all constant or empty: there is nothing "
            "to select.",
            "X",
        )
    if layout.indicators.size:
        is_empty = samples.missing_shares(columns.p) > 1.0 - 1e-9
        units = np.intersect1d(constant, layout.unit[layout.source[layout.indicators]])
        empty = [unit for unit in units.tolist() if is_empty[layout.unit == unit].all()]
    constant = np.setdiff1d(constant, empty)
    labels = np.arange(layout.unit.size) if samples.names is None else samples.names
    for code, found, noun, more in (
        ("empty-columns", empty, "feature", " without values"),
        ("constant-columns", constant.tolist(), "constant feature", ""),
    ):
        if found:
            what = f"{count_of(len(found), noun)}{more} {verb(len(found), 'are')}"
            names = labels[np.isin(layout.unit, found)].tolist()
            warn(code, f"{what} ranked last: {listed(names)}.", names)
    if out := [each for each in samples.readings if each.kind in LEFT_OUT[:-1]]:
        _warn_of_excluded(samples, out)
    if standardize and standardize != "rank":
        _warn_of_outliers(samples, columns)


def _warn_of_outliers(samples: Any, columns: PreparedColumns) -> None:
    drawn = to_numpy(columns.X.take(rows_to_look_at(columns.X.shape[0])))
    dominated = np.concatenate(
        [dominated_by_outliers(drawn[:, tile]) for tile in row_tiles(drawn.T)]
    )
    if dominated.any():
        names = samples.column_labels[columns.index[dominated]].tolist()
        warn(
            "outliers",
            f"A few outliers make all other values of a column nearly equal: {listed(names)}. "
            "Check whether they are errors.",
            names,
            advice='Otherwise use standardize="rank", which replaces values by their ranks.',
        )


def _warn_of_excluded(samples: Any, out: list[Reading]) -> None:
    """Warn about columns that are not used: row identifiers, free text and empty ones."""
    is_given = samples.layout.given[samples.layout.unit]
    labels = np.arange(is_given.size) if samples.names is None else samples.names
    given = set(labels[is_given].tolist())
    if excluded := [each for each in out if each.column not in given]:
        said, columns = summary(excluded), [each.column for each in excluded]
        named = ", ".join(f"{column!r}: 'drop'" for column in columns[:3])
        advice = (
            f"column_types={{{named}{', …' if len(columns) > 3 else ''}}} silences this; 'number', "
            "'category' or 'text' (for its words) in place of 'drop' uses a column all the same."
        )
        ids = [each.column for each in excluded if each.kind == "identifier"]
        if close := [name for name in ids if _follows_response(samples, name)]:
            said.append(
                f"The numbers in {listed(close)} follow the response, however: they may be its "
                "ranks, or the rows are sorted by it."
            )
        warn("excluded-columns", " ".join(said), columns, advice=advice)
    if kept := [each.column for each in out if each.column in given]:
        warn(
            "given-not-used",
            f"Kept because given, but not used in the fit, being row identifiers, free text or "
            f"empty: {listed(kept)}.",
            kept,
            advice="Use column_types to change this.",
        )


def _follows_response(samples: Any, name: Any) -> bool:
    """Tell whether the ranks of a numeric column and of the response are correlated."""
    j = list(samples.names).index(name) if samples.names is not None else int(name)
    column = _safe_indexing(samples.passed[0], j, axis=1)
    if not is_number(column.dtype):
        return False
    ranks = rankdata(as_numbers(column)[samples.row])
    found = [np.corrcoef(ranks, rankdata(y))[0, 1] for y in samples.response.Y.T]
    return bool(np.max(np.square(found)) > SUSPICIOUS_SHARE[2])


def check_enough(samples: Any, columns: PreparedColumns) -> None:
    """Warn if there are too few samples to learn from, or outliers of y."""
    response, n = samples.response, columns.X.shape[0]
    by_chance = orders_by_chance(
        response.Y, columns.units.size, classes=response.task == "classification"
    )
    if by_chance >= 1.0:
        warn(
            "too-few-samples",
            f"{n} samples are too few to distinguish {columns.units.size} "
            f"features: by chance alone, about {by_chance:.0f} of them would sort the samples by "
            "y. Do not trust the ranking.",
        )
    elif n < 2 * FEW_LEVELS:
        warn(
            "too-few-samples",
            f"With {n} samples, ranks are hardly better than chance unless an "
            "effect is very strong. Do not rely on them without more samples.",
        )
    if response.has_outliers:
        warn(
            "outliers",
            "A few outliers of y make all other values nearly equal. Pass its logarithm or its "
            "ranks (scipy.stats.rankdata) as y, or check whether these values are errors.",
        )
