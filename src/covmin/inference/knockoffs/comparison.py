"""Compare features with their knockoffs in one fit, and keep those that clearly win.

Every unit gets a statistic W, which is positive if the unit is better than its copy. The knockoff
filter turns these into a selection: below zero, W shows how often a copy wins by chance.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covmin.core.units import ALWAYS_ON, Units
from covmin.data.standardize import prepare_columns
from covmin.selection.selector import CCMSelector

Importance = Callable[[Any], np.ndarray]


def swap_statistics(
    estimator: Any,
    Z: np.ndarray,
    copies: np.ndarray,
    y: Any,
    *,
    units: Units | None = None,
    importance: Importance | None = None,
    standardize: bool = True,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return W of each unit, which is positive if the unit is better than its copy.

    For a ranking, W is the position of the better of the two, counted from the end, with a negative
    sign if it is the copy. For importances, which are summed over the columns of a unit, W is their
    difference. Swapping a unit with its copy only changes the sign of its own W.
    """
    units = Units.single(Z.shape[1]) if units is None else units
    is_free = units.of_column != ALWAYS_ON
    # Units come first, then their copies; given columns belong to neither.
    side = np.concatenate([units.of_column, units.of_column[is_free] + units.size])
    both = (
        np.hstack([Z, copies[:, is_free]])
        * _shares(units)[np.r_[: Z.shape[1], is_free.nonzero()[0]]]
    )
    if standardize:
        p = np.ones(len(Z)) if sample_weight is None else sample_weight
        both = _of_even_variance(both, side, p / p.sum())
    # Order by content, so that the estimator cannot recognise a copy by its position.
    order = prepare_columns(both, standardize=False).index
    both, side = both[:, order], side[order]
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    _in_units(estimator, side).fit(both, y, **weights)
    values = _values(estimator, side, 2 * units.size, importance)
    own, other = values[: units.size], values[units.size :]
    W = own - other
    if importance is None:
        W = np.sign(W) * np.maximum(own, other)
    return np.where(_compares(Z, copies, units), W, 0.0)


def _shares(units: Units) -> np.ndarray:
    """Return the weights of columns within their unit, relative to equal weights."""
    free = units.of_column != ALWAYS_ON
    shares = units.scale.copy()
    shares[free] *= np.sqrt(units.sizes[units.of_column[free]])
    return shares


def _of_even_variance(X: np.ndarray, side: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Centre the columns and scale each unit to a mean variance of one."""
    X = X - p @ X
    variance = p @ X**2
    free = side != ALWAYS_ON
    n_sides = int(side.max()) + 1
    sizes = np.bincount(side[free], minlength=n_sides)
    total = np.bincount(side[free], variance[free], minlength=n_sides)
    scale = np.ones(side.size)
    scale[free] = np.sqrt(total / np.maximum(sizes, 1))[side[free]]
    return X / np.where(scale > 0.0, scale, 1.0)


def _in_units(estimator: Any, side: np.ndarray) -> Any:
    """Set the groups and given columns of a CCMSelector; return others unchanged."""
    if not isinstance(estimator, CCMSelector):
        return estimator
    given = side == ALWAYS_ON
    labels = np.where(given, side.max(initial=0) + 1 + np.arange(side.size), side)
    return estimator.set_params(
        feature_groups=labels.tolist() if np.unique(labels).size < labels.size else None,
        given=given.tolist() if given.any() else None,
        column_types="strict",
        standardize=False,
    )


def _values(
    estimator: Any, side: np.ndarray, n_sides: int, importance: Importance | None
) -> np.ndarray:
    """Return the importance of each unit and each copy; larger is better."""
    free = side != ALWAYS_ON
    values = np.zeros(n_sides)
    if importance is not None:
        found = np.asarray(importance(estimator), dtype=np.float64)
        if found.shape != side.shape:
            raise ValueError(
                f"importance must return one number for each of the {side.size} columns, "
                f"features and knockoffs; got an array of shape {found.shape}."
            )
        np.add.at(values, side[free], found[free])
        return values
    ranking = getattr(estimator, "ranking_", None)
    if ranking is None:
        raise ValueError(
            f"{type(estimator).__name__} has no ranking_ after fit; pass importance=, a function "
            "of the fitted estimator such as lambda model: abs(model.coef_)."
        )
    last = np.unique(side[free]).size
    np.maximum.at(values, side[free], 1.0 + last - np.asarray(ranking)[free])
    return values


def _compares(Z: np.ndarray, copies: np.ndarray, units: Units) -> np.ndarray:
    """Return a mask of the units whose copies are neither constant nor equal to them.

    Equal columns would be ranked by position. The columns themselves are not constant, but a copy
    may be constant by chance.
    """
    differs = (copies != Z).any(axis=0) & (copies != copies[:1]).any(axis=0)
    free = units.of_column != ALWAYS_ON
    return np.bincount(units.of_column[free], differs[free], minlength=units.size) > 0


def knockoff_q_values(W: np.ndarray, offset: int = 1) -> np.ndarray:
    """Return the smallest level at which the knockoff filter keeps each feature; ∞ if W ≤ 0.

    A feature is kept at level q if ``(offset + #{W ≤ −t}) / #{W ≥ t} ≤ q`` for some t of at
    most its own W.
    """
    q, smallest = np.full(W.size, np.inf), np.inf
    for t in np.unique(W[W > 0.0]):
        smallest = min(smallest, (offset + np.count_nonzero(-t >= W)) / np.count_nonzero(t <= W))
        q[t == W] = smallest
    return q


def knockoff_e_values(W: np.ndarray, level: float, offset: int) -> np.ndarray:
    """Return ``d·1{Wⱼ ≥ T} / (1 + #{W ≤ −T})``, where T is the threshold of the filter."""
    kept = knockoff_q_values(W, offset) <= level
    if not kept.any():
        return np.zeros(W.size)
    threshold = W[kept].min()
    return kept * (W.size / (1.0 + np.count_nonzero(-threshold >= W)))


def e_value_q_values(e: np.ndarray) -> np.ndarray:
    """Return the level ``min_{k ≥ rank} d/(k e₍ₖ₎)`` at which e-BH keeps each feature."""
    order = np.argsort(-e, kind="stable")
    places = np.arange(1, e.size + 1)
    with np.errstate(divide="ignore"):
        levels = e.size / (places * e[order])
    q = np.empty(e.size)
    q[order] = np.minimum.accumulate(levels[::-1])[::-1]
    return q
