"""What the selectors of this package share: fitted attributes, and tables to fit repeatedly."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import has_fit_parameter

from covmin.data import Layout, Table, TableOptions, read
from covmin.data.dtypes import is_frame
from covmin.data.standardize import PreparedColumns
from covmin.remarks import InputError, silenced
from covmin.selection.selector import CCMSelector
from covmin.selection.transform import FeatureSelector


def shared_constraints(*names: str) -> dict[str, Any]:
    """Return what is allowed for parameters that mean the same as in :class:`CCMSelector`."""
    return {name: CCMSelector._parameter_constraints[name] for name in names}


class InferenceSelector(FeatureSelector):
    """A selector that is fitted at once, or not at all if there is an error."""

    def _present(self, table: Table, **attributes: Any) -> None:
        """Set all fitted attributes, with the number, the names and the groups of the columns."""
        self.__dict__.pop("feature_names_in_", None)
        if table.names is not None:
            self.feature_names_in_ = table.names
        columns = {"n_features_in_": table.layout.unit.size, "feature_groups_": table.labels}
        self.__dict__.update(columns | attributes)

    def _tags_of(self, reader: Any) -> Tags:
        """Return the tags of a selector that reads tables as another estimator does."""
        tags, read = super().__sklearn_tags__(), get_tags(reader).input_tags
        tags.input_tags.allow_nan, tags.input_tags.string = read.allow_nan, read.string
        return tags


def read_for(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, *, takes_missing: bool = True
) -> Table:
    """Read a table for an estimator that is fitted to its rows again and again.

    It is read by the parameters of the estimator, apart from class weights, or by the defaults.
    Weights that the estimator does not accept raise an error.
    """
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(f"sample_weight was passed, but {type(estimator).__name__} accepts none.")
    if isinstance(X, Table) and X.options.class_weight is not None:
        raise InputError(
            "The table was read with class_weight, which belongs to the inner estimator here; pass "
            "X and y.",
            "X",
        )
    options, silent = TableOptions("auto" if takes_missing else "strict"), ["guessed-task"]
    if isinstance(estimator, CCMSelector):  # others do not have the parameter task
        options, silent = TableOptions.of(estimator, class_weight=None), []
    with silenced(*silent):
        table = read(X, y, options, sample_weight, groups)
    X, y = table.passed
    # Lists and the like become arrays, of which rows can be taken.
    y = y if hasattr(y, "dtype") or is_frame(y) else np.asarray(y)
    return replace(table, passed=(X, y))


def check_size(n: int, fewest: int, tool: str) -> None:
    """Raise an error, in the words of scikit-learn, for too few samples."""
    if n < fewest:
        raise ValueError(
            f"Found array with {n} sample(s) while a minimum of {fewest} is required by {tool}, "
            "for which a group of samples counts as one."
        )


def rows_to_fit(
    table: Table, columns: PreparedColumns, estimator: Any, seed: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the numbers of the rows to fit, ordered by content, and their weights if needed.

    Duplicates of a row are not independent: they are merged if the estimator accepts weights.
    """
    rows, is_weighted = columns.distinct(seed, merged=False), bool((table.weight != 1.0).any())
    if has_fit_parameter(estimator, "sample_weight"):
        merged = columns.independent(seed)
        is_weighted |= merged.p.size < rows.p.size
        rows = merged
    return rows.first, rows.p * columns.total_weight if is_weighted else None


def by_column(
    layout: Layout,
    values: np.ndarray,
    of_given: Any,
    of_constant: Any = None,
    units: np.ndarray | None = None,
) -> np.ndarray:
    """Return values of ``units``, by default all that are not given, for the input columns.

    Other units have the value ``of_constant``.
    """
    of_units = np.where(layout.given, of_given, of_given if of_constant is None else of_constant)
    of_units = of_units.astype(np.result_type(of_units, values))
    of_units[~layout.given if units is None else units] = values
    return np.asarray(of_units[layout.unit])
