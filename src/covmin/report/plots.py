"""Data for the plots of single features and of a pair: points, densities and levels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats.contingency import crosstab

from covmin.data.columns import Levels
from covmin.data.survival import survival_curve
from covmin.selection.summary import Explained
from covmin.text import number

from .view import MISSING, Column, View, of_levels

_GRID = 48
_MAX_CLASSES = _MAX_LEVELS = 12
# A column with at most this many distinct numbers gets a bar for each.
_FEW_NUMBERS = 6
# Number of colours and shapes.
_COLOURED = 6


def feature_plots(view: View, alone: dict[int, float]) -> list[dict]:
    """Return one plot for each column, with what it explains alone and the kind of plot."""
    draw = {"classification": _densities, "survival": _survival}.get(view.task, _scatter)
    plots = []
    for j, explained in alone.items():
        column = shown = view.column(j)
        if not (column.is_category or column.is_date):
            distinct = np.unique(column.values[~column.missing])
            if distinct.size <= _FEW_NUMBERS:
                shown = of_levels(Levels.of(column.values))
        plot = _levels(view, shown) if shown.is_category else draw(view, column)
        plot |= {"feature": j, "explained": explained}
        plot |= {"date": True} if column.is_date else {}
        plot |= {"missing": float(column.missing.mean())} if column.missing.any() else {}
        plots.append(plot)
    return plots


def pair_plot(view: View, explained: Explained, pair: Sequence[int]) -> dict[str, Any] | None:
    """Return what two features explain, alone and together, and points; None for a single one.

    Levels are given by their numbers. Rows with a missing number are omitted and counted.
    """
    if len(pair) < 2:
        return None
    *alone, together = (max(0.0, explained(each)) for each in (*([j] for j in pair), pair))
    columns = [view.column(j) for j in pair]
    unseen = np.any([c.missing[view.rows] & ~c.is_category for c in columns], axis=0)
    rows = view.rows[~unseen]
    points: dict[str, Any] = {
        "features": list(pair),
        "alone": alone,
        "together": together,
        "levels": [None, None],
        "dates": [column.is_date for column in columns],
        "n_missing": int(unseen.sum()),
    }
    for axis, column in enumerate(columns):
        values = column.values
        if column.levels is not None:
            points["levels"][axis], values = _frequent(column.levels, values, _MAX_LEVELS)
        points["xy"[axis]] = _rounded(values[rows])
    if view.task != "classification":
        return points | {"value": _rounded(view.y[rows])}
    classes, codes = _frequent(*view.classes, _COLOURED)
    return points | {"classes": classes, "class": codes[rows].tolist()}


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


def _levels(view: View, column: Column) -> dict[str, Any]:
    """Return the number of samples at each level, with mean responses or class frequencies."""
    assert column.levels is not None
    if view.task == "survival":
        return _survival_of(view, *_frequent(column.levels, column.values, _COLOURED))
    levels, codes = _frequent(column.levels, column.values, _MAX_LEVELS)
    counts = np.bincount(codes)
    drawn = {"levels": levels, "counts": counts.tolist()}
    if view.task != "classification":
        means = _rounded(np.bincount(codes, view.y) / counts)
        # On an axis as wide as the spread of the response, noise looks small.
        whole = {"mean": float(view.y.mean()), "sd": float(view.y.std())}
        return {"kind": "means", **drawn, "means": means, **whole}
    classes, labels = _frequent(*view.classes, _COLOURED)
    pairs = crosstab(codes, labels, levels=(np.arange(len(levels)), np.arange(len(classes))))
    shares = np.round(pairs.count / counts[:, None], 4)
    return {"kind": "shares", **drawn, "classes": classes, "shares": shares.tolist()}


def _densities(view: View, column: Column) -> dict[str, Any]:
    """Return kernel densities of the feature in each class, scaled to a maximum of 1."""
    rows = view.rows[~column.missing[view.rows]]
    x = column.values[rows]
    low, high = float(x.min()), float(x.max())
    margin = 0.04 * (high - low) or 0.5
    grid = np.linspace(low - margin, high + margin, _GRID)
    labels, codes = view.classes[0], view.classes[1][rows]
    most = min(_MAX_CLASSES, len(set(codes)))
    present = np.argsort(-np.bincount(codes), kind="stable")[:most]
    groups = {labels[c]: x[codes == c] for c in np.sort(present)}
    curves = []
    for values in groups.values():
        width = max(1.06 * values.std() * values.size**-0.2, (grid[-1] - grid[0]) / _GRID)
        window = np.exp(-0.5 * ((grid[:, None] - values) / width) ** 2)
        curves.append(window.mean(axis=1) / width)
    return {
        "kind": "densities",
        "grid": _rounded(grid[[0, -1]]),
        "whole": not (x % 1).any(),
        "classes": list(groups),
        "n_classes": len(labels),
        "curves": np.round(np.array(curves) / (np.max(curves) or 1.0), 3).tolist(),
        "medians": _rounded([np.median(values) for values in groups.values()]),
    }


def _survival(view: View, column: Column) -> dict[str, Any]:
    """Return Kaplan–Meier curves of the samples with low, middle and high values."""
    x = column.values
    low, high = np.quantile(x[~column.missing], [1 / 3, 2 / 3])
    names = [f"up to {number(low)}", f"up to {number(high)}", f"above {number(high)}"]
    if column.is_date:
        names = ["first third", "second third", "last third"]
    codes = (x > low).astype(np.intp) + (x > high)
    return _survival_of(view, [*names, MISSING], np.where(column.missing, 3, codes))


def _survival_of(view: View, names: list[str], codes: np.ndarray) -> dict[str, Any]:
    """Return the Kaplan–Meier curve of each group, as the points at which it falls."""
    curves = []
    groups = np.unique(codes)
    for group in groups:
        event, time = view.responses[codes == group].T
        times, shares = survival_curve(event, time)
        drawn = np.unique(np.linspace(0, times.size - 1, _GRID).astype(int))[: times.size]
        times, shares = np.append(0.0, times[drawn]), np.append(1.0, shares[drawn])
        # Extend the curve to the end of observation.
        points = zip([*times, time.max()], [*shares, shares[-1]], strict=True)
        curves.append([[float(f"{t:.6g}"), round(float(share), 4)] for t, share in points])
    counts = np.bincount(codes)[groups].tolist()
    classes = [names[group] for group in groups]
    return {"kind": "survival", "classes": classes, "counts": counts, "curves": curves}


def _scatter(view: View, column: Column) -> dict[str, Any]:
    """Return points, and a local average with a Gaussian window."""
    rows = view.rows[~column.missing[view.rows]]
    x, y = column.values[rows], view.y[rows]
    grid = np.quantile(x, np.linspace(0.02, 0.98, _GRID))
    width = 1.06 * x.std() * x.size**-0.2 or 1.0
    W = np.exp(-0.5 * ((grid[:, None] - x) / width) ** 2) + 1e-300
    curve = zip(_rounded(grid), _rounded(W @ y / W.sum(axis=1)), strict=True)
    points = {"x": _rounded(x), "y": _rounded(y)}
    return {"kind": "scatter", **points, "curve": [list(point) for point in curve]}


def _rounded(values: Any) -> list[float]:
    """Round numbers to the digits that a plot can show."""
    numbers = np.asarray(values)
    if not numbers.size:
        return []
    share = np.ptp(numbers) / (np.abs(numbers).max() or 1.0)
    digits = np.clip(3 - np.floor(np.log10(share)), 4, 17) if share > 0.0 else 17
    return [float(f"{value:.{int(digits)}g}") for value in numbers]
