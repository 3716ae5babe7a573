"""Tables that are read in blocks of rows."""

from .base import Source, StandardizedSource, is_source, rows_of
from .local import ArraySource
from .ranked import RankedSource

__all__ = ["ArraySource", "RankedSource", "Source", "StandardizedSource", "is_source", "rows_of"]
