"""Pictures in scikit-learn's style: a Display holds what is drawn, ``plot(ax=)`` draws it.

============================= ==============================================================
class                         shows
============================= ==============================================================
:class:`RankingDisplay`       weights of the leading features, chosen ones marked
:class:`PathDisplay`          weights along the path of shrinking budgets
:class:`ErrorCurveDisplay`    cross-fitted error against the number of features
:class:`StabilityDisplay`     how often features are chosen on halves of the samples
:class:`AccuracyCurveDisplay` scores of several selectors against the number of features
:class:`MedianRankDisplay`    rank of the true features against the number of samples
============================= ==============================================================
"""

from .curves import AccuracyCurveDisplay, MedianRankDisplay
from .errors import ErrorCurveDisplay
from .path import PathDisplay
from .ranking import RankingDisplay
from .stability import StabilityDisplay

__all__ = [
    "AccuracyCurveDisplay",
    "ErrorCurveDisplay",
    "MedianRankDisplay",
    "PathDisplay",
    "RankingDisplay",
    "StabilityDisplay",
]
