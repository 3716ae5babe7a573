"""The samples of a report, and what a set of features leaves unexplained in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from covmin.core.grams import ExactGram
from covmin.core.kernels import Gaussian, median_bandwidth
from covmin.data.columns import prepare_columns
from covmin.data.responses import EncodedResponse, encode_response

__all__ = ["Samples", "as_samples"]

# Enough rows to describe a feature, few enough for dozens of n³ solves in a second.
_MAX_ROWS = 500
_LEVELS = 12
# A ridge that keeps large units from winning by their size, or noise from being fitted, would
# hide what a feature explains.
_LARGEST_RIDGE = 0.01


@dataclass(frozen=True)
class Samples:
    """Features and response as arrays, with names.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels or numbers; the first output where there are several.
    responses : ndarray of shape (n_samples,) or (n_samples, n_outputs)
    names : list of str
    task : {"classification", "regression"}
    epsilon : float
        Ridge of the regressions that describe sets of features.
    notes : tuple of str
        How columns that do not hold numbers were turned into some.
    categorical : frozenset of int
        These columns.
    """

    X: np.ndarray
    y: np.ndarray
    responses: np.ndarray
    names: list[str]
    task: str
    epsilon: float
    notes: tuple[str, ...] = ()
    categorical: frozenset[int] = frozenset()

    @cached_property
    def rows(self) -> np.ndarray:
        """All rows, or a few hundred drawn evenly over the values of the response."""
        n = self.X.shape[0]
        if n <= _MAX_ROWS:
            return np.arange(n)
        shuffled = np.random.default_rng(0).permutation(n)
        codes = np.unique(self.y, return_inverse=True)[1]
        by_value = shuffled[np.argsort(codes[shuffled], kind="stable")]
        return np.sort(by_value[np.linspace(0, n - 1, _MAX_ROWS).astype(np.intp)])

    @cached_property
    def _response(self) -> EncodedResponse:
        return encode_response(self.responses[self.rows], self.task)

    @cached_property
    def _standardized(self) -> dict[int, np.ndarray]:
        return {}

    def standardized(self, columns: Sequence[int]) -> np.ndarray:
        """Some columns at `rows`, with mean 0 and variance 1 (constants: 0)."""
        cache = self._standardized
        missing = [j for j in columns if j not in cache]
        if missing:
            prepared = prepare_columns(self.X[self.rows[:, None], missing].astype(np.float64))
            Z = np.zeros((self.rows.size, len(missing)))
            Z[:, prepared.index] = prepared.X
            cache.update(zip(missing, Z.T, strict=True))
        return np.column_stack([cache[j] for j in columns])

    def unexplained(self, columns: Sequence[int]) -> float:
        """Leave-one-out error of Gaussian kernel ridge regression, share of the variance of y.

        Parameters
        ----------
        columns : sequence of int
            The features regressed on.

        Returns
        -------
        float
            1 where they say nothing; not cut off there.
        """
        X = np.hstack([np.zeros((self.rows.size, 0)), *map(self._regressors, columns)])
        X = X[:, X.any(axis=0)]
        if X.shape[1] == 0:
            return 1.0
        n = X.shape[0]
        sigma = median_bandwidth(X, 2, np.random.default_rng(0))
        gram = ExactGram(Gaussian(sigma), X, self._response.Y, np.full(n, 1.0 / n))
        return gram.at(np.ones(X.shape[1])).leave_one_out(self.epsilon)

    def _regressors(self, column: int) -> np.ndarray:
        """A column of numbers, or indicators of levels: their order has seen the response."""
        if column not in self.categorical:
            return self.standardized([column])
        codes = self.X[self.rows, column].astype(np.intp)
        indicators = np.eye(codes.max() + 1)[codes]
        indicators -= indicators.mean(axis=0)
        spread = float(indicators.var(axis=0).sum())
        return indicators / np.sqrt(spread) if spread > 0.0 else indicators


def as_samples(
    selector: Any, X: Any, y: Any, feature_names: Sequence[str] | None = None
) -> Samples:
    """Arrays and names out of whatever the selector was fitted on.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
    feature_names : sequence of str, optional
        By default the selector's, or x0, x1, …

    Returns
    -------
    Samples
    """
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] != selector.n_features_in_:
        raise ValueError(
            f"X has shape {array.shape}, but the selector was fitted on "
            f"{selector.n_features_in_} features; pass the X it was fitted on."
        )
    names = feature_names
    if names is None:
        names = getattr(selector, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise ValueError(f"{len(names)} feature names were given for {array.shape[1]} features.")
    responses = np.asarray(y)
    if responses.shape[0] != array.shape[0]:
        raise ValueError(f"X has {array.shape[0]} samples but y has {responses.shape[0]}.")
    first = responses if responses.ndim == 1 else responses[:, 0]
    texts = [str(name) for name in names]
    array, notes = _as_numbers(array, first, texts)
    epsilon = min(float(selector.epsilon_), _LARGEST_RIDGE)
    return Samples(
        array,
        first,
        responses,
        texts,
        selector.task_,
        epsilon,
        tuple(notes.values()),
        frozenset(notes),
    )


def _as_numbers(
    array: np.ndarray, y: np.ndarray, names: Sequence[str]
) -> tuple[np.ndarray, dict[int, str]]:
    """Numbers for every column; levels of a category in the order of their mean response.

    Beside them a note on each category.
    """
    if array.dtype.kind == "f":
        return array, {}
    try:
        return array.astype(np.float64), {}
    except (TypeError, ValueError):
        pass
    level_of_y = np.unique(y, return_inverse=True)[1]
    numbers, notes = np.empty(array.shape), {}
    for j, name in enumerate(names):
        try:
            numbers[:, j] = array[:, j].astype(np.float64)
        except (TypeError, ValueError):
            levels, code = np.unique(array[:, j].astype(str), return_inverse=True)
            mean = np.bincount(code, level_of_y) / np.bincount(code)
            numbers[:, j] = np.argsort(np.argsort(mean, kind="stable"))[code]
            order = ", ".join(levels[np.argsort(mean, kind="stable")][:_LEVELS])
            more = " …" if levels.size > _LEVELS else ""
            notes[j] = f"“{name}” holds categories; its plots number them: {order}{more}."
    return numbers, notes
