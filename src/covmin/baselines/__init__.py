"""Baseline selectors to compare conditional covariance minimisation with.

All of them are scikit-learn selectors with a small shared base class. Each one standardises the
columns, reads the response as classes or as numbers (``task``), ranks *every* feature without
ties, and keeps exactly the requested number. Constant columns come last. The first line of each
class states the score that it ranks by.

The filters (Pearson, ANOVA, mutual information) score one feature at a time. RFE is linear. The
trees and BAHSIC consider features jointly; mRMR and the HSIC lasso do so through pairwise
redundancy only.

To add a baseline, subclass :class:`BaselineSelector` and add an entry to the registry below. The
comparison, the command line and the experiments take their names from it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from .bahsic import BAHSICSelector
from .base import BaselineSelector
from .filters import AnovaSelector, MutualInfoSelector, PearsonSelector
from .hsic_lasso import HSICLassoSelector
from .model_based import ExtraTreesSelector, RFESelector
from .mrmr import MRMRSelector

__all__ = [
    "AnovaSelector",
    "BAHSICSelector",
    "BaselineSelector",
    "ExtraTreesSelector",
    "HSICLassoSelector",
    "MRMRSelector",
    "MutualInfoSelector",
    "PearsonSelector",
    "RFESelector",
    "available_selectors",
]

# Fastest first, so that an interrupted comparison has finished most of the selectors.
_SELECTORS: Mapping[str, type[BaselineSelector]] = MappingProxyType(
    {
        "pearson": PearsonSelector,
        "anova": AnovaSelector,
        "mrmr": MRMRSelector,
        "rfe": RFESelector,
        "bahsic": BAHSICSelector,
        "extra-trees": ExtraTreesSelector,
        "mi": MutualInfoSelector,
        "hsic-lasso": HSICLassoSelector,
    }
)


def available_selectors() -> Mapping[str, type[BaselineSelector]]:
    """Return the baseline classes by short name.

    ``"hsic-lasso"`` is listed even if its optional dependency is missing. In that case ``fit``
    raises an error that says what to install.

    Returns
    -------
    selectors : read-only mapping of str to class
        Fastest first.

    Examples
    --------
    >>> from covmin.baselines import available_selectors
    >>> list(available_selectors())
    ['pearson', 'anova', 'mrmr', 'rfe', 'bahsic', 'extra-trees', 'mi', 'hsic-lasso']
    >>> available_selectors()["bahsic"](n_features_to_select=3)
    BAHSICSelector(n_features_to_select=3)
    """
    return _SELECTORS
