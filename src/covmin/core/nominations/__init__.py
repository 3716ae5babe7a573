"""Features that say something only together, or only about the spread of the response.

A path begins with weights spread thin over all features, where an interaction of two among
thousands leaves no trace in the slope of the criterion. Features that stand out by other means
are nominated here; the criterion decides what becomes of them.
"""

from .hold import Hold
from .pairs import Pairs, interacting_pairs
from .ranks import Codes, Ranked
from .search import N_WAVES, Search
from .singles import stands_out_alone
from .spread import Spread, spreading_features

__all__ = [
    "N_WAVES",
    "Codes",
    "Hold",
    "Pairs",
    "Ranked",
    "Search",
    "Spread",
    "interacting_pairs",
    "spreading_features",
    "stands_out_alone",
]
