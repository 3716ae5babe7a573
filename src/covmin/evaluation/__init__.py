"""Protocols that judge feature selectors, on synthetic sets and on a user's own table.

=========================== =================================================================
name                        what it does
=========================== =================================================================
:func:`compare_selectors`   score of a kernel machine against the number of selected features
:func:`median_rank`         median rank of features known to matter, over repeated draws
:func:`named_selectors`     the selectors that either takes by name
=========================== =================================================================

Two protocols exist for scores, and every table and picture says which it shows: ``"nested"``
ranks features on the training rows of each fold; ``"paper"`` ranks them on all rows, as is
often published, which flatters the selector.
"""

from .compare import compare_selectors
from .curves import CurveResult, default_sizes
from .ranks import MedianRankResult, median_rank
from .selectors import SelectorSpec, named_selectors

__all__ = [
    "CurveResult",
    "MedianRankResult",
    "SelectorSpec",
    "compare_selectors",
    "default_sizes",
    "median_rank",
    "named_selectors",
]
