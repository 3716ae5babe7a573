"""Read tables for selectors that fit another selector many times."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from covmin.data.checks import is_frame
from covmin.data.columns import ColumnPlan, PreparedColumns
from covmin.data.samples import Samples, read_samples
from covmin.plan.duplicates import without_duplicates
from covmin.selection.selector import CCMSelector


def reader_of(estimator: Any, missing: str = "keep") -> CCMSelector:
    """Return the selector whose parameters determine how a table is read."""
    return estimator if isinstance(estimator, CCMSelector) else CCMSelector(missing=missing)


def read_by(reader: CCMSelector, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Samples:
    """Read samples for an estimator; raise an error for weights that it does not accept."""
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(f"sample_weight was passed, but {type(estimator).__name__} accepts none.")
    with warnings.catch_warnings():
        if reader is not estimator:  # advice on a parameter that the estimator does not have
            warnings.filterwarnings("ignore", message=".*Pass task=")
        return read_samples(reader, X, y, sample_weight)


def indexable_response(y: Any) -> Any:
    """Return y in a form that supports indexing by rows, with its type kept if it has one."""
    return y if hasattr(y, "dtype") or is_frame(y) else np.asarray(y)


def weight_of(sample_weight: Any, samples: Samples) -> np.ndarray | None:
    """Return the weights passed for the samples in use, without class weights."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    return weight[samples.row] if weight.ndim else np.full(samples.n_samples, float(weight))


def rows_to_fit(
    columns: PreparedColumns, estimator: Any, seed: int, *, is_weighted: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the numbers of the rows to fit, ordered by content, and their weights if needed.

    Duplicates of a row are not independent samples: they share its response. They are merged if
    the estimator accepts sample weights.
    """
    rows = columns.distinct(seed, merged=False)
    if has_fit_parameter(estimator, "sample_weight"):
        merged = without_duplicates(columns, seed)
        is_weighted |= merged.size < rows.size
        rows = merged
    return rows.first, rows.p * columns.total_weight if is_weighted else None


def by_column(
    values: np.ndarray,
    *,
    layout: ColumnPlan,
    of_given: Any,
    units: np.ndarray | None = None,
    of_constant: Any = None,
) -> np.ndarray:
    """Return values of units as values of the input columns.

    The values are those of ``units``, by default all that are not given. If these are only the
    units that vary, ``of_constant`` is the value of the others.
    """
    units = np.flatnonzero(~layout.given) if units is None else units
    of_units = np.where(layout.given, of_given, of_given if of_constant is None else of_constant)
    of_units = of_units.astype(np.result_type(of_units, values))
    of_units[units] = values
    return np.asarray(of_units[layout.unit])


def note_columns(selector: Any, samples: Samples) -> None:
    """Set the number, the names and the groups of the columns as fitted attributes."""
    selector.n_features_in_ = samples.plan.unit.size
    selector.groups_ = samples.labels
    vars(selector).pop("feature_names_in_", None)
    if samples.names is not None:
        selector.feature_names_in_ = samples.names
