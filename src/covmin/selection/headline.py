"""What cross-validation says about a fit: the error curve, the headline, and the reason for m."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from covmin.constants import STANDARD_ERRORS
from covmin.text import count_of, percent, verb

from .scoring import scoring_name

#: Measures of feature sets and their titles.
MEASURES = {
    "error": "error, fraction of the variance of y",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss",
    "roc_auc": "area under the ROC curve",
    "concordance": "concordance index",
    "score": "score",
}
# From these fractions on, features explain part of a response, or most of it; a smaller one than
# the first rounds to zero per cent.
_NOTHING, _PART, _MOST = 0.005, 0.25, 0.5


class Headline(NamedTuple):
    """A sentence in four parts; the third is the name of the response, the last may be empty."""

    who: str
    does: str
    target: str
    how: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


def headline(selector: Any, target: str = "y") -> Headline:
    """Say how much of the response the selected features explain, by cross-validation.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    target : str, default="y"
        Name of the response.

    Returns
    -------
    headline : Headline
        Features "explain part" of the response if the cross-validated fraction is at least a
        quarter. For survival times they "predict" it, with the concordance index. Without
        cross-validation, the sentence says which features come first, but not how much they
        explain.

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import headline
    >>> X, y = make_xor(120, random_state=0, return_X_y=True)
    >>> print(headline(CCMSelector().fit(X, y), "quadrant"))
    3 of 10 features explain most of quadrant (5...%)
    >>> print(headline(CCMSelector(3).fit(X, y), "quadrant"))
    The 3 of 10 features most relevant to quadrant
    """
    given = n_given(selector)
    kept, d = int(selector.n_features_), int(selector.ranking_.max())
    who = f"{kept:,} of {count_of(d, 'feature')}"
    if selector.cv_results_ is None:
        if kept == d:
            return Headline("The features", "ranked by relevance to", target)
        return Headline(f"The {who}", "most relevant to", target)
    left = f"what the {count_of(given, 'given feature')} {verb(given, 'leave')} unexplained of"
    of = f" {left}" if given else ""
    if not _found(selector):
        # Interacting pairs, and features that affect the spread, have their own p-values.
        associated = len(selector.interactions_.share) or len(selector.spread_.share)
        how = "in cross-validation, although some are associated with it"
        return Headline(
            "No feature", f"predicts{of}", target, how if associated else "better than chance"
        )
    if selector.task_ == "survival":
        who += f" with the {given} given" if given else ""
        how = f"(concordance {at_chosen(selector, 'concordance')[0]:.2f}; 0.50 by chance)"
        return Headline(who, verb(kept + given, "predict"), target, how)
    explained = 1.0 - at_chosen(selector, "error")[0]
    amounts = {_NOTHING: "almost nothing", _PART: "a little", _MOST: "part"}
    amount = next((words for limit, words in amounts.items() if explained < limit), "most")
    how = "" if explained < _NOTHING else f"({percent(explained)})"
    return Headline(who, f"{verb(kept, 'explain')} {amount} of{of}", target, how)


def explain_choice(selector: Any) -> str:
    """Explain in one or two sentences why the selector keeps this number of features.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from covmin import CCMSelector
    >>> from covmin.datasets import make_xor
    >>> from covmin.report import explain_choice
    >>> X, y = make_xor(60, random_state=0, return_X_y=True)
    >>> explain_choice(CCMSelector(n_features_to_select=3).fit(X, y))
    '3 features, as requested (3).'
    """
    m, asked, given = selector.n_features_, selector.n_features_to_select, n_given(selector)
    kept = count_of(m, "feature") + (f" in addition to the {given} given" if given else "")
    if asked != "auto":
        text = f"{asked:.4g} of {selector.ranking_.max()}" if isinstance(asked, float) else asked
        return f"{kept}, as requested ({text})."
    curve = error_curve(selector)
    if curve is None and m < selector.ranking_.max():
        return f"{kept}, the first in the ranking: there was no time to choose a number."
    if curve is None:
        return f"{kept}, all there are: too few samples or features to choose a number."
    if selector.estimator is not None:
        return f"{kept} {_by_score(m, curve, 'score')}"
    by_order = curve["measure"] == "concordance"
    # With given features, errors are fractions of the variance that these leave unexplained.
    left = "that the given features leave unexplained" if given else "of the response"
    errors, best = dict(zip(curve["n_features"], curve["error"], strict=True)), curve["best"]
    lowest = f"{errors[best]:.1%} of the variance {left}"
    if not curve["found"]:
        index = f"highest concordance index {errors[best]:.3f}"
        return (
            "No set of features is clearly better than no features in cross-validation "
            f"({index if by_order else f'lowest cross-validated error {lowest}'}). "
            f"{kept} {verb(m, 'are')} selected, because at least one must be."
        )
    if by_order:
        return f"{kept} {_by_score(m, curve, 'concordance')}"
    if m == best:
        return (
            f"{kept} {verb(m, 'have')} the lowest cross-validated error ({lowest}), "
            "and no smaller set comes within one standard error of it."
        )
    return (
        f"{kept} {verb(m, 'are')} the smallest set within one standard error of the best: its "
        f"cross-validated error is {errors[m]:.1%} of the variance {left}. The lowest is "
        f"{errors[best]:.1%}, with {best}."
    )


def _by_score(m: int, curve: dict[str, Any], name: str) -> str:
    [score] = [row for row in curve["measures"] if row["name"] == name]
    scores = dict(zip(curve["n_features"], score["mean"], strict=True))
    best = max(scores, key=lambda size: (scores[size], -size))
    text = f"{verb(m, 'have')} a cross-validated {score['title']} of {scores[m]:.4g}, "
    if m == best:
        return text + "the best, and no smaller set comes within one standard error of it."
    return text + (
        f"and {verb(m, 'are')} the smallest set within one standard error of the best: "
        f"{scores[best]:.4g}, with {best}."
    )


def cv_measure(selector: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sizes, means of a measure and their standard errors at the ε used."""
    results = selector.cv_results_
    mean = f"mean_{name}" if name in ("error", "score") else name
    spread = "standard_error" if name == "error" else f"{name}_standard_error"
    if mean not in results or spread not in results:
        known = ", ".join(cv_measures(selector))
        raise ValueError(f"This fit has no {name!r}; it has {known}.")
    row = int(np.argmin(np.abs(np.log(results.epsilon) - np.log(selector.epsilon_))))
    return results.n_features, results[mean][row], results[spread][row]


def cv_measures(selector: Any) -> list[str]:
    """Return the names of the measures that a cross-validated selector has."""
    return [name for name in MEASURES if {name, f"mean_{name}"} & selector.cv_results_.keys()]


def judged_by(selector: Any) -> str:
    """Return the measure that compares feature sets, apart from the score of an estimator."""
    return "concordance" if selector.task_ == "survival" else "error"


def error_curve(selector: Any) -> dict[str, Any] | None:
    """Return the cross-validated error against the number of features, at the ε used.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.

    Returns
    -------
    curve : dict or None
        ``measure``, "error" or "concordance", with ``n_features``, ``error`` and
        ``standard_error`` of equal length (errors as fractions of the variance of y, or
        concordance indices); ``best``, the best size; ``limit``, one standard error worse than its
        error; ``found``, whether that size is better than no features on the same samples by more
        than 1.5 standard errors of the difference; and ``measures``, all measures with their
        values. None if several sizes were not cross-validated.
    """
    if selector.cv_results_ is None or len(selector.cv_results_.n_features) < 2:
        return None
    measure = judged_by(selector)
    sizes, mean, standard_error = cv_measure(selector, measure)
    worse = 1.0 if measure == "error" else -1.0
    best = int(np.argmin(worse * mean))
    measures = []
    for name in cv_measures(selector):
        _, means, errors = cv_measure(selector, name)
        values = {"mean": means.tolist(), "standard_error": errors.tolist()}
        measures.append({"name": name, "title": title_of(selector, name), **values})
    return {
        "measure": measure,
        "n_features": sizes.tolist(),
        "error": mean.tolist(),
        "standard_error": standard_error.tolist(),
        "best": int(sizes[best]),
        "limit": float(mean[best] + worse * standard_error[best]),
        "found": _found(selector),
        "measures": measures,
    }


def title_of(selector: Any, measure: str) -> str:
    """Return the title of a measure of a cross-validated selector."""
    if measure == "score":
        return str(scoring_name(selector.estimator, selector.scoring))
    if measure == "error" and selector.task_ == "survival":
        return "error, fraction of the variance of the martingale residuals"
    return MEASURES[measure]


def _found(selector: Any) -> bool:
    """Tell whether the best set is clearly better than no features in cross-validation."""
    _, error, _ = cv_measure(selector, "error")
    _, gain, spread = cv_measure(selector, "gain")
    best = int(np.argmin(error))
    return bool(gain[best] > STANDARD_ERRORS[1] * spread[best])


def at_chosen(selector: Any, name: str) -> tuple[float, float]:
    """Return a measure and its standard error with the selected number of features."""
    sizes, means, errors = cv_measure(selector, name)
    chosen = int(np.flatnonzero(sizes == selector.n_features_)[0])
    return float(means[chosen]), float(errors[chosen])


def n_given(selector: Any) -> int:
    """Return the number of given columns."""
    return int((selector.ranking_ == 0).sum())
