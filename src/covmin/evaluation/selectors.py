"""One registry of selectors by name: conditional covariance minimisation and the baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from covmin.baselines import available_selectors
from covmin.selection.selector import CCMSelector

__all__ = ["SelectorSpec", "named_selectors", "resolve_selectors"]

# The paper's grids for its two approximations, and ours for the number of random features.
LAMBDA1_GRID = (0.001, 0.01, 0.1)
LAMBDA2_GRID = (1, 10, 100)
COMPONENTS_GRID = (50, 100, 200, 400)

# The paper's m on real data: 100 features of more than 100, a fifth of fewer.
_WIDE = 100

Make = Callable[[int, Any], BaseEstimator]


@dataclass(frozen=True)
class SelectorSpec:
    """How to build a selector, by name.

    Parameters
    ----------
    name : str
        Name in tables and pictures.
    factory : callable
        Takes ``n_features_to_select`` and the parameters below, returns the estimator.
    params : mapping, default={}
        Further parameters.
    paper_budget : bool, default=False
        Whether a ranking of all features is made with the paper's m (100 of more than 100
        features, a fifth of fewer) instead of the largest number that is evaluated.

    Examples
    --------
    >>> from covmin.evaluation import named_selectors
    >>> spec = named_selectors()["ccm-single"]
    >>> spec.make(3, random_state=0)
    CCMSelector(n_features_to_select=3, random_state=0, strategy='single')
    >>> spec.budget(5748, largest=100), spec.budget(13, largest=13)
    (100, 3)
    """

    name: str
    factory: Callable[..., BaseEstimator]
    params: Mapping[str, Any] = field(default_factory=dict)
    paper_budget: bool = False

    def make(self, n_features_to_select: int, random_state: int | None = None) -> BaseEstimator:
        """The estimator, not fitted, for a number of features and a seed."""
        selector = self.factory(n_features_to_select=n_features_to_select, **self.params)
        if "random_state" in selector.get_params():
            selector.set_params(random_state=random_state)
        return selector

    def budget(self, n_features: int, largest: int) -> int:
        """Number of features to ask for when all of ``n_features`` are to be ranked."""
        if not self.paper_budget:
            return largest
        return _WIDE if n_features > _WIDE else -(-n_features // 5)

    def describe(self) -> str:
        """What the results depend on, as text; kept with them to notice a change."""
        return " ".join(repr(self.make(1)).split())


@dataclass(frozen=True)
class _Given(SelectorSpec):
    """A user's own estimator: used as it is, for any number of features."""

    estimator: Any = None

    def make(self, n_features_to_select: int, random_state: int | None = None) -> BaseEstimator:
        selector = clone(self.estimator)
        params = selector.get_params()
        if params.get("random_state", 0) is None:
            selector.set_params(random_state=random_state)
        return selector


def named_selectors() -> Mapping[str, SelectorSpec]:
    """Every selector that can be asked for by name.

    The baselines of :func:`covmin.baselines.available_selectors`, and

    =================== ====================================================================
    name                what it is
    =================== ====================================================================
    ccm                 the path of shrinking budgets, this library's default
    ccm-gaussian        the same path with the Gaussian kernel alone
    ccm-path            the same path with the paper's kernel and its ε for classes, 0.001,
                        and without a look at pairs
    ccm-single          one solve, as the paper
    ccm-soft-λ₁         one solve, soft budget, λ₁ of 0.001, 0.01, 0.1
    ccm-free-λ₂         one solve, inverse-free, λ₂ of 1, 10, 100
    ccm-fourier-D       one solve, D random Fourier features: 50, 100, 200, 400
    =================== ====================================================================

    ``ccm-soft``, ``ccm-free`` and ``ccm-fourier`` take the estimator's defaults for λ₁, λ₂, D.

    Returns
    -------
    selectors : read-only mapping of str to SelectorSpec

    Examples
    --------
    >>> from covmin.evaluation import named_selectors
    >>> list(named_selectors())[:4]
    ['ccm', 'ccm-gaussian', 'ccm-path', 'ccm-single']
    """
    specs = [
        ccm_spec("ccm", strategy="path"),
        ccm_spec("ccm-gaussian", strategy="path", kernel="gaussian"),
        ccm_spec("ccm-path", strategy="path", kernel="gaussian", epsilon=0.001, interactions=False),
        ccm_spec("ccm-single"),
    ]
    specs += [SelectorSpec(name, factory) for name, factory in available_selectors().items()]
    specs += [ccm_spec("ccm-soft", constraint="soft")]
    specs += [ccm_spec(f"ccm-soft-{v:g}", constraint="soft", lambda1=v) for v in LAMBDA1_GRID]
    specs += [ccm_spec("ccm-free", inverse="free")]
    specs += [ccm_spec(f"ccm-free-{v:g}", inverse="free", lambda2=float(v)) for v in LAMBDA2_GRID]
    specs += [ccm_spec("ccm-fourier", approximation="fourier")]
    specs += [
        ccm_spec(f"ccm-fourier-{v}", approximation="fourier", n_components=v)
        for v in COMPONENTS_GRID
    ]
    return MappingProxyType({spec.name: spec for spec in specs})


def ccm_spec(name: str, strategy: str = "single", **params: Any) -> SelectorSpec:
    """A variant of :class:`~covmin.CCMSelector`, asked for the paper's m.

    Examples
    --------
    >>> from covmin.evaluation.selectors import ccm_spec
    >>> ccm_spec("gentle", strategy="path", epsilon=0.01).make(5)
    CCMSelector(epsilon=0.01, n_features_to_select=5)
    """
    return SelectorSpec(name, CCMSelector, {"strategy": strategy, **params}, paper_budget=True)


def resolve_selectors(
    selectors: Iterable[str] | Mapping[str, Any] | None, default: Iterable[str] = ()
) -> dict[str, SelectorSpec]:
    """Turn names, or a mapping of names to estimators, into specifications.

    Parameters
    ----------
    selectors : iterable of str, mapping of str to estimator, or None
        Names of :func:`named_selectors`; or estimators that have ``ranking_``, ``scores_`` or
        ``get_support`` once fitted, under names of the user's choice.
    default : iterable of str
        Names to take where ``selectors`` is None.

    Returns
    -------
    specs : dict of str to SelectorSpec

    Examples
    --------
    >>> from covmin.evaluation.selectors import resolve_selectors
    >>> from sklearn.feature_selection import SelectKBest
    >>> list(resolve_selectors(["ccm", "pearson"]))
    ['ccm', 'pearson']
    >>> resolve_selectors({"kbest": SelectKBest(k=2)})["kbest"].make(5)
    SelectKBest(k=2)
    """
    if isinstance(selectors, Mapping):
        return {
            name: value
            if isinstance(value, SelectorSpec)
            else _Given(name, type(value), estimator=value)
            for name, value in selectors.items()
        }
    known = named_selectors()
    names = [selectors] if isinstance(selectors, str) else list(selectors or default)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"No selector is called {', '.join(map(repr, unknown))}. Known names: "
            f"{', '.join(known)}. To compare an estimator of your own, pass a mapping such as "
            '{"mine": MySelector()}.'
        )
    return {name: known[name] for name in names}


def selector_settings(specs: Mapping[str, SelectorSpec]) -> dict[str, Any]:
    """What the user's own selectors are, for the header of a log; of ours the name says it all.

    Examples
    --------
    >>> from covmin.evaluation.selectors import resolve_selectors, selector_settings
    >>> from sklearn.feature_selection import SelectKBest
    >>> selector_settings(resolve_selectors({"kbest": SelectKBest(k=2)}))
    {'selectors': {'kbest': 'SelectKBest(k=2)'}}
    """
    known = named_selectors()
    own = {name: spec.describe() for name, spec in specs.items() if known.get(name) != spec}
    return {"selectors": own} if own else {}


def feature_order(selector: Any) -> np.ndarray:
    """Columns from best to worst by a fitted selector.

    Parameters
    ----------
    selector : fitted selector
        With ``ranking_`` (1 is best), else ``scores_`` (larger is better), else
        ``get_support``; ties by position.

    Returns
    -------
    order : ndarray of int of shape (n_features,)

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from covmin.evaluation.selectors import feature_order
    >>> feature_order(SimpleNamespace(ranking_=[2, 3, 1]))
    array([2, 0, 1])
    """
    if hasattr(selector, "ranking_"):
        key = np.asarray(selector.ranking_, dtype=float)
    elif hasattr(selector, "scores_"):
        key = -np.asarray(selector.scores_, dtype=float)
    elif hasattr(selector, "get_support"):
        key = -selector.get_support().astype(float)
    else:
        raise TypeError(
            f"{type(selector).__name__} gives no order of features: after fit it needs "
            "ranking_ (1 is best), scores_ (larger is better) or get_support()."
        )
    return np.argsort(key, kind="stable")
