"""What all selectors tell scikit-learn alike."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

__all__ = ["SupportMixin"]


class SupportMixin(SelectorMixin):
    """A selector that needs y, and once it is fitted has a mask of the features kept."""

    support_: np.ndarray
    _takes_several_outputs: ClassVar[bool] = True

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = self._takes_several_outputs
        return tags
