"""Tables that are read in blocks of rows."""

from .base import Source, StandardizedSource, is_source, rows_of
from .local import ArraySource
from .ranked import RankedSource
from .sparse import SparseSource, sparse_table

__all__ = [
    "ArraySource",
    "RankedSource",
    "Source",
    "SparseSource",
    "StandardizedSource",
    "is_source",
    "rows_of",
    "sparse_table",
]
