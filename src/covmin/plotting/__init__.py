"""Figures in scikit-learn's style: a Display holds the data, and ``plot(ax=...)`` draws them."""

from .curves import ErrorCurveDisplay
from .fitted import PathDisplay, RankingDisplay, StabilityDisplay
from .network import InteractionDisplay

__all__ = [
    "ErrorCurveDisplay",
    "InteractionDisplay",
    "PathDisplay",
    "RankingDisplay",
    "StabilityDisplay",
]
