"""Figures in scikit-learn's style: a Display holds the data, and ``plot(ax=...)`` draws them."""

from .curves import AccuracyCurveDisplay, ErrorCurveDisplay
from .fitted import PathDisplay, RankingDisplay, StabilityDisplay
from .network import InteractionDisplay

__all__ = [
    "AccuracyCurveDisplay",
    "ErrorCurveDisplay",
    "InteractionDisplay",
    "PathDisplay",
    "RankingDisplay",
    "StabilityDisplay",
]
