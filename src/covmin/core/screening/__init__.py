"""Find features that matter only jointly, or only affect the spread, by significance tests."""

from .products import SEARCH, Search
from .ranks import N_FUNCTIONS, Ranked
from .screening import Found, Protected, Screening

__all__ = ["N_FUNCTIONS", "SEARCH", "Found", "Protected", "Ranked", "Screening", "Search"]
