"""Compare feature selectors on your own table."""

from .compare import compare_selectors
from .curves import CurveResult
from .selectors import named_selectors

__all__ = ["CurveResult", "compare_selectors", "named_selectors"]
