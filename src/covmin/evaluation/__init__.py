"""Compare feature selectors on your own table.

=========================== =================================================================
name                        what it does
=========================== =================================================================
:func:`compare_selectors`   score of a kernel SVM against the number of selected features
:func:`named_selectors`     the selectors that it accepts by name
=========================== =================================================================

Scores follow one of two protocols, and every table and figure says which. ``"nested"`` ranks the
features on the training rows of each fold. ``"paper"`` ranks them on all rows, as published
results often do; its scores are too high.
"""

from .compare import compare_selectors
from .curves import CurveResult, default_sizes
from .selectors import SelectorSpec, named_selectors

__all__ = ["CurveResult", "SelectorSpec", "compare_selectors", "default_sizes", "named_selectors"]
