"""Tables that are read in blocks of rows."""

from .array import ArrayBlocks, as_blocks, in_blocks, rows_of
from .sparse import SparseBlocks, sparse_table
from .views import ChangedBlocks, NormalScores, Standardization, marked

__all__ = [
    "ArrayBlocks",
    "ChangedBlocks",
    "NormalScores",
    "SparseBlocks",
    "Standardization",
    "as_blocks",
    "in_blocks",
    "marked",
    "rows_of",
    "sparse_table",
]
