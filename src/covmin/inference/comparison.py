"""Compare features with their knockoffs in one fit."""

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
    copied = np.flatnonzero(units.of_column != ALWAYS_ON)
    of_copied = units.of_column[copied]
    # The weights of columns within their unit, relative to equal weights.
    shares = units.scale.copy()
    shares[copied] *= np.sqrt(units.sizes[of_copied])
    # Units come first, then their copies; given columns belong to neither.
    side = np.concatenate([units.of_column, of_copied + units.size])
    both = np.hstack([Z * shares, (copies * shares)[:, copied]])
    if standardize:  # to a mean variance of one in each unit
        p = np.ones(len(Z)) if sample_weight is None else sample_weight
        both = both - (p / p.sum()) @ both
        own = np.flatnonzero(side != ALWAYS_ON)
        total = np.bincount(side[own], (p / p.sum()) @ both[:, own] ** 2)
        scale = np.sqrt(total / np.maximum(np.bincount(side[own]), 1))[side[own]]
        both[:, own] /= np.where(scale > 0.0, scale, 1.0)
    # Order by content, so that the estimator cannot recognise a copy by its position.
    order = prepare_columns(both, standardize=False).index
    both, side = both[:, order], side[order]
    if isinstance(estimator, CCMSelector):
        given = side == ALWAYS_ON
        labels = np.where(given, side.max(initial=0) + 1 + np.arange(side.size), side)
        estimator.set_params(
            feature_groups=labels.tolist() if np.unique(labels).size < labels.size else None,
            given=given.tolist() if given.any() else None,
            column_types="strict",
            standardize=False,
        )
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    estimator.fit(both, y, **weights)
    values = _values(estimator, side, 2 * units.size, importance)
    own, other = values[: units.size], values[units.size :]
    W = own - other
    if importance is None:
        W = np.sign(W) * np.maximum(own, other)
    # Equal columns would be ranked by position, and a copy may be constant by chance.
    differs = (copies != Z).any(axis=0) & (copies != copies[:1]).any(axis=0)
    return np.where(np.bincount(of_copied, differs[copied], minlength=units.size) > 0, W, 0.0)


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
