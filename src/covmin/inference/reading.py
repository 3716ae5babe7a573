"""Tables for selectors that fit another one many times, read by the parameters of that one."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from covmin.data.columns import ColumnPlan, PreparedColumns
from covmin.data.samples import Samples, read_samples
from covmin.plan.duplicates import without_duplicates
from covmin.selection.selector import CCMSelector


def reader_of(estimator: Any, missing: str = "keep") -> CCMSelector:
    """Who says how a table is read: the estimator itself, or the defaults of CCMSelector."""
    return estimator if isinstance(estimator, CCMSelector) else CCMSelector(missing=missing)


def read_by(reader: CCMSelector, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Samples:
    """Samples for an estimator; weights that it does not take are refused."""
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(f"sample_weight was passed, but {type(estimator).__name__} takes none.")
    with warnings.catch_warnings():
        if reader is not estimator:  # advice on a parameter that the estimator does not have
            warnings.filterwarnings("ignore", message=".*Pass task=")
        return read_samples(reader, X, y, sample_weight)


def weight_of(sample_weight: Any, samples: Samples) -> np.ndarray | None:
    """The weights that were passed of the samples that count, without those of their classes."""
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


def by_column(values: np.ndarray, of_given: float, plan: ColumnPlan) -> np.ndarray:
    """Values of the units to choose from as those of the columns of the table."""
    of_units = np.full(plan.given.size, of_given, dtype=values.dtype)
    of_units[~plan.given] = values
    return of_units[plan.unit]


def note_columns(selector: Any, samples: Samples) -> None:
    """Write number and names of the columns of a table as fitted attributes."""
    selector.n_features_in_ = samples.plan.unit.size
    vars(selector).pop("feature_names_in_", None)
    if samples.names is not None:
        selector.feature_names_in_ = samples.names
