"""The base of all selectors: the mask of kept features, and output in the user's format."""

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, _safe_indexing, assert_all_finite, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from covmin.data.blocks.array import Blocks
from covmin.data.dtypes import is_frame, is_of, local, refuse_missing, stays_what_it_is
from covmin.remarks import warn
from covmin.runtime import __version__
from covmin.runtime.compat import output_container
from covmin.text import listed

# Key of covmin's version in a pickle.
_VERSION = "_covmin_version"


class FeatureSelector(SelectorMixin, BaseEstimator):
    """A selector that requires y and returns the columns of a table unchanged, dtypes included.

    Once it is fitted, ``support_`` is the mask of the features kept.
    """

    support_: np.ndarray
    ranking_: np.ndarray
    n_features_: int
    n_features_in_: int
    feature_names_in_: np.ndarray
    _takes_several_outputs: ClassVar[bool] = True
    _takes_sparse: ClassVar[bool] = True

    if TYPE_CHECKING:  # scikit-learn has these, without types

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...  # noqa: D102
        @overload
        def get_support(self, indices: Literal[False] = False) -> NDArray[np.bool_]: ...
        @overload
        def get_support(self, indices: Literal[True]) -> NDArray[np.intp]: ...
        def get_support(self, indices: bool = False) -> np.ndarray: ...  # noqa: D102
        def get_feature_names_out(self, names: Any = None) -> NDArray[np.object_]: ...  # noqa: D102
        def set_output(self, *, transform: str | None = None) -> Self: ...  # noqa: D102

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        strict = getattr(self, "column_types", "strict")
        tags.input_tags.allow_nan = not (isinstance(strict, str) and strict == "strict")
        tags.target_tags.multi_output = self._takes_several_outputs
        # A selector with column_types accepts text and categories.
        tags.input_tags.string = tags.input_tags.categorical = hasattr(self, "column_types")
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__(), _VERSION: __version__}
        state.pop("_fitted_on", None)  # weak references to the samples
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        made_by = state.pop(_VERSION, "an unknown version")
        if made_by != __version__:
            text = f"This {type(self).__name__} was pickled by covmin {made_by} and is loaded by"
            what = f"{__version__}: attributes may be missing or have another meaning. Refit it."
            warn("pickle-version", f"{text} {what}")
        super().__setstate__(state)

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Must have the columns seen in ``fit``. Missing values are allowed if ``fit`` allows
            them, and stay missing.

        Returns
        -------
        X_selected : array or frame of shape (n_samples, n_selected)
            A frame if X is one, with its dtypes, and otherwise an array; or what ``set_output``
            asks for. Sparse matrices, Dask collections, tensors and Parquet files keep their type.
        """
        support = self.get_support(indices=True)  # first, so that NotFittedError comes first
        if stays_what_it_is(X):
            _check_columns_of_fit(self, X)
            if hasattr(X, "restrict"):  # blocks of a file
                return X.restrict(support)
            return X[list(X.columns[support])] if hasattr(X, "columns") else X[:, support]
        if issparse(X):
            return super().transform(X).asformat(X.format)
        X = local(X)
        if not is_frame(X):
            if not hasattr(X, "shape") and np.asarray(X).dtype.kind in "US":
                X = np.asarray(X, dtype=object)  # NumPy would convert numbers in lists to text
            return super().transform(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        if not get_tags(self).input_tags.allow_nan:
            refuse_missing(X)
        kept = _safe_indexing(X, support, axis=1)
        is_other = output_container(self) == "pandas" and not is_of(kept, "pandas")
        return kept.to_pandas() if is_other else kept  # scikit-learn converts to polars

    def _transform(self, X: Any) -> Any:
        # scikit-learn does not check at all if missing values are allowed.
        if isinstance(X, np.ndarray) and get_tags(self).input_tags.allow_nan:
            assert_all_finite(X, allow_nan=True, input_name="X")
        return super()._transform(X)

    def inverse_transform(self, X: Any) -> Any:
        """Return the selected features in their original columns, with zeros in the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_selected)

        Returns
        -------
        X_original : array or sparse matrix of shape (n_samples, n_features)
        """
        if issparse(X):
            return type(X)(super().inverse_transform(X))
        if self.get_support().any():
            with config_context(assume_finite=get_tags(self).input_tags.allow_nan):
                return super().inverse_transform(X)
        # scikit-learn refuses an array without columns, which means that nothing was selected.
        X = np.asarray(X)
        return np.zeros((X.shape[0], self.n_features_in_), dtype=X.dtype)


def _check_columns_of_fit(selector: Any, X: Any) -> None:
    """Check the number and the names of the columns, as scikit-learn does for its own types."""
    fitted = getattr(selector, "feature_names_in_", None)
    names = X.names if isinstance(X, Blocks) else getattr(X, "columns", None)
    if fitted is not None and names is not None and list(fitted) != [*map(str, names)]:
        unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        why = "The feature names should match those that were passed during fit, in the same order."
        why += f" Unseen at fit time: {listed(unseen)}." if unseen else ""
        why += f" Seen at fit time, yet now missing: {listed(missing)}." if missing else ""
        raise ValueError(why)
    if X.shape[1] != selector.n_features_in_:
        text = f"X has {X.shape[1]} features, but {type(selector).__name__} was fitted on"
        raise ValueError(f"{text} {selector.n_features_in_}.")
