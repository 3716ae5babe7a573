"""Columns made ready for the criterion: constants out, standardised, in a canonical order."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

__all__ = ["PreparedColumns", "n_features_to_keep", "prepare_columns"]


@dataclass(frozen=True)
class PreparedColumns:
    """A standardised copy of the columns that vary.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_varying)
        Copy, C-ordered, of the dtype of the input.
    index : ndarray of shape (n_varying,)
        Column of the input behind each column of ``X``.
    constant : ndarray
        Columns of the input that do not vary, in increasing order.
    mean, scale : ndarray of shape (n_varying,)
        ``X = (input[:, index] − mean) / scale``.
    """

    X: np.ndarray
    index: np.ndarray
    constant: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Treat other samples the way these were treated."""
        return ((X[:, self.index] - self.mean) / self.scale).astype(self.X.dtype, copy=False)


def prepare_columns(X: np.ndarray, standardize: bool = True) -> PreparedColumns:
    """Drop constant columns, standardise a copy and order the columns by their content.

    The order depends on what is in a column and not on where it stands, so that a fit
    on permuted columns does the same arithmetic to the last bit.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite floats; not modified.
    standardize : bool

    Returns
    -------
    PreparedColumns

    Examples
    --------
    >>> columns = prepare_columns(np.array([[0.0, 5.0], [2.0, 5.0]]))
    >>> columns.X.ravel(), columns.index, columns.constant
    (array([-1.,  1.]), array([0]), array([1]))
    """
    low, high = X.min(axis=0), X.max(axis=0)
    # Scaling by the largest entry first keeps the squares of huge or tiny columns in range.
    size = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    size[size == 0.0] = 1.0
    mean, deviation = _moments(X, size)
    # Spread below the rounding error of the entries is not variation.
    varies = (low < high) & (deviation > np.finfo(X.dtype).eps)
    mean, scale = mean * size, deviation * size
    if not standardize:
        mean, scale = np.zeros_like(mean), np.ones_like(scale)
    index = np.flatnonzero(varies)
    index = index[np.argsort(_content_key(X, size)[index], kind="stable")]
    prepared = (X[:, index] - mean[index]) / scale[index]
    return PreparedColumns(
        np.ascontiguousarray(prepared, dtype=X.dtype),
        index,
        np.flatnonzero(~varies),
        mean[index],
        scale[index],
    )


def _moments(X: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of ``X / size``, in float64."""
    scaled = X / size
    mean = scaled.mean(axis=0)
    scaled -= mean
    return mean, np.sqrt(np.einsum("aj,aj->j", scaled, scaled) / X.shape[0])


def _content_key(X: np.ndarray, size: np.ndarray) -> np.ndarray:
    """A number for each column that equal columns share and different ones do not."""
    mixing = np.random.default_rng(0).standard_normal(X.shape[0])
    return (mixing @ X.astype(np.float64, copy=False)) / size


def n_features_to_keep(wanted: int | float, n_features: int) -> int:
    """Number of features asked for: an int as it is, or a fraction, rounded down, at least one.

    Parameters
    ----------
    wanted : int or float in (0, 1]
    n_features : int
        Number of features there are.

    Returns
    -------
    m : int
        Between 1 and ``n_features``.

    Examples
    --------
    >>> n_features_to_keep(0.25, 9), n_features_to_keep(9, 9)
    (2, 9)
    """
    if not isinstance(wanted, Integral):
        return max(1, int(wanted * n_features))
    if wanted > n_features:
        raise ValueError(
            f"n_features_to_select={wanted}, but X has {n_features} feature(s); "
            f"ask for at most {n_features}, or for a fraction such as 0.5."
        )
    return int(wanted)
