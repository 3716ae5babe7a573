"""Pictures in scikit-learn's style: a Display holds what is drawn, ``plot(ax=)`` draws it."""

from .curves import AccuracyCurveDisplay, MedianRankDisplay
from .fitted import ErrorCurveDisplay, PathDisplay, RankingDisplay, StabilityDisplay
from .network import InteractionDisplay

__all__ = [
    "AccuracyCurveDisplay",
    "ErrorCurveDisplay",
    "InteractionDisplay",
    "MedianRankDisplay",
    "PathDisplay",
    "RankingDisplay",
    "StabilityDisplay",
]
