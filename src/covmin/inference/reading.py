"""Read tables for selectors that fit another selector many times."""

from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from covmin.data import Layout, Table, TableOptions, read
from covmin.data.columns import is_frame
from covmin.data.standardize import PreparedColumns
from covmin.plan.duplicates import without_duplicates
from covmin.remarks import silenced
from covmin.selection.selector import CCMSelector


def options_of(estimator: Any, *, takes_missing: bool = True) -> TableOptions:
    """Return how an estimator reads a table: by its own parameters, or by the defaults."""
    if isinstance(estimator, CCMSelector):
        return TableOptions.of(estimator)
    return TableOptions(missing="keep" if takes_missing else "error")


def read_for(estimator: Any, X: Any, y: Any, options: TableOptions, sample_weight: Any) -> Table:
    """Read a table for an estimator; raise an error for weights that it does not accept."""
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(f"sample_weight was passed, but {type(estimator).__name__} accepts none.")
    # Advice on a parameter that the estimator does not have is left out.
    advice = () if isinstance(estimator, CCMSelector) else ("guessed-task",)
    with silenced(*advice):
        return read(X, y, options, sample_weight)


def indexable_response(y: Any) -> Any:
    """Return y in a form that supports indexing by rows, with its type kept if it has one."""
    return y if hasattr(y, "dtype") or is_frame(y) else np.asarray(y)


def weight_of(sample_weight: Any, samples: Table) -> np.ndarray | None:
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


def by_column(values: np.ndarray, of_given: float, layout: Layout) -> np.ndarray:
    """Return values of the units as values of the input columns."""
    of_units = np.full(layout.given.size, of_given, dtype=values.dtype)
    of_units[~layout.given] = values
    return of_units[layout.unit]


def note_columns(selector: Any, samples: Table) -> None:
    """Set the number, the names and the groups of the columns as fitted attributes."""
    selector.n_features_in_ = samples.layout.unit.size
    selector.feature_groups_ = samples.labels
    vars(selector).pop("feature_names_in_", None)
    if samples.names is not None:
        selector.feature_names_in_ = samples.names
