"""The samples of a report, and the variance that a set of features leaves unexplained."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from covmin.core.regression import regress_on_sets
from covmin.data.blocks.sparse import sparse_table
from covmin.data.missing import missing_responses
from covmin.data.response import EncodedResponse, encode_response
from covmin.data.standardize import Standardize, goes_by_rank, prepare_columns
from covmin.data.survival import martingale_residuals, survival_times
from covmin.plotting.shared import names_of
from covmin.runtime.threads import one_blas_thread

from .reading import Table, leveled, read_columns

# Enough rows to describe a feature, few enough to evaluate dozens of sets within seconds.
_MAX_ROWS = 500


@dataclass(frozen=True)
class Samples:
    """Features and response as arrays, with printable names."""

    table: Table
    responses: np.ndarray  # (n_samples,) or (n_samples, n_outputs)
    names: list[str]
    task: str
    standardize: Standardize = True  # how the regressions scale a column

    @property
    def X(self) -> np.ndarray:
        """Every column as numbers, without missing values."""
        return self.table.numbers

    @property
    def levels(self) -> dict[int, list[str]]:
        """Levels of each categorical column."""
        return self.table.levels

    def gaps(self, column: int) -> np.ndarray:
        """Return a mask of the samples in which a column is missing."""
        return self.table.missing.get(column, np.zeros(self.X.shape[0], dtype=bool))

    @property
    def y(self) -> np.ndarray:
        """Labels or numbers; the first output if there are several.

        For survival times, the martingale residuals: events minus expected events.
        """
        if self.task == "survival":
            event, time = self.responses.T
            return martingale_residuals(event, time, np.ones(time.size))
        return self.responses if self.responses.ndim == 1 else self.responses[:, 0]

    @cached_property
    def rows(self) -> np.ndarray:
        """All rows, or a few hundred spread evenly over the values of the response."""
        n = self.X.shape[0]
        if n <= _MAX_ROWS:
            return np.arange(n)
        shuffled = np.random.default_rng(0).permutation(n)
        codes = np.unique(self.y, return_inverse=True)[1]
        by_value = shuffled[np.argsort(codes[shuffled], kind="stable")]
        return np.sort(by_value[np.linspace(0, n - 1, _MAX_ROWS).astype(np.intp)])

    @cached_property
    def classes(self) -> tuple[list[str], np.ndarray]:
        """Labels, and the label number of each sample."""
        return leveled(self.y)

    @cached_property
    def _response(self) -> EncodedResponse:
        return encode_response(self.responses[self.rows], self.task)

    def codes(self, column: int) -> np.ndarray:
        """Return the levels of a category at `rows`, renumbered without absent levels."""
        return np.unique(self.X[self.rows, column], return_inverse=True)[1]

    def standardized(self, columns: Sequence[int]) -> np.ndarray:
        """Return some columns at `rows`, with mean 0 and variance 1 (0 for constants)."""
        values = self.X[self.rows[:, None], list(columns)].astype(np.float64)
        if np.isnan(values).any():  # replace missing values by the mean
            there = ~np.isnan(values)
            sums = values.sum(axis=0, where=there)
            values = np.where(there, values, sums / np.maximum(there.sum(axis=0), 1))
        prepared = prepare_columns(values, self.standardize)
        Z = np.zeros((self.rows.size, len(columns)))
        Z[:, prepared.index] = prepared.X
        return Z

    def unexplained(self, columns: Sequence[int]) -> float:
        """Return the fraction of the variance of y that some columns leave unexplained."""
        known, which = self._unexplained, tuple(sorted(columns))
        if which not in known:
            parts = [self._regressors(column) for column in which]
            X = np.hstack([np.zeros((self.rows.size, 0)), *parts])
            # A column counts once, whatever its number of levels.
            weights = np.repeat(
                [1.0 / part.shape[1] for part in parts], [p.shape[1] for p in parts]
            )
            p = np.full(len(X), 1.0 / len(X))
            # The first rows are the landmarks, which must not all belong to one class.
            order = np.random.default_rng(0).permutation(len(X))
            with one_blas_thread():
                scored = regress_on_sets(X[order], self._response.Y[order], p, weights)[0]
            known[which] = scored.unexplained
        return known[which]

    @cached_property
    def _unexplained(self) -> dict[tuple[int, ...], float]:
        return {}

    def explained(self, columns: Sequence[int]) -> float:
        """Return the fraction of the variance of y that some columns explain."""
        return 1.0 - self.unexplained(columns)

    def _regressors(self, column: int) -> np.ndarray:
        """Return numbers with indicators of missingness, or indicators of levels, scaled."""
        missing = self.table.missing.get(column)
        if column not in self.levels:
            numbers = self.standardized([column])
            if missing is None:
                return numbers
            return np.hstack([numbers, _indicators(missing[self.rows].astype(np.intp))[:, :1]])
        return _indicators(self.codes(column))


def _indicators(codes: np.ndarray) -> np.ndarray:
    """Return centred indicators of levels, with unit variance on average."""
    indicators = np.eye(codes.max() + 1)[codes]
    indicators -= indicators.mean(axis=0)
    spread = float(indicators.var(axis=0).mean())
    return indicators / np.sqrt(spread) if spread > 0.0 else indicators


def as_samples(
    selector: Any, X: Any, y: Any, feature_names: Sequence[str] | None = None
) -> Samples:
    """Return arrays and names from the data that the selector was fitted on."""
    if issparse(X):
        X = sparse_table(X)
        if not isinstance(X, np.ndarray):
            raise ValueError(
                f"A report requires a table that fits in memory; this sparse one has {X.shape[0]} "
                f"× {X.shape[1]} numbers. Fit a selector on the selected columns, and report that."
            )
    array = np.asarray(X)
    times = survival_times(y, "survival") if selector.task_ == "survival" else None
    responses = np.asarray(y) if times is None else times
    if array.ndim != 2 or array.shape[1] != selector.n_features_in_:
        raise ValueError(
            f"X has shape {array.shape}, but the selector was fitted on "
            f"{selector.n_features_in_} features; pass the X it was fitted on."
        )
    names = names_of(selector, feature_names)
    if responses.shape[0] != array.shape[0]:
        raise ValueError(f"X has {array.shape[0]} samples but y has {responses.shape[0]}.")
    if (unknown := missing_responses(responses)).any():
        # Samples without a response are not part of the fit.
        rows = np.flatnonzero(~unknown)
        X, array, responses = _safe_indexing(X, rows), array[rows], responses[rows]
    standardize = "rank" if goes_by_rank(selector.standardize) else True
    table = read_columns(selector, X, array)
    return Samples(table, responses, names, selector.task_, standardize)
