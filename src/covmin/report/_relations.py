"""How features relate to the response, to each other, and to those left out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ._samples import Samples

__all__ = ["correlations", "feature_plots", "in_units", "interacting_pair", "substitutes"]

_POINTS = 300
_GRID = 48
_MAX_CLASSES = 12
_PAIR_CLASSES = 6
_SUBSTITUTED = 10
_CANDIDATES = 3


def feature_plots(samples: Samples, columns: np.ndarray) -> list[dict[str, Any]]:
    """One plot for each column: densities by class, or a scatter with a smooth curve.

    Parameters
    ----------
    samples : Samples
    columns : ndarray of int

    Returns
    -------
    list of dict
        ``feature``, ``explained`` (by this feature alone) and what is drawn.
    """
    draw = _densities if samples.task == "classification" else _scatter
    return [
        {
            "feature": int(j),
            "explained": round(1.0 - samples.unexplained([int(j)]), 4),
            **draw(samples, int(j)),
        }
        for j in columns
    ]


def interacting_pair(samples: Samples, columns: np.ndarray) -> dict[str, Any] | None:
    """The two features that gain most from each other.

    The gain is what they explain together beyond the sum of what each explains alone; a
    pair that gains nothing is still worth a look if it explains most together.

    Parameters
    ----------
    samples : Samples
    columns : ndarray of int
        The features to pair.

    Returns
    -------
    pair : dict or None
        ``features``, ``alone``, ``together``, ``gain`` and the points to draw.
    """
    if len(columns) < 2:
        return None
    alone = {int(j): max(0.0, 1.0 - samples.unexplained([int(j)])) for j in columns}
    together = {
        pair: max(0.0, 1.0 - samples.unexplained(pair))
        for pair in combinations([int(j) for j in columns], 2)
    }
    gain = {pair: together[pair] - alone[pair[0]] - alone[pair[1]] for pair in together}
    pair = max(gain, key=lambda pair: gain[pair])
    if gain[pair] <= 0.0:
        pair = max(together, key=lambda pair: together[pair])
    return {
        "features": list(pair),
        "alone": [round(alone[j], 4) for j in pair],
        "together": round(together[pair], 4),
        "gain": round(gain[pair], 4),
        **_pair_points(samples, pair),
    }


def correlations(samples: Samples, columns: np.ndarray) -> list[list[int]]:
    """Pearson correlations in percent between columns.

    Parameters
    ----------
    samples : Samples
    columns : ndarray of int

    Returns
    -------
    list of list of int
    """
    Z = samples.standardized([int(j) for j in columns])
    percent = np.clip(100.0 * (Z.T @ Z) / Z.shape[0], -100.0, 100.0)
    return [[int(value) for value in row] for row in np.rint(percent)]


def substitutes(samples: Samples, order: np.ndarray, m: int) -> dict[str, Any]:
    """What is lost when a selected feature goes, or gives way to one left out.

    Candidates are the left-out features most correlated with the one that goes.

    Parameters
    ----------
    samples : Samples
    order : ndarray of int
        Columns from best to worst; the first m are selected.
    m : int

    Returns
    -------
    dict
        ``unexplained`` by the selected features, and for each of the first ten
        ``rows`` with the error without it and with the best substitute.
    """
    chosen, left = [int(j) for j in order[:m]], order[m:]
    base = samples.unexplained(chosen)
    rows = []
    for j in chosen[:_SUBSTITUTED]:
        others = [k for k in chosen if k != j]
        row: dict[str, Any] = {"feature": j, "without": round(samples.unexplained(others), 4)}
        if left.size:
            row |= _best_substitute(samples, j, others, left)
        rows.append(row)
    return {"unexplained": round(base, 4), "rows": rows}


def _best_substitute(
    samples: Samples, j: int, others: list[int], left: np.ndarray
) -> dict[str, Any]:
    r = _correlations_with(samples, j, left)
    close = np.argsort(-np.abs(r), kind="stable")[:_CANDIDATES]
    errors = [samples.unexplained([*others, int(left[k])]) for k in close]
    best = int(np.argmin(errors))
    return {
        "substitute": int(left[close[best]]),
        "correlation": round(float(r[close[best]]), 3),
        "with_substitute": round(errors[best], 4),
    }


def _correlations_with(samples: Samples, j: int, others: np.ndarray) -> np.ndarray:
    X, z = samples.standardized(others.tolist()), samples.standardized([j])[:, 0]
    return z @ X / z.size


def _shown(samples: Samples) -> np.ndarray:
    rows = samples.rows
    return rows[:: max(1, -(-rows.size // _POINTS))]


def _densities(samples: Samples, j: int) -> dict[str, Any]:
    """Kernel densities of the feature in each class, on one grid, largest height 1."""
    x, size = in_units(samples.X[samples.rows, j])
    y = samples.y[samples.rows]
    grid = _grid(x)
    labels, counts = np.unique(y, return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:_MAX_CLASSES])
    curves = [_density(x[y == labels[c]], grid) for c in kept]
    top = max(float(curve.max()) for curve in curves) or 1.0
    return {
        "kind": "densities",
        "grid": [_times(grid[0], size), _times(grid[-1], size)],
        "classes": [str(labels[c]) for c in kept],
        "curves": [[round(float(v), 3) for v in curve / top] for curve in curves],
        "medians": [_short(_times(np.median(x[y == labels[c]]), size)) for c in kept],
    }


def _density(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    width = 1.06 * x.std() * x.size**-0.2 or (grid[-1] - grid[0]) / _GRID
    width = max(width, (grid[-1] - grid[0]) / _GRID)
    return np.exp(-0.5 * ((grid[:, None] - x) / width) ** 2).mean(axis=1) / width


def _scatter(samples: Samples, j: int) -> dict[str, Any]:
    """Points, and a local average with a Gaussian window."""
    x, x_size = in_units(samples.X[samples.rows, j])
    y, y_size = in_units(samples.y[samples.rows])
    grid = np.quantile(x, np.linspace(0.02, 0.98, _GRID))
    width = max(1.06 * x.std() * x.size**-0.2, 1e-12)
    W = np.exp(-0.5 * ((grid[:, None] - x) / width) ** 2) + 1e-300
    curve = (W @ y) / W.sum(axis=1)
    rows = _shown(samples)
    return {
        "kind": "scatter",
        "x": [_short(v) for v in samples.X[rows, j]],
        "y": [_short(v) for v in samples.y[rows]],
        "curve": [
            [_short(_times(a, x_size)), _short(_times(b, y_size))]
            for a, b in zip(grid, curve, strict=True)
        ],
    }


def _pair_points(samples: Samples, pair: tuple[int, int]) -> dict[str, Any]:
    rows = _shown(samples)
    points: dict[str, Any] = {
        "x": [_short(v) for v in samples.X[rows, pair[0]]],
        "y": [_short(v) for v in samples.X[rows, pair[1]]],
    }
    if samples.task != "classification":
        return points | {"value": [_short(v) for v in samples.y[rows]]}
    labels, codes = np.unique(samples.y, return_inverse=True)
    frequent = np.argsort(-np.bincount(codes), kind="stable")[:_PAIR_CLASSES]
    index = {int(c): i for i, c in enumerate(np.sort(frequent))}
    points["classes"] = [str(labels[c]) for c in index]
    points["class"] = [index.get(int(c), -1) for c in codes[rows]]
    return points


def _grid(x: np.ndarray) -> np.ndarray:
    low, high = float(x.min()), float(x.max())
    margin = 0.04 * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, _GRID)


def in_units(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Numbers as shares of the largest of them, whose squares neither overflow nor vanish."""
    numbers = values.astype(np.float64)
    size = float(np.abs(numbers).max()) or 1.0
    return numbers / size, size


def _times(share: float, size: float) -> float:
    """A number again; what lies beyond the largest float is that."""
    largest = float(np.finfo(np.float64).max)
    return min(max(float(share) * size, -largest), largest)


def _short(value: Any) -> float:
    """Four digits: more than a drawing can show."""
    return float(f"{float(value):.4g}")
