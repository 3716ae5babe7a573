"""The selectors that can be compared by name, and the order that a fitted selector gives."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from covmin.data import Table
from covmin.selection.selector import CCMSelector
from covmin.text import listed

from .baselines import BASELINES, baseline

# Makes an estimator of a number of features, ``random_state`` and ``task``.
Make = Callable[..., Any]
# Fast, and of different kinds: linear, univariate and redundancy-aware.
QUICK = ("ccm", "pearson", "anova", "mrmr", "rfe", "lasso")

_NAMED: Mapping[str, Make] = MappingProxyType(
    {"ccm": CCMSelector} | {name: partial(baseline, score) for name, score in BASELINES.items()}
)


def named_selectors() -> Mapping[str, Make]:
    """Return what makes each selector that can be requested by name.

    =================== ====================================================================
    name                meaning
    =================== ====================================================================
    ccm                 :class:`~covmin.CCMSelector`
    pearson             absolute correlation with the response or with a class
    anova               F statistic
    mrmr                minimum redundancy, maximum relevance, from binned variables
    rfe                 recursive elimination with a linear support vector machine
    lasso               penalty at which a feature enters the path
    extra-trees         decrease of impurity in extremely randomised trees
    mi                  mutual information, from nearest neighbours
    =================== ====================================================================

    Returns
    -------
    selectors : read-only mapping of str to callable
        Each takes a number of features, ``random_state`` and ``task``, and returns an estimator.

    Examples
    --------
    >>> from covmin.evaluation import named_selectors
    >>> named_selectors()["ccm"](3, random_state=0)
    CCMSelector(n_features_to_select=3, random_state=0)
    """
    return _NAMED


def _copy_of(estimator: Any, n_features: int, random_state: Any, **_: Any) -> Any:
    """Return a user's own estimator unchanged, but for a seed that is None."""
    selector = clone(estimator)
    if selector.get_params().get("random_state", 0) is None:
        selector.set_params(random_state=random_state)
    return selector


def resolve_selectors(selectors: Iterable[str] | Mapping[str, Any] | None) -> dict[str, Make]:
    """Return what makes each of some selectors, given by name or as a mapping of estimators."""
    if isinstance(selectors, Mapping):
        return {name: partial(_copy_of, estimator) for name, estimator in selectors.items()}
    names = [selectors] if isinstance(selectors, str) else list(selectors or QUICK)
    if unknown := [name for name in names if name not in _NAMED]:
        text = f"There is no selector called {listed(unknown)}. Known names: {', '.join(_NAMED)}."
        raise ValueError(f'{text} For your own, pass a mapping such as {{"mine": MySelector()}}.')
    return {name: _NAMED[name] for name in names}


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
        text = f"{type(selector).__name__} does not rank features: after fit it must have ranking_"
        raise TypeError(f"{text} (1 is best), scores_ (larger is better) or get_support().")
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
    matrix = SimpleImputer(keep_empty_features=True).fit_transform(table.matrix)
    order = table.source[feature_order(selector.fit(matrix, y))]
    first = order[np.sort(np.unique(order, return_index=True)[1])]
    return np.concatenate([first, np.setdiff1d(np.arange(table.n_features), first)])
