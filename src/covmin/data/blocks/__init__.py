"""Tables that are read in blocks of rows."""

from .array import ArrayBlocks, Blocks, as_blocks, rows_of
from .sparse import SparseBlocks, sparse_table
from .views import NormalScores, marked

__all__ = [
    "ArrayBlocks",
    "Blocks",
    "NormalScores",
    "SparseBlocks",
    "as_blocks",
    "marked",
    "rows_of",
    "sparse_table",
]
