"""The selectors that conditional covariance minimisation is compared with.

scikit-learn selectors behind one small base class. Each standardises the columns, reads the
target as classes or numbers (``task``), ranks *every* feature without ties and keeps exactly
as many as asked; constant columns come last. The first line of a class says what it ranks by.

The filters (Pearson, ANOVA, mutual information) see one feature at a time; RFE is linear; the
trees, BAHSIC and, within the limits of pairwise redundancy, mRMR and the HSIC lasso look at
features together.

A new baseline is a subclass of :class:`BaselineSelector` and an entry of the registry in this
file, from which the comparison, the command line and the experiments take their names.
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

# From the quickest to the slowest, so that an interrupted comparison has most of the picture.
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
    """Short names of the baselines and the classes they stand for.

    ``"hsic-lasso"`` is listed even where its optional dependency is missing: the class then
    says on ``fit`` what to install.

    Returns
    -------
    selectors : read-only mapping of str to class
        From the quickest to the slowest.

    Examples
    --------
    >>> from covmin.baselines import available_selectors
    >>> list(available_selectors())
    ['pearson', 'anova', 'mrmr', 'rfe', 'bahsic', 'extra-trees', 'mi', 'hsic-lasso']
    >>> available_selectors()["bahsic"](n_features_to_select=3)
    BAHSICSelector(n_features_to_select=3)
    """
    return _SELECTORS
