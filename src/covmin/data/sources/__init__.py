"""Tables that are read in blocks of rows."""

from .base import Source, StandardizedSource, is_source, rows_of
from .gaps import GapSource
from .local import ArraySource
from .ranked import RankedSource
from .sparse import SparseSource, sparse_table

__all__ = [
    "ArraySource",
    "GapSource",
    "RankedSource",
    "Source",
    "SparseSource",
    "StandardizedSource",
    "is_source",
    "rows_of",
    "sparse_table",
]
