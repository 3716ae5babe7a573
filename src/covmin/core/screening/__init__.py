"""Find features that matter only jointly, or that only affect the spread of the response.

A path starts with small weights on all features, where an interaction of two among thousands has
no effect on the gradient of the criterion. Here such features are found by significance tests and
nominated; the criterion then decides whether they are kept.
"""

from .pairs import Pairs, interacting_pairs
from .protected import Protected
from .ranks import Codes, Ranked
from .search import N_WAVES, SEARCH, Search
from .singles import stands_out_alone
from .spread import Spread, spreading_features

__all__ = [
    "N_WAVES",
    "SEARCH",
    "Codes",
    "Pairs",
    "Protected",
    "Ranked",
    "Search",
    "Spread",
    "interacting_pairs",
    "spreading_features",
    "stands_out_alone",
]
