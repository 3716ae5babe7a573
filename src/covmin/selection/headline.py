"""What cross-validation says about a fit: the error curve, the headline, and the reason for m."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from covmin.text import count_of, percent, verb

from .crossval import is_found
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


def headline(selector: Any, target: str = "y") -> str:
    """Say how much of the response the selected features explain, by cross-validation.

    Parameters
    ----------
    selector : CCMSelector
        Fitted.
    target : str, default="y"
        Name of the response.

    Returns
    -------
    headline : str
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
    >>> headline(CCMSelector(3).fit(X, y), "quadrant")
    'The 3 of 10 features most relevant to quadrant'
    """
    return " ".join(part for part in headline_parts(selector, target) if part)


def headline_parts(selector: Any, target: str) -> tuple[str, str, str, str]:
    """Return who does what to the response, its name, and how much; the last may be empty."""
    given = n_given(selector)
    kept, d = int(selector.n_features_), int(selector.ranking_.max())
    who = f"{kept:,} of {count_of(d, 'feature')}"
    if selector.cv_results_ is None:
        if kept == d:
            return "The features", "ranked by relevance to", target, ""
        return f"The {who}", "most relevant to", target, ""
    left = f"what the {count_of(given, 'given feature')} {verb(given, 'leave')} unexplained of"
    of = f" {left}" if given else ""
    if not is_found(selector.cv_results_, _row(selector)):
        # Interacting pairs, and features that affect the spread, have their own p-values.
        associated = len(selector.interactions_.share) or len(selector.spread_.share)
        how = "in cross-validation, although some are associated with it"
        return "No feature", f"predicts{of}", target, how if associated else "better than chance"
    if selector.task_ == "survival":
        who += f" with the {given} given" if given else ""
        how = f"(concordance {at_chosen(selector, 'concordance')[0]:.2f}; 0.50 by chance)"
        return who, verb(kept + given, "predict"), target, how
    explained = 1.0 - at_chosen(selector, "error")[0]
    amounts = {_NOTHING: "almost nothing", _PART: "a little", _MOST: "part"}
    amount = next((words for limit, words in amounts.items() if explained < limit), "most")
    how = "" if explained < _NOTHING else f"({percent(explained)})"
    return who, f"{verb(kept, 'explain')} {amount} of{of}", target, how


def explain_choice(selector: Any) -> str:
    """Explain in one or two sentences why the selector keeps this number of features."""
    m, asked, given = selector.n_features_, selector.n_features_to_select, n_given(selector)
    kept = count_of(m, "feature") + (f" in addition to the {given} given" if given else "")
    if isinstance(asked, Real):
        text = f"{asked:.4g} of {selector.ranking_.max()}" if isinstance(asked, float) else asked
        return f"{kept}, as requested ({text})."
    curve = error_curve(selector)
    usable = selector.ranking_.max() - np.count_nonzero(selector.constant_)
    if curve is None and m < usable:
        return f"{kept}, the first in the ranking: there was no time to choose a number."
    if curve is None:
        return f"{kept}, all that vary: too few samples or features to choose a number."
    measure = judged_by(selector) if selector.estimator is None else "score"
    sizes, values, _ = cv_measure(selector, measure)
    best = int(np.argmin(values) if measure == "error" else np.argmax(values))
    title, texts, of = title_of(selector, measure), [f"{value:.4g}" for value in values], ""
    if measure == "error":
        # With given features, errors are fractions of the variance that these leave unexplained.
        left = "that the given features leave unexplained" if given else "of the response"
        title, texts = "error", [f"{value:.1%}" for value in values]
        of = f" of the variance {left}"
    if selector.estimator is None and not curve["found"]:
        return (
            "No set of features is clearly better than no features in cross-validation (best "
            f"{title}: {texts[best]}{of}). {kept} {verb(m, 'are')} selected, because at least one "
            "must be."
        )
    own = f"{kept} {verb(m, 'have')} a cross-validated {title} of {texts[list(sizes).index(m)]}{of}"
    if m == sizes[best]:
        smaller = "" if m == sizes[0] else "; every smaller set that was tried is clearly worse"
        return f"{own}, the best of all{smaller}."
    return (
        f"{own}, and {verb(m, 'are')} the smallest set that is not clearly worse than the best: "
        f"{texts[best]}, with {sizes[best]}."
    )


def cv_measure(selector: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sizes, means of a measure and their standard errors at the ε used."""
    results = selector.cv_results_
    mean = f"mean_{name}" if name in ("error", "score") else name
    spread = "standard_error" if name == "error" else f"{name}_standard_error"
    if mean not in results or spread not in results:
        known = ", ".join(cv_measures(selector))
        raise ValueError(f"This fit has no {name!r}; it has {known}.")
    row = _row(selector)
    return results.n_features, results[mean][row], results[spread][row]


def _row(selector: Any) -> int:
    """Return the number of the ε used."""
    ratios = np.log(selector.cv_results_.epsilon / selector.epsilon_)
    return int(np.argmin(np.abs(ratios)))


def cv_measures(selector: Any) -> list[str]:
    """Return the names of the measures that a cross-validated selector has."""
    return [name for name in MEASURES if {name, f"mean_{name}"} & selector.cv_results_.keys()]


def judged_by(selector: Any) -> str:
    """Return the measure that compares feature sets, apart from the score of an estimator."""
    return "concordance" if selector.task_ == "survival" else "error"


def error_curve(selector: Any) -> dict[str, Any] | None:
    """Return the cross-validated error or concordance index of each size, at the ε used.

    ``best`` is the size with the best value; ``found`` tells whether a set is clearly better than
    no features. None if several sizes were not cross-validated.
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
        "found": is_found(selector.cv_results_, _row(selector)),
        "measures": measures,
    }


def title_of(selector: Any, measure: str) -> str:
    """Return the title of a measure of a cross-validated selector."""
    if measure == "score":
        return str(scoring_name(selector.estimator, selector.scoring))
    if measure == "error" and selector.task_ == "survival":
        return "error, fraction of the variance of the martingale residuals"
    return MEASURES[measure]


def at_chosen(selector: Any, name: str) -> tuple[float, float]:
    """Return a measure and its standard error with the selected number of features."""
    sizes, means, errors = cv_measure(selector, name)
    chosen = int(np.flatnonzero(sizes == selector.n_features_)[0])
    return float(means[chosen]), float(errors[chosen])


def n_given(selector: Any) -> int:
    """Return the number of given columns."""
    return int((selector.ranking_ == 0).sum())
