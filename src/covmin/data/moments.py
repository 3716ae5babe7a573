"""What one pass over the rows tells about columns and rows: moments, keys and signatures.

Blocks are arrays of any library, on any device; what is told of them are NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from covmin.core.arrays import Array, array_namespace, beside, device_of, row_tiles, to_numpy
from covmin.remarks import InputError
from covmin.text import listed

# Multiples of it are spread evenly over the unit interval.
GOLDEN_RATIO = 0.6180339887498949
# Infinite entries raise an error later, once all blocks have been read.
_quiet = np.errstate(invalid="ignore")


@_quiet
def moments_block(has_missing: bool, X: Array, Y: Array, p: Array) -> tuple[np.ndarray, ...]:
    """Return range, weight, largest entry, and mean and variance in units of that entry.

    Missing values are ignored.
    """
    there = ~array_namespace(X).isnan(X) if has_missing else None
    low, high = value_range(X, there)
    # Scale by the largest entry first, so that squares of huge or tiny columns stay in range.
    size = np.maximum(np.abs(low), np.abs(high))
    size[size == 0.0] = 1.0
    size[low > high] = np.finfo(np.float64).tiny  # no values, so that other blocks decide
    weight = _weights(p, there)
    total = np.where(weight > 0.0, weight, 1.0)
    # Measure from the lowest value: a sum of numbers far from zero would lose the digits in which
    # they differ.
    origin = np.where(low > high, 0.0, low / size)
    above, power = np.zeros_like(size), np.zeros_like(size)
    # Sums, not matrix products: sums round a column in the same way wherever it is.
    for tile in row_tiles(X):
        scaled = _scaled(X[tile, :], size, origin, None, has_missing)
        scaled *= p[tile, None]
        above += to_numpy(scaled.sum(axis=0)) / total
    for tile in row_tiles(X):
        scaled = _scaled(X[tile, :], size, origin)
        scaled -= beside(above, scaled)
        scaled *= scaled
        scaled *= p[tile, None]
        if has_missing:
            _put_at_zero(scaled)
        power += to_numpy(scaled.sum(axis=0)) / total
    return low, high, np.broadcast_to(weight, size.shape), size, origin + above, power


def value_range(X: Array, there: Array | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the minimum and maximum of each column, ignoring missing values; ∞, −∞ if empty."""
    xp = array_namespace(X)
    low, high = (X if there is None else xp.where(there, X, far) for far in (np.inf, -np.inf))
    ends = to_numpy(xp.min(low, axis=0)), to_numpy(xp.max(high, axis=0))
    return ends[0].astype(np.float64), ends[1].astype(np.float64)


def _weights(p: Array, there: Array | None) -> np.ndarray:
    """Return the weight of the values present in each column, or of all if none is missing."""
    if there is None:
        return np.array([float(p.sum())])
    weight = np.zeros(there.shape[1])
    for tile in row_tiles(there):
        weight += to_numpy((p[tile, None] * there[tile, :]).sum(axis=0))
    return weight


@_quiet
def merge_moments(parts: Iterable[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Combine the moments of several blocks."""
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
    """Raise an error if a column contains NaN or infinity, with its name if it has one."""
    is_empty = low > high
    bad = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high) | is_empty))
    if bad.size:
        shown = listed([names[j] if names else int(j) for j in bad])
        raise InputError(
            f"Input X contains NaN or infinity in {bad.size} column(s): {shown}; "
            "drop or impute those values first.",
            "X",
        )


def keys_block(
    size: np.ndarray,
    mean: np.ndarray,
    std: np.ndarray,
    has_missing: bool,
    X: Array,
    Y: Array,
    p: Array,
) -> tuple[np.ndarray, ...]:
    """Return the contribution of a block to the key of each column and each response.

    Different columns have different keys, and equal columns the same. A key depends on the content
    of the rows, not on the position of rows or columns. It is the inner product of a column with a
    wave ``sin(7 Σⱼ cos(3 xⱼ + 1) + …)`` of its row, which all columns share: a hash of the row that
    changes smoothly, so that rounding errors do not reorder columns, and that has no symmetry, so
    that mirrored or shifted columns differ. Any frequencies of order one that are not multiples of
    each other would do; these are fixed, so that results can be reproduced.
    """
    xp, key, response_key = array_namespace(X), np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    for tile in row_tiles(X):
        scaled = _scaled(X[tile, :], size, mean, std, has_missing)
        sums = _cosines(3.0, scaled) + xp.cos(2.0 * Y[tile, :]).sum(axis=1)
        waves = p[tile] * xp.sin(7.0 * sums)
        key += to_numpy(waves @ scaled)
        response_key += to_numpy(waves @ Y[tile, :])
    return key, response_key


def _scaled(
    X: Array,
    size: np.ndarray,
    origin: np.ndarray,
    std: np.ndarray | None = None,
    has_missing: bool = False,
) -> Array:
    """Return shifted and scaled values in double precision; missing values become zero."""
    xp = array_namespace(X)
    scaled = xp.empty(X.shape, dtype=xp.float64, device=device_of(X))  # in C order
    scaled[...] = X
    scaled /= beside(size, scaled)
    scaled -= beside(origin, scaled)
    if std is not None:
        scaled /= beside(std, scaled)
    if has_missing:
        _put_at_zero(scaled)
    return scaled


def _put_at_zero(values: Array) -> None:
    values[array_namespace(values).isnan(values)] = 0.0


def _cosines(frequencies: np.ndarray | float, rows: Array) -> Array:
    """Return the sum of a cosine of each entry of a row; the phase distinguishes y from −y."""
    angles = beside(frequencies, rows) * rows
    angles += 1.0
    return array_namespace(rows).cos(angles, out=angles).sum(axis=1)


def frequencies_by_place(places: np.ndarray) -> np.ndarray:
    """Return a distinct frequency for each position."""
    return 2.0 + GOLDEN_RATIO * (places + 1.0) % 1.0


def frequencies_of_responses(key: np.ndarray) -> np.ndarray:
    """Return a frequency for each response by its key, with the sign of the key.

    Swapping two classes changes the sign of both the response and its key.
    """
    return np.where(key < 0.0, -1.0, 1.0) * frequencies_by_place(np.argsort(np.argsort(key)))


def signatures_block(
    has_missing: bool, of_columns: np.ndarray, of_responses: np.ndarray, *block: Array
) -> np.ndarray:
    """Return a number for each row of a block, the same exactly for equal rows."""
    size, low, std, X, Y, _ = block
    of_rows = [
        to_numpy(_cosines(of_columns, _scaled(X[tile, :], size, low, std, has_missing)))
        for tile in row_tiles(X)
    ]
    return np.concatenate(of_rows) + to_numpy(_cosines(of_responses, Y))


def joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the results of all blocks, one after the other."""
    return np.concatenate(list(parts))
