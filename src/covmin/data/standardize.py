"""Prepare columns for the criterion: drop constants, standardise, and order by content."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np

from covmin.constants import DUPLICATES, MANY_ROWS, RARE_LEVEL
from covmin.core.arrays import Array, array_namespace, device_of, like, row_tiles, to_numpy
from covmin.core.rows import add_up
from covmin.core.units import ALWAYS_ON, Units

from .blocks.array import as_blocks
from .blocks.views import ChangedBlocks, NormalScores, Standardization, rows_to_look_at
from .layout import Layout

# Multiples of it are spread evenly over the unit interval.
GOLDEN_RATIO = 0.6180339887498949
# Skewness of a column that may be due to rounding.
_SYMMETRIC = 1e-9
Scaling = tuple[np.ndarray, np.ndarray, np.ndarray]  # size, origin and spread of each column
# How to standardise columns: mean 0 and variance 1 (True), normal scores ("rank"), or not at all.
Standardize = bool | str


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows, in a pseudorandom order that depends only on their content.

    The first rows are therefore a sample of all.
    """

    first: np.ndarray  # (n_distinct,), number of one row of each kind
    p: np.ndarray  # (n_distinct,), total weight of its duplicates, positive
    kind: np.ndarray  # (n_rows,), kind of each row; n_distinct or more if it has no weight

    def apart(self, splits: list[tuple[np.ndarray, np.ndarray]], weight: np.ndarray) -> Self:
        """Return one row for each kind and its sides of the splits; no weight is zero."""
        by_kind = np.stack([self.kind, *(mask for split in splits for mask in split)])
        _, first, kind = np.unique(by_kind, axis=1, return_index=True, return_inverse=True)
        return type(self)(first, np.bincount(kind, weight / weight.sum()), kind)


@dataclass(frozen=True)
class PreparedColumns:
    """A standardised view of the columns that vary.

    ``X = (scores(input)[:, index] − mean) / scale``; without scores, the input itself is used.
    """

    X: ChangedBlocks  # (n_samples, n_varying), in the dtype of the input
    index: np.ndarray  # (n_varying,), input column of each column of X
    units: Units  # units of selection over the columns of X
    unit_index: np.ndarray  # (units.size,), the unit of the layout for each of `units`
    constant: np.ndarray  # units of the layout that are constant and not given, in order
    p: np.ndarray  # (n_samples,), sample weights, scaled to sum to one
    total_weight: float  # their sum before scaling
    signature: np.ndarray  # (n_samples,): equal for rows that are equal, response included
    scores: NormalScores | None  # of all input columns, if ranks are used
    # (units.size,): number of columns of each unit. An indicator of missingness counts as the
    # fraction of missing values.
    unit_sizes: np.ndarray
    _drawn: dict[Any, DistinctRows] = field(default_factory=dict, init=False)

    def distinct(self, seed: int, *, merged: bool = True) -> DistinctRows:
        """Return one row per signature, or all rows; another seed gives another order."""
        if (found := self._drawn.get((seed, merged))) is not None:
            return found
        signature, place = self.signature, np.arange(self.p.size)
        kind, apart = np.empty_like(place), np.zeros(self.p.size)
        # Sorting is several times as fast as np.unique.
        order = np.argsort(signature, kind="quicksort" if merged else "stable")
        starts = np.diff(signature[order], prepend=np.nan) != 0.0
        if merged:
            first = np.minimum.reduceat(order, np.flatnonzero(starts))
            kind[order] = np.cumsum(starts) - 1
        else:
            first = kind = place
            # Equal rows must not lie together: each moves by how often it has occurred before.
            occurred = place - np.maximum.accumulate(np.where(starts, place, 0))
            apart[order] = GOLDEN_RATIO * occurred
        weight = np.bincount(kind, self.p)
        # The fractional part of a large multiple of a number is as good as random.
        drawn = signature[first] * np.random.default_rng(seed).uniform(1e3, 2e3)
        drawn = (drawn + apart[: drawn.size]) % 1.0
        order = np.argsort(np.where(weight > 0.0, drawn, 1.0), kind="stable")
        place = np.argsort(order)
        order = order[weight[order] > 0.0]
        found = DistinctRows(first[order], weight[order], place[kind])
        return self._drawn.setdefault((seed, merged), found)

    def independent(self, seed: int) -> DistinctRows:
        """Return the rows in random order, duplicates merged unless they are equal by chance."""
        rows = self.distinct(seed)
        by_chance = rows.p.size < self.p.size and self._are_equal_by_chance(rows)
        return self.distinct(seed, merged=False) if by_chance else rows

    def _are_equal_by_chance(self, rows: DistinctRows) -> bool:
        """Tell whether rows that are equal, response included, may be different samples.

        Samples that happen to have equal features often differ in their response. If none does,
        equal rows should be about as frequent as the values of single features suggest.
        """
        X = to_numpy(self.X.take(rows.first[:MANY_ROWS]))
        # Rows with equal features have equal projections.
        n_distinct = np.unique(X @ np.random.default_rng(0).standard_normal(X.shape[1])).size
        if len(X) - n_distinct > DUPLICATES[0] * n_distinct:
            return True
        copies = np.bincount(rows.kind)[: len(X)]
        total = copies.sum()
        pairs = total * (total - 1.0)
        together, alone = (copies * (copies - 1.0)).sum() / pairs, 1.0
        for column in X.T:
            counts = np.bincount(np.unique(column, return_inverse=True)[1], copies)
            if total < RARE_LEVEL[0] * counts.size:
                return False
            alone *= (counts * (counts - 1.0)).sum() / pairs
        return bool(together <= DUPLICATES[1] * alone)

    def apply(self, X: Any) -> ChangedBlocks:
        """Prepare the same columns of other samples, an array or blocks, in the same way."""
        source = as_blocks(X)
        source = source if self.scores is None else ChangedBlocks(source, self.scores)
        return ChangedBlocks(source, self.X.change, self.index, self.X.dtype)


def prepare_columns(
    X: Any,
    standardize: Standardize = True,
    *,
    layout: Layout | None = None,
    sample_weight: np.ndarray | None = None,
    Y: np.ndarray | None = None,
    clip: bool = True,
) -> PreparedColumns:
    """Drop constant columns, standardise the others and order them by their content.

    The result depends neither on the positions of columns and rows nor on the repetition of rows or
    the signs of columns that are not symmetric, so that a fit on permuted, weighted or mirrored
    data does the same arithmetic. Y (n_samples, n_responses)
    distinguishes rows that are equal in X. Means are those of the values that are present; standard
    deviations are those of all samples with missing values set to the mean.
    """
    source, layout = as_blocks(X), layout or Layout.plain(X.shape[1])
    n = source.shape[0]
    weight = np.ones(n) if sample_weight is None else sample_weight
    total = float(weight.sum())
    p = weight / total
    is_rank, indicators = standardize == "rank", layout.indicators
    has_missing = indicators.size > 0
    scores = None
    if is_rank or (clip and standardize):
        rows = rows_to_look_at(n, MANY_ROWS) if is_rank else rows_to_look_at(n)
        drawn = to_numpy(source.take(rows))
        left = layout.categorical[layout.source]
        left[indicators] = True
        of_ranks = NormalScores.of(drawn, p[rows], left) if is_rank else None
        scores = of_ranks or NormalScores.clipped(drawn, n, left)
    if scores is not None:
        source = ChangedBlocks(source, scores)
    Y = np.zeros((n, 0)) if Y is None else Y
    moments = partial(moments_block, has_missing)
    low, high, total_there, size, mean, power, cube = source.reduce(moments, merge_moments, Y, p)
    empty = low > high  # no values, so nothing varies
    low[empty] = high[empty] = 0.0
    # Measure each column in the direction in which it is skewed, which does not depend on its sign.
    is_turned = cube < -_SYMMETRIC * power**1.5
    end, size = np.where(is_turned, high, low), np.where(is_turned, -size, size)
    mean = np.where(is_turned, -mean, mean)
    with_missing = layout.source[indicators]  # input columns
    deviation = np.sqrt(power * np.where(np.isin(layout.source, with_missing), total_there, 1.0))
    spread = np.where(deviation > 0.0, deviation, 1.0)
    # Variation below the rounding error of the entries does not count.
    varies = (low < high) & (deviation > np.finfo(source.dtype).eps)
    if layout.categorical.any():
        # One deviation for all indicators of a column, so that levels are equally far apart.
        counts = np.bincount(layout.source, varies)
        power = np.bincount(layout.source, deviation**2 * varies)
        shared = np.sqrt(power / np.maximum(counts, 1.0))[layout.source]
        deviation = np.where(layout.categorical[layout.source] & varies, shared, deviation)

    keys = partial(keys_block, (size, mean, spread), has_missing)
    key, response_key = source.reduce(keys, add_up, Y, p)
    # Several columns may have missing values in the same samples. An indicator of missingness is
    # placed after a varying column of its values, if there is one, so that its position does not
    # depend on other columns.
    values = np.full(layout.categorical.size, -1)
    valued = np.setdiff1d(np.flatnonzero(varies), indicators)[::-1]
    values[layout.source[valued]] = valued
    values = values[with_missing]
    key[indicators] = np.where(values >= 0, key[values], key[indicators])
    index = np.flatnonzero(varies)
    index = index[np.argsort(key[index], kind="stable")]
    of_columns = 2.0 + GOLDEN_RATIO * np.arange(1.0, index.size + 1.0) % 1.0
    # The order of the keys tells responses apart; swapping two classes changes the sign of both a
    # response and its key.
    place = np.argsort(np.argsort(response_key)) + 1.0
    of_responses = np.where(response_key < 0.0, -1.0, 1.0) * (2.0 + GOLDEN_RATIO * place % 1.0)
    # Measure from an end: unlike the mean, it does not depend on the row order.
    scaling = size[index], (end / size)[index], spread[index]
    sign = partial(signatures_block, scaling, has_missing, of_columns, of_responses)

    mean, scale = mean * size, deviation * size
    units, unit_index, sizes = _units(layout, index, mean[index])
    missing_at = np.zeros(index.size) if has_missing else None
    if not standardize:
        missing_at = (np.sign(size) * mean)[index] if has_missing else None
        marks, values = indicators[values >= 0], values[values >= 0]
        # Indicators of missingness get the deviation of their values.
        own = np.where(deviation[marks] > 0.0, scale[marks], 1.0) / scale[values]
        mean, scale = np.zeros_like(mean), np.sign(size)
        scale[marks] = np.abs(own)
    how = Standardization(mean[index], scale[index], missing_at)
    return PreparedColumns(
        X=ChangedBlocks(source, how, index),
        index=index,
        units=units,
        unit_index=unit_index,
        constant=np.setdiff1d(np.flatnonzero(~layout.given), unit_index),
        p=p,
        total_weight=total,
        signature=source.reduce(sign, np.concatenate, Y, p, index),
        scores=scores,
        unit_sizes=sizes,
    )


def _units(
    layout: Layout, index: np.ndarray, missing: np.ndarray
) -> tuple[Units, np.ndarray, np.ndarray]:
    """Return units over the columns that vary, numbered in the order of their first column.

    The encoded columns of an input column share its weight equally, and so do the input columns
    of a unit, so that each unit has a variance of one. If a fraction m of the values is missing,
    the distance between a missing and a present value is one standard deviation of the present
    values: the variances, and the shares of the weight, are in the ratio 1 to m.

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
    sizes = np.bincount(number[unit[free]], counts[free], unit_index.size)
    return Units(number[unit], 1.0 / np.sqrt(levels * inputs)), unit_index, sizes


# --- passes over the rows ------------------------------------------------------------------------
# Blocks are arrays of any library, on any device; results are NumPy arrays.


def moments_block(has_missing: bool, X: Array, Y: Array, p: Array) -> tuple[np.ndarray, ...]:
    """Return range, weight, largest entry, and three central moments in units of that entry."""
    xp, low, high, there = array_namespace(X), X, X, None
    if has_missing:
        there = ~xp.isnan(X)
        low, high = xp.where(there, X, np.inf), xp.where(there, X, -np.inf)
    ends = xp.min(low, axis=0), xp.max(high, axis=0)
    low, high = (to_numpy(end).astype(np.float64) for end in ends)
    # Scale by the largest entry first, so that squares of huge or tiny columns stay in range.
    size = np.maximum(np.abs(low), np.abs(high))
    size[size == 0.0] = 1.0
    size[low > high] = np.finfo(np.float64).tiny  # no values, so that other blocks decide
    weight = np.array([float(p.sum())])
    if there is not None:
        parts = (to_numpy((p[tile, None] * there[tile, :]).sum(axis=0)) for tile in row_tiles(X))
        weight = np.sum(list(parts), axis=0)
    total = np.where(weight > 0.0, weight, 1.0)
    # Measure from the lowest value: sums of numbers far from zero lose digits in which they differ.
    origin = np.where(low > high, 0.0, low / size)
    above, power, cube = (np.zeros_like(size) for _ in range(3))
    # Sums, not matrix products: sums round a column in the same way wherever it is.
    for tile in row_tiles(X):
        scaled = _scaled(X[tile, :], size, origin, None, has_missing)
        scaled *= p[tile, None]
        above += to_numpy(scaled.sum(axis=0)) / total
    for tile in row_tiles(X):
        scaled = _scaled(X[tile, :], size, origin)
        scaled -= like(above, scaled)
        if has_missing:
            scaled[xp.isnan(scaled)] = 0.0
        squared = scaled**2
        squared *= p[tile, None]
        power += to_numpy(squared.sum(axis=0)) / total
        squared *= scaled
        cube += to_numpy(squared.sum(axis=0)) / total
    return low, high, np.broadcast_to(weight, size.shape), size, origin + above, power, cube


def merge_moments(parts: Iterable[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Combine the moments of several blocks."""
    lows, highs, weights, sizes, means, powers, cubes = map(np.array, zip(*parts, strict=True))
    size, weight = sizes.max(axis=0), weights.sum(axis=0)
    shares = weights / np.where(weight > 0.0, weight, 1.0)
    ratio = sizes / size
    means, powers, cubes = means * ratio, powers * ratio**2, cubes * ratio**3
    mean = (shares * means).sum(axis=0)
    apart = means - mean
    power = (shares * (powers + apart**2)).sum(axis=0)
    cube = (shares * (cubes + 3.0 * apart * powers + apart**3)).sum(axis=0)
    return lows.min(axis=0), highs.max(axis=0), weight, size, mean, power, cube


def keys_block(
    scaling: Scaling, has_missing: bool, X: Array, Y: Array, p: Array
) -> tuple[np.ndarray, ...]:
    """Return the contribution of a block to the key of each column and each response.

    It is the inner product of a column with a wave ``sin(7 Σⱼ cos(3 xⱼ + 1) + …)`` of its row: a
    hash of the row that changes smoothly, so that rounding errors do not reorder columns, and that
    has no symmetry, so that mirrored or shifted columns differ. Any frequencies of order one that
    are not multiples of each other would do.
    """
    xp, key, response_key = array_namespace(X), np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    for tile in row_tiles(X):
        scaled = _scaled(X[tile, :], *scaling, has_missing)
        sums = _cosines(3.0, scaled) + xp.cos(2.0 * Y[tile, :]).sum(axis=1)
        waves = p[tile] * xp.sin(7.0 * sums)
        key += to_numpy(waves @ scaled)
        response_key += to_numpy(waves @ Y[tile, :])
    return key, response_key


def _scaled(
    X: Array,
    size: np.ndarray,
    origin: np.ndarray,
    spread: np.ndarray | None = None,
    has_missing: bool = False,
) -> Array:
    """Return ``(x/size − origin) / spread`` in double precision; missing values become zero."""
    xp = array_namespace(X)
    scaled = xp.empty(X.shape, dtype=xp.float64, device=device_of(X))  # in C order
    scaled[...] = X
    scaled /= like(size, scaled)
    scaled -= like(origin, scaled)
    if spread is not None:
        scaled /= like(spread, scaled)
    if has_missing:
        scaled[xp.isnan(scaled)] = 0.0
    return scaled


def _cosines(frequencies: np.ndarray | float, rows: Array) -> Array:
    """Return the sum of a cosine of each entry of a row; the phase distinguishes y from −y."""
    angles = like(frequencies, rows) * rows
    angles += 1.0
    return array_namespace(rows).cos(angles, out=angles).sum(axis=1)


def signatures_block(
    scaling: Scaling,
    has_missing: bool,
    of_columns: np.ndarray,
    of_responses: np.ndarray,
    *block: Array,
) -> np.ndarray:
    """Return a number for each row of a block, the same exactly for equal rows."""
    X, Y, _ = block
    scaled = (_scaled(X[tile, :], *scaling, has_missing) for tile in row_tiles(X))
    of_rows = np.concatenate([to_numpy(_cosines(of_columns, rows)) for rows in scaled])
    return of_rows + to_numpy(_cosines(of_responses, Y))
