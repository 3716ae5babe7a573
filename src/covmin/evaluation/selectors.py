"""The selectors that can be compared by name, and the order that a fitted selector gives."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from covmin.data import Table
from covmin.selection.selector import CCMSelector
from covmin.text import listed

from .baselines import BASELINES, baseline

# Fast, and of different kinds: linear, univariate and redundancy-aware.
QUICK_BASELINES = ("pearson", "anova", "mrmr", "rfe", "lasso")

# The paper's m on real data: 100 of more than 100 features, otherwise a fifth of them.
_WIDE = 100


@dataclass(frozen=True)
class SelectorSpec:
    """A named recipe for a selector.

    Parameters
    ----------
    name : str
        Name in tables and figures.
    factory : callable
        Takes ``n_features_to_select``, ``random_state``, ``task`` and the parameters below;
        returns the estimator.
    params : mapping, default={}
        Further parameters.
    paper_budget : bool, default=False
        Whether to rank all features with the paper's m (100 of more than 100 features, otherwise
        a fifth of them) instead of the largest number that is evaluated.

    Examples
    --------
    >>> from covmin.evaluation import named_selectors
    >>> spec = named_selectors()["ccm-single"]
    >>> spec.make(3, random_state=0)
    CCMSelector(formulation='paper', n_features_to_select=3, random_state=0)
    >>> spec.budget(5748, largest=100), spec.budget(13, largest=13)
    (100, 3)
    """

    name: str
    factory: Callable[..., BaseEstimator]
    params: Mapping[str, Any] = field(default_factory=dict)
    paper_budget: bool = False

    def make(
        self, n_features_to_select: int, random_state: int | None = None, task: str = "auto"
    ) -> BaseEstimator:
        """Return an unfitted estimator for a number of features, a seed and a task."""
        asked = {"n_features_to_select": n_features_to_select, "random_state": random_state}
        return self.factory(**asked, task=task, **self.params)

    def budget(self, n_features: int, largest: int) -> int:
        """Return the number of features to request when all ``n_features`` are ranked."""
        if not self.paper_budget:
            return largest
        return _WIDE if n_features > _WIDE else -(-n_features // 5)


def named_selectors() -> Mapping[str, SelectorSpec]:
    """Return all selectors that can be requested by name.

    =================== ====================================================================
    name                meaning
    =================== ====================================================================
    ccm                 the default of this library: a path of shrinking budgets
    ccm-gaussian        the same path with a Gaussian kernel
    ccm-path            the same path with the paper's kernel and its ε for classes (0.001),
                        without a search for interactions
    ccm-single          a single solve, as in the paper
    pearson             absolute correlation with the response or with a class
    anova               F statistic
    mrmr                minimum redundancy, maximum relevance, from binned variables
    rfe                 recursive elimination with a linear support vector machine
    lasso               penalty at which a feature enters the path
    extra-trees         decrease of impurity in extremely randomised trees
    mi                  mutual information, from nearest neighbours
    permutation         loss of held-out score of such trees when a feature is shuffled
    =================== ====================================================================

    Returns
    -------
    selectors : read-only mapping of str to SelectorSpec

    Examples
    --------
    >>> from covmin.evaluation import named_selectors
    >>> list(named_selectors())[:5]
    ['ccm', 'ccm-gaussian', 'ccm-path', 'ccm-single', 'pearson']
    """
    specs = [
        ccm_spec("ccm", "path"),
        ccm_spec("ccm-gaussian", "path", kernel="gaussian"),
        ccm_spec("ccm-path", "path", kernel="gaussian", epsilon=0.001, interactions=False),
        ccm_spec("ccm-single"),
        *(SelectorSpec(name, baseline, {"score": score}) for name, score in BASELINES.items()),
    ]
    return MappingProxyType({spec.name: spec for spec in specs})


def ccm_spec(name: str, formulation: Any = "paper", **params: Any) -> SelectorSpec:
    """Return a variant of :class:`~covmin.CCMSelector`; a single solve uses the paper's m."""
    return SelectorSpec(
        name, CCMSelector, params | {"formulation": formulation}, formulation != "path"
    )


def _copy_of(estimator: Any, random_state: Any, **asked: Any) -> Any:
    """Return a user's own estimator unchanged, but for a seed that is None."""
    selector = clone(estimator)
    if selector.get_params().get("random_state", 0) is None:
        selector.set_params(random_state=random_state)
    return selector


def resolve_selectors(
    selectors: Iterable[str] | Mapping[str, Any] | None,
    default: Iterable[str] = (),
    known: Mapping[str, SelectorSpec] | None = None,
) -> dict[str, SelectorSpec]:
    """Convert names, or a mapping of names to estimators, to specifications."""
    if isinstance(selectors, Mapping):
        own = {k: SelectorSpec(k, _copy_of, {"estimator": v}) for k, v in selectors.items()}
        return own | {k: v for k, v in selectors.items() if isinstance(v, SelectorSpec)}
    known = named_selectors() if known is None else known
    names = [selectors] if isinstance(selectors, str) else list(selectors or default)
    if unknown := [name for name in names if name not in known]:
        raise ValueError(
            f"There is no selector called {listed(unknown)}. Known names: "
            f"{', '.join(known)}. To compare your own estimator, pass a mapping such as "
            '{"mine": MySelector()}.'
        )
    return {name: known[name] for name in names}


def selector_settings(specs: Mapping[str, SelectorSpec]) -> dict[str, Any]:
    """Return digests of the user's own selectors, for the header of a log."""
    known = named_selectors()
    own = {name: joblib.hash(spec) for name, spec in specs.items() if known.get(name) != spec}
    return {"selectors": own} if own else {}


def feature_order(selector: Any) -> np.ndarray:
    """Return the columns (n_features,) of a fitted selector, or pipeline, from best to worst.

    Uses ``ranking_``, else ``scores_``, else ``get_support``. Ties are broken by position.
    """
    selector = selector[-1] if isinstance(selector, Pipeline) else selector
    if hasattr(selector, "ranking_"):
        key = np.asarray(selector.ranking_, dtype=float)
    elif hasattr(selector, "scores_"):
        key = -np.asarray(selector.scores_, dtype=float)
    elif hasattr(selector, "get_support"):
        key = -selector.get_support().astype(float)
    else:
        raise TypeError(
            f"{type(selector).__name__} does not rank features: after fit it must have "
            "ranking_ (1 is best), scores_ (larger is better) or get_support()."
        )
    return np.argsort(key, kind="stable")


@dataclass(frozen=True)
class ComparedTable:
    """A table as CCMSelector accepts it, together with its numeric encoding."""

    table: Any  # as the user passed it
    reading: dict[str, Any]  # parameters that say how to read it
    # (n_samples, n_columns): numbers unchanged, one indicator per level of a category, and one
    # indicator of missingness; NaN where a number is missing.
    matrix: np.ndarray
    source: np.ndarray  # (n_columns,): the feature that each column comes from
    n_features: int

    @classmethod
    def of(cls, table: Table) -> Self:
        """Return a table as a selector reads it, and as numbers."""
        matrix, source = np.asarray(table.X, dtype=np.float64), np.asarray(table.layout.source)
        n_features = table.layout.unit.size
        if np.array_equal(source, np.arange(n_features)) and not np.isnan(matrix).any():
            return cls(matrix, {}, matrix, source, n_features)
        passed = table.passed[0]
        if not hasattr(passed, "shape"):
            passed = np.asarray(passed, dtype=object)
        reading = {"column_types": table.options.column_types}
        return cls(_safe_indexing(passed, table.row), reading, matrix, source, n_features)

    def rows(self, rows: np.ndarray) -> Self:
        """Return the table restricted to some samples."""
        return replace(self, table=_safe_indexing(self.table, rows), matrix=self.matrix[rows])

    def columns_of(self, features: np.ndarray) -> np.ndarray:
        """Return the encoded columns of some features."""
        return self.matrix[:, np.isin(self.source, features)]


def filled(X: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Replace missing values in X by the column means of ``by``.

    >>> filled(np.array([[np.nan], [1.0]]), np.array([[2.0], [4.0], [np.nan]])).tolist()
    [[3.0], [1.0]]
    """
    there = ~np.isnan(by)
    mean = np.where(there, by, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(np.isnan(X), mean, X)


def order_of_features(selector: Any, table: Any, y: np.ndarray) -> np.ndarray:
    """Fit a selector and return all features (n_features,) from best to worst.

    ``table`` is a ComparedTable, or samples that every selector accepts. A selector without the
    parameter ``column_types`` ranks the encoded columns, with missing values replaced by the column
    means, and a feature takes the rank of its best column.
    """
    if not isinstance(table, ComparedTable):
        return feature_order(selector.fit(table, y))
    known = selector.get_params()
    if "column_types" in known:
        selector.set_params(**{name: how for name, how in table.reading.items() if name in known})
        return feature_order(selector.fit(table.table, y))
    matrix = filled(table.matrix, by=table.matrix)
    order = table.source[feature_order(selector.fit(matrix, y))]
    first = order[np.sort(np.unique(order, return_index=True)[1])]
    return np.concatenate([first, np.setdiff1d(np.arange(table.n_features), first)])
