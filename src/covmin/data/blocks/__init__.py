"""Tables that are read in blocks of rows."""

from .array import ArrayBlocks, Blocks, as_blocks, in_blocks, rows_of
from .sparse import SparseBlocks, sparse_table
from .views import MarkedBlocks, NormalScores, RankedBlocks, StandardizedBlocks

__all__ = [
    "ArrayBlocks",
    "Blocks",
    "MarkedBlocks",
    "NormalScores",
    "RankedBlocks",
    "SparseBlocks",
    "StandardizedBlocks",
    "as_blocks",
    "in_blocks",
    "rows_of",
    "sparse_table",
]
