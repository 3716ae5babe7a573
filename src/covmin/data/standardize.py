"""Prepare columns for the criterion: drop constants, standardise, and order by content."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral
from typing import Any

import numpy as np

from covmin.constants import DUPLICATES, MANY_ROWS, RARE_LEVEL
from covmin.core.rows import add_up
from covmin.core.units import ALWAYS_ON, Units
from covmin.remarks import InputError

from .blocks import ArrayBlocks, Blocks, ChangedBlocks, NormalScores, StandardizedBlocks, in_blocks
from .blocks.views import ranked_rows, rows_to_look_at, standardize_block
from .layout import Layout
from .moments import (
    GOLDEN_RATIO,
    check_finite,
    frequencies_by_place,
    frequencies_of_responses,
    joined,
    keys_block,
    merge_moments,
    moments_block,
    signatures_block,
)

# How to standardise columns: mean 0 and variance 1 (True), normal scores ("rank"), or not at all.
Standardize = bool | str


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows, in a pseudorandom order that depends only on their content.

    The first rows are therefore a sample of all. Neither the order of the input rows nor
    duplicates matter.
    """

    first: np.ndarray  # (n_distinct,), number of one row of each kind
    p: np.ndarray  # (n_distinct,), total weight of its duplicates, positive
    kind: np.ndarray  # (n_rows,), kind of each row; n_distinct or more if it has no weight

    @classmethod
    def as_they_stand(cls, p: np.ndarray) -> DistinctRows:
        """Return all rows with positive weight, without merging."""
        first = np.flatnonzero(p > 0.0)
        return cls(first, p[first], np.argsort(np.argsort(p <= 0.0, kind="stable")))

    @classmethod
    def of(
        cls, signature: np.ndarray, p: np.ndarray, seed: int, *, merged: bool = True
    ) -> DistinctRows:
        """Return one row per signature, or all rows; another seed gives another order."""
        if merged:
            by_signature = np.argsort(signature)  # several times as fast as np.unique
            starts = np.diff(signature[by_signature], prepend=np.nan) != 0.0
            first = np.minimum.reduceat(by_signature, np.flatnonzero(starts))
            kind = np.empty_like(by_signature)
            kind[by_signature] = np.cumsum(starts) - 1
            apart: Any = 0.0
        else:
            first = kind = np.arange(p.size)
            apart = GOLDEN_RATIO * _occurrence(signature)  # equal rows must not lie together
        weight = np.bincount(kind, p)
        # The fractional part of a large multiple of a number is as good as random.
        drawn = signature[first] * np.random.default_rng(seed).uniform(1e3, 2e3)
        drawn = (drawn + apart) % 1.0
        order = np.argsort(np.where(weight > 0.0, drawn, 1.0), kind="stable")
        place = np.argsort(order)
        order = order[weight[order] > 0.0]
        return cls(first[order], weight[order], place[kind])

    def apart(
        self, splits: list[tuple[np.ndarray, np.ndarray]], weight: np.ndarray
    ) -> DistinctRows:
        """Return one row for each kind and its sides of the splits; no weight is zero."""
        by_kind = np.stack([self.kind, *(mask for split in splits for mask in split)])
        _, first, kind = np.unique(by_kind, axis=1, return_index=True, return_inverse=True)
        return DistinctRows(first, np.bincount(kind, weight / weight.sum()), kind)

    @property
    def size(self) -> int:
        """Number of distinct rows."""
        return self.first.size


def _occurrence(values: np.ndarray) -> np.ndarray:
    """Return how often each value has occurred before.

    >>> _occurrence(np.array([5.0, 3.0, 5.0, 5.0]))
    array([0, 0, 1, 2])
    """
    order = np.argsort(values, kind="stable")
    starts = np.diff(values[order], prepend=np.nan) != 0.0
    place = np.arange(values.size)
    occurrence = np.empty_like(place)
    occurrence[order] = place - np.maximum.accumulate(np.where(starts, place, 0))
    return occurrence


@dataclass(frozen=True)
class PreparedColumns:
    """A standardised copy of the columns that vary, or a view of them that is read in blocks.

    ``X = (scores(input)[:, index] − mean) / scale``; without scores, the input itself is used.
    Missing values are set to the mean of the others.
    """

    # (n_samples, n_varying): a C-ordered copy in the dtype of the input, or a StandardizedBlocks.
    X: Any
    index: np.ndarray  # (n_varying,), input column of each column of X
    mean: np.ndarray  # (n_varying,)
    scale: np.ndarray
    units: Units  # units of selection over the columns of X
    unit_index: np.ndarray  # (units.size,), the unit of the layout for each of `units`
    constant: np.ndarray  # units of the layout that are constant and not given, in order
    p: np.ndarray  # (n_samples,), sample weights, scaled to sum to one
    total_weight: float  # their sum before scaling
    # (n_samples,): equal for rows that are equal, response included; None without responses.
    signature: np.ndarray | None
    scores: NormalScores | None  # of all input columns, if ranks are used
    # (n_varying,): contribution of a column to the size of its unit. An indicator of missingness
    # contributes the fraction of missing values.
    counts: np.ndarray
    missing_at: np.ndarray | None  # (n_varying,), value of a missing entry; None if none is missing

    @cached_property
    def _drawn(self) -> dict[tuple[int, bool], DistinctRows]:
        return {}

    def distinct(self, seed: int, *, merged: bool = True) -> DistinctRows:
        """Return the distinct rows, or all rows in random order; input order without responses."""
        if self.signature is None:
            return DistinctRows.as_they_stand(self.p)
        if (seed, merged) not in self._drawn:
            drawn = DistinctRows.of(self.signature, self.p, seed, merged=merged)
            self._drawn[seed, merged] = drawn
        return self._drawn[seed, merged]

    def independent(self, seed: int) -> DistinctRows:
        """Return the rows in random order, with duplicates merged into one row of their weight.

        Rows that happen to be equal, because features have few values, stay separate samples.
        """
        rows = self.distinct(seed)
        if rows.size == self.p.size or not self._are_equal_by_chance(rows):
            return rows
        return self.distinct(seed, merged=False)

    def _are_equal_by_chance(self, rows: DistinctRows) -> bool:
        """Tell whether rows that are equal, response included, may be different samples.

        Duplicates share their response. Samples that happen to have equal features often do not.
        If all do, the features determine the response, and equal rows should be about as frequent
        as the values of single features suggest.
        """
        some = rows.first[:MANY_ROWS]
        X = self.X[some] if isinstance(self.X, np.ndarray) else self.X.sample(some)
        # Rows with equal features have equal projections.
        n_distinct = np.unique(X @ np.random.default_rng(0).standard_normal(X.shape[1])).size
        if len(X) - n_distinct > DUPLICATES[0] * n_distinct:
            return True
        copies = np.bincount(rows.kind)[: len(X)]
        total = copies.sum()
        together, alone = _equal_pairs(copies, total), 1.0
        for column in X.T:
            counts = np.bincount(np.unique(column, return_inverse=True)[1], copies)
            if total < RARE_LEVEL[0] * counts.size:
                return False
            alone *= _equal_pairs(counts, total)
        return bool(together <= DUPLICATES[1] * alone)

    @cached_property
    def n_distinct(self) -> int:
        """Number of distinct rows."""
        return self.distinct(0).size

    @cached_property
    def n_effective(self) -> float:
        """Effective number of rows, as if all had equal weight."""
        p = self.distinct(0).p
        return float(p.sum() ** 2 / (p @ p))

    @property
    def unit_sizes(self) -> np.ndarray:
        """Size of each unit, the sum of the contributions of its columns."""
        free = self.units.of_column != ALWAYS_ON
        return np.bincount(self.units.of_column[free], self.counts[free], self.units.size)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Prepare other samples in the same way."""
        X = X if self.scores is None else self.scores.apply(X)
        return standardize_block(
            X[:, self.index], self.mean, self.scale, self.missing_at, self.X.dtype
        )


def _equal_pairs(counts: np.ndarray, total: float) -> float:
    """Return the share of equal pairs among all pairs of rows."""
    return float((counts * (counts - 1.0)).sum() / (total * (total - 1.0)))


def weighted_samples(
    X: Any, y: np.ndarray, sample_weight: Any
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Check sample weights and drop samples with weight zero."""
    n = X.shape[0]
    if sample_weight is None:
        return X, y, np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise InputError(
            f"sample_weight must have one entry for each of the {n} samples; "
            f"its shape is {weight.shape}.",
            "sample_weight",
        )
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise InputError("sample_weight must contain finite numbers ≥ 0.", "sample_weight")
    if weight.max() > np.finfo(np.float64).max / n:
        weight = weight / weight.max()  # their sum would be infinite
    keep = weight > 0.0
    if keep.sum() < 2:
        raise InputError(
            f"Only {int(keep.sum())} of {n} sample weights are not zero, but at least 2 must be.",
            "sample_weight",
        )
    if keep.all():
        return X, y, weight
    return X.keep(keep) if in_blocks(X) else X[keep], y[keep], weight[keep]


def prepare_columns(
    X: Any,
    standardize: Standardize = True,
    *,
    layout: Layout | None = None,
    sample_weight: np.ndarray | None = None,
    Y: np.ndarray | None = None,
    clip: bool = True,
) -> PreparedColumns:
    """Drop constant columns, standardise a copy and order the columns by their content.

    The order depends on the content of a column, not on its position, nor on the order or the
    repetition of the rows, so that a fit on permuted or weighted data does the same arithmetic. Y
    (n_samples, n_responses) distinguishes rows that are equal in X and has no other effect.
    Duplicate rows are merged only if Y is given. Means are those of the values that are present;
    standard deviations are those of all samples with missing values set to the mean.
    """
    n = X.shape[0]
    layout = layout or Layout.plain(X.shape[1])
    weight = np.ones(n) if sample_weight is None else sample_weight
    total = float(weight.sum())
    p = weight / total
    scores = _scores(X, p, layout, standardize) if clip or goes_by_rank(standardize) else None
    if scores is not None:
        X = ChangedBlocks(X, scores) if in_blocks(X) else scores.apply(X)
    source = X if in_blocks(X) else ArrayBlocks(X)
    Y_ = np.zeros((n, 0)) if Y is None else Y
    has_missing = layout.indicators.size > 0
    low, high, size, mean, deviation = _moments(source, Y_, p, layout)
    spread = np.where(deviation > 0.0, deviation, 1.0)
    keys = partial(keys_block, size, mean, spread, has_missing)
    key, response_key = source.reduce(keys, add_up, Y_, p)
    # Variation below the rounding error of the entries does not count.
    varies = (low < high) & (deviation > np.finfo(source.dtype).eps)
    deviation = _share_among_levels(deviation, varies, layout)
    values = _values_beside_indicators(varies, layout)
    index = _by_content(key, varies, values, layout)
    signature = None
    if Y is not None:
        parts = frequencies_by_place(np.arange(index.size)), frequencies_of_responses(response_key)
        # Measure from the lowest value: unlike the mean, it does not depend on the row order.
        scaling = size[index], (low / size)[index], spread[index]
        sign = partial(signatures_block, has_missing, *parts, *scaling)
        signature = source.reduce(sign, joined, Y_, p, index)
    mean, scale = mean * size, deviation * size
    units, unit_index, counts = _units(layout, index, mean[index])
    missing_at = np.zeros(index.size) if has_missing else None
    if not standardize:
        missing_at = mean[index] if has_missing else None
        mean, scale = np.zeros_like(mean), _unstandardized_scale(scale, values, layout)
    prepared = StandardizedBlocks(source, index, mean[index], scale[index], missing_at)
    return PreparedColumns(
        prepared if in_blocks(X) else prepared.standardize(X[:, index]),
        index,
        mean[index],
        scale[index],
        units,
        unit_index,
        np.setdiff1d(np.flatnonzero(~layout.given), unit_index),
        p,
        total,
        signature,
        scores,
        counts,
        missing_at,
    )


def _scores(X: Any, p: np.ndarray, layout: Layout, standardize: Standardize) -> NormalScores | None:
    """Return how the values are replaced: by normal scores, or by clipping a few far ones."""
    if not standardize:
        return None
    by_rank = goes_by_rank(standardize)
    rows = ranked_rows(X.shape[0]) if by_rank else rows_to_look_at(X.shape[0])
    drawn = X.take(rows) if in_blocks(X) else X[rows]
    left = layout.categorical[layout.source]
    left[layout.indicators] = True
    if by_rank:
        return NormalScores.of(drawn, p[rows], left)
    return NormalScores.clipped(drawn, X.shape[0], left)


def _moments(
    source: Blocks, Y: np.ndarray, p: np.ndarray, layout: Layout
) -> tuple[np.ndarray, ...]:
    """Return minimum, maximum, largest entry, and mean and deviation relative to it."""
    block = partial(moments_block, layout.indicators.size > 0)
    low, high, weight, size, mean, power = source.reduce(block, merge_moments, Y, p)
    empty = low > high  # no values, so nothing varies
    low[empty] = high[empty] = 0.0
    check_finite(low, high, source.names)
    with_missing = np.isin(layout.source, layout.with_missing)
    return low, high, size, mean, np.sqrt(np.where(with_missing, power * weight, power))


def _values_beside_indicators(varies: np.ndarray, layout: Layout) -> np.ndarray:
    """Return a varying value column for each indicator of missingness; −1 if there is none."""
    valued = np.setdiff1d(np.flatnonzero(varies), layout.indicators)
    first = np.full(layout.categorical.size, -1)
    first[layout.source[valued[::-1]]] = valued[::-1]
    return first[layout.with_missing]


def _by_content(
    key: np.ndarray, varies: np.ndarray, values: np.ndarray, layout: Layout
) -> np.ndarray:
    """Return the columns that vary, ordered by their keys.

    Several columns may have missing values in the same samples. An indicator of missingness is
    placed after its values, so that its position does not depend on other columns.
    """
    key = key.copy()
    key[layout.indicators] = np.where(values >= 0, key[values], key[layout.indicators])
    index = np.flatnonzero(varies)
    return index[np.argsort(key[index], kind="stable")]


def _unstandardized_scale(deviation: np.ndarray, values: np.ndarray, layout: Layout) -> np.ndarray:
    """Return the scales without standardisation; indicators get the deviation of their values."""
    scale = np.ones_like(deviation)
    marks, values = layout.indicators[values >= 0], values[values >= 0]
    scale[marks] = np.where(deviation[marks] > 0.0, deviation[marks], 1.0) / deviation[values]
    return scale


def _share_among_levels(deviation: np.ndarray, varies: np.ndarray, layout: Layout) -> np.ndarray:
    """Use one deviation for all indicators of a column, so that levels are equally far apart."""
    n_inputs = layout.categorical.size
    counts = np.bincount(layout.source, varies, minlength=n_inputs)
    power = np.bincount(layout.source, deviation**2 * varies, minlength=n_inputs)
    shared = np.sqrt(power / np.maximum(counts, 1.0))
    return np.where(layout.categorical[layout.source] & varies, shared[layout.source], deviation)


def _units(
    layout: Layout, index: np.ndarray, missing: np.ndarray
) -> tuple[Units, np.ndarray, np.ndarray]:
    """Return units over the columns that vary, numbered in the order of their first column.

    The encoded columns of an input column share its weight equally, and so do the input columns
    of a unit, so that each unit has a variance of one. If a fraction m of the values is missing,
    the distance between a missing and a present value is set to one standard deviation of the
    present values. The variances, and hence the shares of the weight, are then in the ratio 1 to
    m. As m goes to zero, the column behaves as if nothing were missing.

    ``missing`` (n_varying,) holds m for each indicator of missingness.
    """
    source = layout.source[index]
    unit = layout.unit[source]
    is_indicator = np.isin(index, layout.indicators)
    n_values = np.bincount(source[~is_indicator], minlength=layout.unit.size)[source]
    share = np.zeros(layout.unit.size)
    share[source[is_indicator]] = missing[is_indicator]
    # All values together count for one; so does the indicator if no values vary.
    counts = np.where(is_indicator & (n_values > 0), share[source], 1.0)
    together = np.where(n_values > 0, 1.0 + share[source], 1.0)
    levels = together / counts * np.where(is_indicator, 1, n_values)
    inputs = np.bincount(layout.unit[np.unique(source)], minlength=layout.given.size)[unit]
    free = ~layout.given[unit]
    found, first = np.unique(unit[free], return_index=True)
    unit_index = found[np.argsort(first)]
    number = np.full(layout.given.size, ALWAYS_ON)
    number[unit_index] = np.arange(unit_index.size)
    return Units(number[unit], 1.0 / np.sqrt(levels * inputs)), unit_index, counts


def n_features_to_keep(wanted: int | float, n_features: int) -> int:
    """Return the number of features to keep: an int, or a fraction rounded down, at least one.

    >>> n_features_to_keep(0.25, 9), n_features_to_keep(9, 9)
    (2, 9)
    """
    if not isinstance(wanted, Integral):
        return max(1, int(wanted * n_features))
    if wanted > n_features:
        raise InputError(
            f"n_features_to_select={wanted}, but X has {n_features} feature(s) to select from; "
            f"use at most {n_features}, or a fraction such as 0.5.",
            "n_features_to_select",
        )
    return int(wanted)


def goes_by_rank(standardize: Any) -> bool:
    """Tell whether columns are replaced by normal scores of their ranks.

    >>> goes_by_rank("rank"), goes_by_rank(True)
    (True, False)
    """
    return isinstance(standardize, str) and standardize == "rank"
