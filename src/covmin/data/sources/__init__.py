"""Tables that are read in blocks of rows."""

from .base import Source, StandardizedSource, is_source, rows_of
from .local import ArraySource

__all__ = ["ArraySource", "Source", "StandardizedSource", "is_source", "rows_of"]
