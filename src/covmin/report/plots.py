"""Data for the plots of single features and of a pair: points, densities and levels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from covmin.data.survival import survival_curve
from covmin.text import number

from .reading import MISSING, leveled
from .samples import Samples

_POINTS = 300
_GRID = 48
_MAX_CLASSES = _MAX_LEVELS = 12
# A column with at most this many distinct numbers gets a bar for each.
_FEW_NUMBERS = 6
# Number of colours and shapes.
_COLOURED = 6
# Beyond this, the page could not represent the width of an axis as a float.
_LARGEST = 8e307


def feature_plots(samples: Samples, columns: np.ndarray) -> list[dict[str, Any]]:
    """Return one plot per column, with what it explains alone and the kind of plot."""
    draw = {"classification": _densities, "survival": _survival}.get(samples.task, _scatter)
    plots = []
    for j in map(int, columns):
        levels = _levels_of(samples, j)
        plots.append(
            {"feature": j, "explained": round(samples.explained([j]), 4)}
            | (draw(samples, j) if levels is None else _levels(samples, *levels))
            | ({"date": True} if j in samples.table.dates else {})
            | ({"missing": float(gaps.mean())} if (gaps := samples.gaps(j)).any() else {})
        )
    return plots


def pair_points(samples: Samples, pair: Sequence[int]) -> dict[str, Any]:
    """Return two features at some rows, with the class or value of each row.

    Levels are given by their numbers. Rows with a missing number are omitted and counted.
    """
    shown = drawn_rows(samples)
    unseen = np.zeros(shown.size, dtype=bool)
    for j in set(pair) - set(samples.levels):
        unseen |= samples.gaps(j)[shown]
    rows = shown[~unseen]
    points: dict[str, Any] = {
        "levels": [None, None],
        "dates": [j in samples.table.dates for j in pair],
        "n_missing": int(unseen.sum()),
    }
    for axis, j in enumerate(pair):
        values = samples.X[:, j]
        if j in samples.levels:
            points["levels"][axis], values = _frequent(samples.levels[j], values, _MAX_LEVELS)
        points["xy"[axis]] = _rounded(values[rows])
    if samples.task != "classification":
        return points | {"value": _rounded(samples.y[rows])}
    classes, codes = _frequent(*samples.classes, _COLOURED)
    return points | {"classes": classes, "class": codes[rows].tolist()}


def in_units(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Scale numbers by the largest, so that their squares neither overflow nor vanish."""
    numbers = values.astype(np.float64)
    size = float(np.abs(numbers).max()) or 1.0
    return numbers / size, size


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Count how often two codes occur together, shape (n_codes_of_a, n_codes_of_b)."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1.0)
    return table


def _frequent(labels: list[str], codes: np.ndarray, most: int) -> tuple[list[str], np.ndarray]:
    """Return the most frequent labels in order, with all others merged as the last."""
    codes = codes.astype(np.intp)
    if len(labels) <= most:
        return labels, codes
    kept = np.sort(np.argsort(-np.bincount(codes), kind="stable")[: most - 1])
    place = np.full(len(labels), most - 1)
    place[kept] = np.arange(most - 1)
    others = f"{len(labels) - kept.size} others"
    return [*(labels[c] for c in kept), others], place[codes]


def _levels_of(samples: Samples, j: int) -> tuple[list[str], np.ndarray] | None:
    """Return the levels of a category, or of a column of few numbers, and their codes."""
    if j in samples.levels:
        return samples.levels[j], samples.X[:, j]
    x, gaps = samples.X[:, j], samples.gaps(j)
    if np.unique(x[~gaps][: samples.rows.size]).size > _FEW_NUMBERS or j in samples.table.dates:
        return None
    levels, codes = leveled(x, gaps)
    return (levels, codes) if len(levels) - gaps.any() <= _FEW_NUMBERS else None


def _levels(samples: Samples, names: list[str], values: np.ndarray) -> dict[str, Any]:
    """Return the number of samples at each level, with mean responses or class frequencies."""
    levels, codes = _frequent(names, values, _MAX_LEVELS)
    counts = np.bincount(codes)
    if samples.task == "survival":
        return _survival_of(samples, *_frequent(names, values, _COLOURED))
    drawn = {"levels": levels, "counts": counts.tolist()}
    if samples.task != "classification":
        y, size = in_units(samples.y)
        means = _rounded(np.bincount(codes, y) / counts, size)
        # On an axis as wide as the spread of the response, noise looks small.
        whole = {"mean": float(y.mean() * size), "sd": float(y.std() * size)}
        return {"kind": "means", **drawn, "means": means, **whole}
    classes, labels = _frequent(*samples.classes, _COLOURED)
    shares = np.round(crossed(codes, labels) / counts[:, None], 4)
    return {"kind": "shares", **drawn, "classes": classes, "shares": shares.tolist()}


def _densities(samples: Samples, j: int) -> dict[str, Any]:
    """Return kernel densities of the feature in each class, scaled to a maximum of 1."""
    rows = samples.rows[~samples.gaps(j)[samples.rows]]
    x, size = in_units(samples.X[rows, j])
    low, high = float(x.min()), float(x.max())
    margin = 0.04 * (high - low) or 0.5
    grid = np.linspace(low - margin, high + margin, _GRID)
    labels, codes = samples.classes[0], samples.classes[1][rows]
    most = min(_MAX_CLASSES, len(set(codes)))
    present = np.argsort(-np.bincount(codes), kind="stable")[:most]
    groups = {labels[c]: x[codes == c] for c in np.sort(present)}
    curves = np.array([_density(values, grid) for values in groups.values()])
    return {
        "kind": "densities",
        "grid": _rounded(grid[[0, -1]], size),
        "whole": not (samples.X[rows, j] % 1).any(),
        "classes": list(groups),
        "n_classes": len(labels),
        "curves": np.round(curves / (curves.max() or 1.0), 3).tolist(),
        "medians": _rounded([np.median(values) for values in groups.values()], size),
    }


def _survival(samples: Samples, j: int) -> dict[str, Any]:
    """Return Kaplan–Meier curves of the samples with low, middle and high values."""
    there = ~samples.gaps(j)
    x = samples.X[:, j]
    low, high = np.quantile(x[there], [1 / 3, 2 / 3])
    names = [f"up to {number(low)}", f"up to {number(high)}", f"above {number(high)}"]
    if j in samples.table.dates:
        names = ["first third", "second third", "last third"]
    codes = (x > low).astype(np.intp) + (x > high)
    return _survival_of(samples, [*names, MISSING], np.where(there, codes, 3))


def _survival_of(samples: Samples, names: list[str], codes: np.ndarray) -> dict[str, Any]:
    """Return the Kaplan–Meier curve of each group, as the points at which it falls."""
    curves = []
    groups = np.unique(codes)
    for group in groups:
        event, time = samples.responses[codes == group].T
        times, shares = survival_curve(event, time, np.ones(time.size))
        some = np.unique(np.linspace(0, times.size - 1, _GRID).astype(int))[: times.size]
        times, shares = np.append(0.0, times[some]), np.append(1.0, shares[some])
        # Extend the curve to the end of observation.
        points = zip([*times, time.max()], [*shares, shares[-1]], strict=True)
        curves.append([[float(f"{t:.6g}"), round(float(share), 4)] for t, share in points])
    counts = np.bincount(codes)[groups].tolist()
    classes = [names[group] for group in groups]
    return {"kind": "survival", "classes": classes, "counts": counts, "curves": curves}


def _density(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    width = max(1.06 * x.std() * x.size**-0.2, (grid[-1] - grid[0]) / _GRID)
    return np.exp(-0.5 * ((grid[:, None] - x) / width) ** 2).mean(axis=1) / width


def _scatter(samples: Samples, j: int) -> dict[str, Any]:
    """Return points, and a local average with a Gaussian window."""
    gaps = samples.gaps(j)
    rows, shown = (each[~gaps[each]] for each in (samples.rows, drawn_rows(samples)))
    x, x_size = in_units(samples.X[rows, j])
    y, y_size = in_units(samples.y[rows])
    grid = np.quantile(x, np.linspace(0.02, 0.98, _GRID))
    width = max(1.06 * x.std() * x.size**-0.2, 1e-12)
    W = np.exp(-0.5 * ((grid[:, None] - x) / width) ** 2) + 1e-300
    curve = zip(_rounded(grid, x_size), _rounded(W @ y / W.sum(axis=1), y_size), strict=True)
    points = {"x": _rounded(samples.X[shown, j]), "y": _rounded(samples.y[shown])}
    return {"kind": "scatter", **points, "curve": [list(point) for point in curve]}


def drawn_rows(samples: Samples) -> np.ndarray:
    """Return the rows that are drawn as points."""
    rows = samples.rows
    return rows[:: max(1, -(-rows.size // _POINTS))]


def _rounded(values: Any, size: float = 1.0) -> list[float]:
    """Multiply numbers by a size, rounded to the digits that a plot can show."""
    shares, unit = in_units(np.asarray(values))
    spread = float(np.ptp(shares))
    digits = 17 if spread == 0.0 else min(3 - int(np.floor(np.log10(spread))), 17)
    with np.errstate(over="ignore"):
        numbers = np.clip(shares * unit * size, -_LARGEST, _LARGEST)
    return [float(f"{value:.{max(digits, 4)}g}") for value in numbers]
