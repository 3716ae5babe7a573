"""The selectors that conditional covariance minimisation is compared with.

Eight scikit-learn selectors behind one small base class. Each standardises the columns,
reads the target as classes or numbers (``task``), ranks *every* feature without ties and
keeps exactly as many as asked; constant columns come last.

============================ =========== ====================================================
class                        short name  ranks features by
============================ =========== ====================================================
:class:`PearsonSelector`     pearson     absolute correlation with the response
:class:`MutualInfoSelector`  mi          nearest-neighbour estimate of mutual information
:class:`AnovaSelector`       anova       F statistic of the one-way layout, or of the slope
:class:`RFESelector`         rfe         recursive elimination by the weights of a linear SVM
:class:`ExtraTreesSelector`  extra-trees impurity decrease in randomised trees
:class:`MRMRSelector`        mrmr        greedy relevance minus redundancy
:class:`BAHSICSelector`      bahsic      backward elimination by the criterion HSIC
:class:`HSICLassoSelector`   hsic-lasso  non-negative lasso on centred kernel matrices
============================ =========== ====================================================

The first three see one feature at a time; RFE is linear; the trees, BAHSIC and, within the
limits of pairwise redundancy, mRMR and the HSIC lasso look at features together.
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

_SELECTORS: Mapping[str, type[BaselineSelector]] = MappingProxyType(
    {
        "pearson": PearsonSelector,
        "mi": MutualInfoSelector,
        "anova": AnovaSelector,
        "rfe": RFESelector,
        "extra-trees": ExtraTreesSelector,
        "mrmr": MRMRSelector,
        "bahsic": BAHSICSelector,
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
        In the order of the table of the package.

    Examples
    --------
    >>> from covmin.baselines import available_selectors
    >>> list(available_selectors())
    ['pearson', 'mi', 'anova', 'rfe', 'extra-trees', 'mrmr', 'bahsic', 'hsic-lasso']
    >>> available_selectors()["bahsic"](n_features_to_select=3)
    BAHSICSelector(n_features_to_select=3)
    """
    return _SELECTORS
