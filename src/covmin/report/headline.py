"""What was found, in one sentence: that of the page, of the terminal and of ``--json``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from covmin.plotting.fitted import cross_fitted

from .words import count_of, percent, verb

# Standard errors by which the best set must be better than no feature on the same samples:
# something is then found in one of forty tables of noise.
CLEARLY = 1.5
# What rounds to no percent is next to nothing.
_NOTHING = 0.005
# From these shares on, features explain part of a response, or most of it; with less they say
# something about it.
_PART, _MOST = 0.25, 0.5


@dataclass(frozen=True)
class Verdict:
    """A sentence in four parts, of which the third is the name of the response."""

    who: str
    does: str
    target: str
    how: str = ""

    @property
    def parts(self) -> list[str]:
        """The parts in their order; the last may be empty."""
        return [self.who, self.does, self.target, self.how]

    def __str__(self) -> str:
        return " ".join(part for part in self.parts if part)


def verdict(selector: Any, target: str) -> Verdict:
    """Who says how much about the response, by samples that the ranking has not seen.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    target : str
        Name of the response.

    Returns
    -------
    verdict : Verdict
        Features "explain" where a quarter of the variance is explained on samples left out, and
        "predict" times to an event, with the concordance index there. Where
        none were left out, it says which features come first, and not how much they explain.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import verdict
    >>> X, y = make_xor(120, random_state=0, return_X_y=True)
    >>> print(verdict(CCMSelector().fit(X, y), "quadrant"))
    3 of 10 features explain part of quadrant (4...%)
    >>> print(verdict(CCMSelector(3).fit(X, y), "quadrant"))
    The 3 of 10 features that say most about quadrant
    """
    given = n_given(selector)
    kept, d = int(selector.support_.sum()) - given, selector.n_features_in_ - given
    who = f"{kept:,} of {count_of(d, 'feature')}"
    if selector.cross_fit_ is None and kept == d:
        return Verdict("The features", "in the order of what they say about", target)
    if selector.cross_fit_ is None:
        return Verdict(f"The {who}", f"that {verb(kept, 'say')} most about", target)
    whole = f"what the {given} given {verb(given, 'leave')} of " if given else ""
    if not found(selector):
        return _nothing_found(selector, whole, target)
    if selector.task_ == "survival":
        return _of_order(selector, who, given, target)
    sizes, errors, _ = cross_fitted(selector, "error")
    explained = 1.0 - float(errors[np.flatnonzero(sizes == selector.n_features_)[0]])
    if explained < _NOTHING:
        return Verdict(who, f"{verb(kept, 'say')} next to nothing about {whole}".strip(), target)
    share = percent(explained)
    if explained < _PART:
        does = f"{verb(kept, 'say')} something about {whole}".strip()
        return Verdict(who, does, target, f"({share} explained)")
    amount = "part" if explained < _MOST else "most"
    return Verdict(
        who, f"{verb(kept, 'explain')} {amount} of {whole}".strip(), target, f"({share})"
    )


def _of_order(selector: Any, who: str, given: int, target: str) -> Verdict:
    """What times to an event are judged by: whether the order of two is predicted."""
    sizes, indices, _ = cross_fitted(selector, "concordance")
    index = float(indices[np.flatnonzero(sizes == selector.n_features_)[0]])
    kept = int(selector.support_.sum())
    who += f" with the {given} given" if given else ""
    how = f"(concordance {index:.2f}, by chance 0.50)"
    return Verdict(who, verb(kept, "predict"), target, how)


def found(selector: Any) -> bool:
    """Whether the best set is clearly better than no feature on the samples left out."""
    _, error, _ = cross_fitted(selector, "error")
    _, gain, spread = cross_fitted(selector, "gain")
    best = int(np.argmin(error))
    return bool(gain[best] > CLEARLY * spread[best])


def _nothing_found(selector: Any, whole: str, target: str) -> Verdict:
    # Pairs, and features of the spread, have p-values of their own.
    if len(selector.interactions_.share) or len(selector.spread_.share):
        how = "on samples left out, though some go with it beyond chance"
        return Verdict("No feature", f"predicts {whole}".strip(), target, how)
    says = f"says anything about {whole}".strip()
    return Verdict("No feature", says, target, "that could be told from chance")


def n_given(selector: Any) -> int:
    """How many columns were given."""
    return int((selector.ranking_ == 0).sum())
