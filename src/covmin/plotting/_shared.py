"""What the displays of a fitted selector have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .curves import pyplot_module

__all__ = ["ACCENT", "LEFT_OUT", "LIMIT", "get_ax", "leading_features", "names_of"]

ACCENT = "#0a6c74"
LEFT_OUT = "#b9b4a7"
LIMIT = "#b4532a"


def get_ax(ax: Any, figsize: tuple[float, float]) -> Any:
    """The axes to draw on; made where none are given."""
    if ax is not None:
        return ax
    return pyplot_module().subplots(figsize=figsize, layout="constrained")[1]


def names_of(selector: Any, given: Sequence[str] | None) -> list[str]:
    """Names of all features: those given, the selector's, or x0, x1 and so on."""
    names = given if given is not None else getattr(selector, "feature_names_in_", None)
    if names is None:
        return [f"x{j}" for j in range(selector.n_features_in_)]
    if len(names) != selector.n_features_in_:
        raise ValueError(
            f"{len(names)} feature names were given for {selector.n_features_in_} features."
        )
    return [str(name) for name in names]


def leading_features(selector: Any, n_features: int | None) -> np.ndarray:
    """Columns of the best features, best first; by default the chosen ones and some more."""
    check_is_fitted(selector)
    if n_features is None:
        n_features = min(max(selector.n_features_ + 5, 10), 30)
    return np.argsort(selector.ranking_)[:n_features]
