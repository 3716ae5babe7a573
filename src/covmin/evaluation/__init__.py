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
from .curves import CurveResult
from .selectors import named_selectors

__all__ = ["CurveResult", "compare_selectors", "named_selectors"]
