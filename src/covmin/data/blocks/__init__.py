"""Tables that are read in blocks of rows."""

from .array import ArrayBlocks, Blocks, SparseBlocks, as_blocks, rows_of, sparse_table
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
