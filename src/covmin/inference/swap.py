"""How features compare with their copies when both are in the model."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covmin.core.units import ALWAYS_ON, Units
from covmin.data.columns import prepare_columns
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
    """W of each unit: positive where it is better than its copy.

    From a ranking, the place of the better of the two, counted from the last, with the sign
    of a unit that stands before its copy; from importances, which are summed over the columns of
    a unit, their difference. Swapping a unit with its copy changes the sign of its own W alone.
    """
    units = Units.single(Z.shape[1]) if units is None else units
    is_free = units.of_column != ALWAYS_ON
    # Units come first, then their copies; what is given belongs to neither.
    side = np.concatenate([units.of_column, units.of_column[is_free] + units.size])
    both = (
        np.hstack([Z, copies[:, is_free]])
        * _shares(units)[np.r_[: Z.shape[1], is_free.nonzero()[0]]]
    )
    if standardize:
        p = np.ones(len(Z)) if sample_weight is None else sample_weight
        both = _of_even_variance(both, side, p / p.sum())
    # In the order of their content, so that the estimator cannot tell a copy by its place.
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
    """What columns weigh within their unit, where an estimator takes them as equals."""
    free = units.of_column != ALWAYS_ON
    shares = units.scale.copy()
    shares[free] *= np.sqrt(units.sizes[units.of_column[free]])
    return shares


def _of_even_variance(X: np.ndarray, side: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Centred columns, scaled so that those of a unit have a variance of one in the mean."""
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
    """The estimator told which columns belong together, where it is one that asks."""
    if not isinstance(estimator, CCMSelector):
        return estimator
    given = side == ALWAYS_ON
    labels = np.where(given, side.max(initial=0) + 1 + np.arange(side.size), side)
    return estimator.set_params(
        groups=labels.tolist() if np.unique(labels).size < labels.size else None,
        given=given.tolist() if given.any() else None,
        categorical_features=None,
        column_types="strict",
        missing="error",
        standardize=False,
    )


def _values(
    estimator: Any, side: np.ndarray, n_sides: int, importance: Importance | None
) -> np.ndarray:
    """What a fitted estimator makes of each unit and each copy, larger for better."""
    free = side != ALWAYS_ON
    values = np.zeros(n_sides)
    if importance is not None:
        found = np.asarray(importance(estimator), dtype=np.float64)
        if found.shape != side.shape:
            raise ValueError(
                f"importance must give one number for each of the {side.size} columns, "
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
    """Units that may be compared: their copies are neither constant nor equal to them.

    Equal columns are ranked by their position, which says nothing; and no column that is looked at
    is constant, while its copy may be by chance.
    """
    differs = (copies != Z).any(axis=0) & (copies != copies[:1]).any(axis=0)
    free = units.of_column != ALWAYS_ON
    return np.bincount(units.of_column[free], differs[free], minlength=units.size) > 0
