"""The registry of selectors by name: conditional covariance minimisation and the baselines."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from covmin.baselines import available_selectors
from covmin.plan import Formulation
from covmin.selection.selector import CCMSelector
from covmin.text import listed

# Fast, and of different kinds: linear, univariate, redundancy-aware and kernel-based.
QUICK_BASELINES = ("pearson", "anova", "mrmr", "rfe", "bahsic")

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
        Takes ``n_features_to_select`` and the parameters below; returns the estimator.
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

    def make(self, n_features_to_select: int, random_state: int | None = None) -> BaseEstimator:
        """Return an unfitted estimator for a number of features and a seed."""
        selector = self.factory(n_features_to_select=n_features_to_select, **self.params)
        if "random_state" in selector.get_params():
            selector.set_params(random_state=random_state)
        return selector

    def budget(self, n_features: int, largest: int) -> int:
        """Return the number of features to request when all ``n_features`` are ranked."""
        if not self.paper_budget:
            return largest
        return _WIDE if n_features > _WIDE else -(-n_features // 5)

    def describe(self) -> str:
        """Return a text of everything the results depend on; stored to detect changes."""
        return " ".join(repr(self.make(1)).split())


@dataclass(frozen=True)
class _Given(SelectorSpec):
    """A user's own estimator, used unchanged for any number of features."""

    estimator: Any = None

    def make(self, n_features_to_select: int, random_state: int | None = None) -> BaseEstimator:
        selector = clone(self.estimator)
        if selector.get_params().get("random_state", 0) is None:
            selector.set_params(random_state=random_state)
        return selector


def named_selectors() -> Mapping[str, SelectorSpec]:
    """Return all selectors that can be requested by name.

    These are the baselines of :func:`covmin.baselines.available_selectors`, and

    =================== ====================================================================
    name                meaning
    =================== ====================================================================
    ccm                 the default of this library: a path of shrinking budgets
    ccm-gaussian        the same path with a Gaussian kernel
    ccm-path            the same path with the paper's kernel and its ε for classes (0.001),
                        without a search for interactions
    ccm-single          a single solve, as in the paper
    ccm-soft-λ₁         a single solve, soft constraint, λ₁ = 0.001, 0.01, 0.1
    ccm-free-λ₂         a single solve, inverse-free, λ₂ = 1, 10, 100
    ccm-fourier-D       a single solve, D random Fourier features: 50, 100, 200, 400
    =================== ====================================================================

    ``ccm-soft``, ``ccm-free`` and ``ccm-fourier`` use the estimator's defaults for λ₁, λ₂ and D.

    Returns
    -------
    selectors : read-only mapping of str to SelectorSpec

    Examples
    --------
    >>> from covmin.evaluation import named_selectors
    >>> list(named_selectors())[:4]
    ['ccm', 'ccm-gaussian', 'ccm-path', 'ccm-single']
    """
    single = partial(Formulation, "single")
    free = partial(single, inverse="free")
    fourier: dict[str, Any] = {"approximation": "fourier"}
    # The paper's grids for its two approximations, and ours for the number of Fourier features.
    specs = [
        ccm_spec("ccm", "path"),
        ccm_spec("ccm-gaussian", "path", kernel="gaussian"),
        ccm_spec("ccm-path", "path", kernel="gaussian", epsilon=0.001, interactions=False),
        ccm_spec("ccm-single"),
        *(SelectorSpec(name, factory) for name, factory in available_selectors().items()),
        ccm_spec("ccm-soft", single("soft")),
        *(ccm_spec(f"ccm-soft-{v}", single("soft", lambda1=v)) for v in (0.001, 0.01, 0.1)),
        ccm_spec("ccm-free", free()),
        *(ccm_spec(f"ccm-free-{v:g}", free(lambda2=v)) for v in (1.0, 10.0, 100.0)),
        ccm_spec("ccm-fourier", **fourier),
        *(ccm_spec(f"ccm-fourier-{v}", **fourier, n_components=v) for v in (50, 100, 200, 400)),
    ]
    return MappingProxyType({spec.name: spec for spec in specs})


def ccm_spec(name: str, formulation: str | Formulation = "paper", **params: Any) -> SelectorSpec:
    """Return a variant of :class:`~covmin.CCMSelector` that uses the paper's m."""
    params["formulation"] = formulation
    return SelectorSpec(name, CCMSelector, params, paper_budget=True)


def resolve_selectors(
    selectors: Iterable[str] | Mapping[str, Any] | None, default: Iterable[str] = ()
) -> dict[str, SelectorSpec]:
    """Convert names, or a mapping of names to estimators, to specifications."""
    if isinstance(selectors, Mapping):
        return {
            name: s if isinstance(s, SelectorSpec) else _Given(name, type(s), estimator=s)
            for name, s in selectors.items()
        }
    known = named_selectors()
    names = [selectors] if isinstance(selectors, str) else list(selectors or default)
    if unknown := [name for name in names if name not in known]:
        raise ValueError(
            f"There is no selector called {listed(unknown)}. Known names: "
            f"{', '.join(known)}. To compare your own estimator, pass a mapping such as "
            '{"mine": MySelector()}.'
        )
    return {name: known[name] for name in names}


def selector_settings(specs: Mapping[str, SelectorSpec]) -> dict[str, Any]:
    """Return descriptions of the user's own selectors, for the header of a log.

    For our selectors the name is enough.

    >>> from sklearn.feature_selection import SelectKBest
    >>> selector_settings(resolve_selectors({"kbest": SelectKBest(k=2)}))
    {'selectors': {'kbest': 'SelectKBest(k=2)'}}
    """
    known = named_selectors()
    own = {name: spec.describe() for name, spec in specs.items() if known.get(name) != spec}
    return {"selectors": own} if own else {}


def feature_order(selector: Any) -> np.ndarray:
    """Return the columns (n_features,) of a fitted selector from best to worst.

    Uses ``ranking_`` (1 is best), else ``scores_`` (larger is better), else ``get_support``. Ties
    are broken by position.
    """
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
