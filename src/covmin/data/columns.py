"""Columns made ready for the criterion: constants out, standardised, in a canonical order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Any

import numpy as np

from covmin.core.arrays import row_tiles
from covmin.core.rows import add_up
from covmin.core.units import ALWAYS_ON, Units

from .checks import listed
from .ranks import NormalScores, Standardize, goes_by_rank, ranked_rows
from .sources import ArraySource, RankedSource, Source, StandardizedSource, is_source
from .sources.base import standardize_block


@dataclass(frozen=True)
class ColumnPlan:
    """What the user says about the columns, before their values are looked at.

    An input column becomes one encoded column, or one indicator for each level, and one more
    where values are missing, which says in which samples. Input columns form units, which are
    chosen as one.
    """

    source: np.ndarray  # (n_encoded,), input column behind each encoded one
    categorical: np.ndarray  # (n_inputs,) bool, input columns that are encoded by indicators
    unit: np.ndarray  # (n_inputs,), unit of each input column, from 0
    given: np.ndarray  # (n_units,) bool, units that are always on
    # Encoded columns that say where values of their input column are missing.
    gaps: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))

    @classmethod
    def plain(cls, n_columns: int) -> ColumnPlan:
        """Numbers, each column by itself, all to be chosen from."""
        each = np.arange(n_columns)
        none = np.zeros(n_columns, dtype=bool)
        return cls(each, none, each, none)

    @property
    def n_choices(self) -> int:
        """Units to choose from."""
        return int((~self.given).sum())

    @property
    def with_gaps(self) -> np.ndarray:
        """Input columns in which values are missing."""
        return self.source[self.gaps]

    def restrict(self, encoded: np.ndarray) -> ColumnPlan:
        """The same for some of the encoded columns, by number, increasing."""
        gaps = np.flatnonzero(np.isin(encoded, self.gaps))
        return replace(self, source=self.source[encoded], gaps=gaps)


@dataclass(frozen=True)
class DistinctRows:
    """Rows that differ, in an order drawn from what is in them: the first are a sample of all.

    Neither the order of the rows nor copies of them make a difference.
    """

    first: np.ndarray  # (n_distinct,), the number of one row of each kind
    p: np.ndarray  # (n_distinct,), the weight of all its copies, positive
    kind: np.ndarray  # (n_rows,), which of them each row is; n_distinct or more without a weight

    @classmethod
    def as_they_stand(cls, p: np.ndarray) -> DistinctRows:
        """Every row with a weight by itself."""
        first = np.flatnonzero(p > 0.0)
        return cls(first, p[first], np.argsort(np.argsort(p <= 0.0, kind="stable")))

    @classmethod
    def of(
        cls, signature: np.ndarray, p: np.ndarray, seed: int, *, merged: bool = True
    ) -> DistinctRows:
        """One row for each signature, or all of them; another seed draws another order."""
        if merged:
            by_signature = np.argsort(signature)  # several times as fast as np.unique
            starts = np.diff(signature[by_signature], prepend=np.nan) != 0.0
            first = np.minimum.reduceat(by_signature, np.flatnonzero(starts))
            kind = np.empty_like(by_signature)
            kind[by_signature] = np.cumsum(starts) - 1
        else:
            first = kind = np.arange(p.size)
        weight = np.bincount(kind, p)
        # What is left of a large multiple of a number is as good as random.
        drawn = signature[first] * np.random.default_rng(seed).uniform(1e3, 2e3) % 1.0
        order = np.argsort(np.where(weight > 0.0, drawn, 1.0), kind="stable")
        place = np.argsort(order)
        order = order[weight[order] > 0.0]
        return cls(first[order], weight[order], place[kind])

    @property
    def size(self) -> int:
        """How many rows differ."""
        return self.first.size


@dataclass(frozen=True)
class PreparedColumns:
    """A standardised copy of the columns that vary, or a view of them that is read in blocks.

    ``X = (scores(input)[:, index] − mean) / scale``; without scores, of the input itself. What is
    missing stands at the mean of what is there.
    """

    # (n_samples, n_varying): a C-ordered copy of the dtype of the input, or a StandardizedSource.
    X: Any
    index: np.ndarray  # (n_varying,), column of the input behind each column of X
    mean: np.ndarray  # (n_varying,)
    scale: np.ndarray
    units: Units  # what is chosen as one, over the columns of X
    unit_index: np.ndarray  # (units.size,), unit of the plan behind each of `units`
    constant: np.ndarray  # units of the plan, none given, in which nothing varies, in order
    p: np.ndarray  # (n_samples,), sample weights, scaled to sum to one
    total_weight: float  # their sum before
    # (n_samples,): rows with their responses share it if they are equal; None without responses.
    signature: np.ndarray | None
    scores: NormalScores | None  # of all columns of the input, where they go by rank
    # (n_varying,): what a column counts for in the size of its unit. One that says where values
    # are missing counts by the share of the samples in which they are.
    counts: np.ndarray
    gap_at: np.ndarray | None  # (n_varying,), where a missing value stands; None without gaps

    @cached_property
    def _drawn(self) -> dict[tuple[int, bool], DistinctRows]:
        return {}

    def distinct(self, seed: int, *, merged: bool = True) -> DistinctRows:
        """Rows that differ, or all in a random order; as they stand without responses."""
        if self.signature is None:
            return DistinctRows.as_they_stand(self.p)
        if (seed, merged) not in self._drawn:
            drawn = DistinctRows.of(self.signature, self.p, seed, merged=merged)
            self._drawn[seed, merged] = drawn
        return self._drawn[seed, merged]

    @cached_property
    def n_distinct(self) -> int:
        """How many rows differ."""
        return self.distinct(0).size

    @cached_property
    def n_effective(self) -> float:
        """How many rows of equal weight say as much; one of next to no weight counts for none."""
        p = self.distinct(0).p
        return float(p.sum() ** 2 / (p @ p))

    @property
    def unit_sizes(self) -> np.ndarray:
        """Columns of each unit, by what they count for."""
        free = self.units.of_column != ALWAYS_ON
        return np.bincount(self.units.of_column[free], self.counts[free], self.units.size)

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Treat other samples the way these were treated."""
        X = X if self.scores is None else self.scores.apply(X)
        return standardize_block(X[:, self.index], self.mean, self.scale, self.gap_at, self.X.dtype)


def weighted_samples(
    X: Any, y: np.ndarray, sample_weight: Any
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Check sample weights, and leave out the samples of weight zero."""
    n = X.shape[0]
    if sample_weight is None:
        return X, y, np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight must have one entry for each of the {n} samples; "
            f"its shape is {weight.shape}."
        )
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise ValueError("sample_weight must hold finite numbers ≥ 0.")
    if weight.max() > np.finfo(np.float64).max / n:
        weight = weight / weight.max()  # their sum would be infinite
    keep = weight > 0.0
    if keep.sum() < 2:
        raise ValueError(
            f"All sample weights but {int(keep.sum())} are zero; at least 2 samples must count."
        )
    if keep.all():
        return X, y, weight
    return X.keep(keep) if is_source(X) else X[keep], y[keep], weight[keep]


def prepare_columns(
    X: Any,
    standardize: Standardize = True,
    *,
    plan: ColumnPlan | None = None,
    sample_weight: np.ndarray | None = None,
    Y: np.ndarray | None = None,
) -> PreparedColumns:
    """Drop constant columns, standardise a copy and order the columns by their content.

    The order depends on what is in a column and not on where it stands, nor on where the
    rows stand or how often they are repeated, so that a fit on permuted or weighted data
    does the same arithmetic. Y (n_samples, n_responses) tells apart rows that X does not;
    nothing else depends on it. Equal rows are found with it, and not without. Moments are those
    of the values that are there, but for the deviation, which is that of all samples with what
    is missing at the mean.
    """
    n = X.shape[0]
    plan = plan or ColumnPlan.plain(X.shape[1])
    weight = np.ones(n) if sample_weight is None else sample_weight
    total = float(weight.sum())
    p = weight / total
    scores = normal_scores(X, p, plan) if goes_by_rank(standardize) else None
    if scores is not None:
        X = RankedSource(X, scores) if is_source(X) else scores.apply(X)
    source = X if is_source(X) else ArraySource(X)
    Y_ = np.zeros((n, 0)) if Y is None else Y
    has_gaps = plan.gaps.size > 0
    low, high, size, mean, deviation = _moments(source, Y_, p, plan)
    spread = np.where(deviation > 0.0, deviation, 1.0)
    keys = partial(_keys_block, size, mean, spread, has_gaps)
    key, response_key = source.reduce(keys, add_up, Y_, p)
    # Spread below the rounding error of the entries is not variation.
    varies = (low < high) & (deviation > np.finfo(source.dtype).eps)
    deviation = _share_among_levels(deviation, varies, plan)
    values = _values_beside_gaps(varies, plan)
    index = _by_content(key, varies, values, plan)
    signature = None
    if Y is not None:
        parts = _by_place(np.arange(index.size)), _of_responses(response_key)
        # From the lowest value on, which no order of the rows rounds otherwise, as it does a mean.
        scaling = size[index], (low / size)[index], spread[index]
        sign = partial(_signatures_block, has_gaps, *parts, *scaling)
        signature = source.reduce(sign, _joined, Y_, p, index)
    mean, scale = mean * size, deviation * size
    units, unit_index, counts = _units(plan, index, mean[index])
    gap_at = np.zeros(index.size) if has_gaps else None
    if not standardize:
        gap_at = mean[index] if has_gaps else None
        mean, scale = np.zeros_like(mean), _scale_of_gaps(scale, values, plan)
    prepared = StandardizedSource(source, index, mean[index], scale[index], gap_at)
    return PreparedColumns(
        prepared if is_source(X) else prepared.standardize(X[:, index]),
        index,
        mean[index],
        scale[index],
        units,
        unit_index,
        np.setdiff1d(np.flatnonzero(~plan.given), unit_index),
        p,
        total,
        signature,
        scores,
        counts,
        gap_at,
    )


def normal_scores(X: Any, p: np.ndarray, plan: ColumnPlan) -> NormalScores:
    """Scores by the ranks in each column; indicators of levels and of gaps stay as they are."""
    rows = ranked_rows(X.shape[0])
    drawn = X.take(rows) if is_source(X) else X[rows]
    left = plan.categorical[plan.source]
    left[plan.gaps] = True
    return NormalScores.of(drawn, p[rows], left)


# Infinite entries are refused in words, once all are seen.
_quiet = np.errstate(invalid="ignore")


def _moments(
    source: Source, Y: np.ndarray, p: np.ndarray, plan: ColumnPlan
) -> tuple[np.ndarray, ...]:
    """Lowest, highest and largest entry, and mean and deviation in units of the largest."""
    block = partial(_moments_block, plan.gaps.size > 0)
    low, high, weight, size, mean, power = source.reduce(block, _merge_moments, Y, p)
    empty = low > high  # nothing is there, and so nothing varies
    low[empty] = high[empty] = 0.0
    check_finite(low, high, source.names)
    gapped = np.isin(plan.source, plan.with_gaps)
    return low, high, size, mean, np.sqrt(np.where(gapped, power * weight, power))


@_quiet
def _moments_block(
    has_gaps: bool, X: np.ndarray, Y: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Range, weight, largest entry, and mean and power about it in units of that entry.

    All of these are of the values that are there.
    """
    there = ~np.isnan(X) if has_gaps else None
    low, high = value_range(X, there)
    # Scaling by the largest entry first keeps the squares of huge or tiny columns in range.
    size = np.maximum(np.abs(low), np.abs(high))
    size[size == 0.0] = 1.0
    size[low > high] = np.finfo(np.float64).tiny  # of no values, and none of the other blocks
    weight = _weights(p, there)
    total = np.where(weight > 0.0, weight, 1.0)
    # From the lowest value on: a sum of numbers far from zero would be rounded as coarsely as
    # they differ.
    origin = np.where(low > high, 0.0, low / size)
    above, power = np.zeros_like(size), np.zeros_like(size)
    # Sums, not matrix products: these round a column alike wherever it stands.
    for tile in row_tiles(X):
        scaled = _scaled(X[tile], size, origin, None, has_gaps)
        above += (p[tile, None] / total * scaled).sum(axis=0)
    for tile in row_tiles(X):
        scaled = _scaled(X[tile], size, origin)
        scaled -= above
        scaled *= scaled
        scaled *= p[tile, None] / total
        if has_gaps:
            _put_at_zero(scaled)
        power += scaled.sum(axis=0)
    return low, high, np.broadcast_to(weight, size.shape), size, origin + above, power


def value_range(X: np.ndarray, there: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest value of each column, of those that are there; ∞ and −∞ of none."""
    if there is None:
        return X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    low = X.min(axis=0, where=there, initial=np.inf)
    high = X.max(axis=0, where=there, initial=-np.inf)
    return low.astype(np.float64), high.astype(np.float64)


def _weights(p: np.ndarray, there: np.ndarray | None) -> np.ndarray:
    """Weight of the values of each column, or of all columns at once, where none is missing."""
    if there is None:
        return np.array([p.sum()])
    weight = np.zeros(there.shape[1])
    for tile in row_tiles(there):
        weight += (p[tile, None] * there[tile]).sum(axis=0)
    return weight


@_quiet
def _merge_moments(parts: Iterable[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """The moments of several blocks from those of each."""
    lows, highs, weights, sizes, means, powers = (
        np.array(part) for part in zip(*parts, strict=True)
    )
    size, weight = sizes.max(axis=0), weights.sum(axis=0)
    shares = weights / np.where(weight > 0.0, weight, 1.0)
    means, powers = means * (sizes / size), powers * (sizes / size) ** 2
    mean = (shares * means).sum(axis=0)
    power = (shares * (powers + (means - mean) ** 2)).sum(axis=0)
    return lows.min(axis=0), highs.max(axis=0), weight, size, mean, power


def check_finite(low: np.ndarray, high: np.ndarray, names: list[str] | None) -> None:
    """Refuse columns whose smallest or largest value is no number, by name where they have any."""
    is_empty = low > high
    bad = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high) | is_empty))
    if bad.size:
        shown = listed([names[j] if names else int(j) for j in bad])
        raise ValueError(
            f"Input X contains NaN or infinity in {bad.size} column(s): {shown}; "
            "drop or impute those values first."
        )


def _keys_block(
    size: np.ndarray,
    mean: np.ndarray,
    std: np.ndarray,
    has_gaps: bool,
    X: np.ndarray,
    Y: np.ndarray,
    p: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """What a block adds to the key of each column, and of each response.

    Different columns have different keys; equal columns share theirs. A key depends on what is in
    the rows, not on where rows or columns stand.
    """
    key, response_key = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    for tile in row_tiles(X):
        scaled = _scaled(X[tile], size, mean, std, has_gaps)
        sums = _cosines(3.0, scaled) + np.cos(2.0 * Y[tile]).sum(axis=1)
        waves = p[tile] * np.sin(7.0 * sums)
        key += waves @ scaled
        response_key += waves @ Y[tile]
    return key, response_key


def _scaled(
    X: np.ndarray,
    size: np.ndarray,
    origin: np.ndarray,
    std: np.ndarray | None = None,
    has_gaps: bool = False,
) -> np.ndarray:
    """Values from an origin on, in units of their own; where they are missing, the origin."""
    scaled = np.divide(X, size, order="C")
    scaled -= origin
    if std is not None:
        scaled /= std
    if has_gaps:
        _put_at_zero(scaled)
    return scaled


def _put_at_zero(values: np.ndarray) -> None:
    np.copyto(values, 0.0, where=np.isnan(values))


def _values_beside_gaps(varies: np.ndarray, plan: ColumnPlan) -> np.ndarray:
    """For each column of gaps a column of the values with these gaps; −1 where none varies."""
    valued = np.setdiff1d(np.flatnonzero(varies), plan.gaps)
    first = np.full(plan.categorical.size, -1)
    first[plan.source[valued[::-1]]] = valued[::-1]
    return first[plan.with_gaps]


def _by_content(
    key: np.ndarray, varies: np.ndarray, values: np.ndarray, plan: ColumnPlan
) -> np.ndarray:
    """The columns that vary, by their keys.

    Columns may have their gaps in the same samples. A column of gaps stands after its values, so
    that where the others stand does not matter.
    """
    key = key.copy()
    key[plan.gaps] = np.where(values >= 0, key[values], key[plan.gaps])
    index = np.flatnonzero(varies)
    return index[np.argsort(key[index], kind="stable")]


def _scale_of_gaps(deviation: np.ndarray, values: np.ndarray, plan: ColumnPlan) -> np.ndarray:
    """One for values that are left as they are; a column of gaps varies as much as its values."""
    scale = np.ones_like(deviation)
    gaps, values = plan.gaps[values >= 0], values[values >= 0]
    scale[gaps] = np.where(deviation[gaps] > 0.0, deviation[gaps], 1.0) / deviation[values]
    return scale


def _cosines(frequencies: np.ndarray | float, rows: np.ndarray) -> np.ndarray:
    """Sum of a cosine of each entry of a row; without the phase, y and −y would look alike."""
    angles = frequencies * rows
    angles += 1.0
    sums: np.ndarray = np.cos(angles, out=angles).sum(axis=1)
    return sums


def _by_place(places: np.ndarray) -> np.ndarray:
    """A frequency for each place, no two of them alike."""
    return 2.0 + 0.6180339887498949 * (places + 1.0) % 1.0


def _of_responses(key: np.ndarray) -> np.ndarray:
    """A frequency for each response by its key, with the sign of the key.

    Two classes that change places change the sign of both the response and its key.
    """
    return np.where(key < 0.0, -1.0, 1.0) * _by_place(np.argsort(np.argsort(key)))


def _signatures_block(
    has_gaps: bool, of_columns: np.ndarray, of_responses: np.ndarray, *block: np.ndarray
) -> np.ndarray:
    """A number for each row of a block that equal rows share and different ones do not."""
    size, low, std, X, Y, _ = block
    of_rows = [
        _cosines(of_columns, _scaled(X[tile], size, low, std, has_gaps)) for tile in row_tiles(X)
    ]
    return np.concatenate(of_rows) + _cosines(of_responses, Y)


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate(list(parts))


def _share_among_levels(deviation: np.ndarray, varies: np.ndarray, plan: ColumnPlan) -> np.ndarray:
    """One deviation for all indicators of a column, so that any two levels are equally far."""
    n_inputs = plan.categorical.size
    counts = np.bincount(plan.source, varies, minlength=n_inputs)
    power = np.bincount(plan.source, deviation**2 * varies, minlength=n_inputs)
    shared = np.sqrt(power / np.maximum(counts, 1.0))
    return np.where(plan.categorical[plan.source] & varies, shared[plan.source], deviation)


def _units(
    plan: ColumnPlan, index: np.ndarray, missing: np.ndarray
) -> tuple[Units, np.ndarray, np.ndarray]:
    """Units over the columns that vary, numbered in the order of their first column.

    The columns of an input column share its weight equally, and so do the input columns
    of a unit, so that each unit has a variance of one. Where a share m of the values is missing,
    let one deviation of those that are there be as long as the way from a value that is there to
    one that is not: the variances are then as 1 to m, and so are the shares in the weight. A
    column is the same as without gaps when these vanish.

    ``missing`` (n_varying,) holds m for a column that says where values are missing.
    """
    source = plan.source[index]
    unit = plan.unit[source]
    is_gap = np.isin(index, plan.gaps)
    n_values = np.bincount(source[~is_gap], minlength=plan.unit.size)[source]
    share = np.zeros(plan.unit.size)
    share[source[is_gap]] = missing[is_gap]
    # The values count for one, all together; alone, without values that vary, the gaps do.
    counts = np.where(is_gap & (n_values > 0), share[source], 1.0)
    together = np.where(n_values > 0, 1.0 + share[source], 1.0)
    levels = together / counts * np.where(is_gap, 1, n_values)
    inputs = np.bincount(plan.unit[np.unique(source)], minlength=plan.given.size)[unit]
    free = ~plan.given[unit]
    found, first = np.unique(unit[free], return_index=True)
    unit_index = found[np.argsort(first)]
    number = np.full(plan.given.size, ALWAYS_ON)
    number[unit_index] = np.arange(unit_index.size)
    return Units(number[unit], 1.0 / np.sqrt(levels * inputs)), unit_index, counts


def n_features_to_keep(wanted: int | float, n_features: int) -> int:
    """Number of features asked for: an int as it is, or a fraction, rounded down, at least one.

    >>> n_features_to_keep(0.25, 9), n_features_to_keep(9, 9)
    (2, 9)
    """
    if not isinstance(wanted, Integral):
        return max(1, int(wanted * n_features))
    if wanted > n_features:
        raise ValueError(
            f"n_features_to_select={wanted}, but X has {n_features} feature(s) to choose from; "
            f"ask for at most {n_features}, or for a fraction such as 0.5."
        )
    return int(wanted)
