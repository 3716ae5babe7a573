"""Find features that matter only jointly, or that only affect the spread of the response.

A path starts with small weights on all features, where an interaction of a few among thousands has
no effect on the gradient of the criterion. Here such features are found by significance tests and
protected; the criterion then decides whether they are kept.
"""

from .products import SEARCH, Search
from .ranks import N_FUNCTIONS, Ranked
from .screening import Found, Protected, Screening

__all__ = ["N_FUNCTIONS", "SEARCH", "Found", "Protected", "Ranked", "Screening", "Search"]
