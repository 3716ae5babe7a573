"""The result in one sentence, for the report, the terminal and ``--json``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from covmin.plotting.fitted import cross_fitted

from .words import count_of, percent, verb

# Standard errors by which the best set must be better than no features on the same samples. In
# tables of pure noise, this finds something in one of forty.
CLEARLY = 1.5
# A smaller fraction rounds to zero per cent.
_NOTHING = 0.005
# From these fractions on, features explain part of a response, or most of it.
_PART, _MOST = 0.25, 0.5


@dataclass(frozen=True)
class Verdict:
    """A sentence in four parts; the third is the name of the response."""

    who: str
    does: str
    target: str
    how: str = ""

    @property
    def parts(self) -> list[str]:
        """The parts in order; the last may be empty."""
        return [self.who, self.does, self.target, self.how]

    def __str__(self) -> str:
        return " ".join(part for part in self.parts if part)


def verdict(selector: Any, target: str) -> Verdict:
    """Say how much of the response the selected features explain, by cross-validation.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    target : str
        Name of the response.

    Returns
    -------
    verdict : Verdict
        Features "explain part" of the response if the cross-validated fraction is at least a
        quarter. For survival times they "predict" it, with the concordance index. Without
        cross-validation, the sentence says which features come first, but not how much they
        explain.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import verdict
    >>> X, y = make_xor(120, random_state=0, return_X_y=True)
    >>> print(verdict(CCMSelector().fit(X, y), "quadrant"))
    3 of 10 features explain most of quadrant (5...%)
    >>> print(verdict(CCMSelector(3).fit(X, y), "quadrant"))
    The 3 of 10 features most relevant to quadrant
    """
    given = n_given(selector)
    kept, d = int(selector.support_.sum()) - given, selector.n_features_in_ - given
    who = f"{kept:,} of {count_of(d, 'feature')}"
    if selector.cv_results_ is None and kept == d:
        return Verdict("The features", "ranked by relevance to", target)
    if selector.cv_results_ is None:
        return Verdict(f"The {who}", "most relevant to", target)
    left = f"the {count_of(given, 'given feature')} {verb(given, 'leave')}"
    whole = f"what {left} unexplained of " if given else ""
    if not found(selector):
        return _nothing_found(selector, whole, target)
    if selector.task_ == "survival":
        return _of_order(selector, who, given, target)
    sizes, errors, _ = cross_fitted(selector, "error")
    explained = 1.0 - float(errors[np.flatnonzero(sizes == selector.n_features_)[0]])
    if explained < _NOTHING:
        return Verdict(who, f"{verb(kept, 'explain')} almost nothing of {whole}".strip(), target)
    share = percent(explained)
    if explained < _PART:
        does = f"{verb(kept, 'explain')} a little of {whole}".strip()
        return Verdict(who, does, target, f"({share})")
    amount = "part" if explained < _MOST else "most"
    return Verdict(
        who, f"{verb(kept, 'explain')} {amount} of {whole}".strip(), target, f"({share})"
    )


def _of_order(selector: Any, who: str, given: int, target: str) -> Verdict:
    """Return the verdict for survival times, based on the concordance index."""
    sizes, indices, _ = cross_fitted(selector, "concordance")
    index = float(indices[np.flatnonzero(sizes == selector.n_features_)[0]])
    kept = int(selector.support_.sum())
    who += f" with the {given} given" if given else ""
    how = f"(concordance {index:.2f}; 0.50 by chance)"
    return Verdict(who, verb(kept, "predict"), target, how)


def found(selector: Any) -> bool:
    """Tell whether the best set is clearly better than no features in cross-validation."""
    _, error, _ = cross_fitted(selector, "error")
    _, gain, spread = cross_fitted(selector, "gain")
    best = int(np.argmin(error))
    return bool(gain[best] > CLEARLY * spread[best])


def _nothing_found(selector: Any, whole: str, target: str) -> Verdict:
    # Interacting pairs, and features that affect the spread, have their own p-values.
    if len(selector.interactions_.share) or len(selector.spread_.share):
        how = "in cross-validation, although some are associated with it"
        return Verdict("No feature", f"predicts {whole}".strip(), target, how)
    return Verdict("No feature", f"predicts {whole}".strip(), target, "better than chance")


def n_given(selector: Any) -> int:
    """Return the number of given columns."""
    return int((selector.ranking_ == 0).sum())
