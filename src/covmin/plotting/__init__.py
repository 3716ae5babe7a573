"""Figures in scikit-learn's style: a Display holds the data, and ``plot(ax=...)`` draws them."""

from .curves import ErrorCurveDisplay
from .fitted import InteractionDisplay, PathDisplay, RankingDisplay

__all__ = ["ErrorCurveDisplay", "InteractionDisplay", "PathDisplay", "RankingDisplay"]
